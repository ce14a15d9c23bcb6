package plane

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/examples/viewer/internal/paint"
	"github.com/goblosc/blosc2/ndarray"
)

// TestGridOf checks for random windows that the items are inside the plane, in the window, at most one for each pixel,
// and that their blocks are within the budget.
func TestGridOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		rows, cols := 1+r.Int64N(1<<r.IntN(40)), 1+r.Int64N(1<<r.IntN(40))
		top, left := r.Float64()*float64(rows)*1.2-0.1*float64(rows), r.Float64()*float64(cols)
		w := Window{top, left, top + r.Float64()*float64(rows)*2, left + r.Float64()*float64(cols), 1 + r.IntN(900), 1 + r.IntN(900)}
		c := Cost{1 + r.Int64N(500), 1 + r.Int64N(500), 1 + r.Int64N(1<<22), 1 << (20 + r.IntN(8))}
		g, limited := GridOf(w, rows, cols, c)
		if g.Rows == 0 || g.Cols == 0 {
			continue
		}
		if g.Rows > w.Height+1 || g.Cols > w.Width+1 {
			t.Fatalf("%+v of %d x %d: %+v has more items than pixels", w, rows, cols, g)
		}
		bottom, right := g.Top+int64(g.Rows-1)*g.RowStep, g.Left+int64(g.Cols-1)*g.ColStep
		if g.Top < 0 || g.Left < 0 || bottom >= rows || right >= cols || float64(bottom) > w.Bottom || float64(right) > w.Right {
			t.Fatalf("%+v of %d x %d: %+v is outside", w, rows, cols, g)
		}
		blocks := blocksOf(g.Top, g.RowStep, g.Rows, c.RowBlock) * blocksOf(g.Left, g.ColStep, g.Cols, c.ColBlock)
		if most := max(c.Budget/c.BlockBytes, 1); blocks > 2*most+8 {
			t.Fatalf("%+v of %d x %d with %+v: %+v has %d blocks, want %d", w, rows, cols, c, g, blocks, most)
		}
		if !limited && g.RowStep > 1 && g.RowStep > int64((w.Bottom-w.Top)/float64(w.Height))+2 {
			t.Fatalf("%+v: %+v is too coarse", w, g)
		}
		var rowsSeen int
		for _, b := range g.bands(c, 1<<20) {
			if b[0] != rowsSeen || b[1] <= b[0] {
				t.Fatalf("%+v: bands %v", g, g.bands(c, 1<<20))
			}
			rowsSeen = b[1]
		}
		if rowsSeen != g.Rows {
			t.Fatalf("bands of %d rows, want %d", rowsSeen, g.Rows)
		}
	}
}

// blocksOf counts the blocks of items along an axis.
func blocksOf(first, step int64, n int, block int64) int64 {
	count, last := int64(0), int64(-1)
	for i := range n {
		if b := (first + int64(i)*step) / block; b != last {
			count, last = count+1, b
		}
	}
	return count
}

