package interop

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
)

var splitModes = []chunk.SplitMode{chunk.SplitAuto, chunk.SplitAlways, chunk.SplitNever, coder.SplitForward}

// A factor is one of the things that a case combines, with the number of its values.
type factor struct {
	name   string
	values int
}

var arrayFactors = []factor{
	{"codec", len(codecs)}, {"filters", len(pipelines)}, {"split", len(splitModes)}, {"typesize", len(typeSizes)},
	{"store", len(stores)}, {"form", len(forms)}, {"content", len(kinds)}, {"level", 10},
}

// coverage draws cases, one value of each factor, so that every two values of different factors meet.
type coverage struct {
	factors  []factor
	feasible func(values []int) bool
	order    [][4]int        // pairs: factor, value, other factor, other value
	left     map[[4]int]bool // pairs that no case has yet
}

func newCoverage(rng *rand.Rand, factors []factor, feasible func(values []int) bool) *coverage {
	c := &coverage{factors: factors, feasible: feasible, left: map[[4]int]bool{}}
	for i, f := range factors {
		for j := range i {
			for a := range f.values {
				for b := range factors[j].values {
					pair := [4]int{i, a, j, b}
					if c.draw(rng, pair[:]) != nil {
						c.left[pair] = true
						c.order = append(c.order, pair)
					}
				}
			}
		}
	}
	rng.Shuffle(len(c.order), func(i, j int) { c.order[i], c.order[j] = c.order[j], c.order[i] })
	return c
}

// draw returns a random feasible case with some fixed values, given as pairs of a factor and its value. It returns nil
// if it finds none.
func (c *coverage) draw(rng *rand.Rand, fixed []int) []int {
	values := make([]int, len(c.factors))
	for range 200 {
		for i, f := range c.factors {
			values[i] = rng.IntN(f.values)
		}
		for i := 0; i < len(fixed); i += 2 {
			values[fixed[i]] = fixed[i+1]
		}
		if c.feasible(values) {
			return values
		}
	}
	return nil
}

// next returns a case with new pairs, or any case if no pair is left.
func (c *coverage) next(rng *rand.Rand) []int {
	var best []int
	most := -1
	for _, pair := range c.order {
		if !c.left[pair] {
			continue
		}
		for range 20 {
			if v := c.draw(rng, pair[:]); v != nil && c.gain(v) > most {
				best, most = slices.Clone(v), c.gain(v)
			}
		}
		break
	}
	if best == nil {
		best = c.draw(rng, nil)
	}
	c.each(best, func(pair [4]int) { delete(c.left, pair) })
	return best
}

func (c *coverage) each(values []int, f func(pair [4]int)) {
	for i := range values {
		for j := range i {
			f([4]int{i, values[i], j, values[j]})
		}
	}
}

func (c *coverage) gain(values []int) int {
	n := 0
	c.each(values, func(pair [4]int) {
		if c.left[pair] {
			n++
		}
	})
	return n
}

// arrayCases returns n random arrays without metalayers, in which every two values of different factors meet.
func arrayCases(t *testing.T, n int) []*arrayCase {
	t.Helper()
	rng := rand.New(rand.NewPCG(*seed, 1<<40))
	cov := newCoverage(rng, arrayFactors, func(v []int) bool {
		return !lossy(pipelines[v[1]]) || typeSizes[v[3]] == 4 || typeSizes[v[3]] == 8
	})
	var all []*arrayCase
	for len(all) < n || len(cov.left) > 0 && !testing.Short() {
		v := cov.next(rng)
		c := &arrayCase{store: stores[v[4]], kind: kinds[v[6]]}
		c.ours.Codec, c.ours.Filters, c.ours.Split = codecs[v[0]], pipelines[v[1]], splitModes[v[2]]
		c.ours.TypeSize, c.ours.Level = typeSizes[v[3]], v[7]
		c.setForm(rng, forms[v[5]])
		for slow(c.ours, c.nbytes()) {
			c.setForm(rng, forms[v[5]])
		}
		c.refs = refParams(c.ours)
		all = append(all, c)
	}
	t.Logf("%d arrays with %d of %d pairs of %v", len(all), len(cov.order)-len(cov.left), len(cov.order), fmt.Sprint(cov.factors))
	return all
}
