// Package codecs holds what package chunk needs to know about the built-in codecs beyond the interfaces of package
// codec.
package codecs

// Sizes of dictionaries in bytes. The format allows up to MaxDict. C-Blosc2 uses none below MinDict.
const (
	MaxDict = 32 << 10
	MinDict = 256
)

// Traits are the properties of a codec that decide how package chunk lays out a chunk. The zero value fits any codec.
type Traits struct {
	SplitLevel int  // highest level at which blocks are split into streams automatically; 0 = no level
	HighRatio  bool // automatic blocks are larger
	Shaped     bool // it works on the shape of blocks, which only arrays have
	Numbers    bool // it reads the items as numbers, so no filter may change or move their bytes
	Dict       bool // it uses dictionaries, and is a Trainer
}

// Trainer is a codec that makes dictionaries.
type Trainer interface {
	// TrainDict returns a dictionary of at most max bytes for streams like samples. It returns nil if the samples do
	// not yield MinDict bytes. The result depends only on the samples and does not share their memory.
	TrainDict(samples [][]byte, max int) []byte
}

// Checker is a codec that knows before it makes an encoder whether it can encode.
type Checker interface {
	// CheckEncoder returns errors.ErrUnsupported if the codec cannot encode with this parameter (compcode_meta).
	CheckEncoder(meta uint8) error
}

// Of returns the traits of a codec: the result of its method Traits, or the zero value if it has no such method.
func Of(c any) Traits {
	if t, ok := c.(interface{ Traits() Traits }); ok {
		return t.Traits()
	}
	return Traits{}
}

// DictDecoder is a codec.Decoder whose dictionary can be replaced.
type DictDecoder interface {
	// SetDict replaces the dictionary; nil removes it. It has the errors of NewDecoder for dict, after which the
	// decoder has no valid dictionary. The decoder retains dict, which must not change before the next call of
	// SetDict.
	SetDict(dict []byte) error
}

// BatchDecoder is a codec.Decoder that decodes several streams at once, in less time than one after the other.
type BatchDecoder interface {
	Decode(dst, src []byte) error

	// DecodeBatch decodes each src[i], a stream of len(dst[i]) bytes. It writes at least the first n[i] bytes of
	// dst[i], for 0 < n[i] <= len(dst[i]): like Decode if all are needed, like DecodePrefix otherwise. The three slices
	// have the same length. DecodeBatch returns codec.ErrCorrupt if a stream is corrupt, without saying which. After an
	// error the content of every dst[i] is undefined.
	DecodeBatch(dst, src [][]byte, n []int) error

	// BatchesPlanes reports whether DecodeBatch is also faster for the byte planes of a shuffled block. If not, it is
	// faster only for the streams of blocks without filters.
	BatchesPlanes() bool
}
