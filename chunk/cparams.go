package chunk

import (
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/filters"
)

// SplitMode says when blocks are cut into one stream for each byte of an item.
type SplitMode uint8

// The split modes. SplitAuto splits for the codecs that gain from it: BloscLZ, LZ4 and Zstd up to level 5, after
// Shuffle, with items of at most 16 bytes. SplitForward does the same today.
const (
	SplitAuto    SplitMode = 0
	SplitAlways  SplitMode = 1
	SplitNever   SplitMode = 2
	SplitForward SplitMode = 4
)

// Levels that are not plain numbers.
const (
	DefaultLevel  = 5
	NoCompression = -1 // the level that format descriptions call 0: chunks are stored
)

// CParams are the compression parameters of a chunk ("cparams"). The zero value gives what python-blosc2 gives:
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

// normal returns p with defaults filled in: a level of 0 to 9, an item size of at least 1.
func (p CParams) normal() (CParams, error) {
	if p.TypeSize == 0 {
		p.TypeSize = 1
	}
	if p.Codec == codec.Default {
		p.Codec = codec.Zstd
	}
	switch p.Level {
	case 0:
		p.Level = DefaultLevel
	case NoCompression:
		p.Level = 0
	}
	switch {
	case p.TypeSize < 0 || p.TypeSize > MaxBlockSize:
		return p, paramError("item size %d", p.TypeSize)
	case p.BlockSize < 0 || p.BlockSize > MaxBlockSize:
		return p, paramError("block size %d", p.BlockSize)
	case p.Level < 0 || p.Level > 9:
		return p, paramError("level %d is not 1 to 9 or NoCompression", p.Level)
	case len(p.Filters) > NumFilters:
		return p, paramError("%d filters, the format has %d slots", len(p.Filters), NumFilters)
	case p.Split > SplitForward || p.Split == 3:
		return p, paramError("split mode %d", p.Split)
	}
	return p, p.checkFilters()
}

// traits returns what the layout of a chunk needs to know about the codec.
func (p *CParams) traits() codecs.Traits {
	c, err := codec.Set{}.ByID(p.Codec)
	if err != nil {
		return codecs.Traits{} // a user codec
	}
	return codecs.Of(c)
}

// checkFilters refuses what the reference would refuse when writing.
func (p *CParams) checkFilters() error {
	for _, f := range p.Filters {
		switch f.ID {
		case TruncPrec:
			if err := filters.CheckTruncPrec(p.cappedTypeSize(), int8(f.Meta)); err != nil {
				return paramError("%v", err)
			}
		case IntTrunc:
			if err := filters.CheckIntTrunc(p.cappedTypeSize(), int8(f.Meta)); err != nil {
				return paramError("%v", err)
			}
		case NDCell:
			if f.Meta == 0 {
				return paramError("ndcell with cells of edge 0")
			}
		case NDMean:
			if f.Meta == 0 || f.Meta > 127 || p.TypeSize != 4 && p.TypeSize != 8 {
				return paramError("ndmean with cells of edge %d and items of %d bytes", f.Meta, p.TypeSize)
			}
		case ByteDeltaOld:
			return paramError("filter %v is for reading only", f.ID)
		case NoFilter, Shuffle, BitShuffle, Delta, ByteDelta:
		default:
			// Filters of the user are looked up when the first block is encoded.
			if f.ID < firstUserFilter {
				return unsupportedFilter(f)
			}
		}
	}
	return nil
}

// cappedTypeSize returns the item size that chunk headers and filters use.
func (p *CParams) cappedTypeSize() int {
	if p.TypeSize > MaxTypeSize {
		return 1
	}
	return p.TypeSize
}

// Pipeline returns the six slots that p.Filters stands for. A ByteDelta without parameter gets the item size, so that
// the chunk can be read without its frame.
func (p *CParams) Pipeline() Pipeline {
	var pl Pipeline
	if p.Filters == nil {
		pl[NumFilters-1].ID = Shuffle
	}
	copy(pl[:], p.Filters)
	for i := range pl {
		if f := &pl[i]; f.ID == ByteDelta && f.Meta == 0 && p.TypeSize <= MaxTypeSize {
			f.Meta = uint8(max(p.TypeSize, 1))
		}
	}
	return pl
}

// Normalize returns p with all defaults filled in, as frame headers record them, or an ErrParam or ErrUnsupported.
// Level stays as the caller gave it but for 0, which becomes DefaultLevel.
func (p CParams) Normalize() (CParams, error) {
	n, err := p.normal()
	if err != nil {
		return p, err
	}
	if n.Level == 0 {
		n.Level = NoCompression
	}
	if n.Filters == nil {
		pl := n.Pipeline()
		n.Filters = pl[:]
	}
	return n, nil
}
