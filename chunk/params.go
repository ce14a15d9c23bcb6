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

// Levels that are not plain numbers.
const (
	DefaultLevel  = coder.DefaultLevel
	NoCompression = coder.NoCompression // the level that format descriptions call 0: chunks are stored
)

// CParams are the compression parameters of a chunk ("cparams"). The zero value selects the defaults of python-blosc2:
// Zstd, level 5, Shuffle, automatic split and block size, for items of one byte.
type CParams struct {
	TypeSize  int       // item size in bytes; 0 = 1
	BlockSize int       // decoded size of a block in bytes, rounded down to whole items; 0 = automatic
	Codec     codec.ID  // 0 = Zstd
	CodecMeta uint8     // parameter of codecs that have one
	Level     int       // 1 to 9; 0 = 5, NoCompression = stored
	Filters   []Filter  // fill the slots from the first; nil = Shuffle in the last slot
	Split     SplitMode // 0 = automatic
	Dict      bool      // train a dictionary for each chunk (Zstd, LZ4, LZ4HC)
}

// Normalize returns p with all defaults filled in, as frame headers record them, or an ErrParam or ErrUnsupported.
// It keeps Level, except that 0 becomes DefaultLevel.
func (p CParams) Normalize() (CParams, error) {
	n, err := coder.CParams(p).Normalize()
	return CParams(n), err
}

// BlockSizeFor returns the block size in bytes that C-Blosc2 selects for chunks of nbytes: p.BlockSize if set, else a
// size that grows with the level and suits the codec. It is a whole number of items and at most nbytes, but 1 if nbytes
// is less than one item. Errors are ErrParam.
func (p CParams) BlockSizeFor(nbytes int) (int, error) { return coder.CParams(p).BlockSizeFor(nbytes) }

// Shaped reports whether the codec or a filter works on the shape of blocks, in arrays, and not on their bytes alone.
func (p CParams) Shaped() bool { return coder.CParams(p).Shaped() }

// Options control how chunks are encoded and decoded; nothing in them is stored. A nil *Options and zero fields are the
// defaults. The same Options may serve any number of goroutines, which must not change them.
type Options struct {
	Codecs      codec.Set // codecs to use; the zero value holds the built-in ones
	Filters     FilterSet // filters to use besides those of the format
	ItemSize    int       // item size in bytes where the header cannot hold it (above 255); 0 = the header's
	BlockShape  []int32   // shape of a block in items, for codecs and filters that need it
	Concurrency int       // goroutines a call may use; 0 = GOMAXPROCS
	MaxBytes    int64     // largest allocation that a chunk may request; 0 = 8 MiB for a block and 64 MiB for a chunk, or 4096 times its stored size; -1 = no limit

	// Prefilter writes to dst what is encoded in place of the block src, before the filters of the chunk, and for stored
	// chunks too. Postfilter writes to dst what the reader gets in place of the decoded block src, for special values
	// too. Both write all of dst; the rules are those of UserFilter. nil = the block as it is.
	Prefilter  func(dst, src []byte, b BlockInfo) error
	Postfilter func(dst, src []byte, b BlockInfo) error
}
