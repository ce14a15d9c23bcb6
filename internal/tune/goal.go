// Package tune chooses codec, level, filters and split mode of chunks by a goal. It tries candidates on samples of the
// data itself. A choice depends only on the data, the goal and a table of constants, and not on measured times. So the
// same data gives the same bytes on every machine, with any number of goroutines.
package tune

import (
	"fmt"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
)

// Goal selects how the parameters of chunks are chosen. See chunk.Goal.
type Goal uint8

// The goals.
const (
	NoGoal Goal = iota
	Balanced
	Smallest
	Fastest
)

// String returns the name of g as the command blosc2 spells it.
func (g Goal) String() string {
	switch g {
	case NoGoal:
		return "none"
	case Balanced:
		return "balanced"
	case Smallest:
		return "smallest"
	case Fastest:
		return "fastest"
	}
	return fmt.Sprintf("Goal(%d)", uint8(g))
}

// Check returns ErrParam if g is not a goal.
func (g Goal) Check() error {
	if g > Fastest {
		return fmt.Errorf("goal %d, want at most %d: %w", uint8(g), uint8(Fastest), errs.ErrParam)
	}
	return nil
}

// screens returns the codec that is tried with all filters, and the one that is tried with the best of them, if any.
func (g Goal) screens() (all, best coder.Params) {
	switch g {
	case Smallest:
		return coder.Params{Codec: codec.Zstd, Level: 3}, coder.Params{}
	case Fastest:
		return coder.Params{Codec: codec.LZ4, Level: 5}, coder.Params{}
	}
	return coder.Params{Codec: codec.LZ4, Level: 9}, coder.Params{Codec: codec.Zstd, Level: codec.DefaultLevel}
}

// levels returns the codecs that are tried with the best filters, the most promising first.
func (g Goal) levels() []coder.Params {
	switch g {
	case Smallest:
		return []coder.Params{{Codec: codec.Zstd, Level: 9}}
	case Fastest:
		return []coder.Params{{Codec: codec.LZ4, Level: 9}}
	}
	return []coder.Params{{Codec: codec.Zstd, Level: 1}, {Codec: codec.Zstd, Level: 6}}
}

// kept returns how many of the best rows of the screening are tried at other levels, and by which factor their cost may
// exceed the least.
func (g Goal) kept() (n int, factor float64) {
	switch g {
	case Smallest:
		return 3, 1.2
	case Fastest:
		return 2, 1.2
	}
	return 2, 1.15
}

// BlockSize returns the block size in bytes of a chunk of n bytes whose blocks are automatic.
func (g Goal) BlockSize(typeSize, n int) (int, error) {
	p := coder.Params{TypeSize: typeSize}
	switch {
	case g == Smallest:
		p.Level = 9 // larger blocks
	case g == Balanced && typeSize == 1:
		p.BlockSize = byteBlock
	}
	return p.BlockSizeFor(n)
}

// byteBlock is the block size of Balanced for items of one byte, twice the default. Masks become so small that the
// beginning of a stream takes a large part of the time for reading.
const byteBlock = 128 << 10

// pipelines returns the filters that are tried for items of a size. All are filters of C-Blosc2.
func pipelines(typeSize int, g Goal) [][]coder.Filter {
	switch {
	case typeSize == 1:
		return [][]coder.Filter{{}, {coder.BitShuffle}, {coder.ByteDelta}}
	case typeSize > coder.MaxTypeSize: // the filters would see single bytes
		return [][]coder.Filter{{}, {coder.BitShuffle}}
	}
	list := [][]coder.Filter{{coder.Shuffle}, {}, {coder.BitShuffle}, {coder.Shuffle, coder.ByteDelta}}
	if g == Smallest { // it seldom helps
		list = append(list, []coder.Filter{coder.Delta, coder.Shuffle})
	}
	return list
}

// splits returns the other split modes that are tried with parameters. Only whole blocks show what they gain.
func splits(p coder.Params) []coder.SplitMode {
	const most = 16 // streams of an automatic split
	if len(p.Filters) == 0 || p.Filters[0] != coder.Shuffle || p.TypeSize < 2 || p.TypeSize > most {
		return nil
	}
	if p.Codec == codec.Zstd && p.Level > 5 {
		return []coder.SplitMode{coder.SplitAlways}
	}
	return []coder.SplitMode{coder.SplitNever}
}
