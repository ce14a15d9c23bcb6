package chunk

import (
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// SplitMode selects when a block is divided into one stream for each byte of an item.
type SplitMode = coder.SplitMode

// The split modes. SplitAuto splits for the codecs that gain from it: BloscLZ, LZ4 and Zstd up to level 5, after
// Shuffle, with items of at most 16 bytes.
const (
	SplitAuto   = coder.SplitAuto
	SplitAlways = coder.SplitAlways
	SplitNever  = coder.SplitNever
)

// Params are the compression parameters of a chunk. The zero value selects the defaults of python-blosc2: Zstd, level
// 5, Shuffle, automatic split and block size, and items of one byte.
type Params struct {
	TypeSize  int       // item size in bytes; 0 = 1
	BlockSize int       // decoded size of a block in bytes, rounded down to whole items; 0 = automatic
	Codec     codec.ID  // 0 = Zstd
	CodecMeta uint8     // parameter of codecs that have one; others ignore it
	Level     int       // 1 to 9; 0 = 5, NoCompression = stored
	Filters   []Filter  // fill the slots from the first; nil = Shuffle in the last slot
	Split     SplitMode // 0 = automatic
	Dict      bool      // train a dictionary for each chunk (Zstd, LZ4, LZ4HC; others ignore it)
}

// Normalize returns p with all defaults filled in, as frame headers record them. It keeps Level, except that 0 becomes
// DefaultLevel, and Dict only for codecs with dictionaries. It does not know user codecs and user filters: if they have
// the numbers of built-in ones, it applies the rules of those. The error wraps ErrParam or errors.ErrUnsupported.
func (p Params) Normalize() (Params, error) {
	n, err := coder.Params(p).Normalize()
	return Params(n), err
}

// BlockSizeFor returns the block size in bytes that C-Blosc2 selects for chunks of nbytes. It starts from p.BlockSize
// if that is set, and otherwise from a size that grows with the level and suits the codec. The result is at most
// nbytes, and a multiple of the item size, except for items of more than 255 bytes that are larger than it. It is 1 if
// nbytes is less than one item. Like Normalize, it does not know user codecs and user filters. The error wraps
// ErrParam.
//
// With SplitAlways, C-Blosc2 may select smaller blocks for large items, because it computes the size in 32 bits. This
// begins at items of 4096 bytes at level 9, and of 65,536 bytes at levels 1 to 3.
func (p Params) BlockSizeFor(nbytes int) (int, error) { return coder.Params(p).BlockSizeFor(nbytes) }

// Shaped reports whether the codec or a filter uses the shape of blocks, which only arrays have.
func (p Params) Shaped() bool { return coder.Params(p).Shaped() }
