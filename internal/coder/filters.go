package coder

import (
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/filters"
)

// The filters of the format. Numbers from 160 up are for user filters, see [UserFilter].
const (
	NoFilter     FilterID = 0  // an empty slot
	Shuffle      FilterID = 1  // groups bytes of equal significance; Meta: number of streams, 0 = the type size
	BitShuffle   FilterID = 2  // groups bits of equal significance
	Delta        FilterID = 3  // XOR with the first block of the chunk
	TruncPrec    FilterID = 4  // clears mantissa bits of floats; Meta: bits to keep, or if negative to clear (int8)
	NDCell       FilterID = 32 // groups the items of each cell of an N-dimensional block; Meta: edge of a cell
	NDMean       FilterID = 33 // replaces the items of each cell by their mean; Meta: edge of a cell
	ByteDeltaOld FilterID = 34 // ByteDelta of C-Blosc2 2.6 and 2.7; decoding only
	ByteDelta    FilterID = 35 // differences of bytes, after Shuffle; Meta: number of streams, 0 = the item size
	IntTrunc     FilterID = 36 // clears bits of integers; Meta: bits to keep, or if negative to clear (int8)
)

// builtinFilters defines the filters of the format, each in one entry. It does not change.
var builtinFilters = [...]filterDef{
	NoFilter: {name: "none"},
	Shuffle: {
		name: "shuffle",
		planes: func(meta uint8, typeSize int) int {
			if meta != 0 {
				return int(meta)
			}
			return typeSize
		},
		forward: func(dst, src []byte, b *block) error {
			filters.Shuffle(dst, src, b.width(b.TypeSize))
			return nil
		},
		backward: func(dst, src []byte, b *block) error {
			filters.Unshuffle(dst, src, b.width(b.TypeSize))
			return nil
		},
	},
	BitShuffle: {
		name: "bitshuffle",
		forward: func(dst, src []byte, b *block) error {
			filters.BitShuffle(dst, src, b.TypeSize)
			return nil
		},
		backward: func(dst, src []byte, b *block) error {
			if b.version <= versionBlosc1 {
				filters.BitUnshuffleV2(dst, src, b.TypeSize)
			} else {
				filters.BitUnshuffle(dst, src, b.TypeSize)
			}
			return nil
		},
	},
	Delta: {
		name: "delta",
		forward: func(dst, src []byte, b *block) error {
			filters.DeltaEncode(dst, src, b.ref, b.TypeSize)
			return nil
		},
		backward: func(dst, src []byte, b *block) error {
			filters.DeltaDecode(dst, src, b.ref, b.TypeSize)
			return nil
		},
	},
	TruncPrec: {
		name:  "trunc_prec",
		lossy: true,
		check: func(meta uint8, typeSize int) error {
			return filters.CheckTruncPrec(cappedTypeSize(typeSize), int8(meta))
		},
		forward: func(dst, src []byte, b *block) error {
			return encodeError(filters.TruncPrec(dst, src, b.TypeSize, int8(b.Meta)))
		},
	},
	NDCell: {
		name:   "ndcell",
		shaped: true,
		check: func(meta uint8, _ int) error {
			if meta == 0 {
				return errors.New("ndcell with cells of edge 0, want 1 to 255")
			}
			return nil
		},
		forward: func(dst, src []byte, b *block) error {
			return encodeError(filters.CellEncode(dst, src, b.ItemSize, int(b.Meta), b.Shape))
		},
		backward: func(dst, src []byte, b *block) error {
			return decodeError(filters.CellDecode(dst, src, b.ItemSize, int(b.Meta), b.Shape))
		},
	},
	NDMean: {
		name:   "ndmean",
		lossy:  true,
		shaped: true,
		check: func(meta uint8, typeSize int) error {
			if meta == 0 || meta > 127 || typeSize != 4 && typeSize != 8 {
				return fmt.Errorf("ndmean with cells of edge %d and items of %d bytes, want 1 to 127 and 4 or 8", meta, typeSize)
			}
			return nil
		},
		forward: func(dst, src []byte, b *block) error {
			return encodeError(filters.MeanEncode(dst, src, b.ItemSize, int(b.Meta), b.Shape))
		},
		backward: func(dst, src []byte, b *block) error {
			return decodeError(filters.MeanDecode(dst, src, b.ItemSize, int(b.Meta), b.Shape))
		},
	},
	ByteDeltaOld: {
		name:     "bytedelta_old",
		lossy:    true,
		itemized: true,
		backward: func(dst, src []byte, b *block) error {
			filters.ByteDeltaDecodeV1(dst, src, b.width(b.ItemSize))
			return nil
		},
	},
	ByteDelta: {
		name:     "bytedelta",
		itemized: true,
		forward: func(dst, src []byte, b *block) error {
			filters.ByteDeltaEncode(dst, src, b.width(b.ItemSize))
			return nil
		},
		backward: func(dst, src []byte, b *block) error {
			filters.ByteDeltaDecode(dst, src, b.width(b.ItemSize))
			return nil
		},
	},
	IntTrunc: {
		name:  "int_trunc",
		lossy: true,
		check: func(meta uint8, typeSize int) error {
			return filters.CheckIntTrunc(cappedTypeSize(typeSize), int8(meta))
		},
		forward: func(dst, src []byte, b *block) error {
			return encodeError(filters.IntTrunc(dst, src, b.TypeSize, int8(b.Meta)))
		},
	},
}

// builtin returns the filter of the format with a number, or nil.
func builtin(id FilterID) *filterDef {
	if int(id) < len(builtinFilters) && builtinFilters[id].name != "" {
		return &builtinFilters[id]
	}
	return nil
}

// String returns the name of the filter as the b2 command spells it.
func (id FilterID) String() string {
	if def := builtin(id); def != nil {
		return def.name
	}
	return fmt.Sprintf("filter %d", uint8(id))
}

// width returns the number of byte streams that the filter works on: its parameter, or the given size.
func (b *block) width(size int) int {
	if b.Meta != 0 {
		return int(b.Meta)
	}
	return size
}

// decodeError classifies an error of package filters in decoding.
func decodeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errs.ErrUnsupported):
		return fmt.Errorf("%v: %w", err, errs.ErrUnsupported)
	}
	return fmt.Errorf("%v: %w", err, errs.ErrCorrupt)
}

// encodeError classifies an error of package filters in encoding, where it is the caller's mistake.
func encodeError(err error) error {
	if err != nil {
		return fmt.Errorf("%v: %w", err, errs.ErrParam)
	}
	return nil
}

func unsupportedFilter(f Filter) error {
	return fmt.Errorf("filter %d (%v): %w", uint8(f.ID), f.ID, errs.ErrUnsupported)
}
