package grid

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/golden"
)

// TestPartitionTable compares partitions with files of python-blosc2, and tests sizes near the limits.
func TestPartitionTable(t *testing.T) {
	ones := append(slices.Repeat([]int32{1}, 2), slices.Repeat([]int32{2}, 14)...)
	for _, x := range []struct {
		shape          []int64
		itemSize       int64
		chunks, blocks []int32
	}{
		{[]int64{200, 150}, 8, []int32{200, 150}, []int32{50, 150}},
		{[]int64{40, 50, 30}, 4, []int32{40, 50, 30}, []int32{10, 50, 30}},
		{[]int64{300, 200}, 2, []int32{300, 200}, []int32{150, 200}},
		{[]int64{}, 4, []int32{}, []int32{}},
		{[]int64{1}, 4, []int32{1}, []int32{1}},
		{[]int64{3, 2, 4, 2, 3, 2}, 4, []int32{3, 2, 4, 2, 3, 2}, []int32{3, 2, 4, 2, 3, 2}},
		{slices.Repeat([]int64{2}, 15), 4, slices.Repeat([]int32{2}, 15), append([]int32{1}, slices.Repeat([]int32{2}, 14)...)},
		{slices.Repeat([]int64{2}, 16), 4, slices.Repeat([]int32{2}, 16), ones},
		{[]int64{1000, 50}, 8, []int32{1000, 50}, []int32{125, 50}},
		{[]int64{300, 50}, 8, []int32{300, 50}, []int32{150, 50}},
		{[]int64{65536}, 1, []int32{65536}, []int32{65536}},
		{[]int64{65537}, 1, []int32{65537}, []int32{65536}}, // a prime length
		{[]int64{2}, maxBlockBytes, []int32{1}, []int32{1}},
	} {
		chunks, blocks, err := Partition(x.shape, nil, nil, x.itemSize, 0)
		if err != nil || !slices.Equal(chunks, x.chunks) || !slices.Equal(blocks, x.blocks) {
			t.Errorf("%v of %d bytes: %v %v %v, want %v %v", x.shape, x.itemSize, chunks, blocks, err, x.chunks, x.blocks)
		}
	}
}

// TestPartitionParts checks lengths that are given for some axes, whole axes, and axes that will grow.
func TestPartitionParts(t *testing.T) {
	for _, x := range []struct {
		shape, givenChunks, givenBlocks []int64
		itemSize                        int64
		chunks, blocks                  []int32
	}{
		// Axes that will grow.
		{[]int64{0, 256, 256}, nil, nil, 2, []int32{32, 256, 256}, []int32{1, 128, 256}},
		{[]int64{0}, nil, nil, 4, []int32{1 << 20}, []int32{16 << 10}},
		{[]int64{3, 0, 2}, nil, nil, 4, []int32{3, 174720, 2}, []int32{3, 2730, 2}},
		{[]int64{0, 0}, nil, nil, 4, []int32{1024, 1024}, []int32{128, 128}},
		{[]int64{0, 10000, 10000}, nil, nil, 8, []int32{1, 50, 10000}, []int32{1, 1, 5000}},
		{[]int64{0, 256, 256}, []int64{10, 0, 0}, nil, 2, []int32{10, 256, 256}, []int32{1, 128, 256}},
		{[]int64{0, 256, 256}, []int64{0, -1, -1}, []int64{1, -1, 0}, 2, []int32{32, 256, 256}, []int32{1, 256, 128}},
		{[]int64{0, 5}, nil, []int64{1, 1}, 1, []int32{838860, 5}, []int32{1, 1}},
		// Whole axes.
		{[]int64{100, 300}, []int64{-1, 7}, []int64{-1, 2}, 4, []int32{100, 7}, []int32{100, 2}},
		{[]int64{100, 300}, []int64{10, -1}, []int64{-1, -1}, 4, []int32{10, 300}, []int32{10, 300}},
		{[]int64{100000, 300}, []int64{0, -1}, nil, 4, []int32{3150, 300}, []int32{50, 300}},
		{[]int64{365, 721, 1440}, nil, []int64{-1, 4, 4}, 4, []int32{365, 4, 480}, []int32{365, 4, 4}},
		{[]int64{10, 20}, nil, []int64{-1, -1}, 4, []int32{10, 20}, []int32{10, 20}},
		// Lengths for all axes of blocks, which are only a hint.
		{[]int64{365, 721, 1440}, nil, []int64{365, 4, 4}, 4, []int32{1, 721, 1440}, []int32{1, 4, 1440}},
		// Lengths for some axes.
		{[]int64{1000, 1000, 1000}, []int64{0, 100, 100}, nil, 4, []int32{100, 100, 100}, []int32{1, 100, 100}},
		{[]int64{1000, 1000, 1000}, nil, []int64{0, 10, 10}, 4, []int32{125, 10, 500}, []int32{125, 10, 10}},
		{[]int64{5, 5}, nil, []int64{7, 0}, 4, []int32{7, 5}, []int32{7, 5}},
	} {
		chunks, blocks, err := Partition(x.shape, x.givenChunks, x.givenBlocks, x.itemSize, 0)
		if err != nil || !slices.Equal(chunks, x.chunks) || !slices.Equal(blocks, x.blocks) {
			t.Errorf("%v, chunks %v, blocks %v, %d bytes: %v %v %v, want %v %v", x.shape, x.givenChunks, x.givenBlocks, x.itemSize, chunks, blocks, err, x.chunks, x.blocks)
			continue
		}
		if _, err := NewGeometry(x.shape, chunks, blocks, x.itemSize); err != nil {
			t.Errorf("%v: %v", x, err)
		}
	}
}

