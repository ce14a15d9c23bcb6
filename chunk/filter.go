package chunk

import "fmt"

// FilterID is the number of a filter, as headers store it.
type FilterID uint8

// The filters of the format. Numbers from 160 on are for users, see [UserFilter].
const (
	NoFilter     FilterID = 0  // an empty slot
	Shuffle      FilterID = 1  // bytes of equal significance together; Meta: number of streams, 0 = the typesize
	BitShuffle   FilterID = 2  // bits of equal significance together
	Delta        FilterID = 3  // XOR with the first block of the chunk
	TruncPrec    FilterID = 4  // clear mantissa bits of floats; Meta: bits to keep, or to clear when negative (int8)
	NDCell       FilterID = 32 // cells of an N-dimensional block together; Meta: edge of a cell
	NDMean       FilterID = 33 // cells replaced by their mean; Meta: edge of a cell
	ByteDeltaOld FilterID = 34 // ByteDelta of C-Blosc2 2.6 and 2.7; for reading only
	ByteDelta    FilterID = 35 // differences within each byte stream, after Shuffle; Meta: number of streams, 0 = the item size
	IntTrunc     FilterID = 36 // clear bits of integers; Meta: bits to keep, or to clear when negative (int8)
)

// Filter is one slot of the pipeline.
type Filter struct {
	ID   FilterID
	Meta uint8 // parameter; its meaning is the filter's
}

// Pipeline holds the filters of a chunk: slot 0 is the first to be applied when writing, the last when reading.
type Pipeline [NumFilters]Filter

// has tells whether a filter is in the pipeline.
func (p *Pipeline) has(id FilterID) bool {
	for _, f := range p {
		if f.ID == id {
			return true
		}
	}
	return false
}

// lossy tells whether decoding may give other data than were encoded: then Delta must refer to what it gives.
func (p *Pipeline) lossy() bool {
	for _, f := range p {
		switch f.ID {
		case NoFilter, Shuffle, BitShuffle, Delta, ByteDelta, NDCell:
		default:
			return true
		}
	}
	return false
}

// String returns the name of the filter as the b2 command spells it.
func (id FilterID) String() string {
	switch id {
	case NoFilter:
		return "none"
	case Shuffle:
		return "shuffle"
	case BitShuffle:
		return "bitshuffle"
	case Delta:
		return "delta"
	case TruncPrec:
		return "trunc_prec"
	case NDCell:
		return "ndcell"
	case NDMean:
		return "ndmean"
	case ByteDeltaOld:
		return "bytedelta_old"
	case ByteDelta:
		return "bytedelta"
	case IntTrunc:
		return "int_trunc"
	}
	return fmt.Sprintf("filter %d", uint8(id))
}

func unsupportedFilter(f Filter) error {
	return fmt.Errorf("filter %d (%v): %w", uint8(f.ID), f.ID, ErrUnsupported)
}
