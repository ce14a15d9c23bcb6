package coder

import (
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/codecs"
)

// CodecID names a codec; see package codec.
type CodecID = codec.ID

// CodecSet is an immutable set of codecs; see package codec.
type CodecSet = codec.Set

// CodecFromCode returns the codec with a compcode, the number that headers store.
func CodecFromCode(code uint8) CodecID { return codec.FromCode(code) }

// IndexParams returns the parameters that C-Blosc2 uses for the index of a frame.
func IndexParams() Params {
	return Params{TypeSize: 8, BlockSize: 16 << 10, Codec: codec.BloscLZ, Level: 5, Split: SplitNever}
}

// SplitMode determines when blocks are split into one stream for each byte of an item.
type SplitMode uint8

// The split modes. SplitAuto splits for the codecs that gain from it: BloscLZ, LZ4 and Zstd up to level 5, after
// Shuffle, with items of at most 16 bytes. SplitForward does the same today.
const (
	SplitAuto    SplitMode = 0
	SplitAlways  SplitMode = 1
	SplitNever   SplitMode = 2
	SplitForward SplitMode = 4
)

// Levels with a name.
const (
	DefaultLevel  = 5
	NoCompression = -1 // level 0 in descriptions of the format: chunks are stored uncompressed
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

// normal returns p with defaults filled in: the level is 0 to 9, and the item size at least 1.
func (p Params) normal() (Params, error) {
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
		return p, paramError("level %d, want 1 to 9 or NoCompression", p.Level)
	case len(p.Filters) > NumFilters:
		return p, paramError("%d filters, want at most %d", len(p.Filters), NumFilters)
	case p.Split > SplitForward || p.Split == 3:
		return p, paramError("split mode %d", p.Split)
	}
	return p, p.checkFilters()
}

// traits returns the properties of the codec that the layout of a chunk depends on.
func (p *Params) traits() codecs.Traits {
	c, err := codec.Set{}.ByID(p.Codec)
	if err != nil {
		return codecs.Traits{} // a user codec
	}
	return codecs.Of(c)
}

// checkFilters rejects filters and parameters that C-Blosc2 rejects when writing.
func (p *Params) checkFilters() error {
	for _, f := range p.Filters {
		def := builtin(f.ID)
		switch {
		case def == nil && f.ID < firstUserFilter:
			return unsupportedFilter(f)
		case def == nil: // user filters are looked up when the first block is encoded
		case def.forward == nil && def.backward != nil:
			return paramError("filter %v can only be decoded", f.ID)
		case def.check != nil:
			if err := def.check(f.Meta, p.TypeSize); err != nil {
				return paramError("%v", err)
			}
		}
	}
	return nil
}

// cappedTypeSize returns the item size that chunk headers and filters use.
func (p *Params) cappedTypeSize() int { return cappedTypeSize(p.TypeSize) }

// Pipeline returns the six slots that p.Filters describes. A ByteDelta without parameter gets the item size, so that
// the chunk can be read without its frame.
func (p Params) Pipeline() Pipeline {
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

// Normalize returns p with all defaults filled in, as frame headers record them. It keeps Level, except that 0 becomes
// DefaultLevel. Errors are ErrParam or errors.ErrUnsupported.
func (p Params) Normalize() (Params, error) {
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

// Shaped reports whether the codec or a filter uses the shape of blocks, which only arrays have.
func (p Params) Shaped() bool {
	if p.traits().Shaped {
		return true
	}
	for _, f := range p.Filters {
		if def := builtin(f.ID); def != nil && def.shaped {
			return true
		}
	}
	return false
}
