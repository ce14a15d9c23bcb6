package selection

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// checkSort compares sortListed with a stable sort of the standard library. kind selects the order of the keys.
func checkSort(t *testing.T, r *rand.Rand, n int, size, most int64, kind uint8) {
	t.Helper()
	p := make([]listed, n)
	for i := range p {
		p[i].key = r.Int64N(most)
	}
	switch kind % 4 {
	case 1: // the keys of each part ascend
		slices.SortStableFunc(p, func(a, b listed) int { return cmp.Compare(a.key%size, b.key%size) })
	case 2:
		slices.SortFunc(p, compareListed)
	case 3: // descending
		slices.SortFunc(p, func(a, b listed) int { return compareListed(b, a) })
	}
	for i := range p {
		p[i].at = int64(i)
	}
	want := slices.Clone(p)
	slices.SortFunc(want, compareListed)
	if err := sortListed(context.Background(), p, size); err != nil || !slices.Equal(p, want) {
		t.Fatalf("%d keys below %d, parts of %d, order %d: wrong order (%v)", n, most, size, kind%4, err)
	}
}

// TestSortListed sorts with few and many parts, and with keys that leave no bits for positions.
func TestSortListed(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for i := range 400 {
		size := 1 + r.Int64N(1000)
		for _, most := range []int64{1, size, 3 * size, 1 << 20, 1 << 40, 1<<63 - 1} {
			checkSort(t, r, r.IntN(1500), size, most, uint8(i))
		}
		checkSort(t, r, 1500, 1<<55, 1<<60, uint8(i)) // few parts of large keys
	}
}

// FuzzSortListed compares sortListed with the standard library.
func FuzzSortListed(f *testing.F) {
	f.Add(uint64(1), uint16(1000), int64(100), int64(2000), uint8(1))
	f.Add(uint64(2), uint16(1000), int64(1<<55), int64(1<<60), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, size, most int64, kind uint8) {
		if size > 0 && most > 0 {
			checkSort(t, rand.New(rand.NewPCG(seed, 2)), int(n), size, most, kind)
		}
	})
}

// randomMapping returns a view of an array with reversed, sliced and transposed axes.
func randomMapping(r *rand.Rand, g *grid.Geometry) *Mapping {
	m := Identity(g, meta.DType{Size: int(g.ItemSize)})
	for i := range g.Ndim {
		x := &m.Axes[i]
		switch r.IntN(5) {
		case 0:
			x.Start, x.Step = max(x.Count-1, 0), -1
		case 1:
			x.Step, x.Count = 2, (x.Count+1)/2
		case 2:
			x.Start = r.Int64N(x.Count)
			x.Count -= x.Start
		}
		if x.Count < 2 {
			x.Step = 1
		}
	}
	if r.IntN(3) == 0 {
		r.Shuffle(g.Ndim, func(i, j int) { m.Axes[i], m.Axes[j] = m.Axes[j], m.Axes[i] })
	}
	return &m
}

// randomView returns a random view of a random array, and its shape, or nil if the array has no items or no axes.
func randomView(r *rand.Rand) (*grid.Geometry, *Mapping, []int64) {
	g, _ := randomCase(r)
	if g.Items == 0 || g.Ndim == 0 {
		return nil, nil, nil
	}
	m := randomMapping(r, g)
	return g, m, m.Shape(new(grid.Dims))
}

// checkListPlan compares the sorted items of a plan with a loop over the listed positions of a view.
func checkListPlan(t *testing.T, r *rand.Rand) {
	t.Helper()
	g, m, shape := randomView(r)
	if g == nil {
		return
	}
	total, _ := grid.Product(shape)
	keep, at := make([]bool, total), []int64{}
	for i := range keep {
		if keep[i] = r.IntN(3) > 0; keep[i] {
			at = append(at, int64(i))
		}
	}
	index := Mask(keep, shape)
	switch r.IntN(4) {
	case 0:
		index = Flat(at...)
	case 1:
		r.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
		index = Flat(at...)
	}
	s, err := Resolve(shape, []Index{index})
	if err != nil {
		t.Fatal(err)
	}
	if s.Items == 0 {
		return
	}
	p, err := NewListPlan(context.Background(), g, m, &s, []Index{index})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]listed, len(at))
	for k, i := range at {
		coord := m.fixed
		for axis := len(shape) - 1; axis >= 0; axis-- {
			x := &m.Axes[axis]
			coord[x.Axis] = x.Start + i%shape[axis]*x.Step
			i /= shape[axis]
		}
		position := int64(0)
		for axis := range g.Ndim {
			position = position*g.Shape[axis] + coord[axis]
		}
		chunk, block, item := locate(g, position)
		want[k] = listed{chunk*g.ChunkBytes + block*g.BlockBytes + item*g.ItemSize, int64(k)}
	}
	slices.SortFunc(want, compareListed)
	if !slices.Equal(p.Lists[0].Points, want) {
		t.Fatalf("%v of %v, chunks %v, blocks %v: have %v, want %v", index, shape, g.ChunkShape[:g.Ndim], g.BlockShape[:g.Ndim], p.Lists[0].Points, want)
	}
}

// TestListPlanAgainstLoops compares plans of masks and lists of positions with loops.
func TestListPlanAgainstLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 3000 {
		checkListPlan(t, r)
	}
}

// FuzzListPlan compares plans of masks and lists of positions with loops.
func FuzzListPlan(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkListPlan(t, rand.New(rand.NewPCG(seed, 3))) })
}