// TestPartitionErrors checks the errors of invalid shapes.
func TestPartitionErrors(t *testing.T) {
	for _, x := range []struct {
		shape          []int64
		chunks, blocks []int64
		itemSize, hint int64
		err            error
	}{
		{make([]int64, 17), nil, nil, 1, 0, errs.ErrShape},
		{[]int64{-1}, nil, nil, 1, 0, errs.ErrShape},
		{[]int64{5}, []int64{-2}, nil, 1, 0, errs.ErrShape},
		{[]int64{5}, nil, []int64{-2}, 1, 0, errs.ErrShape},
		{[]int64{0}, []int64{-1}, nil, 1, 0, errs.ErrShape},
		{[]int64{0}, nil, []int64{-1}, 1, 0, errs.ErrShape},
		{[]int64{5}, []int64{1 << 31}, nil, 1, 0, errs.ErrTooLarge},
		{[]int64{1 << 31}, []int64{-1}, nil, 1, 0, errs.ErrTooLarge},
		{[]int64{5}, []int64{2, 2}, nil, 1, 0, errs.ErrShape},
		{[]int64{5}, nil, []int64{}, 1, 0, errs.ErrShape},
		{[]int64{5}, []int64{2}, []int64{3}, 1, 0, errs.ErrShape},
		{[]int64{5}, nil, nil, 0, 0, errs.ErrTooLarge},
		{[]int64{5}, nil, nil, maxItemSize + 1, 0, errs.ErrTooLarge},
		{[]int64{5}, nil, nil, 1, maxBlockBytes + 1, errs.ErrTooLarge},
		{[]int64{1 << 40}, nil, []int64{maxBlockBytes/8 + 1}, 8, 0, errs.ErrTooLarge},
		{make16(1 << 40), nil, slices.Repeat([]int64{math.MaxInt32}, 16), 1, 0, errs.ErrTooLarge},
	} {
		if chunks, blocks, err := Partition(x.shape, x.chunks, x.blocks, x.itemSize, x.hint); !errors.Is(err, x.err) {
			t.Errorf("%v: %v %v, error %v, want %v", x, chunks, blocks, err, x.err)
		}
	}
	_, _, err := Partition([]int64{5, 5}, []int64{3, -2}, nil, 1, 0)
	if err == nil || !strings.Contains(err.Error(), "axis 1: chunk length -2, want -1") {
		t.Errorf("error %v does not name the length", err)
	}
	for want, parts := range map[string][2][]int64{
		"chunk shape [2] for an array of 2 dimensions, want 2 lengths: -1 (whole axis), 0 (automatic) or more":  {{2}, nil},
		"block shape [2] for an array of 2 dimensions, want 2 lengths: -1 (whole chunk), 0 (automatic) or more": {nil, {2}},
	} {
		if _, _, err := Partition([]int64{5, 5}, parts[0], parts[1], 1, 0); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v: error %v, want %s", parts, err, want)
		}
	}
}