// TestRead compares planes of an array through all pairs of axes with its items.
func TestRead(t *testing.T) {
	shape := []int64{5, 60, 70}
	data := make([]int32, 5*60*70)
	for i := range data {
		data[i] = int32(i)
	}
	a, err := ndarray.Create(t.Context(), "", shape, data, &ndarray.CreateOptions{Chunks: []int64{2, 30, 30}, Blocks: []int64{1, 10, 10}})
	if err != nil {
		t.Fatal(err)
	}
	at := []int64{3, 20, 30}
	for row := range 3 {
		for col := range 3 {
			if row == col {
				continue
			}
			x := Axes{row, col, at}
			v, err := x.View(a)
			if err != nil {
				t.Fatal(err)
			}
			rows, cols := x.Shape(shape)
			c := x.CostOf(a.Blocks(), 4, 1<<30)
			g, _ := GridOf(Window{1.5, 2.5, float64(rows), float64(cols) - 1, 17, 19}, rows, cols, c)
			s, err := Read(t.Context(), v, g, c)
			if err != nil {
				t.Fatal(err)
			}
			for r := range g.Rows {
				for k := range g.Cols {
					p := []int64{3, 20, 30}
					p[row], p[col] = g.Top+int64(r)*g.RowStep, g.Left+int64(k)*g.ColStep
					want := float64((p[0]*60+p[1])*70 + p[2])
					if got := s.Values[r*g.Cols+k]; got != want {
						t.Fatalf("axes %d, %d: item %v is %v, want %v", row, col, p, got, want)
					}
				}
			}
		}
	}
	for _, x := range []Axes{{0, 0, at}, {0, 3, at}, {-1, 1, at}, {0, 1, at[:2]}, {0, 1, []int64{0, 0, 70}}, {0, 1, []int64{0, 0, -1}}} {
		if _, err := x.View(a); !errors.Is(err, ndarray.ErrShape) && !errors.Is(err, ndarray.ErrBounds) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

// TestReadCanceled checks that a read in many bands ends soon after its context.
func TestReadCanceled(t *testing.T) {
	a, err := ndarray.Zeros(t.Context(), "", []int64{1 << 14, 1 << 14}, "<f8", &ndarray.CreateOptions{Chunks: []int64{1 << 11, 1 << 11}, Blocks: []int64{1 << 9, 1 << 9}})
	if err != nil {
		t.Fatal(err)
	}
	x := Axes{0, 1, []int64{0, 0}}
	c := x.CostOf(a.Blocks(), 8, 1<<40)
	g, _ := GridOf(Window{0, 0, 1 << 14, 1 << 14, 1 << 10, 1 << 10}, 1<<14, 1<<14, c)
	if n := len(g.bands(c, bandBytes)); n < 10 {
		t.Fatalf("%d bands", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, a, g, c); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestRender compares the color of each pixel with that of its item.
func TestRender(t *testing.T) {
	s := &Samples{Grid{2, 3, 2, 3, 2, 2}, []float64{0, 1, 2, 3}} // rows 2 and 4, columns 3 and 6
	style := &paint.Style{Map: paint.Gray, NaN: paint.MissingColor}
	w := Window{0, 0, 8, 12, 16, 24}
	pixels := s.Render(w, style, 0, 3)
	for y := range 16 {
		for x := range 24 {
			row, col := int64(y/2), int64(x/2)
			p := pixels[4*(y*24+x):][:4]
			inside := row >= 2 && row < 6 && col >= 3 && col < 9
			if (p[3] == 255) != inside {
				t.Fatalf("pixel %d, %d has alpha %d", y, x, p[3])
			}
			if inside {
				want := paint.Gray.Color(s.Values[(row-2)/2*2+(col-3)/3] / 3).R
				if p[0] != want {
					t.Errorf("pixel %d, %d is %d, want %d", y, x, p[0], want)
				}
			}
		}
	}
}

// TestReadLine compares lines with the items of an array.
func TestReadLine(t *testing.T) {
	data := make([]float32, 3*1000)
	for i := range data {
		data[i] = float32(i)
	}
	a, err := ndarray.Create(t.Context(), "", []int64{3, 1000}, data, &ndarray.CreateOptions{Chunks: []int64{1, 100}, Blocks: []int64{1, 10}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		axis, most int
		budget     int64
		step, n    int64
	}{{1, 1000, 1 << 20, 1, 1000}, {1, 300, 1 << 20, 4, 250}, {1, 1000, 400, 100, 10}, {0, 10, 1 << 20, 1, 3}} {
		x := Axes{Row: c.axis, Col: -1}
		l, err := ReadLine(t.Context(), a, []int64{1, 7}, c.axis, c.most, x.CostOf(a.Blocks(), 4, c.budget))
		if err != nil || l.Step != c.step || int64(len(l.Values)) != c.n {
			t.Fatalf("%+v: %+v, %v", c, l, err)
		}
		for i, got := range l.Values {
			want := 1000 + float64(int64(i)*c.step)
			if c.axis == 0 {
				want = float64(i*1000 + 7)
			}
			if got != want {
				t.Errorf("%+v: value %d is %v, want %v", c, i, got, want)
			}
		}
	}
}
