package chunk

import "github.com/goblosc/blosc2/internal/coder"

// FilterID is the number of a filter, as headers store it. Its String method returns the name that the b2 command uses.
type FilterID = coder.FilterID

// The filters of the format. Numbers from 160 up are for users, see [UserFilter].
const (
	NoFilter   = coder.NoFilter   // an empty slot
	Shuffle    = coder.Shuffle    // bytes of equal significance together; Meta: number of streams, 0 = the typesize
	BitShuffle = coder.BitShuffle // bits of equal significance together
	Delta      = coder.Delta      // XOR with the first block of the chunk
	TruncPrec  = coder.TruncPrec  // clear mantissa bits of floats; Meta: bits to keep, or to clear when negative (int8)
	NDCell     = coder.NDCell     // cells of an N-dimensional block together; Meta: edge of a cell
	NDMean     = coder.NDMean     // cells replaced by their mean; Meta: edge of a cell
	ByteDelta  = coder.ByteDelta  // differences within each byte stream, after Shuffle; Meta: number of streams, 0 = the item size
	IntTrunc   = coder.IntTrunc   // clear bits of integers; Meta: bits to keep, or to clear when negative (int8)
)

// Filter is one slot of the pipeline: a FilterID, ID, and the parameter of the filter, Meta, a uint8.
type Filter = coder.Filter

// BlockInfo describes the block that a filter works on:
//
//	Chunk    int64   // number of the chunk in its frame; -1 = not known
//	Block    int     // number of the block in its chunk
//	Offset   int     // where the block starts in the decoded chunk, in bytes
//	TypeSize int     // item size that the chunk header holds: 1 to 255
//	ItemSize int     // item size of the frame, where Options or CParams say more than the header can hold
//	Shape    []int32 // Options.BlockShape: shape of a block in items, nil when the chunk is not part of an array
//	Meta     uint8   // parameter of the filter; 0 for Prefilter and Postfilter
type BlockInfo = coder.BlockInfo

// UserFilter is a filter that a program registers in Options.Filters: one with a number of its own, 160 to 255, or one
// of the numbers from 32 up that the format reserves for plug-ins. Implementations are safe for concurrent use.
//
// Forward writes to dst what is stored for the block src, Backward restores src. dst and src have the same length, do
// not overlap, and must not be retained; src must not be changed. When decoding, src is untrusted. Errors end the
// encoding or decoding of the chunk; wrap ErrCorrupt for a block that cannot be valid.
type UserFilter interface {
	ID() FilterID
	Forward(dst, src []byte, b BlockInfo) error
	Backward(dst, src []byte, b BlockInfo) error
}

// FilterSet is an immutable set of filters. The zero value holds none but those of the format. Its method
//
//	With(f UserFilter) FilterSet
//
// returns a set that also holds f. It replaces a filter with the same number, but a number below 32 is never searched
// for.
type FilterSet = coder.FilterSet