// TestPartitionOwnsResult checks that the result does not share memory with the arguments.
func TestPartitionOwnsResult(t *testing.T) {
	chunks, blocks := []int64{4}, []int64{2}
	c, b, err := Partition([]int64{9}, chunks, blocks, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if chunks[0], blocks[0] = 1, 1; c[0] != 4 || b[0] != 2 {
		t.Errorf("%v %v", c, b)
	}
	if c, b, err = Partition([]int64{0}, nil, nil, 1, 0); err != nil || &c[0] == &b[0] {
		t.Errorf("chunk and block shape share memory (%v)", err)
	}
}

// TestDivisorNear compares divisorNear with a search.
func TestDivisorNear(t *testing.T) {
	naive := func(a, b int64) int64 {
		for d := b; d > b/2; d-- {
			if a%d == 0 {
				return d
			}
		}
		return b
	}
	largest := int64(400)
	if testing.Short() { // emulated systems divide 64 bits slowly
		largest = 150
	}
	for a := int64(1); a <= largest; a++ {
		for b := int64(1); b <= a+3; b++ {
			if got := divisorNear(a, b); got != naive(a, b) {
				t.Fatalf("%d near %d: %d, want %d", a, b, got, naive(a, b))
			}
		}
	}
	large := [][3]int64{ // too large for the naive search: a prime and powers
		{1<<61 - 1, 1<<22 + 1, 1<<22 + 1}, {1 << 62, 1<<22 - 1, 1 << 21}, {1 << 40, 1<<40 - 1, 1 << 39}, {3 << 40, 1<<40 + 1, 1 << 40},
		{999999000001, 999999000000, 999999000000}, {3 * (1<<31 - 1), 1<<31 + 9, 1<<31 - 1},
	}
	if !testing.Short() { // 268 million divisions
		large = append(large, [3]int64{1 << 62, maxBlockBytes, 1 << 28})
	}
	for _, x := range large {
		if got := divisorNear(x[0], x[1]); got != x[2] {
			t.Errorf("%d near %d: %d, want %d", x[0], x[1], got, x[2])
		}
	}
}

// TestPartitionsAsPython compares partitions with compute_chunks_blocks of python-blosc2 for the default cache sizes. A
// line is "shape;chunks;blocks;item size;block hint;chunks;blocks". "-" is a shape that is not set.
func TestPartitionsAsPython(t *testing.T) {
	given := func(s string) []int64 {
		if s == "-" {
			return nil
		}
		return golden.Ints(t, s)
	}
	lines := golden.Lines(t, "testdata/partitions.txt.gz")
	if len(lines) < 1000 {
		t.Fatalf("%d cases", len(lines))
	}
	for _, line := range lines {
		f := strings.Split(line, ";")
		itemSize, hint := golden.Ints(t, f[3])[0], golden.Ints(t, f[4])[0]
		shape := golden.Ints(t, f[0])
		chunks, blocks, err := Partition(shape, given(f[1]), given(f[2]), itemSize, hint)
		if slices.Contains(shape, 0) {
			// python-blosc2 rejects some of these shapes, and gives the others chunks of length zero.
			if err != nil || slices.Contains(chunks, 0) || slices.Contains(blocks, 0) {
				t.Errorf("%s: chunks %v blocks %v, error %v", line, chunks, blocks, err)
			}
			continue
		}
		if f[5] == "error" {
			if !errors.Is(err, errs.ErrShape) && !errors.Is(err, errs.ErrTooLarge) {
				t.Errorf("%s: error %v", line, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !slices.Equal(Widen(chunks), given(f[5])) || !slices.Equal(Widen(blocks), given(f[6])) {
			t.Errorf("%s: chunks %v blocks %v", line, chunks, blocks)
		}
		// Some of the arrays are too large, but no chosen chunk is.
		if _, err := NewGeometry(Widen(chunks), chunks, blocks, itemSize); f[1] == "-" && err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}
