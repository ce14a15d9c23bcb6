package rechunk

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/goblosc/blosc2/internal/errs"
)

// boxes calls f with the coordinates of each box of a partition of shape, and those of its end.
func boxes(shape, part []int64, f func(start, end []int64)) {
	start, end := make([]int64, len(shape)), make([]int64, len(shape))
	var walk func(i int)
	walk = func(i int) {
		if i == len(shape) {
			f(start, end)
			return
		}
		for start[i] = 0; start[i] < shape[i]; start[i] += part[i] {
			end[i] = min(start[i]+part[i], shape[i])
			walk(i + 1)
		}
	}
	walk(0)
}

// size returns the number of items of a box.
func size(start, end []int64) int64 {
	n := int64(1)
	for i := range start {
		n *= end[i] - start[i]
	}
	return n
}

// meets reports whether two boxes have items in common, and contains whether the first has all items of the second.
func meets(start, end, from, to []int64) (meets, contains bool) {
	meets, contains = true, true
	for i := range start {
		meets = meets && start[i] < to[i] && from[i] < end[i]
		contains = contains && start[i] <= from[i] && to[i] <= end[i]
	}
	return meets, contains
}

// checkStage compares a stage, which reads chunks of a shape, with what its tiles do, one by one.
func checkStage(p *Problem, from []int64, s *Stage) error {
	got := Stage{Tile: s.Tile, Chunks: s.Chunks}
	items := int64(0)
	var err error
	boxes(p.Shape, s.Tile, func(start, end []int64) {
		got.Tiles++
		items += size(start, end)
		got.Memory = max(got.Memory, p.ItemSize*size(start, end))
		boxes(p.Shape, from, func(a, b []int64) {
			if hit, _ := meets(start, end, a, b); hit {
				got.Reads++
				got.BytesRead += p.ItemSize * size(a, b)
			}
		})
		boxes(p.Shape, s.Chunks, func(a, b []int64) {
			hit, all := meets(start, end, a, b)
			if hit && !all {
				err = fmt.Errorf("tile %v to %v has a part of chunk %v to %v", start, end, a, b)
			} else if hit {
				got.Writes++
				got.BytesWritten += p.ItemSize * size(a, b)
			}
		})
	})
	n := size(make([]int64, len(p.Shape)), p.Shape)
	switch {
	case err != nil:
	case items != n:
		err = fmt.Errorf("the tiles have %d items, want %d", items, n)
	case got.Memory > p.MaxMemory:
		err = fmt.Errorf("a tile of %d bytes, at most %d", got.Memory, p.MaxMemory)
	case n > 0 && fmt.Sprint(got) != fmt.Sprint(*s):
		err = fmt.Errorf("got %+v, forecast %+v", got, *s)
	}
	return err
}

// leastRead returns the fewest bytes that a single stage can read, by trying all tiles.
func leastRead(p *Problem) int64 {
	tile := slices.Clone(p.To)
	best := p.Stage(p.From, tile, p.To).BytesRead
	var try func(i int)
	try = func(i int) {
		if i == len(tile) {
			if p.bytes(tile) <= p.MaxMemory {
				best = min(best, p.Stage(p.From, tile, p.To).BytesRead)
			}
			return
		}
		for tile[i] = p.To[i]; ; tile[i] += p.To[i] {
			try(i + 1)
			if tile[i] >= p.Shape[i] {
				break
			}
		}
		tile[i] = p.To[i]
	}
	try(0)
	return best
}

