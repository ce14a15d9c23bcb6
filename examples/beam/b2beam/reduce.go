package b2beam

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/ndarray"
)

func init() {
	beam.RegisterType(reflect.TypeFor[*reduceFn]())
	beam.RegisterType(reflect.TypeFor[*mergeFn]())
	beam.RegisterType(reflect.TypeFor[*resultFn]())
}

// Reduce reduces arrays along axes, with the dtypes and rules of ndarray.Reduce. Their tiles must form a grid.
//
// A first stage reduces each tile. Three more stages merge the results of neighbors, in the order of their tiles. So
// the same tiles have the same result in every run, also in the last digits of floats. A bundle holds a tile, and the
// tile as float64 for sums and means of floats. To merge, it holds the results of a group, and about 6 more while it
// merges two. The number of results in a group is about the cube root of the number of tiles that are reduced to one. A
// result has up to 24 bytes for each item. Results pass through the shuffle of the runner before each stage that merges
// them.
//
// Reduce supports all operations except ndarray.OpArgMin and ndarray.OpArgMax, and no complex numbers. It panics for
// other operations, and for a DDof that does not apply to the operation. The result of an array without items has no
// tiles.
func Reduce(s beam.Scope, op ndarray.Op, tiles beam.PCollection, o *ndarray.ReduceOptions) beam.PCollection {
	s = s.Scope("b2beam.Reduce")
	if _, ok := mergeOps[op]; !ok && !isMoment(op) {
		panic(fmt.Sprintf("b2beam: Reduce does not support %v", op))
	}
	r := reducer{op, options(o)}
	if d := r.Options.DDof; d != 0 && op != ndarray.OpStd && op != ndarray.OpVar {
		panic(fmt.Sprintf("b2beam: DDof of %d does not apply to %v", d, op))
	}
	parts := beam.ParDo(s, &reduceFn{r}, tiles)
	for level := range mergeLevels {
		parts = beam.ParDo(s, &mergeFn{r, level + 1}, beam.GroupByKey(s, parts))
	}
	return beam.ParDo(s, &resultFn{r}, parts)
}

// reduceFn reduces tiles.
type reduceFn struct{ Reducer reducer }

// ProcessElement emits the result of a tile with the key of its group.
func (fn *reduceFn) ProcessElement(ctx context.Context, k Key, t Tile, emit func(Key, part)) error {
	p, err := fn.Reducer.reduce(ctx, k, t)
	if err != nil {
		return fmt.Errorf("b2beam: %v: %w", k, err)
	}
	emit(Key{k.Array, fn.Reducer.group(p, 1)}, p)
	return nil
}

// mergeLevels is the number of stages that merge results.
const mergeLevels = 3

// mergeFn merges the results of a group.
type mergeFn struct {
	Reducer reducer
	Level   int // 1 to mergeLevels
}

// ProcessElement emits the merged result with the key of its group at the next level, or of the final result. It sorts
// the results, which arrive in any order, because sums of floats depend on the order.
func (fn *mergeFn) ProcessElement(ctx context.Context, k Key, parts func(*part) bool, emit func(Key, part)) error {
	var group []part
	for p := (part{}); parts(&p); {
		group = append(group, p)
	}
	slices.SortFunc(group, func(a, b part) int { return slices.Compare(a.Start, b.Start) })
	sum := group[0]
	for i := range group[1:] {
		p := &group[i+1]
		var err error
		if sum, err = fn.Reducer.merge(ctx, sum, *p); err != nil {
			return fmt.Errorf("b2beam: %v: %w", Key{k.Array, p.Start}, err)
		}
		p.Tile.Data, group[0].Tile.Data = nil, nil
	}
	emit(Key{k.Array, fn.Reducer.group(sum, fn.Level+1)}, sum)
	return nil
}

// resultFn makes the tiles of the result.
type resultFn struct{ Reducer reducer }

