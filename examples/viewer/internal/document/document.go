// Package document opens what the viewer shows: an array, or a store of arrays.
package document

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/goblosc/blosc2/examples/viewer/internal/item"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/ndarray"
)

// cacheBytes is the size of the cache of decoded blocks, for lines and single values.
const cacheBytes = 32 << 20

// A Document is an open file or object.
type Document struct {
	store *store.Store // or nil
	view  View         // of a document that is no store
}

// A View is what the viewer shows of a document: an *Array or a *Sheet.
type View interface {
	Info() []Property
	Attributes() []Property
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
	if err == nil {
		var v View
		if v, err = viewOf(ctx, f, e.Kind); err == nil {
			return &Document{view: v}, nil
		}
		err = fmt.Errorf("a %s, which the viewer does not show: %w", e.Kind, err)
	}
	f.Close()
	return nil, err
}

// viewOf returns the view of a frame of a kind, which then owns the frame.
func viewOf(ctx context.Context, f *frame.Frame, kind store.Kind) (View, error) {
	switch kind {
	case store.KindObjects, store.KindBatches, store.KindLists:
		o, err := objects.New(ctx, f)
		if err != nil {
			return nil, err
		}
		return newObjects(o), nil
	}
	// store.ArrayOf would also open tensors, but with the program for writing arrays, which is half a megabyte.
	a, err := ndarray.OpenFrame(f)
	if err != nil {
		return nil, err
	}
	return &Array{a}, nil
}

// IsStore reports whether the document is a store.
func (d *Document) IsStore() bool { return d.store != nil }

// View returns the view of the document, or of a key of a store.
func (d *Document) View(ctx context.Context, key string) (View, error) {
	if d.store == nil {
		return d.view, nil
	}
	e, err := d.store.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	if e.Kind == store.KindTable {
		return openTable(ctx, d.store, key)
	}
	f, err := d.store.Frame(ctx, key)
	if err != nil {
		return nil, err
	}
	v, err := viewOf(ctx, f, e.Kind)
	if err != nil {
		f.Close()
	}
	return v, err
}

// An Entry is a line of the tree of a store.
type Entry struct {
	Key, Kind, Text string
	Shown           bool // Document.View can open it
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
		case e.Kind == store.KindArray, e.Kind == store.KindReference && len(e.Shape) > 0:
			x.Shown, x.Text = true, shapeText(e.Shape)+" "+e.DType.String()
		case e.Kind == store.KindTable:
			x.Shown, x.Text = true, countText(e.Shape[0])+" rows"
		case e.Kind == store.KindObjects, e.Kind == store.KindBatches, e.Kind == store.KindLists:
			x.Shown, x.Text = true, shapeText(e.Shape)
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
		parts[i] = countText(n)
	}
	return strings.Join(parts, " × ")
}
