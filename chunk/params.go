package chunk

import (
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// CodecID names a codec; see package codec.
type CodecID = codec.ID

// CodecSet is an immutable set of codecs; see package codec.
type CodecSet = codec.Set

// CodecFromCode returns the codec with a compcode, the number that headers store.
func CodecFromCode(code uint8) CodecID { return codec.FromCode(code) }

// SplitMode selects when a block is divided into one stream for each byte of an item.
type SplitMode = coder.SplitMode

// The split modes. SplitAuto splits for the codecs that gain from it: BloscLZ, LZ4 and Zstd up to level 5, after
// Shuffle, with items of at most 16 bytes.
const (
	SplitAuto   = coder.SplitAuto
	SplitAlways = coder.SplitAlways
	SplitNever  = coder.SplitNever
)

// Levels with a name.
const (
	DefaultLevel  = coder.DefaultLevel
	NoCompression = coder.NoCompression // level 0 in descriptions of the format: chunks are stored uncompressed
)

// Params are the compression parameters of a chunk. The zero value selects the defaults of python-blosc2: Zstd, level
// 5, Shuffle, automatic split and block size, and items of one byte.
type Params struct {
	TypeSize  int       // item size in bytes; 0 = 1
	BlockSize int       // decoded size of a block in bytes, rounded down to whole items; 0 = automatic
	Codec     codec.ID  // 0 = Zstd
	CodecMeta uint8     // parameter of codecs that have one
	Level     int       // 1 to 9; 0 = 5, NoCompression = stored
	Filters   []Filter  // fill the slots from the first; nil = Shuffle in the last slot
	Split     SplitMode // 0 = automatic
	Dict      bool      // train a dictionary for each chunk (Zstd, LZ4, LZ4HC)
}

// Normalize returns p with all defaults filled in, as frame headers record them. It keeps Level, except that 0 becomes
// DefaultLevel. The error wraps ErrParam or errors.ErrUnsupported.
func (p Params) Normalize() (Params, error) {
	n, err := coder.Params(p).Normalize()
	return Params(n), err
}

// BlockSizeFor returns the block size in bytes that C-Blosc2 selects for chunks of nbytes. It starts from p.BlockSize
// if that is set, and otherwise from a size that grows with the level and suits the codec. The result is at most
// nbytes, and a multiple of the item size, except for items of more than 255 bytes that are larger than it. It is 1 if
// nbytes is less than one item. The error wraps ErrParam.
func (p Params) BlockSizeFor(nbytes int) (int, error) { return coder.Params(p).BlockSizeFor(nbytes) }

// Shaped reports whether the codec or a filter uses the shape of blocks, which only arrays have.
func (p Params) Shaped() bool { return coder.Params(p).Shaped() }

// Options control how chunks are encoded and decoded. They are not stored. A nil *Options and zero fields select the
// defaults. Several goroutines may use the same Options, which must not be changed during that time.
type Options struct {
	Codecs      codec.Set // codecs to use; the zero value holds the built-in ones
	Filters     FilterSet // filters to use besides those of the format
	ItemSize    int       // item size in bytes if the header cannot hold it (above 255); 0 = its type size
	BlockShape  []int32   // shape of a block in items, for codecs and filters that need it
	Concurrency int       // goroutines that a call may use, at most 1024; 0 = GOMAXPROCS
	// MaxBytes is the largest allocation that a chunk may request. 0 = 8 MiB for a block and 64 MiB for a chunk, or
	// 4096 times its stored size, in which pages of zeros do not count. -1 = no limit.
	MaxBytes int64

	// Prefilter computes from each block src the bytes that are encoded instead. It runs before the filters of the
	// chunk, and for stored chunks too. Postfilter computes from each decoded block src the bytes that the reader gets.
	// It runs for special values too. Both must write all of dst, under the rules of UserFilter. nil = the block is not
	// changed.
	Prefilter  func(dst, src []byte, b BlockInfo) error
	Postfilter func(dst, src []byte, b BlockInfo) error
}
