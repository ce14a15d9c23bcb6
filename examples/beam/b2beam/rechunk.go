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
	beam.RegisterType(reflect.TypeFor[*splitFn]())
	beam.RegisterType(reflect.TypeFor[*joinFn]())
}

// RechunkOptions are the options of Rechunk and RechunkStored.
type RechunkOptions struct {
	// Chunks is the shape of the new chunks, -1 for a whole axis. Every tile of the result has one or more of them.
	Chunks []int64
	// MaxMemory limits the bytes of items that a bundle holds for one tile. 0 is 256 MiB. For Rechunk these are an old
	// tile and a part of it, or a new tile and a part of it. Each may have half of the memory; a new tile has as many
	// chunks as fit. Rechunk fails if an old tile or a chunk is larger.
	MaxMemory int64
}

const defaultMemory = 256 << 20

// Rechunk returns the items of arrays in tiles of another shape. The tiles may be of any shapes that cover the arrays
// once. All items pass through the shuffle of the runner, in parts that are shared by an old and a new tile; larger old
// tiles (see ReadOptions) make fewer and larger parts. RechunkStored needs no shuffle.
func Rechunk(s beam.Scope, tiles beam.PCollection, o RechunkOptions) beam.PCollection {
	s = s.Scope("b2beam.Rechunk")
	if o.MaxMemory == 0 {
		o.MaxMemory = defaultMemory
	}
	parts := beam.ParDo(s, &splitFn{o}, tiles)
	return beam.ParDo(s, &joinFn{o}, beam.GroupByKey(s, parts))
}

// grid returns the tiles of the result, of chunks that fit in half of the memory.
func (o RechunkOptions) grid(of []int64, itemSize int) (grid, error) {
	g, err := newGrid(of, o.Chunks)
	if err != nil {
		return g, err
	}
	half := o.MaxMemory / 2 / int64(itemSize)
	if n := g.at(make([]int64, len(of))).Size(); n > half {
		return g, fmt.Errorf("%w: chunks of %d bytes, half of MaxMemory is %d", ndarray.ErrTooLarge, n*int64(itemSize), o.MaxMemory/2)
	}
	return g.grow(half, false), nil
}

// splitFn divides tiles into parts, each for one new tile.
type splitFn struct {
	Options RechunkOptions
}

// ProcessElement emits the parts of a tile, with the keys of the new tiles.
func (fn *splitFn) ProcessElement(_ context.Context, k Key, t Tile, emit func(Key, part)) error {
	size, err := t.check(k)
	if err != nil {
		return fmt.Errorf("b2beam: %w", err)
	}
	if n := int64(len(t.Data)); n > fn.Options.MaxMemory/2 {
		return fmt.Errorf("b2beam: %v: %w: %d bytes, half of MaxMemory is %d", k, ndarray.ErrTooLarge, n, fn.Options.MaxMemory/2)
	}
	g, err := fn.Options.grid(t.Of, size)
	if err != nil {
		return fmt.Errorf("b2beam: %v: %w", k, err)
	}
	from := t.box(k)
	for _, to := range g.within(from) {
		c := intersection(from, to)
		p := part{Start: c.Start, Tile: Tile{Of: t.Of, Shape: c.Shape, DType: t.DType, Data: make([]byte, c.Size()*int64(size))}}
		copyBox(p.Tile.Data, c, t.Data, from, c, size)
		emit(Key{k.Array, to.Start}, p)
	}
	return nil
}

// joinFn assembles new tiles from their parts.
type joinFn struct {
	Options RechunkOptions
}

// ProcessElement emits a new tile.
func (fn *joinFn) ProcessElement(_ context.Context, k Key, parts func(*part) bool, emit func(Key, Tile)) error {
	var t Tile
	var items, size int64
	var cover uint64
	for p := (part{}); parts(&p); {
		from := Key{k.Array, p.Start}
		n, err := p.Tile.check(from)
		if err != nil {
			return fmt.Errorf("b2beam: %w", err)
		}
		if t.Data == nil {
			g, err := fn.Options.grid(p.Tile.Of, n)
			if err != nil {
				return fmt.Errorf("b2beam: %v: %w", k, err)
			}
			size = int64(n)
			t = Tile{Of: p.Tile.Of, Shape: g.at(k.Start).Shape, DType: p.Tile.DType}
			t.Data = make([]byte, t.box(k).Size()*size)
		}
		if p.Tile.DType != t.DType || !slices.Equal(p.Tile.Of, t.Of) {
			return fmt.Errorf("b2beam: %v: dtype %s of an array of shape %v, other tiles have %s of %v", from, p.Tile.DType, p.Tile.Of, t.DType, t.Of)
		}
		box := p.Tile.box(from)
		copyBox(t.Data, t.box(k), p.Tile.Data, box, box, n)
		items += box.Size()
		cover = (cover + weight(box)) % prime
	}
	if want := t.box(k).Size(); items != want {
		return fmt.Errorf("b2beam: %v: the tiles have %d items for it, want %d: they do not cover the array once", k, items, want)
	}
	if cover != weight(t.box(k)) {
		return fmt.Errorf("b2beam: %v: the tiles have some items for it twice, and leave a gap: they do not cover the array once", k)
	}
	emit(k, t)
	return nil
}
