package coder

import (
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/filters"
)

// Filter is one slot of the pipeline: the number of a filter in the low byte, its parameter in the next one. A bit
// above them marks a parameter that does not fit.
type Filter uint32

const (
	paramShift = 8
	badParam   = 1 << 16
)

// FilterOf returns a filter from the number and the parameter that headers store.
func FilterOf(code, param uint8) Filter { return Filter(code) | Filter(param)<<paramShift }

// With returns the filter with a parameter, -128 to 255. The filter defines its meaning; see the constants. Encoding
// with a parameter outside that range returns ErrParam.
func (f Filter) With(param int) Filter {
	if param < -128 || param > 255 {
		return FilterOf(f.Code(), 0) | badParam
	}
	return FilterOf(f.Code(), uint8(param))
}

// Code returns the number of the filter, as headers store it.
func (f Filter) Code() uint8 { return uint8(f) }

// Param returns the parameter of the filter, as headers store it: -1 is 255.
func (f Filter) Param() uint8 { return uint8(f >> paramShift) }

// String returns the name of the filter as the command blosc2 spells it, and its parameter in parentheses unless it is
// 0.
func (f Filter) String() string {
	name := fmt.Sprintf("filter %d", f.Code())
	def := builtinFilter(f)
	if def != nil {
		name = def.name
	}
	switch {
	case f.Param() == 0:
		return name
	case def != nil && def.signed:
		return fmt.Sprintf("%s(%d)", name, int8(f.Param()))
	}
	return fmt.Sprintf("%s(%d)", name, f.Param())
}

// kind returns the filter without its parameter.
func (f Filter) kind() Filter { return Filter(f.Code()) }

// label names a filter in errors, as "filter delta" or "filter 200", without its parameter.
func (f Filter) label() string {
	if builtinFilter(f) == nil {
		return f.kind().String() // says filter already
	}
	return "filter " + f.kind().String()
}

// Pipeline holds the filters of a chunk: slot 0 is the first to be applied when writing, the last when reading.
type Pipeline [NumFilters]Filter

// has reports whether a filter is in the pipeline.
func (p *Pipeline) has(kind Filter) bool {
	for _, f := range p {
		if f.kind() == kind {
			return true
		}
	}
	return false
}

// BlockInfo describes the block that a filter works on. See chunk.BlockInfo.
type BlockInfo struct {
	Chunk    int64   // number of the chunk in its frame; -1 = not known
	Block    int     // number of the block in its chunk
	Offset   int     // where the block starts in the decoded chunk, in bytes
	TypeSize int     // item size in bytes: that of the frame, or 1 to 255 if only the chunk header is known
	Shape    []int32 // shape of a block in items, nil if the chunk is not part of an array
	Param    uint8   // parameter of the filter; 0 for Prefilter and Postfilter
}

// UserFilter is a filter of a program. See chunk.UserFilter.
type UserFilter interface {
	Code() uint8
	Forward(dst, src []byte, b BlockInfo) error
	Backward(dst, src []byte, b BlockInfo) error
}

// block is the block that the filters of this package work on.
type block struct {
	BlockInfo
	version  uint8  // of the chunk
	typeSize int    // item size that the chunk header holds: 1 to 255
	ref      []byte // decoded block 0, for Delta; nil in block 0 itself
	uncached bool   // backward should write past the caches
}

// filterDef defines a filter: the filters of the format are entries of a table (builtinFilters), and user filters are
// wrapped in one.
type filterDef struct {
	name  string
	lossy bool // decoding may not restore the bytes that were encoded

	signed   bool // the parameter is an int8
	bytewise bool // its output is bytes that are not items any more

	// shaped filters work on the shape of a block in an array. Decoding needs Options.BlockShape.
	shaped bool
	// itemized filters work on items of the frame's size, if they are shaped or have no parameter. Decoding needs
	// Options.ItemSize if the header cannot hold that size.
	itemized bool

	// check returns an error if encoding does not accept a parameter for items of a size. nil = it accepts all.
	check func(meta uint8, typeSize int) error
	// planes returns the number of byte planes that the filter makes of items: its output can be read and written by
	// plane, without Backward and Forward. A filter with one plane does not change a block. nil = the filter is not a
	// shuffle.
	planes func(meta uint8, typeSize int) int

	// forward and backward transform src, which they must not change, to dst. Without forward, the filter can only be
	// decoded. Without backward, decoding has nothing to do. Without both, the slot is empty.
	forward, backward func(dst, src []byte, b *block) error
}

// firstUserFilter is the lowest number of a user filter. Lower numbers belong to the format itself.
const firstUserFilter = 32

// userFilters returns the definitions of these filters by their numbers, or nil if there are none. It returns ErrParam
// for a nil filter, two filters with the same number, and a number below 32, which belongs to the format.
func userFilters[F UserFilter](list []F) (map[uint8]*filterDef, error) {
	if len(list) == 0 {
		return nil, nil
	}
	defs := make(map[uint8]*filterDef, len(list))
	for i, f := range list {
		if any(f) == nil {
			return nil, paramError("user filter %d is nil", i)
		}
		code := f.Code()
		if code < firstUserFilter {
			return nil, paramError("user filter with number %d, want 32 to 255", code)
		}
		if defs[code] != nil {
			return nil, paramError("two user filters with number %d", code)
		}
		defs[code] = &filterDef{
			lossy:    true,
			forward:  func(dst, src []byte, b *block) error { return f.Forward(dst, src, b.BlockInfo) },
			backward: func(dst, src []byte, b *block) error { return f.Backward(dst, src, b.BlockInfo) },
		}
	}
	return defs, nil
}

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
			return filters.CheckTruncPrec(CappedTypeSize(typeSize), int8(meta))
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
			return filters.CheckIntTrunc(CappedTypeSize(typeSize), int8(meta))
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
