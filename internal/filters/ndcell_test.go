package filters

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
)

// naiveCellOrder lists the items of a block (numbered in C order) in cell order, with the number of items of each cell.
func naiveCellOrder(shape []int32, edge int) (order, cells []int) {
	type item struct {
		index int
		key   []int
	}
	total := 1
	for _, d := range shape {
		total *= int(d)
	}
	items := make([]item, total)
	for i := range items {
		pos := make([]int, len(shape))
		for r, k := i, len(shape)-1; k >= 0; k-- {
			pos[k] = r % int(shape[k])
			r /= int(shape[k])
		}
		var key []int
		for _, p := range pos {
			key = append(key, p/edge)
		}
		items[i] = item{i, append(key, pos...)}
	}
	slices.SortStableFunc(items, func(a, b item) int { return slices.Compare(a.key, b.key) })
	for i, it := range items {
		order = append(order, it.index)
		if i > 0 && slices.Equal(it.key[:len(shape)], items[i-1].key[:len(shape)]) {
			cells[len(cells)-1]++
		} else {
			cells = append(cells, 1)
		}
	}
	return order, cells
}

var cellShapes = [][]int32{
	{1}, {4}, {7}, {100}, {4, 4}, {8, 8}, {5, 9}, {1, 30}, {30, 1}, {3, 4, 5}, {8, 8, 8}, {2, 3, 2, 7},
	{4, 5, 4, 5}, {3, 2, 3, 2, 3}, {2, 2, 2, 2, 2, 2, 2, 2}, {1, 3, 1, 2, 1, 2, 3, 2},
}

func TestCells(t *testing.T) {
	for _, shape := range cellShapes {
		for _, edge := range []int{1, 2, 3, 4, 5, 8, 100, 255} {
			for _, size := range []int{1, 4, 7, 8, 16} {
				order, _ := naiveCellOrder(shape, edge)
				src := randomBytes(len(order)*size, 3)
				want := make([]byte, 0, len(src))
				for _, i := range order {
					want = append(want, src[i*size:(i+1)*size]...)
				}
				fits := math.Pow(float64(edge), float64(len(shape))) <= float64(len(order))
				var err error
				enc := run(t, func(dst, src []byte, size int) { err = CellEncode(dst, src, size, edge, shape) }, src, size, 1)
				if fits != (err == nil) || (err != nil && !errors.Is(err, errParam)) {
					t.Fatalf("shape %v, edge %d: %v", shape, edge, err)
				}
				dec := run(t, func(dst, src []byte, size int) { err = CellDecode(dst, src, size, edge, shape) }, want, size, 1)
				if fits != (err == nil) || (err != nil && !errors.Is(err, errParam)) {
					t.Fatalf("shape %v, edge %d: %v", shape, edge, err)
				}
				if fits && (!bytes.Equal(enc, want) || !bytes.Equal(dec, src)) {
					t.Fatalf("shape %v, edge %d, item size %d: wrong", shape, edge, size)
				}
			}
		}
	}
}

func TestMean(t *testing.T) {
	le := binary.LittleEndian
	for _, shape := range cellShapes {
		for _, edge := range []int{1, 2, 3, 4, 7, 127} {
			for _, size := range []int{4, 8} {
				order, cells := naiveCellOrder(shape, edge)
				src := make([]byte, len(order)*size)
				want := make([]byte, len(src))
				values := make([]float64, len(order))
				for i := range values {
					values[i] = float64(i*i%1009) / 4
					if size == 4 {
						le.PutUint32(src[4*i:], math.Float32bits(float32(values[i])))
					} else {
						le.PutUint64(src[8*i:], math.Float64bits(values[i]))
					}
				}
				k := 0
				for _, n := range cells {
					sum := 0.0 // exact in both types
					for j := range n {
						sum += values[order[k+j]]
					}
					for range n {
						if size == 4 {
							le.PutUint32(want[4*k:], math.Float32bits(float32(sum)/float32(n)))
						} else {
							le.PutUint64(want[8*k:], math.Float64bits(sum/float64(n)))
						}
						k++
					}
				}
				var err error
				enc := run(t, func(dst, src []byte, size int) { err = MeanEncode(dst, src, size, edge, shape) }, src, size, 1)
				if int(shape[0]) < edge && int(slices.Max(shape)) > edge { // C-Blosc2 cannot decode it
					if !errors.Is(err, errParam) {
						t.Fatalf("shape %v, edge %d: %v", shape, edge, err)
					}
				} else if err != nil || !bytes.Equal(enc, want) {
					t.Fatalf("shape %v, edge %d, item size %d: wrong (%v)", shape, edge, size, err)
				}

				placed := make([]byte, len(src))
				for i, at := range order {
					copy(placed[at*size:][:size], want[i*size:])
				}
				dec := run(t, func(dst, src []byte, size int) { err = MeanDecode(dst, src, size, edge, shape) }, want, size, 1)
				if err != nil || !bytes.Equal(dec, placed) {
					t.Fatalf("shape %v, edge %d, item size %d: decoded wrong (%v)", shape, edge, size, err)
				}
			}
		}
	}
}

