package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// TestSlabs checks that the pieces cover a box in C order, and that they are not larger than they may be.
func TestSlabs(t *testing.T) {
	for _, shape := range [][]int64{{}, {0}, {1}, {10}, {3, 4}, {4, 0}, {5, 1, 7}, {2, 3, 4, 5}, {1, 1, 1}} {
		for _, most := range []int64{1, 2, 3, 5, 7, 12, 20, 35, 60, 1000} {
			for _, steps := range [][][]int32{nil, {{4, 4, 4, 4}, {2, 2, 2, 2}}, {{0, 0, 0, 0}}} {
				next := int64(0)
				err := slabs(shape, most, steps, func(start, stop []int64) error {
					n := boxBytes(start, stop, 1)
					first, last := flat(shape, start, 0), flat(shape, stop, 1)
					if n < 1 || n > most || first != next || last != first+n-1 {
						return fmt.Errorf("%v to %v", start, stop)
					}
					next = last + 1
					return nil
				})
				if want, _ := byteCount(shape, 1); err != nil || next != want {
					t.Errorf("shape %v, at most %d: %d items, %v", shape, most, next, err)
				}
			}
		}
	}
	var ends []int64
	slabs([]int64{20, 3}, 25, [][]int32{{100, 1}, {4, 1}}, func(_, stop []int64) error {
		ends = append(ends, stop[0])
		return nil
	})
	if !slices.Equal(ends, []int64{8, 16, 20}) {
		t.Errorf("pieces end at %v, not at blocks", ends)
	}
	n := 0
	slabs([]int64{math.MaxInt64}, math.MaxInt64-1, nil, func(start, stop []int64) error { n++; return nil })
	if n != 2 {
		t.Errorf("%d pieces of the longest axis", n)
	}
}

// flat is the position of an item in C order; the position is one too far along each axis when less is 1.
func flat(shape, at []int64, less int64) int64 {
	pos := int64(0)
	for i, n := range shape {
		pos = pos*n + at[i] - less
	}
	return pos
}

// TestResolveAxis compares with a search through all items by Python's definition of slices.
func TestResolveAxis(t *testing.T) {
	ends := []int64{ndarray.None, -1 << 62, -9, -7, -6, -5, -1, 0, 1, 4, 5, 6, 9, 1 << 62}
	for _, n := range []int64{0, 1, 5, 6} {
		for _, start := range ends {
			for _, stop := range ends {
				for _, step := range []int64{1, 2, 5, math.MaxInt64, -1, -2, -6, math.MinInt64 + 1} {
					x := ndarray.Step(start, stop, step)
					got, ok := resolveAxis(n, x.String())
					want := naiveSlice(n, start, stop, step)
					list := []int64{}
					for i := range got.count {
						list = append(list, got.start+i*got.step)
					}
					if !ok || !slices.Equal(list, want) {
						t.Fatalf("%v of %d: %v, want %v", x, n, list, want)
					}
				}
			}
		}
		for i := -n - 2; i < n+2; i++ {
			got, ok := resolveAxis(n, ndarray.At(i).String())
			if valid := i >= -n && i < n; ok != valid || valid && got != (run1{(i + n) % n, 1, 1}) {
				t.Errorf("item %d of %d: %v %v", i, n, got, ok)
			}
		}
	}
	for _, text := range []string{"[1, 2]", "True", "1:2:3:4", "1:x"} {
		if got, ok := resolveAxis(5, text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func naiveSlice(n, start, stop, step int64) []int64 {
	clip := func(end, none int64) int64 {
		switch {
		case end == ndarray.None:
			return none
		case end < 0 && step > 0:
			return max(end+n, 0)
		case end < 0:
			return max(end+n, -1)
		case step > 0:
			return min(end, n)
		}
		return min(end, n-1)
	}
	list := []int64{}
	if step > 0 {
		for i := clip(start, 0); i < clip(stop, n); i += step {
			if list = append(list, i); step > 100 {
				break
			}
		}
		return list
	}
	for i := clip(start, n-1); i > clip(stop, -1); i += step {
		if list = append(list, i); step < -100 {
			break
		}
	}
	return list
}

// TestGrid reads boxes of an array in both orders and compares item by item.
func TestGrid(t *testing.T) {
	for _, shape := range [][]int64{{7}, {3, 4}, {4, 3, 5}, {2, 3, 2, 3}, {1, 6, 1}} {
		for _, fortran := range []bool{false, true} {
			total, _ := byteCount(shape, 3)
			file := append([]byte("head"), make([]byte, total)...)
			for i := range file[4:] {
				file[4+i] = byte(i*7 + i>>8)
			}
			for _, most := range []int64{1, 20, 50, 1000} {
				tile := tileShape(shape, []int32{2, 2, 2, 2}[:len(shape)], 3, most, fortran)
				g := &grid{at: bytes.NewReader(file), off: 4, shape: shape, itemSize: 3, fortran: fortran}
				items := int64(0)
				err := tiles(shape, tile, func(start, stop []int64) error {
					dst := make([]byte, boxBytes(start, stop, 3))
					if err := g.read(dst, start, stop); err != nil {
						return err
					}
					items += int64(len(dst)) / 3
					at := slices.Clone(start)
					for ; len(dst) > 0; dst = dst[3:] {
						pos := naiveFlat(shape, at, fortran)
						if !bytes.Equal(dst[:3], file[4+3*pos:][:3]) {
							return fmt.Errorf("item %v", at)
						}
						for i := len(at) - 1; i >= 0; i-- {
							if at[i]++; at[i] < stop[i] {
								break
							}
							at[i] = start[i]
						}
					}
					return nil
				})
				if err != nil || 3*items != total {
					t.Errorf("shape %v, fortran %v, tile %v: %d items, %v", shape, fortran, tile, items, err)
				}
			}
		}
	}
	g := &grid{at: bytes.NewReader(make([]byte, 5)), shape: []int64{3, 2}, itemSize: 1}
	if err := g.read(make([]byte, 6), []int64{0, 0}, []int64{3, 2}); err == nil {
		t.Error("no error for a file that is cut off")
	}
}

func naiveFlat(shape, at []int64, fortran bool) int64 {
	if !fortran {
		return flat(shape, at, 0)
	}
	pos := int64(0)
	for i := len(shape) - 1; i >= 0; i-- {
		pos = pos*shape[i] + at[i]
	}
	return pos
}

// TestGridWindow reads short runs that stand near each other, through the window, and far from each other.
func TestGridWindow(t *testing.T) {
	shape := []int64{50, 300, 40}
	total, _ := byteCount(shape, 1)
	file := make([]byte, total)
	for i := range file {
		file[i] = byte(i * 31 >> 3)
	}
	g := &grid{at: bytes.NewReader(file), shape: shape, itemSize: 1}
	for _, box := range [][2][]int64{{{0, 0, 3}, {50, 300, 5}}, {{10, 7, 39}, {11, 299, 40}}, {{0, 5, 0}, {50, 6, 40}}, {{49, 299, 0}, {50, 300, 40}}} {
		start, stop := box[0], box[1]
		dst := make([]byte, boxBytes(start, stop, 1))
		if err := g.read(dst, start, stop); err != nil {
			t.Fatal(err)
		}
		k := 0
		for a := start[0]; a < stop[0]; a++ {
			for b := start[1]; b < stop[1]; b++ {
				for c := start[2]; c < stop[2]; c++ {
					if dst[k] != file[(a*300+b)*40+c] {
						t.Fatalf("box %v: item %d %d %d", box, a, b, c)
					}
					k++
				}
			}
		}
	}
}
