package b2beam

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/ndarray"
)

func init() {
	beam.RegisterType(reflect.TypeFor[*placeFn]())
	beam.RegisterType(reflect.TypeFor[*zipFn]())
}

// ZipFunc makes a tile of the shape of a from two tiles. See MapFunc for its duties.
type ZipFunc = func(ctx context.Context, k Key, a, b Tile) (Tile, error)

// ZipOptions are the options of Zip.
type ZipOptions struct {
	// Broadcast lists the axes along which the arrays of b have length 1. Each tile of b meets all tiles of a along
	// these axes.
	Broadcast []int
}

// Zip applies a function to the tiles of two collections with the same array name and the same start. The arrays must
// have equal shapes, or length 1 in b along the axes of ZipOptions.Broadcast, and the same tiles. The function must be
// registered as that of Map. All tiles pass through the shuffle of the runner.
func Zip(s beam.Scope, f ZipFunc, a, b beam.PCollection, o *ZipOptions) beam.PCollection {
	s = s.Scope("b2beam.Zip")
	place := &placeFn{options(o).Broadcast}
	return beam.ParDo(s, &zipFn{place.Axes, encode(f)}, beam.CoGroupByKey(s, beam.ParDo(s, place, a), beam.ParDo(s, place, b)))
}

// placeFn gives tiles the key of the tile of b that they meet.
type placeFn struct {
	Axes []int
}

// ProcessElement emits the tile with the new key.
func (fn *placeFn) ProcessElement(_ context.Context, k Key, t Tile, emit func(Key, part)) error {
	if _, err := t.check(k); err != nil {
		return fmt.Errorf("b2beam: %w", err)
	}
	start, err := collapse(k.Start, fn.Axes, 0)
	if err != nil {
		return fmt.Errorf("b2beam: %v: %w", k, err)
	}
	emit(Key{k.Array, start}, part{Start: k.Start, Tile: t})
	return nil
}

// collapse returns a list with another value for some axes. Negative axes count from the last.
func collapse(list []int64, axes []int, value int64) ([]int64, error) {
	out := slices.Clone(list)
	for _, axis := range axes {
		if axis < -len(list) || axis >= len(list) {
			return nil, fmt.Errorf("%w: axis %d of %d", ndarray.ErrBounds, axis, len(list))
		}
		out[(axis+len(list))%len(list)] = value
	}
	return out, nil
}

// zipFn applies a function to the tiles of a and the tile of b with one key.
type zipFn struct {
	Axes []int
	Fn   beam.EncodedFunc
}

// ProcessElement emits a tile for each tile of a.
func (fn *zipFn) ProcessElement(ctx context.Context, k Key, as, bs func(*part) bool, emit func(Key, Tile)) error {
	var b, another part
	if !bs(&b) {
		return fmt.Errorf("b2beam: %v: no tile in the second collection", k)
	}
	if bs(&another) {
		return fmt.Errorf("b2beam: %v: several tiles in the second collection", k)
	}
	n := 0
	for a := (part{}); as(&a); n++ {
		from := Key{k.Array, a.Start}
		shape, err := collapse(a.Tile.Shape, fn.Axes, 1)
		if err != nil || !slices.Equal(shape, b.Tile.Shape) {
			return fmt.Errorf("b2beam: %v: %w: tiles of shapes %v and %v", from, ndarray.ErrShape, a.Tile.Shape, b.Tile.Shape)
		}
		t, err := call(fn.Fn, ctx, from, a.Tile, b.Tile)
		if err != nil {
			return fmt.Errorf("b2beam: %v: %w", from, err)
		}
		if err := sameBox(from, a.Tile, t); err != nil {
			return err
		}
		emit(from, t)
	}
	if n == 0 || len(fn.Axes) == 0 && n > 1 {
		return fmt.Errorf("b2beam: %v: %d tiles in the first collection", k, n)
	}
	return nil
}