// randomProblem returns a problem that is small enough to check each item.
func randomProblem(rng *rand.Rand) Problem {
	p := Problem{ItemSize: 1 + rng.Int64N(8), Overhead: []int64{0, 1, 20, 500}[rng.IntN(4)]}
	dims := 1 + rng.IntN(3)
	if rng.IntN(50) == 0 {
		dims = 0
	}
	most := []int64{0, 200, 24, 10}[dims]
	for range dims {
		n := 1 + rng.Int64N(most)
		if rng.IntN(100) == 0 {
			n = 0
		}
		length := func() int64 {
			switch rng.IntN(4) {
			case 0:
				return 1
			case 1:
				return max(n, 1)
			}
			return 1 + rng.Int64N(most+2)
		}
		p.Shape, p.From, p.To = append(p.Shape, n), append(p.From, length()), append(p.To, length())
	}
	p.MaxMemory = p.bytes(p.To) + rng.Int64N(1+p.bytes(p.Shape)/(1+rng.Int64N(16)))
	return p
}

// TestPlan compares the stages of 10,000 random problems with what their tiles do: they cover each item once, they
// write each chunk as a whole, they stay in memory, and they read as many chunks as forecast. Plans of several stages
// read no chunk twice, also those that are not the cheapest. A single stage reads about as little as any tiles would.
func TestPlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	stages := map[int]int{}
	excess, worst := 0.0, 1.0
	compared := 0
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	for k := range n {
		p := randomProblem(rng)
		best, err := New(p)
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		stages[len(best)]++
		plans := [][]Stage{best, {p.direct()}}
		for between := 1; between <= maxBetween; between++ {
			if s := p.through(between); s != nil {
				plans = append(plans, s)
			}
		}
		for _, plan := range plans {
			if p.Cost(plan...) < p.Cost(best...) {
				t.Fatalf("problem %d %+v: %+v costs less than %+v", k, p, plan, best)
			}
			from := p.From
			for j := range plan {
				if err := checkStage(&p, from, &plan[j]); err != nil {
					t.Fatalf("problem %d %+v, stage %d of %+v: %v", k, p, j, plan, err)
				}
				if chunks := p.Stage(from, p.Shape, p.To).Reads; len(plan) > 1 && plan[j].Reads != chunks {
					t.Fatalf("problem %d %+v, stage %d: %d reads of %d chunks", k, p, j, plan[j].Reads, chunks)
				}
				from = plan[j].Chunks
			}
			if !slices.Equal(from, p.To) {
				t.Fatalf("problem %d %+v: the result has chunks of %v", k, p, from)
			}
		}
		if least := leastRead(&p); least > 0 {
			r := float64(p.direct().BytesRead) / float64(least)
			excess += r - 1
			worst = max(worst, r)
			compared++
		}
	}
	t.Logf("stages: %v; a single stage reads %.4f times as much as the best one on average, at most %.2f times", stages, 1+excess/float64(compared), worst)
	if stages[1] == 0 || stages[2] == 0 || stages[3] == 0 && n == 10_000 { // three are rare
		t.Error("too few kinds of plans")
	}
	if excess/float64(compared) > 0.02 || worst > 2.5 {
		t.Error("single stages read too much")
	}
}

// TestPlanLimits checks problems without a plan, and one that is too large to count.
func TestPlanLimits(t *testing.T) {
	for _, x := range []struct {
		p    Problem
		want error
	}{
		{Problem{Shape: []int64{10}, ItemSize: 4, From: []int64{2}, To: []int64{5}, MaxMemory: 19}, errs.ErrTooLarge},
		{Problem{Shape: []int64{1 << 40, 1 << 40}, ItemSize: 4, From: []int64{1, 1}, To: []int64{1, 1}, MaxMemory: 1 << 40}, errs.ErrTooLarge},
		{Problem{Shape: []int64{10}, ItemSize: 4, From: []int64{2, 2}, To: []int64{5}, MaxMemory: 20}, errs.ErrShape},
		{Problem{Shape: []int64{10}, ItemSize: 4, From: []int64{0}, To: []int64{5}, MaxMemory: 20}, errs.ErrShape},
		{Problem{Shape: []int64{10}, ItemSize: 4, From: []int64{2}, To: []int64{5}, MaxMemory: 20}, nil},
		{Problem{Shape: []int64{1 << 40}, ItemSize: 4, From: []int64{3}, To: []int64{7}, MaxMemory: 1 << 30}, nil},
	} {
		if _, err := New(x.p); !errors.Is(err, x.want) {
			t.Errorf("%+v: %v, want %v", x.p, err, x.want)
		}
	}
}

