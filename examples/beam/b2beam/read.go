package b2beam

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
	"github.com/goblosc/blosc2/ndarray"
)

func init() {
	beam.RegisterType(reflect.TypeFor[File]())
	beam.RegisterType(reflect.TypeFor[*readFn]())
	beam.RegisterType(reflect.TypeFor[*pinFn]())
}

// ReadOptions are the options of Read and FromFiles. Of Tile and MaxTile, at most one may be set. With neither, a tile
// is a chunk.
type ReadOptions struct {
	// Tile is the number of items of a tile along each axis; -1 is the whole axis. A chunk that is in several tiles is
	// read for each of them, so multiples of the chunks are best.
	Tile []int64
	// MaxTile limits the bytes of a tile. It has as many chunks as fit, and at least one: first along the last axis, or
	// for .npy files in Fortran order along the first axis.
	MaxTile int64
}

// Read returns the tiles of stored arrays. It is a splittable DoFn: a runner can divide an array among workers at any
// tile.
func Read(s beam.Scope, files []File, o *ReadOptions) beam.PCollection {
	s = s.Scope("b2beam.Read")
	return ReadAll(s, beam.CreateList(s, files), o)
}

// ReadAll is Read for files that are known only when the pipeline runs, a PCollection<File>, such as the result of
// Write.
func ReadAll(s beam.Scope, files beam.PCollection, o *ReadOptions) beam.PCollection {
	s = s.Scope("b2beam.ReadAll")
	return beam.ParDo(s, &readFn{Options: options(o)}, beam.ParDo(s, &pinFn{}, files))
}

// options returns what o points to, or the defaults for nil.
func options[T any](o *T) T {
	if o == nil {
		return *new(T)
	}
	return *o
}

// grid returns the tiles of an array with a partition, whose items may be stored in Fortran order.
func (o ReadOptions) grid(shape, chunks []int64, itemSize int, fortran bool) (grid, error) {
	g, err := newGrid(shape, chunks)
	switch {
	case err != nil:
		return g, err
	case o.Tile != nil && o.MaxTile != 0:
		return g, fmt.Errorf("%w: both Tile and MaxTile are set", ndarray.ErrParam)
	case o.Tile == nil && o.MaxTile == 0:
		return g, nil
	case o.Tile == nil:
		return g.grow(o.MaxTile/int64(itemSize), fortran), nil
	}
	return newGrid(shape, o.Tile)
}

// readFn reads the tiles of a file. Its restriction is a range of tiles.
type readFn struct {
	tileRanges
	Options ReadOptions

	arrays cache
}

// open returns the array of a file and its tiles.
func (fn *readFn) open(ctx context.Context, f File) (*ndarray.Array, grid, error) {
	a, err := fn.arrays.open(ctx, f)
	if err != nil {
		return nil, grid{}, fmt.Errorf("b2beam: array %q: %s: %w", f.Name, shown(f.Path), err)
	}
	g, err := fn.Options.grid(a.Shape(), a.Chunks(), a.DType().Size, false)
	if err == nil {
		err = f.inside(g.shape)
	}
	if err != nil {
		return nil, g, fmt.Errorf("b2beam: array %q: %s: %w", f.Name, shown(f.Path), err)
	}
	return a, g, nil
}

// CreateInitialRestriction returns all tiles of a file.
func (fn *readFn) CreateInitialRestriction(ctx context.Context, f File) (offsetrange.Restriction, error) {
	_, g, err := fn.open(ctx, f)
	if err != nil {
		return offsetrange.Restriction{}, err
	}
	return offsetrange.Restriction{End: g.len()}, nil
}

// tileRanges is the part of a splittable DoFn that all DoFns over the tiles of files have.
type tileRanges struct{}

// SplitRestriction divides the tiles of a file, so that workers can begin at several places.
func (tileRanges) SplitRestriction(_ File, r offsetrange.Restriction) []offsetrange.Restriction {
	return splitTiles(r)
}

// RestrictionSize returns the number of tiles.
func (tileRanges) RestrictionSize(_ File, r offsetrange.Restriction) float64 { return r.Size() }

// CreateTracker returns a tracker for tiles.
func (tileRanges) CreateTracker(r offsetrange.Restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(offsetrange.NewTracker(r))
}

// splitTiles divides a range into ranges of at most 16 tiles, or into 1,000 ranges. A runner may divide them further.
func splitTiles(r offsetrange.Restriction) []offsetrange.Restriction {
	n := int64(r.Size())
	return r.SizedSplits(max(16, ceilDiv(n, 1000)))
}

// ProcessElement emits the tiles that the tracker grants.
func (fn *readFn) ProcessElement(ctx context.Context, rt *sdf.LockRTracker, f File, emit func(Key, Tile)) error {
	a, g, err := fn.open(ctx, f)
	if err != nil {
		return err
	}
	size := int64(a.DType().Size)
	for i := rt.GetRestriction().(offsetrange.Restriction).Start; rt.TryClaim(i); i++ {
		b := g.box(i)
		if err := f.check(fn.arrays.src); err != nil {
			return f.errorf(b, err)
		}
		t := Tile{Shape: b.Shape, DType: a.DType().String(), Data: make([]byte, b.Size()*size)}
		if err := a.ReadBytes(ctx, t.Data, b.Selection()...); err != nil {
			return f.errorf(b, err)
		}
		tilesRead.Inc(ctx, 1)
		bytesRead.Inc(ctx, int64(len(t.Data)))
		var k Key
		k, t.Of = f.place(b, g.shape)
		emit(k, t)
	}
	return nil
}

// Teardown closes the file.
func (fn *readFn) Teardown() error { return fn.arrays.close() }
