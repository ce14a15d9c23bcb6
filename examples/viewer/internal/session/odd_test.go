package session

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/goblosc/blosc2/examples/viewer/internal/object"
	"github.com/goblosc/blosc2/examples/viewer/internal/paint"
	"github.com/goblosc/blosc2/examples/viewer/internal/plane"
	"github.com/goblosc/blosc2/ndarray"
)

// openArray returns a session with an array, whose bytes are in memory.
func openArray[T any](t *testing.T, shape []int64, data []T) *Session {
	t.Helper()
	a, err := ndarray.Create(t.Context(), "", shape, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := a.Save(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	g := &slow{out.Bytes(), make(chan struct{}), make(chan struct{}, 1), make(chan struct{}, 100)}
	close(g.open)
	s := &Session{}
	if _, err := s.Open(t.Context(), object.New(g, int64(out.Len()), 1<<20, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Select(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOddArguments asks for pictures, lines and tables that do not exist, of arrays with odd items. Nothing panics, and
// no picture is larger than the most that is drawn.
func TestOddArguments(t *testing.T) {
	ctx := t.Context()
	nan, inf := math.NaN(), math.Inf(1)
	wide := make([]float64, 200*200) // more values than a table of colors has entries
	for i := range wide {
		wide[i] = []float64{-math.MaxFloat64, math.MaxFloat64, nan, inf, -inf, 0, 1e-310}[i%7]
	}
	sessions := map[string]*Session{
		"wide":  openArray(t, []int64{200, 200}, wide),
		"NaN":   openArray(t, []int64{2, 2}, []float64{nan, nan, nan, nan}),
		"none":  openArray(t, []int64{0, 5}, []float64{}),
		"line":  openArray(t, []int64{3}, []int8{1, 2, 3}),
		"value": openArray(t, []int64{}, []int8{1}),
		"text":  openArray(t, []int64{2, 2}, []string{"a", "b", "", "d"}),
	}
	sizes := []int{0, -1, 1, 200, math.MinInt, math.MaxInt}
	numbers := []float64{0, 1, -1, 200, 1e300, -1e300, nan, inf, -inf}
	pairs := []*[2]float64{nil, {0, 100}, {-5, 50}, {50, 1e9}, {nan, nan}, {inf, -inf}, {100, 0}, {-1e308, 1e308}}
	for name, s := range sessions {
		a, err := s.Array()
		if err != nil {
			t.Fatal(err)
		}
		n := len(a.Shape())
		axes := []plane.Axes{
			{Row: 0, Col: 1, At: make([]int64, n)}, {Row: 1, Col: 0, At: make([]int64, n)}, {Row: -1, At: make([]int64, n)}, {},
			{Row: 9, Col: -9, At: make([]int64, n)},
		}
		for i := range 4000 {
			pick := func(k int) float64 { return numbers[(i*(2*k+1)+i/9)%len(numbers)] }
			q := &Request{
				Axes:   axes[i%len(axes)],
				Window: plane.Window{Top: pick(0), Left: pick(1), Bottom: pick(2), Right: pick(3), Height: sizes[i%5], Width: sizes[i/5%6]},
				Style:  paint.Style{Map: paint.Viridis, Log: i%3 == 0, Percentile: pairs[i%len(pairs)], Range: pairs[i/8%len(pairs)]},
				Budget: int64(sizes[i/30%6]),
			}
			if i%2 == 0 {
				q.Window.Top, q.Window.Left, q.Window.Bottom, q.Window.Right = 0, 0, 200, 200
			}
			p, err := s.Picture(ctx, q)
			if err == nil && len(p.Pixels) > 4*4096*4096 {
				t.Fatalf("%s: %d bytes", name, len(p.Pixels))
			}
		}
		for _, axis := range []int{-1, 0, 1, 9, math.MaxInt} {
			for _, most := range sizes {
				for _, at := range [][]int64{nil, make([]int64, n), {-1, math.MaxInt64}, make([]int64, 100)} {
					l, err := s.Line(ctx, at, axis, most, int64(most))
					if err == nil && len(l.Values) > 1<<16 {
						t.Errorf("%s: a line of %d", name, len(l.Values))
					}
					_, valueErr := a.Value(ctx, at)
					if len(at) == 100 && !errors.Is(valueErr, ndarray.ErrShape) {
						t.Errorf("%s: value at %d: %v", name, len(at), valueErr)
					}
				}
			}
		}
		for _, x := range axes {
			for _, rows := range sizes {
				for _, top := range []int64{0, -1, 1, math.MinInt64, math.MaxInt64} {
					text, h, w, err := s.Table(ctx, x, top, -top, rows, rows)
					if err == nil && len(text) != h*w {
						t.Errorf("%s: a table of %d", name, len(text))
					}
					s.Table(ctx, x, 0, top, rows, 1)
				}
			}
			a.ChunkMap(ctx, x)
			a.ChunkMap(ctx, plane.Axes{Row: x.Row, Col: x.Col, At: []int64{math.MaxInt64, math.MinInt64}[:min(n, 2)]})
		}
		if _, err := s.Sheet(); err == nil {
			t.Errorf("%s: a sheet", name)
		}
	}
	for _, do := range []func(s *Session) error{
		func(s *Session) error { _, err := s.Picture(ctx, &Request{}); return err },
		func(s *Session) error { _, err := s.Select(ctx, ""); return err },
		func(s *Session) error { _, err := s.Line(ctx, nil, 0, 1, 1); return err },
		func(s *Session) error { _, _, _, err := s.Table(ctx, plane.Axes{}, 0, 0, 1, 1); return err },
		func(s *Session) error { return s.Prefetch(ctx, &Request{}) },
	} {
		if err := do(&Session{}); !errors.Is(err, errNothing) {
			t.Errorf("nothing is open: %v", err)
		}
	}
}