// ProcessElement emits a tile of the result.
func (fn *resultFn) ProcessElement(ctx context.Context, k Key, p part, emit func(Key, Tile)) error {
	t, err := fn.Reducer.result(ctx, p)
	if err != nil {
		return fmt.Errorf("b2beam: %v: %w", k, err)
	}
	t.Of, t.Shape = slices.Clone(p.Tile.Of), p.Tile.Shape[1:]
	reduced := fn.Reducer.axes(len(t.Of))
	whole := ndarray.Box{Start: make([]int64, len(t.Of)), Shape: slices.Repeat([]int64{1}, len(t.Of))}
	for axis := range reduced {
		whole.Shape[axis], t.Of[axis] = t.Of[axis], 1
	}
	if want := whole.Size(); p.Items != want {
		return fmt.Errorf("b2beam: %v: the tiles have %d items to reduce to one, want %d: they do not cover the array once", k, p.Items, want)
	}
	if p.Cover != weight(whole) {
		return fmt.Errorf("b2beam: %v: the tiles have some items twice, and leave a gap: they do not cover the array once", k)
	}
	if !fn.Reducer.Options.KeepDims {
		drop := func(list []int64) (out []int64) {
			out = []int64{}
			for axis, n := range list {
				if !reduced[axis] {
					out = append(out, n)
				}
			}
			return out
		}
		t.Of, t.Shape, k.Start = drop(t.Of), drop(t.Shape), drop(k.Start)
	}
	emit(k, t)
	return nil
}

// reducer reduces tiles and merges their results. A result is a part. Its tile has one more axis, the first one: a sum
// and a number of items for means, a mean, a sum of squared differences and a number of items for variances, and else
// one value.
type reducer struct {
	Op      ndarray.Op
	Options ndarray.ReduceOptions
}

// mergeOps maps the operations whose results are merged by an operation to that operation.
var mergeOps = map[ndarray.Op]ndarray.Op{
	ndarray.OpSum: ndarray.OpSum, ndarray.OpCountNonzero: ndarray.OpSum, ndarray.OpCountNaN: ndarray.OpSum, ndarray.OpProd: ndarray.OpProd,
	ndarray.OpMin: ndarray.OpMin, ndarray.OpMax: ndarray.OpMax, ndarray.OpAny: ndarray.OpAny, ndarray.OpAll: ndarray.OpAll,
}

// isMoment reports whether an operation is computed from means of float64.
func isMoment(op ndarray.Op) bool {
	return op == ndarray.OpMean || op == ndarray.OpStd || op == ndarray.OpVar
}

// axes returns the set of axes that are reduced. It leaves out axes that do not exist, which ndarray.Reduce rejects.
func (r reducer) axes(ndim int) map[int]bool {
	set := map[int]bool{}
	if r.Options.Axes == nil {
		for axis := range ndim {
			set[axis] = true
		}
	}
	for _, axis := range r.Options.Axes {
		if axis < 0 {
			axis += ndim
		}
		if axis >= 0 && axis < ndim {
			set[axis] = true
		}
	}
	return set
}

// group returns the start of a result, with the number of its group at a level for the axes that are reduced. At
// the last level there is one group. Groups have about the same number of members at every level.
func (r reducer) group(p part, level int) []int64 {
	start := slices.Clone(p.Start)
	for axis := range r.axes(len(start)) {
		tiles := float64(ceilDiv(p.Tile.Of[axis], p.Step[axis]))
		neighbors := int64(math.Ceil(math.Pow(tiles, 1./mergeLevels)))
		start[axis] /= p.Step[axis]
		for range level {
			start[axis] /= neighbors
		}
		if level >= mergeLevels {
			start[axis] = 0
		}
	}
	return start
}

