package b2beam

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/goblosc/blosc2/ndarray"
)

// moments sets the result of a tile to the sums or means of x, whose dtype is float64.
func (r reducer) moments(ctx context.Context, p *part, x ndarray.Reader) error {
	ops := []ndarray.Op{ndarray.OpSum}
	if r.Op != ndarray.OpMean {
		ops = []ndarray.Op{ndarray.OpMean, ndarray.OpVar}
	}
	var rows [][]float64
	var shape []int64
	reduce := func(op ndarray.Op, skip bool) ([]float64, error) {
		a, err := ndarray.Reduce(ctx, x, op, &ndarray.ReduceOptions{Axes: r.Options.Axes, KeepDims: true, SkipNaN: skip})
		if err != nil {
			return nil, err
		}
		shape = a.Shape()
		return ndarray.Read[float64](ctx, a)
	}
	for _, op := range ops {
		row, err := reduce(op, r.Options.SkipNaN)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	counts := slices.Repeat([]float64{float64(p.Items)}, len(rows[0]))
	if r.Options.SkipNaN {
		nans, err := ndarray.Reduce(ctx, x, ndarray.OpCountNaN, &ndarray.ReduceOptions{Axes: r.Options.Axes, KeepDims: true})
		if err != nil {
			return err
		}
		n, err := ndarray.Read[int64](ctx, nans)
		if err != nil {
			return err
		}
		for i := range counts {
			counts[i] -= float64(n[i])
		}
	}
	for i, n := range counts {
		if r.Op != ndarray.OpMean && n == 0 {
			rows[0][i], rows[1][i] = 0, 0 // they are NaN: means of no items
		} else if r.Op != ndarray.OpMean {
			rows[1][i] *= n
		}
	}
	rows = append(rows, counts)
	p.Tile.Shape = append([]int64{int64(len(rows))}, shape...)
	p.Tile.DType = "<f8"
	p.Tile.Data = encodeRows(rows)
	return nil
}

// mergeMoments returns the sums or means of two sets of items.
func (r reducer) mergeMoments(a, b []byte) []byte {
	x, y := r.rows(a), r.rows(b)
	if r.Op == ndarray.OpMean {
		for i := range x {
			for k := range x[i] {
				x[i][k] += y[i][k]
			}
		}
		return encodeRows(x)
	}
	for i := range x[0] {
		n, m := x[2][i], y[2][i]
		if m == 0 {
			continue
		}
		if n == 0 { // the difference of the means may be too large for its square
			x[0][i], x[1][i], x[2][i] = y[0][i], y[1][i], m
			continue
		}
		d := y[0][i] - x[0][i]
		x[0][i] += d * m / (n + m)
		x[1][i] += y[1][i] + d*d*n*m/(n+m)
		x[2][i] = n + m
	}
	return encodeRows(x)
}

// fromMoments returns means, variances or standard deviations. float is set if the items of the array are floats.
func (r reducer) fromMoments(data []byte, float bool) []byte {
	x := r.rows(data)
	out := make([]float64, len(x[0]))
	for i := range out {
		switch r.Op {
		case ndarray.OpMean:
			out[i] = x[0][i] / x[1][i]
		default:
			n := x[2][i] - float64(r.Options.DDof)
			if out[i] = x[1][i] / max(n, 0); n <= 0 && r.Options.SkipNaN && float {
				out[i] = math.NaN() // as NumPy's nanvar; nanvar of integers is var
			}
		}
		if r.Op == ndarray.OpStd {
			out[i] = math.Sqrt(out[i])
		}
	}
	return encodeRows([][]float64{out})
}

// rows returns the values that encodeRows encoded: two rows for a mean, else three.
func (r reducer) rows(data []byte) [][]float64 {
	n := 3
	if r.Op == ndarray.OpMean {
		n = 2
	}
	all := make([]float64, len(data)/8)
	for i := range all {
		all[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return slices.Collect(slices.Chunk(all, max(len(all)/n, 1)))
}

// encodeRows returns values as little-endian bytes.
func encodeRows(rows [][]float64) []byte {
	var b []byte
	for _, row := range rows {
		b = slices.Grow(b, 8*len(row))
		for _, x := range row {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	return b
}
