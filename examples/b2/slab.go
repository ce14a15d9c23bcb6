package main

import (
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/ndarray"
)

// slabs cuts a box of items into pieces whose items stand one behind the other in C order, and calls f for each, in
// their order, with the first and the end position along each axis. A piece has at most most items. It ends at a
// multiple of one of the steps along the axis that it cuts, if that can be: the steps are shapes, preferred first.
// The positions that f gets are valid until it returns.
func slabs(shape []int64, most int64, steps [][]int32, f func(start, stop []int64) error) error {
	start, stop := make([]int64, len(shape)), make([]int64, len(shape))
	for i, n := range shape {
		if n == 0 {
			return nil
		}
		stop[i] = n
	}
	if len(shape) == 0 {
		return f(start, stop)
	}
	axis, row := len(shape)-1, int64(1) // a row is what one step along the axis holds
	for axis > 0 && row*shape[axis] <= most {
		row *= shape[axis]
		axis--
	}
	rows := max(1, most/row)
	for _, s := range steps {
		if n := int64(s[axis]); n > 0 && rows >= n {
			rows -= rows % n
			break
		}
	}
	for i := range axis {
		stop[i] = 1
	}
	for {
		for at := int64(0); at < shape[axis]; at = stop[axis] {
			start[axis], stop[axis] = at, at+min(rows, shape[axis]-at)
			if err := f(start, stop); err != nil {
				return err
			}
		}
		i := axis - 1
		for ; i >= 0; i-- {
			if start[i]++; start[i] < shape[i] {
				stop[i] = start[i] + 1
				break
			}
			start[i], stop[i] = 0, 1
		}
		if i < 0 {
			return nil
		}
	}
}

// spans returns the selection of a box.
func spans(start, stop []int64) []ndarray.Index {
	sel := make([]ndarray.Index, len(start))
	for i := range sel {
		sel[i] = ndarray.Span(start[i], stop[i])
	}
	return sel
}

// boxBytes returns the size of a box in bytes.
func boxBytes(start, stop []int64, itemSize int) int64 {
	n := int64(itemSize)
	for i := range start {
		n *= stop[i] - start[i]
	}
	return n
}

// run1 is what a selection takes along one axis of an array: count items from start, step by step.
type run1 struct{ start, count, step int64 }

// resolveAxes returns what a selection that fits the array takes along each axis, or false for one with indexes that
// this program cannot cut into pieces.
func resolveAxes(shape []int64, sel []ndarray.Index) ([]run1, bool) {
	named := 0
	for _, x := range sel {
		if x != ndarray.Ellipsis && x != ndarray.NewAxis {
			named++
		}
	}
	var list []ndarray.Index
	for _, x := range append(sel[:len(sel):len(sel)], ndarray.Ellipsis) {
		switch x {
		case ndarray.NewAxis:
		case ndarray.Ellipsis:
			for ; named < len(shape); named++ {
				list = append(list, ndarray.All)
			}
		default:
			list = append(list, x)
		}
	}
	if len(list) != len(shape) {
		return nil, false
	}
	out := make([]run1, len(shape))
	for i, x := range list {
		var ok bool
		if out[i], ok = resolveAxis(shape[i], x.String()); !ok {
			return nil, false
		}
	}
	return out, true
}

// resolveAxis reads one index in NumPy's notation by Python's rules.
func resolveAxis(n int64, text string) (run1, bool) {
	part := strings.Split(text, ":")
	var v [3]int64
	for i, s := range part {
		if s == "" {
			continue
		}
		var err error
		if i == 3 {
			return run1{}, false
		}
		if v[i], err = strconv.ParseInt(s, 10, 64); err != nil {
			return run1{}, false
		}
	}
	if len(part) == 1 {
		if v[0] < 0 {
			v[0] += n
		}
		return run1{v[0], 1, 1}, v[0] >= 0 && v[0] < n
	}
	if v[2] == 0 {
		v[2] = 1
	}
	low, high := int64(0), n // where an end may stand
	first, last := low, high
	if v[2] < 0 {
		low, high = -1, n-1
		first, last = high, low
	}
	for i, end := range []*int64{&first, &last} {
		if part[i] == "" {
			continue
		}
		at := v[i]
		if at < 0 {
			at = max(at, -n-1) + n
		}
		*end = min(max(at, low), high)
	}
	count := int64(0)
	switch {
	case v[2] > 0 && first < last:
		count = (last-first-1)/v[2] + 1
	case v[2] < 0 && first > last:
		count = (first-last-1)/-max(v[2], -1<<62) + 1
	}
	return run1{first, count, v[2]}, true
}

// part returns the selection of the items from start to stop of those that the runs take.
func part(runs []run1, start, stop []int64) []ndarray.Index {
	sel := make([]ndarray.Index, len(runs))
	for i, r := range runs {
		first, last := r.start+start[i]*r.step, r.start+(stop[i]-1)*r.step
		switch {
		case start[i]+1 == stop[i]:
			sel[i] = ndarray.Span(first, first+1)
		case r.step > 0:
			sel[i] = ndarray.Step(first, last+1, r.step)
		case last == 0:
			sel[i] = ndarray.Step(first, ndarray.None, r.step)
		default:
			sel[i] = ndarray.Step(first, last-1, r.step)
		}
	}
	return sel
}