// reduce returns the result of a tile.
func (r reducer) reduce(ctx context.Context, k Key, t Tile) (part, error) {
	p := part{Start: k.Start, Step: t.Shape, DType: t.DType, Tile: Tile{Of: t.Of}}
	if _, err := t.check(k); err != nil {
		return p, err
	}
	a, err := t.Array(ctx)
	if err != nil {
		return p, err
	}
	if a.DType().Kind == 'c' {
		return p, fmt.Errorf("%w: Reduce of complex numbers", ndarray.ErrType)
	}
	box := ndarray.Box{Start: make([]int64, len(t.Shape)), Shape: slices.Repeat([]int64{1}, len(t.Shape))}
	for axis := range r.axes(len(t.Shape)) {
		box.Start[axis], box.Shape[axis] = k.Start[axis], t.Shape[axis]
	}
	p.Items, p.Cover = box.Size(), weight(box)
	var x ndarray.Reader = a
	if isMoment(r.Op) || a.DType().Kind == 'f' && (r.Op == ndarray.OpSum || r.Op == ndarray.OpProd) {
		if x, err = ndarray.AsType(a, "<f8"); err != nil {
			return p, err
		}
	}
	if isMoment(r.Op) {
		return p, r.moments(ctx, &p, x)
	}
	o := ndarray.ReduceOptions{Axes: r.Options.Axes, KeepDims: true, SkipNaN: r.Options.SkipNaN}
	out, err := ndarray.Reduce(ctx, x, r.Op, &o)
	if err != nil {
		return p, err
	}
	p.Tile.Shape = append([]int64{1}, out.Shape()...)
	p.Tile.DType = out.DType().String()
	p.Tile.Data = make([]byte, out.NBytes())
	return p, out.ReadBytes(ctx, p.Tile.Data)
}

// merge returns the result of the tiles of a and b.
func (r reducer) merge(ctx context.Context, a, b part) (part, error) {
	if !slices.Equal(a.Tile.Shape, b.Tile.Shape) || a.DType != b.DType || !slices.Equal(a.Tile.Of, b.Tile.Of) {
		return a, fmt.Errorf("%w: the tiles form no grid, or have several dtypes", ndarray.ErrShape)
	}
	a.Items += b.Items
	a.Cover = (a.Cover + b.Cover) % prime
	if isMoment(r.Op) {
		a.Tile.Data = r.mergeMoments(a.Tile.Data, b.Tile.Data)
		return a, nil
	}
	pair, err := ndarray.CreateBytes(ctx, "", append([]int64{2}, a.Tile.Shape...), a.Tile.DType, slices.Concat(a.Tile.Data, b.Tile.Data), uncompressed())
	if err != nil {
		return a, err
	}
	op := mergeOps[r.Op]
	// A sum that is NaN although NaNs are skipped is one of infinities, and remains NaN.
	skip := r.Options.SkipNaN && (op == ndarray.OpMin || op == ndarray.OpMax)
	out, err := ndarray.Reduce(ctx, pair, op, &ndarray.ReduceOptions{Axes: []int{0}, SkipNaN: skip})
	if err != nil {
		return a, err
	}
	a.Tile.Data = make([]byte, out.NBytes())
	return a, out.ReadBytes(ctx, a.Tile.Data)
}

// result returns the items of a result, with the dtype that ndarray.Reduce gives them.
func (r reducer) result(ctx context.Context, p part) (Tile, error) {
	item := Tile{DType: p.DType, Shape: []int64{0}}
	a, err := item.Array(ctx)
	if err != nil {
		return p.Tile, err
	}
	data := p.Tile.Data
	if isMoment(r.Op) {
		data = r.fromMoments(data, a.DType().Kind == 'f')
	}
	t := Tile{DType: p.Tile.DType, Data: data}
	if a.DType().Kind != 'f' || t.DType != "<f8" {
		return t, err
	}
	t.Shape = []int64{int64(len(data) / 8)}
	wide, err := t.Array(ctx)
	if err != nil {
		return t, err
	}
	v, err := ndarray.AsType(wide, fmt.Sprintf("<f%d", a.DType().Size)) // also for items in big-endian order
	if err != nil {
		return t, err
	}
	return t.With(ctx, v)
}
