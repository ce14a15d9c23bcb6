package chunk

import "github.com/goblosc/blosc2/internal/coder"

// FilterID is the number of a filter, as headers store it. Its String method returns the name that the b2 command uses.
type FilterID = coder.FilterID

// The filters of the format. Numbers from 160 up are for user filters, see [UserFilter].
const (
	NoFilter   = coder.NoFilter   // an empty slot
	Shuffle    = coder.Shuffle    // groups bytes of equal significance; Meta: number of streams, 0 = the type size
	BitShuffle = coder.BitShuffle // groups bits of equal significance
	Delta      = coder.Delta      // XOR with the first block of the chunk
	TruncPrec  = coder.TruncPrec  // clears mantissa bits of floats; Meta: bits to keep, or if negative to clear (int8)
	NDCell     = coder.NDCell     // groups the items of each cell of an N-dimensional block; Meta: edge of a cell
	NDMean     = coder.NDMean     // replaces the items of each cell by their mean; Meta: edge of a cell
	ByteDelta  = coder.ByteDelta  // differences of bytes, after Shuffle; Meta: number of streams, 0 = the item size
	IntTrunc   = coder.IntTrunc   // clears bits of integers; Meta: bits to keep, or if negative to clear (int8)
)

// Filter is one slot of the pipeline: a FilterID, ID, and the parameter of the filter, Meta, a uint8.
type Filter = coder.Filter

// BlockInfo describes the block that a filter works on:
//
//	Chunk    int64   // number of the chunk in its frame; -1 = unknown
//	Block    int     // number of the block in its chunk
//	Offset   int     // offset of the block in the decoded chunk, in bytes
//	TypeSize int     // item size that the chunk header holds: 1 to 255
//	ItemSize int     // item size of the frame, from Options or Params if the header cannot hold it
//	Shape    []int32 // Options.BlockShape: shape of a block in items, nil if the chunk is not part of an array
//	Meta     uint8   // parameter of the filter; 0 for Prefilter and Postfilter
type BlockInfo = coder.BlockInfo

// UserFilter is a filter that a program registers in Options.Filters. Its number is 160 to 255, or one of the numbers
// from 32 up that the format reserves for plug-ins. Implementations must be safe for concurrent use.
//
// Forward writes to dst the bytes that are stored for the block src. Backward restores src. dst and src have the same
// length and do not overlap. Neither may be retained, and src must not be changed. In decoding, src is untrusted. An
// error ends the encoding or decoding of the chunk. Wrap ErrCorrupt for a block that cannot be valid.
type UserFilter interface {
	ID() FilterID
	Forward(dst, src []byte, b BlockInfo) error
	Backward(dst, src []byte, b BlockInfo) error
}

// FilterSet is an immutable set of filters. The zero value holds only the filters of the format. Its method
//
//	With(f UserFilter) FilterSet
//
// returns a set that also holds f. f replaces a filter with the same number. A number below 32 is never looked up.
type FilterSet = coder.FilterSet