func TestCellErrors(t *testing.T) {
	tests := []struct {
		name           string
		size           int // of the block
		itemSize, edge int
		shape          []int32
		cell, mean     error
	}{
		{"good", 64, 4, 2, []int32{4, 4}, nil, nil},
		{"no dimensions", 4, 4, 1, nil, errUnsupported, errUnsupported},
		{"nine dimensions", 4, 4, 1, make([]int32, 9), errUnsupported, errUnsupported},
		{"edge 0", 64, 4, 0, []int32{4, 4}, errParam, errParam},
		{"edge -1", 64, 4, -1, []int32{4, 4}, errParam, errParam},
		{"edge 256", 4 << 16, 4, 256, []int32{256, 256}, errParam, errParam},
		{"edge 128", 4 << 16, 4, 128, []int32{256, 256}, nil, errParam},
		{"cell of too many items", 60, 4, 4, []int32{3, 5}, errParam, errParam},
		{"cell wider than the block", 64, 4, 3, []int32{8, 2}, nil, nil},
		{"zero dimension", 0, 4, 1, []int32{4, 0}, errParam, errParam},
		{"negative dimensions", 64, 4, 1, []int32{-4, -4}, errParam, errParam},
		{"block too short", 63, 4, 2, []int32{4, 4}, errParam, errParam},
		{"block too long", 65, 4, 2, []int32{4, 4}, errParam, errParam},
		{"product beyond 64 bits", 64, 4, 1, []int32{1 << 30, 1 << 30, 1 << 30}, errParam, errParam},
		{"product that wraps to the size", 64, 4, 1, []int32{1 << 30, 1 << 30, 16, 16}, errParam, errParam},
		{"item size 0", 0, 0, 1, []int32{4}, errParam, errUnsupported},
		{"item size -4", 16, -4, 1, []int32{4}, errParam, errUnsupported},
		{"item size 2", 16, 2, 2, []int32{8}, nil, errUnsupported},
		{"item size beyond the block", 4, math.MaxInt, 1, []int32{4}, errParam, errUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dst, src := make([]byte, tt.size), make([]byte, tt.size)
			if err := CellEncode(dst, src, tt.itemSize, tt.edge, tt.shape); !errors.Is(err, tt.cell) {
				t.Errorf("CellEncode: %v, want %v", err, tt.cell)
			}
			if err := CellDecode(dst, src, tt.itemSize, tt.edge, tt.shape); !errors.Is(err, tt.cell) {
				t.Errorf("CellDecode: %v, want %v", err, tt.cell)
			}
			if err := MeanEncode(dst, src, tt.itemSize, tt.edge, tt.shape); !errors.Is(err, tt.mean) {
				t.Errorf("MeanEncode: %v, want %v", err, tt.mean)
			}
			if tt.name == "cell of too many items" {
				tt.mean = nil // a reader clips the cells
			}
			if err := MeanDecode(dst, src, tt.itemSize, tt.edge, tt.shape); !errors.Is(err, tt.mean) {
				t.Errorf("MeanDecode: %v, want %v", err, tt.mean)
			}
		})
	}
}