// TestHuge plans copies of arrays with odd lengths. It takes little time, and no number overflows.
func TestHuge(t *testing.T) {
	const large = 1 << 62
	for _, p := range []Problem{
		{Shape: []int64{1 << 46}, From: []int64{1<<45 - 55}, To: []int64{2}, MaxMemory: 1<<45 - 55}, // a prime number
		{Shape: []int64{1 << 46}, From: []int64{1<<45 - 55}, To: []int64{1}, MaxMemory: 1<<45 - 55},
		{Shape: []int64{1 << 45}, From: []int64{1 << 30}, To: []int64{1}, MaxMemory: 1 << 31},
		{Shape: []int64{1 << 45}, From: []int64{1 << 30}, To: []int64{1}, MaxMemory: large},
		{Shape: []int64{1 << 22, 1 << 22}, From: []int64{1 << 22, 1 << 22}, To: []int64{1, 1}, MaxMemory: 1 << 10},
		{Shape: []int64{1 << 40}, From: []int64{1 << 31}, To: []int64{1}, MaxMemory: 1 << 5},
		{Shape: []int64{1 << 20, 1 << 20}, From: []int64{1, 1 << 20}, To: []int64{1 << 20, 1}, MaxMemory: 1 << 30},
	} {
		p.ItemSize, p.Overhead = 1, 4096
		start := time.Now()
		plan, err := New(p)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%+v: %v", p, took)
		}
		if err != nil && !errors.Is(err, errs.ErrTooLarge) {
			t.Errorf("%+v: %v", p, err)
		}
		for _, s := range plan {
			all := p.ItemSize
			for _, n := range p.Shape {
				all *= n
			}
			if s.Reads < 1 || s.Writes < 1 || s.BytesRead < all || s.BytesRead == math.MaxInt64 || s.BytesWritten != all || s.Memory > p.MaxMemory {
				t.Errorf("%+v: stage %+v", p, s)
			}
		}
	}
	overflow := Problem{Shape: []int64{1 << 22, 1 << 22}, ItemSize: 1, From: []int64{1 << 22, 1 << 22}, To: []int64{1, 1}, MaxMemory: 1}
	if plan, err := New(overflow); !errors.Is(err, errs.ErrTooLarge) {
		t.Errorf("%+v, %v", plan, err)
	}
}

// TestDivisor compares divisor with a loop.
func TestDivisor(t *testing.T) {
	for n := int64(1); n < 200; n++ {
		for most := int64(1); most < 210; most++ {
			want := min(n, most)
			for n%want != 0 {
				want--
			}
			if got := divisor(n, most); got != want {
				t.Fatalf("divisor(%d, %d) = %d, want %d", n, most, got, want)
			}
		}
	}
}

// TestOverlapsHuge compares overlaps with a count, for lengths whose least common multiple does not fit in an int64.
func TestOverlapsHuge(t *testing.T) {
	for _, x := range [][3]int64{{1 << 43, 1<<40 + 1, 1<<41 - 1}, {2, 1, 2}, {1 << 45, 1<<45 - 1, 1<<40 - 1}, {1 << 40, 1<<40 - 1, 1<<36 + 1}} {
		n, tile, chunk := x[0], x[1], x[2]
		wantPairs, wantItems := int64(0), int64(0)
		for i := int64(0); i < n; i += tile {
			for k := int64(0); k < n; k += chunk {
				if i < k+chunk && k < i+tile {
					wantPairs++
					wantItems += min(chunk, n-k)
				}
			}
		}
		if pairs, items := overlaps(n, tile, chunk); pairs != wantPairs || items != wantItems {
			t.Errorf("%v: %d pairs, %d items, want %d and %d", x, pairs, items, wantPairs, wantItems)
		}
	}
}
