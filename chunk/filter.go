package chunk

import "github.com/goblosc/blosc2/internal/coder"

// Filter is a filter of a chunk with its parameter: one of the constants, or the number of a [UserFilter]. The methods
//
//	With(param int) Filter // the filter with a parameter, -128 to 255
//	Code() uint8           // number of the filter, as headers store it
//	Param() uint8          // parameter, as headers store it: -1 is 255
//	String() string        // name as the command blosc2 spells it; a parameter other than 0 follows: "trunc_prec(12)"
//
// make and read it. For instance, []Filter{TruncPrec.With(12), Shuffle} shortens floats and then groups their bytes.
// Encoding returns ErrParam for a parameter that does not fit the filter.
//
// A filter works on the bytes that the filter before it has written, and does not know the type of the items. So
// TruncPrec, IntTrunc and NDMean must come first: after a filter that groups bytes they destroy the data. TruncPrec of
// integers and IntTrunc of floats destroy it, too.
type Filter = coder.Filter

// The filters of the format. Numbers from 160 up are for user filters, see [UserFilter].
const (
	NoFilter   = coder.NoFilter   // an empty slot
	Shuffle    = coder.Shuffle    // groups bytes of equal significance; parameter: number of streams, 0 = item size
	BitShuffle = coder.BitShuffle // groups bits of equal significance
	Delta      = coder.Delta      // XOR with the first block of the chunk
	TruncPrec  = coder.TruncPrec  // clears mantissa bits of floats; parameter: bits to keep, or if negative to clear
	NDCell     = coder.NDCell     // groups the items of each cell of an N-dimensional block; parameter: edge of a cell
	NDMean     = coder.NDMean     // replaces the items of each cell by their mean; parameter: edge of a cell
	ByteDelta  = coder.ByteDelta  // differences of bytes, after Shuffle; parameter: number of streams, 0 = item size
	IntTrunc   = coder.IntTrunc   // clears low bits of integers; parameter: bits to keep, or if negative to clear
)

// BlockInfo describes the block that a filter works on:
//
//	Chunk    int64   // number of the chunk in its frame; -1 = unknown
//	Block    int     // number of the block in its chunk
//	Offset   int     // offset of the block in the decoded chunk, in bytes
//	TypeSize int     // item size in bytes: that of the frame, or 1 to 255 if only the chunk header is known
//	Shape    []int32 // shape of a block in items, nil if the chunk is not part of an array
//	Param    uint8   // parameter of the filter; 0 for Prefilter and Postfilter of a frame
//
// Chunk is the position of the chunk in the frame at the time of the call. In encoding, that is the position where the
// chunk is appended, inserted or updated. All methods of frames and arrays pass it; it is -1 for a [Coder], and for
// chunks that Salvage finds without an index. The frame does not store the number. If a chunk is inserted, deleted or
// moved, or an array changes its grid, later calls pass other numbers for chunks that are not encoded again. A copy of
// stored chunks may renumber them, too, and Verify decodes a chunk that the index references several times only once.
// So a filter may depend on Chunk only if the chunks of the frame never move.
type BlockInfo = coder.BlockInfo

// UserFilter is a filter that a program implements. [Coder] and the options of frames and arrays accept user filters.
// Code returns the number of the filter: 160 to 255, or a number from 32 up that the format reserves for plug-ins. The
// rules for a built-in filter do not apply to a user filter that has its number.
// Implementations must be safe for concurrent use.
//
// Forward writes to dst the bytes that are stored for the block src. Backward restores src. dst and src have the same
// length and do not overlap. Neither may be retained, and src must not be changed. In decoding, src is untrusted. An
// error ends the encoding or decoding of the chunk. Backward should return an error that wraps ErrCorrupt for a block
// that cannot be valid.
type UserFilter interface {
	Code() uint8
	Forward(dst, src []byte, b BlockInfo) error
	Backward(dst, src []byte, b BlockInfo) error
}
