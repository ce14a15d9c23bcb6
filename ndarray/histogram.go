package ndarray

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray/internal/reduce"
)

// Histogram counts the items of r between edges, like numpy.histogram(r, edges). Bin i counts the items from edges[i]
// up to, but not including, edges[i+1]. The last bin includes its upper edge. NaNs and items outside the edges are not
// counted. Items are compared as float64. For bins of equal width from first to last, compute the edges:
//
//	for i := range edges {
//		edges[i] = first + (last-first)*float64(i)/float64(len(edges)-1)
//	}
//
// Edges that are integers are exact. If (last-first)*float64(len(edges)-1) is infinite, as for items up to 1e308,
// divide before multiplying; last-first must be finite.
//
// Histogram reads the items once, in parallel, and needs memory for a few chunks. The items must be integers or floats;
// otherwise it returns ErrType. It returns ErrParam if there are fewer than two edges, or if an edge is NaN or less
// than the edge before it. Other errors are those of reading.
func Histogram(ctx context.Context, r Reader, edges []float64) ([]int64, error) {
	if len(edges) < 2 {
		return nil, fmt.Errorf("ndarray: %w: a histogram needs 2 edges or more, got %d", ErrParam, len(edges))
	}
	for i, x := range edges {
		if x != x || i > 0 && x < edges[i-1] {
			return nil, fmt.Errorf("ndarray: %w: edge %d of the histogram is %v, less than the one before or NaN", ErrParam, i, x)
		}
	}
	j, err := newTally(ctx, r, "histogram")
	if err != nil {
		return nil, err
	}
	defer j.h.release()
	j.tally.bins = reduce.NewBins(edges)
	if err := j.runType(r.DType()); err != nil {
		return nil, err
	}
	if counts := j.tally.counts.Sum(); counts != nil {
		return counts, nil
	}
	return make([]int64, len(edges)-1), nil
}

// Quantiles returns quantiles of all items of r, such as the median for 0.5. They are exact, like those of
// numpy.quantile for the items as float64: between two items, the result is interpolated. If an item is NaN, or if
// there are no items, all results are NaN. With the option SkipNaN, items that are NaN do not count. The other options
// return ErrParam.
//
// Next to an infinity the result may be NaN, as in numpy.quantile. But between equal infinities, and at the largest
// item if it is infinite, the result is that infinity, where NumPy returns NaN for quantiles of dtype float64.
//
// Quantiles does not sort. It reads the items once if they have 8 or 16 bits, twice if they have 32 and four times if
// they have 64, in parallel, and more often for more than eight quantiles. It needs memory for a few chunks, and up to
// 8 MiB for each goroutine. The items must be integers or floats; otherwise it returns ErrType. It returns ErrParam for
// a quantile that is not from 0 to 1, or an option that does not apply. Other errors are those of reading.
func Quantiles(ctx context.Context, r Reader, q []float64, o *ReduceOptions) ([]float64, error) {
	if o == nil {
		o = &ReduceOptions{}
	}
	if o.Axes != nil || o.KeepDims || o.DDof != 0 {
		return nil, fmt.Errorf("ndarray: %w: of the options, only SkipNaN applies to Quantiles", ErrParam)
	}
	for _, x := range q {
		if !(x >= 0 && x <= 1) {
			return nil, fmt.Errorf("ndarray: %w: quantile %v, which must be from 0 to 1", ErrParam, x)
		}
	}
	j, err := newTally(ctx, r, "quantile")
	if err != nil {
		return nil, err
	}
	defer j.h.release()
	t := j.tally
	t.quantiles, t.skip = q, o.SkipNaN
	if err := j.runType(r.DType()); err != nil {
		return nil, err
	}
	return t.result, nil
}

// tally is what a reduction of all items to counts needs, and its result.
type tally struct {
	bins   *reduce.Bins // of a histogram, or nil
	counts reduce.Counts

	quantiles []float64
	skip      bool
	result    []float64
}

// newTally prepares the reduction of all items of r to counts. The caller must release its snapshot.
func newTally(ctx context.Context, r Reader, what string) (*reduction, error) {
	if d := r.DType(); d.Fields != nil || d.Elem != nil || d.Kind != 'i' && d.Kind != 'u' && d.Kind != 'f' {
		return nil, fmt.Errorf("ndarray: %w: no %s for items of dtype %v", ErrType, what, d)
	}
	ctx = task.Context(ctx)
	h, err := snapshotOf(ctx, r)
	if err != nil {
		return nil, err
	}
	j := &reduction{ctx: ctx, r: r, h: h, tally: &tally{}}
	if err := j.setAxes(nil, false); err != nil {
		h.release()
		return nil, err
	}
	return j, nil
}

// runTally counts real numbers. See reduceReal.
func runTally[S scalar, T Real](j *reduction, widen func(S) T) error {
	t := j.tally
	none := func(int64, []struct{}) {}
	if t.bins != nil {
		return runKernel(j, widen, reduce.Histogram[T](t.bins, &t.counts), none)
	}
	ranks := reduce.NewRanks(int(unsafe.Sizeof(*new(T))))
	for p := ranks.First(); p != nil; p = ranks.Next() {
		if err := runKernel(j, widen, reduce.Keys[T](p), none); err != nil {
			return err
		}
		p.Done(func() []int64 { return t.ranks(ranks) })
	}
	t.result = make([]float64, len(t.quantiles))
	for i, q := range t.quantiles {
		t.result[i] = math.NaN()
		if t.defined(ranks) {
			_, part := math.Modf(quantilePosition(q, ranks.N))
			t.result[i] = reduce.Between(reduce.Number[T](ranks, 2*i), reduce.Number[T](ranks, 2*i+1), part)
		}
	}
	return nil
}

// quantilePosition returns where a quantile is among n sorted items. The conversion keeps the product from being fused
// with what follows, which some CPUs do.
func quantilePosition(q float64, n int64) float64 { return float64(q * float64(n-1)) }

// defined reports whether the quantiles are numbers.
func (t *tally) defined(r *reduce.Ranks) bool { return r.N > 0 && (t.skip || r.NaNs == 0) }

// ranks returns the positions of the two items that each quantile lies between.
func (t *tally) ranks(r *reduce.Ranks) []int64 {
	if !t.defined(r) {
		return nil
	}
	var at []int64
	for _, q := range t.quantiles {
		i := min(int64(quantilePosition(q, r.N)), r.N-1)
		at = append(at, i, min(i+1, r.N-1))
	}
	return at
}
