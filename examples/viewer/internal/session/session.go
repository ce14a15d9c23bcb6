// Package session is what the web page asks for: pictures, lines and values of an open document. It keeps the last
// planes that it has read.
package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/examples/viewer/internal/document"
	"github.com/goblosc/blosc2/examples/viewer/internal/item"
	"github.com/goblosc/blosc2/examples/viewer/internal/plane"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// keepValues is the number of values of planes that a session keeps.
const keepValues = 8 << 20

// A Session is an open document and the array that is shown. It is safe for concurrent use.
type Session struct {
	mu      sync.Mutex
	doc     *document.Document
	array   *document.Array // or nil
	sheet   *document.Sheet // or nil
	kept    []keptPlane     // the last one was used last
	next    nextPicture     // from Prefetch
	flights map[string]*flight
	reads   int // planes read
}

// keptPlane is a plane in memory.
type keptPlane struct {
	key     string
	samples *plane.Samples
}

// nextPicture is a picture of an array with the key of its request.
type nextPicture struct {
	array   *document.Array
	key     string
	picture *Picture
}

// flight is a plane that is being read.
type flight struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int
	samples *plane.Samples
	err     error
}

// errNothing is returned if no array, or no sheet, is open.
var errNothing = errors.New("nothing of this kind is open")

// Open opens a document in place of the one before.
func (s *Session) Open(ctx context.Context, src frame.Source) (*document.Document, error) {
	doc, err := document.Open(ctx, src)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	s.doc, s.array, s.sheet = doc, nil, nil
	return doc, nil
}

// forget ends what runs, and drops planes. The reads that run fail.
func (s *Session) forget() {
	for _, f := range s.flights {
		f.cancel()
	}
	s.flights, s.kept, s.next = map[string]*flight{}, nil, nextPicture{}
}

// Document returns the open document, or nil.
func (s *Session) Document() *document.Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doc
}

// Select opens what is below a key of a store, or the only view of the document.
func (s *Session) Select(ctx context.Context, key string) (document.View, error) {
	doc := s.Document()
	if doc == nil {
		return nil, errNothing
	}
	v, err := doc.View(ctx, key)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if doc != s.doc {
		return nil, context.Canceled
	}
	s.forget()
	s.array, _ = v.(*document.Array)
	s.sheet, _ = v.(*document.Sheet)
	return v, nil
}

// Sheet returns the table or the array of objects that is shown.
func (s *Session) Sheet() (*document.Sheet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sheet == nil {
		return nil, errNothing
	}
	return s.sheet, nil
}

// Array returns the array that is shown.
func (s *Session) Array() (*document.Array, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.array == nil {
		return nil, errNothing
	}
	return s.array, nil
}

// keyOf names what is read of a plane.
func keyOf(x plane.Axes, g plane.Grid) string { return fmt.Sprint(x.Row, x.Col, positionOf(x), g) }

// positionOf returns the position of a plane, with zeros for its own axes.
func positionOf(x plane.Axes) []int64 {
	at := slices.Clone(x.At)
	for _, axis := range []int{x.Row, x.Col} {
		if axis >= 0 && axis < len(at) {
			at[axis] = 0
		}
	}
	return at
}

// plane returns the samples of a plane: those in memory, those that another call is reading, or new ones. A read that
// no call waits for is canceled.
func (s *Session) plane(ctx context.Context, a *document.Array, x plane.Axes, g plane.Grid, c plane.Cost) (*plane.Samples, error) {
	key := keyOf(x, g)
	s.mu.Lock()
	if a != s.array {
		s.mu.Unlock()
		return nil, context.Canceled
	}
	if i := slices.IndexFunc(s.kept, func(k keptPlane) bool { return k.key == key }); i >= 0 {
		k := s.kept[i]
		s.kept = append(slices.Delete(s.kept, i, i+1), k)
		s.mu.Unlock()
		return k.samples, nil
	}
	f := s.flights[key]
	if f == nil {
		f = s.start(a, x, g, c, key)
	}
	f.waiting++
	s.mu.Unlock()
	select {
	case <-f.done:
		return f.samples, f.err
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
		if s.flights[key] == f {
			delete(s.flights, key)
		}
	}
	return nil, ctx.Err()
}

// start begins to read a plane. The caller holds the lock.
func (s *Session) start(a *document.Array, x plane.Axes, g plane.Grid, c plane.Cost, key string) *flight {
	ctx, cancel := context.WithCancel(context.Background())
	f := &flight{done: make(chan struct{}), cancel: cancel}
	s.flights[key] = f
	s.reads++
	go func() {
		defer cancel()
		var v ndarray.Reader
		if v, f.err = x.View(a); f.err == nil {
			f.samples, f.err = plane.Read(ctx, v, g, c)
		}
		s.mu.Lock()
		if s.flights[key] == f {
			delete(s.flights, key)
			if f.err == nil {
				s.keep(keptPlane{key, f.samples})
			}
		}
		s.mu.Unlock()
		close(f.done)
	}()
	return f
}

// keep adds a plane to those in memory. The caller holds the lock.
func (s *Session) keep(k keptPlane) {
	s.kept = append(s.kept, k)
	n := 0
	for i := len(s.kept) - 1; i >= 0; i-- {
		if n += len(s.kept[i].samples.Values); n > keepValues && i < len(s.kept)-1 {
			s.kept = slices.Delete(s.kept, 0, i+1)
			return
		}
	}
}

// maxLine is the largest number of items of a line.
const maxLine = 1 << 16

// Line returns the items along an axis through a position, at most that many.
func (s *Session) Line(ctx context.Context, at []int64, axis, most int, budget int64) (*plane.Line, error) {
	a, err := s.Array()
	if err != nil {
		return nil, err
	}
	x := plane.Axes{Row: axis, Col: -1, At: at}
	return plane.ReadLine(ctx, a, at, axis, min(most, maxLine), x.CostOf(a.Blocks(), a.DType().Size, budget))
}

// maxTable is the number of items of a table.
const maxTable = 1 << 12

// Table returns items of a plane as text, row by row. The size of the table is at most rows and cols.
func (s *Session) Table(ctx context.Context, x plane.Axes, top, left int64, rows, cols int) (text []string, gotRows, gotCols int, err error) {
	a, err := s.Array()
	if err != nil {
		return nil, 0, 0, err
	}
	v, err := x.View(a)
	if err != nil {
		return nil, 0, 0, err
	}
	shape := v.Shape()
	h, w := min(int64(rows), shape[0]-top), min(int64(cols), shape[1]-left)
	d := v.DType()
	if top < 0 || left < 0 || h <= 0 || w <= 0 || h*w > maxTable {
		return nil, 0, 0, fmt.Errorf("no table of %d × %d items at %d, %d: %w", h, w, top, left, ndarray.ErrBounds)
	}
	if h*w*int64(d.Size) > document.MaxText {
		return nil, 0, 0, fmt.Errorf("a table of %d × %d items of %d bytes is not shown: %w", h, w, d.Size, ndarray.ErrTooLarge)
	}
	data := make([]byte, h*w*int64(d.Size))
	if err := v.ReadBytes(ctx, data, ndarray.Span(top, top+h), ndarray.Span(left, left+w)); err != nil {
		return nil, 0, 0, err
	}
	for b := range slices.Chunk(data, max(d.Size, 1)) {
		text = append(text, item.Text(d, b))
	}
	return text, int(h), int(w), nil
}
