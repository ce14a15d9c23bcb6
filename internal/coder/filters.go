package coder

import (
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/filters"
)

// The filters of the format. Numbers from 160 up are for user filters, see [UserFilter].
const (
	NoFilter     Filter = 0  // an empty slot
	Shuffle      Filter = 1  // groups bytes of equal significance; parameter: number of streams, 0 = the type size
	BitShuffle   Filter = 2  // groups bits of equal significance
	Delta        Filter = 3  // XOR with the first block of the chunk
	TruncPrec    Filter = 4  // clears mantissa bits of floats; parameter: bits to keep, or if negative to clear (int8)
	NDCell       Filter = 32 // groups the items of each cell of an N-dimensional block; parameter: edge of a cell
	NDMean       Filter = 33 // replaces the items of each cell by their mean; parameter: edge of a cell
	ByteDeltaOld Filter = 34 // ByteDelta of C-Blosc2 2.6 and 2.7; decoding only
	ByteDelta    Filter = 35 // differences of bytes, after Shuffle; parameter: number of streams, 0 = the item size
	IntTrunc     Filter = 36 // clears bits of integers; parameter: bits to keep, or if negative to clear (int8)
)

// builtinFilters defines the filters of the format, each in one entry. It does not change.
var builtinFilters = [...]filterDef{
	NoFilter: {name: "none"},
	Shuffle: {
		name:     "shuffle",
		bytewise: true,
		planes: func(meta uint8, typeSize int) int {
			if meta != 0 {
				return int(meta)
			}
			return typeSize
		},
		forward: func(dst, src []byte, b *block) error {
			filters.Shuffle(dst, src, b.width(b.typeSize))
			return nil
		},
		backward: func(dst, src []byte, b *block) error {
			if b.uncached {
				filters.UnshuffleUncached(dst, src, b.width(b.typeSize))
			} else {
				filters.Unshuffle(dst, src, b.width(b.typeSize))
			}
			return nil
		},
	},
	BitShuffle: {
		name:     "bitshuffle",
		bytewise: true,
		forward: func(dst, src []byte, b *block) error {
			filters.BitShuffle(dst, src, b.typeSize)
			return nil
		},
		backward: func(dst, src []byte, b *block) error {
			if b.version <= versionBlosc1 {
				filters.BitUnshuffleV2(dst, src, b.typeSize)
			} else {
				filters.BitUnshuffle(dst, src, b.typeSize)
			}
			return nil
		},
	},
	Delta: {
		name:     "delta",
		bytewise: true,
		forward: func(dst, src []byte, b *block) error {
			filters.DeltaEncode(dst, src, b.ref, b.typeSize)
			return nil
		},
		backward: func(dst, src []byte, b *block) error {
			filters.DeltaDecode(dst, src, b.ref, b.typeSize)
			return nil
		},
	},
	TruncPrec: {
		name:   "trunc_prec",
		lossy:  true,
		signed: true,
		check: func(meta uint8, typeSize int) error {
			return filters.CheckTruncPrec(cappedTypeSize(typeSize), int8(meta))
		},
		forward: func(dst, src []byte, b *block) error {
			return encodeError(filters.TruncPrec(dst, src, b.typeSize, int8(b.Param)))
		},
	},
	NDCell: {
		name:     "ndcell",
		shaped:   true,
		itemized: true,
		check: func(meta uint8, _ int) error {
			if meta == 0 {
				return errors.New("ndcell with cells of edge 0, want 1 to 255")
			}
			return nil
		},
		forward: func(dst, src []byte, b *block) error {
			return encodeError(filters.CellEncode(dst, src, b.TypeSize, int(b.Param), b.Shape))
		},
		backward: func(dst, src []byte, b *block) error {
			return decodeError(filters.CellDecode(dst, src, b.TypeSize, int(b.Param), b.Shape))
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
			return encodeError(filters.MeanEncode(dst, src, b.TypeSize, int(b.Param), b.Shape))
		},
		backward: func(dst, src []byte, b *block) error {
			return decodeError(filters.MeanDecode(dst, src, b.TypeSize, int(b.Param), b.Shape))
		},
	},
	ByteDeltaOld: {
		name:     "bytedelta_old",
		lossy:    true,
		itemized: true,
		backward: func(dst, src []byte, b *block) error {
			filters.ByteDeltaDecodeV1(dst, src, b.width(b.TypeSize))
			return nil
		},
	},
	ByteDelta: {
		name:     "bytedelta",
		bytewise: true,
		itemized: true,
		forward: func(dst, src []byte, b *block) error {
			filters.ByteDeltaEncode(dst, src, b.width(b.TypeSize))
			return nil
		},
		backward: func(dst, src []byte, b *block) error {
			filters.ByteDeltaDecode(dst, src, b.width(b.TypeSize))
			return nil
		},
	},
	IntTrunc: {
		name:   "int_trunc",
		lossy:  true,
		signed: true,
		check: func(meta uint8, typeSize int) error {
			return filters.CheckIntTrunc(cappedTypeSize(typeSize), int8(meta))
		},
		forward: func(dst, src []byte, b *block) error {
			return encodeError(filters.IntTrunc(dst, src, b.typeSize, int8(b.Param)))
		},
	},
}

// builtinFilter returns the filter of the format with the number of f, or nil.
func builtinFilter(f Filter) *filterDef {
	if code := int(f.Code()); code < len(builtinFilters) && builtinFilters[code].name != "" {
		return &builtinFilters[code]
	}
	return nil
}

// MayReject reports whether encoding rejects a filter of the format, at least with some parameters. Decoding accepts
// it.
func MayReject(f Filter) bool {
	def := builtinFilter(f)
	return def != nil && (def.check != nil || def.forward == nil)
}

// width returns the number of byte streams that the filter works on: its parameter, or the given size.
func (b *block) width(size int) int {
	if b.Param != 0 {
		return int(b.Param)
	}
	return size
}

// decodeError classifies an error of package filters in decoding.
func decodeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errors.ErrUnsupported):
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

// unsupportedFilter returns the error for a filter that is not known.
func unsupportedFilter(f Filter) error {
	err := fmt.Errorf("filter with number %d: %w", f.Code(), errs.ErrUnsupported)
	if f.Code() >= firstUserFilter {
		err = fmt.Errorf("%w; add it to UserFilters", err)
	}
	return err
}
