package session

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/examples/viewer/internal/document"
	"github.com/goblosc/blosc2/examples/viewer/internal/paint"
	"github.com/goblosc/blosc2/examples/viewer/internal/plane"
	"github.com/goblosc/blosc2/ndarray"
)

// A Request asks for a picture of a part of a plane.
type Request struct {
	Axes   plane.Axes
	Window plane.Window
	Style  paint.Style
	Budget int64 // bytes to decode
}

// A Picture is the answer.
type Picture struct {
	Pixels    []byte // four bytes for each pixel
	Low, High float64
	Bar       []byte // colors from Low to High, four bytes for each
	Histogram paint.Histogram
	Grid      plane.Grid
	Limited   bool // fewer items than pixels, because of the budget
}

const (
	barColors = 256
	bins      = 64
	maxPixels = 4096 // along each side of a picture
)

// check returns an error for a picture that is not drawn.
func (q *Request) check(shape []int64) error {
	if h, w := q.Window.Height, q.Window.Width; h < 0 || w < 0 || h > maxPixels || w > maxPixels {
		return fmt.Errorf("a picture of %d × %d pixels, want at most %d: %w", w, h, maxPixels, ndarray.ErrBounds)
	}
	return q.Axes.Check(shape)
}

// grid returns what a request reads.
func (q *Request) grid(shape, blocks []int64, itemSize int) (plane.Grid, plane.Cost, bool) {
	rows, cols := q.Axes.Shape(shape)
	c := q.Axes.CostOf(blocks, itemSize, q.Budget)
	g, limited := plane.GridOf(q.Window, rows, cols, c)
	return g, c, limited
}

// key names a request.
func (q *Request) key() string {
	s := &q.Style
	return fmt.Sprint(q.Axes.Row, q.Axes.Col, positionOf(q.Axes), q.Window, q.Budget, s.Map, s.Log, s.Percentile, s.Range, s.NaN)
}

// Picture returns a picture. The caller does not change it.
func (s *Session) Picture(ctx context.Context, q *Request) (*Picture, error) {
	a, err := s.Array()
	if err != nil {
		return nil, err
	}
	if err := q.check(a.Shape()); err != nil {
		return nil, err
	}
	s.mu.Lock()
	next := s.next
	s.mu.Unlock()
	if next.array == a && next.key == q.key() {
		return next.picture, nil
	}
	return s.draw(ctx, a, q)
}

// draw draws a picture.
func (s *Session) draw(ctx context.Context, a *document.Array, q *Request) (*Picture, error) {
	g, c, limited := q.grid(a.Shape(), a.Blocks(), a.DType().Size)
	samples, err := s.plane(ctx, a, q.Axes, g, c)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	p := &Picture{Grid: g, Limited: limited, Histogram: paint.NewHistogram(samples.Values, bins)}
	if p.Low, p.High, err = q.Style.Limits(samples.Values); err != nil {
		return nil, err
	}
	p.Pixels = samples.Render(q.Window, &q.Style, p.Low, p.High)
	for i := range barColors {
		k := q.Style.Map.Color(float64(i) / (barColors - 1))
		p.Bar = append(p.Bar, k.R, k.G, k.B, k.A)
	}
	return p, nil
}

// Prefetch draws the picture that may be asked for next, and keeps it until the next call.
func (s *Session) Prefetch(ctx context.Context, q *Request) error {
	a, err := s.Array()
	if err != nil {
		return err
	}
	if err := q.check(a.Shape()); err != nil {
		return err
	}
	p, err := s.draw(ctx, a, q)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.array == a {
		s.next = nextPicture{a, q.key(), p}
	}
	return nil
}
