package b2beam

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// Key is the key of a tile: the name of the array that it is a part of, and the coordinates of its first item.
type Key struct {
	Array string
	Start []int64
}

// String returns the key as text for errors: "array", tile [0 64].
func (k Key) String() string { return fmt.Sprintf("array %q, tile %v", k.Array, k.Start) }

// Tile is a box of an array with its items. A function that gets a Tile must not modify it.
type Tile struct {
	Of    []int64 // shape of the array
	Shape []int64 // shape of the tile
	DType string  // NumPy dtype of the items
	Data  []byte  // items in C order, as they are stored
}

// box returns the box of a tile.
func (t Tile) box(k Key) ndarray.Box { return ndarray.Box{Start: k.Start, Shape: t.Shape} }

// check returns the size of an item, or ErrShape or ErrType for a tile that is not valid.
func (t Tile) check(k Key) (int, error) {
	d, err := meta.ParseDType(t.DType)
	if err != nil {
		return 0, fmt.Errorf("%v: %w", k, err)
	}
	fits := len(k.Start) == len(t.Of) && len(t.Shape) == len(t.Of)
	for i := 0; fits && i < len(t.Of); i++ {
		fits = k.Start[i] >= 0 && t.Shape[i] > 0 && t.Shape[i] <= t.Of[i]-k.Start[i]
	}
	if !fits {
		return 0, fmt.Errorf("%v: %w: a tile of shape %v of an array of shape %v", k, ndarray.ErrShape, t.Shape, t.Of)
	}
	if n := t.box(k).Size() * int64(d.Size); int64(len(t.Data)) != n {
		return 0, fmt.Errorf("%v: %w: %d bytes of items, want %d", k, ndarray.ErrShape, len(t.Data), n)
	}
	return d.Size, nil
}

// uncompressed are the options for arrays in memory that are read once.
func uncompressed() *ndarray.CreateOptions {
	return &ndarray.CreateOptions{Level: codec.NoCompression, Concurrency: 1}
}

// Array returns the tile as an array in memory with a copy of its items. A function of Map can use it to call package
// ndarray.
func (t Tile) Array(ctx context.Context) (*ndarray.Array, error) {
	return ndarray.CreateBytes(ctx, "", t.Shape, t.DType, t.Data, uncompressed())
}

// With returns a tile of the same box with the items of r, which must have the shape of the tile.
func (t Tile) With(ctx context.Context, r ndarray.Reader) (Tile, error) {
	if !slices.Equal(r.Shape(), t.Shape) {
		return Tile{}, fmt.Errorf("%w: items of shape %v for a tile of shape %v", ndarray.ErrShape, r.Shape(), t.Shape)
	}
	t.DType = r.DType().String()
	t.Data = make([]byte, r.Size()*int64(r.DType().Size))
	return t, r.ReadBytes(ctx, t.Data)
}

// Items returns the items of a tile as Go values. T must match the dtype as in ndarray.Read.
func Items[T any](ctx context.Context, t Tile) ([]T, error) {
	a, err := t.Array(ctx)
	if err != nil {
		return nil, err
	}
	return ndarray.Read[T](ctx, a)
}

// WithItems returns a tile of the box of t with other items, in C order, as many as t has. Their dtype is
// ndarray.DTypeOf[T].
func WithItems[T any](ctx context.Context, t Tile, items []T) (Tile, error) {
	a, err := ndarray.Create(ctx, "", t.Shape, items, uncompressed())
	if err != nil {
		return Tile{}, err
	}
	return t.With(ctx, a)
}
