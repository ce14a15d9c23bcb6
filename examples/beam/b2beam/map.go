package b2beam

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/reflectx"
)

func init() {
	beam.RegisterType(reflect.TypeFor[*mapFn]())
}

// MapFunc turns a tile into another one of the same shape. It must return the same result for the same tile. It must
// not modify the tile. The tile that it returns may have another dtype.
type MapFunc = func(ctx context.Context, k Key, t Tile) (Tile, error)

// Map applies a function to each tile:
//
//	func init() { beam.RegisterFunction(toCelsius) }
//
//	func toCelsius(ctx context.Context, _ b2beam.Key, t b2beam.Tile) (b2beam.Tile, error) {
//		items, err := b2beam.Items[float32](ctx, t)
//		if err != nil {
//			return b2beam.Tile{}, err
//		}
//		for i := range items {
//			items[i] -= 273.15
//		}
//		return b2beam.WithItems(ctx, t, items)
//	}
//
// f must be a package-level function, registered with beam.RegisterFunction, so that workers find it by its name.
func Map(s beam.Scope, f MapFunc, tiles beam.PCollection) beam.PCollection {
	return beam.ParDo(s.Scope("b2beam.Map"), &mapFn{encode(f)}, tiles)
}

// encode returns a function in the form in which Beam sends it to workers: by its name.
func encode(f any) beam.EncodedFunc { return beam.EncodedFunc{Fn: reflectx.MakeFunc(f)} }

// call calls a function that returns a tile and an error.
func call(f beam.EncodedFunc, args ...any) (Tile, error) {
	out := f.Fn.Call(args)
	err, _ := out[1].(error)
	return out[0].(Tile), err
}

// mapFn applies a function to each tile.
type mapFn struct {
	Fn beam.EncodedFunc
}

// ProcessElement emits the new tile.
func (fn *mapFn) ProcessElement(ctx context.Context, k Key, t Tile, emit func(Key, Tile)) error {
	out, err := call(fn.Fn, ctx, k, t)
	if err != nil {
		return fmt.Errorf("b2beam: %v: %w", k, err)
	}
	if err := sameBox(k, t, out); err != nil {
		return err
	}
	emit(k, out)
	return nil
}

// sameBox returns an error if a function that got a tile returned one that is not valid, or has another shape.
func sameBox(k Key, t, out Tile) error {
	if !slices.Equal(out.Shape, t.Shape) || !slices.Equal(out.Of, t.Of) {
		return fmt.Errorf("b2beam: %v: the function returned shape %v of an array of shape %v, want %v of %v", k, out.Shape, out.Of, t.Shape, t.Of)
	}
	if _, err := out.check(k); err != nil {
		return fmt.Errorf("b2beam: the function returned an invalid tile: %w", err)
	}
	return nil
}
