// Package document opens what the viewer shows: an array, or a store of arrays.
package document

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/examples/viewer/internal/item"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/ndarray"
)

// cacheBytes is the size of the cache of decoded blocks, for lines and single values.
const cacheBytes = 32 << 20

// A Document is an open file or object.
type Document struct {
	store *store.Store // or nil
	array *Array       // or nil
}

// Open opens a document. The source stays open with it.
func Open(ctx context.Context, src frame.Source) (*Document, error) {
	fo := &frame.OpenOptions{Concurrency: 1, Cache: cacheBytes}
	f, err := frame.OpenSource(ctx, src, fo)
	if errors.Is(err, frame.ErrFormat) && !errors.Is(err, frame.ErrCorrupt) {
		s, storeErr := store.OpenSource(ctx, src, &store.OpenOptions{Frames: fo, MaxLeaves: 1 << 16})
		if storeErr != nil {
			return nil, fmt.Errorf("neither a Blosc2 frame nor a store: %w", storeErr)
		}
		return &Document{store: s}, nil
	}
	if err != nil {
		return nil, err
	}
	e, err := store.Describe(ctx, f)
	if err == nil && e.Kind == store.KindStore {
		f.Close()
		s, err := store.OpenSource(ctx, src, &store.OpenOptions{Frames: fo, MaxLeaves: 1 << 16})
		if err != nil {
			return nil, err
		}
		return &Document{store: s}, nil
	}
	var a *ndarray.Array
	if err == nil {
		if a, err = ndarray.OpenFrame(f); err != nil {
			err = fmt.Errorf("a %s, which the viewer does not show: %w", e.Kind, err)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Document{array: &Array{a}}, nil
}

// IsStore reports whether the document is a store.
func (d *Document) IsStore() bool { return d.store != nil }

// Array returns the array, or that of a key of a store, which the caller must close.
func (d *Document) Array(ctx context.Context, key string) (*Array, error) {
	if d.store == nil {
		return d.array, nil
	}
	// Store.Array would also open tensors, but with the program for writing arrays, which is half a megabyte.
	f, err := d.store.Frame(ctx, key)
	if err != nil {
		return nil, err
	}
	a, err := ndarray.OpenFrame(f)
	if err != nil {
		return nil, err
	}
	return &Array{a}, nil
}

// An Entry is a line of the tree of a store.
type Entry struct {
	Key, Kind, Text string
	Array           bool // Document.Array can open it
	Fault           string
}

// maxEntries is the number of entries of a store that are shown.
const maxEntries = 5000

// Walk calls see for the entries of a store, as they are found.
func (d *Document) Walk(ctx context.Context, see func(Entry)) error {
	if d.store == nil {
		return nil
	}
	n := 0
	for e, err := range d.store.Walk(ctx, "/") {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if n++; n > maxEntries {
			return fmt.Errorf("only the first %d entries are shown", maxEntries)
		}
		x := Entry{Key: e.Key, Kind: e.Kind.String()}
		switch {
		case err != nil:
			x.Fault = err.Error()
		case e.Kind == store.KindArray:
			x.Array, x.Text = true, shapeText(e.Shape)+" "+e.DType.String()
		case e.Kind == store.KindReference && len(e.Shape) > 0:
			x.Array, x.Text = true, shapeText(e.Shape)+" "+e.DType.String()
		case len(e.Shape) > 0:
			x.Text = shapeText(e.Shape)
		}
		see(x)
	}
	return nil
}

// An Array is an open array.
type Array struct{ *ndarray.Array }

// Real reports whether the items are numbers.
func (a *Array) Real() bool { return item.IsReal(a.DType()) }

// MaxText is the largest size in bytes of items that are shown as text.
const MaxText = 1 << 20

// Value returns an item as text.
func (a *Array) Value(ctx context.Context, at []int64) (string, error) {
	if len(at) != len(a.Shape()) {
		return "", ndarray.ErrShape
	}
	sel := make([]ndarray.Index, len(at))
	for k, i := range at {
		sel[k] = ndarray.At(i)
	}
	size := a.DType().Size
	if size > MaxText {
		return "", fmt.Errorf("items of %d bytes are not shown: %w", size, ndarray.ErrTooLarge)
	}
	b := make([]byte, size)
	if err := a.ReadBytes(ctx, b, sel...); err != nil {
		return "", err
	}
	return item.Text(a.DType(), b), nil
}

// shapeText returns a shape such as "365 × 180".
func shapeText(shape []int64) string {
	if len(shape) == 0 {
		return "scalar"
	}
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(parts, " × ")
}
