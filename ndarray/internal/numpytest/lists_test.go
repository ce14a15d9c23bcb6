package numpytest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/internal/golden"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// listCase is an array of 64-bit numbers, and an array of other items made from the same numbers, with another
// partition.
type listCase struct {
	shape   []int64
	numbers *ndarray.Array
	others  *ndarray.Array
	size    int   // of the items of others
	next    int64 // next unused number
}

// itemsOf converts each number to an item of size bytes.
func itemsOf(numbers []int64, size int) []byte {
	b := make([]byte, len(numbers)*size)
	for i, n := range numbers {
		x := uint64(n) * 0x9E3779B97F4A7C15
		for k := range size {
			b[i*size+k] = byte(x >> (8 * (k % 8)))
		}
	}
	return b
}

func newListCase(t testing.TB, r *rand.Rand, shape []int64, size int) *listCase {
	ctx := context.Background()
	options := func() *ndarray.CreateOptions {
		o := &ndarray.CreateOptions{Chunks: []int64{}, Blocks: []int64{}}
		o.Level = 1
		for _, n := range shape {
			chunk := 1 + r.IntN(int(n)+2)
			o.Chunks, o.Blocks = append(o.Chunks, int64(chunk)), append(o.Blocks, int64(1+r.IntN(chunk)))
		}
		return o
	}
	total, _ := grid.Product(shape)
	numbers := make([]int64, total)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	c := &listCase{shape: shape, size: size, next: total}
	var err error
	if c.numbers, err = ndarray.Create(ctx, "", shape, numbers, options()); err == nil {
		c.others, err = ndarray.CreateBytes(ctx, "", shape, fmt.Sprintf("|V%d", size), itemsOf(numbers, size), options())
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run reads and writes a selection. It returns its shape, and the checksum that testdata/lists.py computes.
func (c *listCase) run(sel []ndarray.Index) (shape []int64, sum uint32, err error) {
	ctx := context.Background()
	if shape, err = c.numbers.SelectionShape(sel...); err != nil {
		return nil, 0, err
	}
	got, err := ndarray.Read[int64](ctx, c.numbers, sel...)
	if err != nil {
		return nil, 0, err
	}
	items := make([]byte, len(got)*c.size)
	if err := c.others.ReadBytes(ctx, items, sel...); err != nil {
		return nil, 0, err
	}
	if !bytes.Equal(items, itemsOf(got, c.size)) {
		return nil, 0, fmt.Errorf("items of %d bytes differ", c.size)
	}
	fresh := make([]int64, len(got))
	for i := range fresh {
		fresh[i] = c.next + int64(i)
	}
	c.next += int64(len(got))
	if err := ndarray.Write(ctx, c.numbers, fresh, sel...); err != nil {
		return nil, 0, err
	}
	if err := c.others.WriteBytes(ctx, itemsOf(fresh, c.size), sel...); err != nil {
		return nil, 0, err
	}
	all, err := ndarray.Read[int64](ctx, c.numbers)
	if err != nil {
		return nil, 0, err
	}
	items = slices.Grow(items[:0], len(all)*c.size)[:len(all)*c.size]
	if err := c.others.ReadBytes(ctx, items); err != nil {
		return nil, 0, err
	}
	if !bytes.Equal(items, itemsOf(all, c.size)) {
		return nil, 0, fmt.Errorf("items of %d bytes differ after writing", c.size)
	}
	h := crc32.NewIEEE()
	binary.Write(h, binary.LittleEndian, got)
	binary.Write(h, binary.LittleEndian, all)
	return shape, h.Sum32(), nil
}

func (c *listCase) close() {
	if c == nil {
		return
	}
	c.numbers.Close()
	c.others.Close()
}

// goldenSelection parses the selection of a line.
func goldenSelection(t testing.TB, kind, text string) []ndarray.Index {
	if kind == "f" {
		return []ndarray.Index{ndarray.Flat(golden.Ints(t, text)...)}
	}
	sel, err := ndarray.ParseSelection(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	words := fmt.Sprint(sel)
	if again, err := ndarray.ParseSelection(strings.Join(textsOf(sel), ",")); err != nil || fmt.Sprint(again) != words {
		t.Fatalf("%s: %v after a round trip (%v)", text, again, err)
	}
	for i, x := range sel {
		y, ok := x.(*selection.IndexArray)
		switch {
		case kind != "o" || !ok:
		case y.Mask():
			var list []int64
			for k, keep := range y.Keep {
				if keep {
					list = append(list, int64(k))
				}
			}
			sel[i] = ndarray.Pick(list...)
		default:
			sel[i] = ndarray.Pick(y.At...)
		}
	}
	return sel
}

func textsOf(sel []ndarray.Index) (texts []string) {
	for _, x := range sel {
		texts = append(texts, x.String())
	}
	return texts
}

// TestListsAsNumPy reads and writes the selections of testdata/lists.py and compares the results with NumPy's.
func TestListsAsNumPy(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 300))
	sizes := []int{1, 2, 4, 8, 12, 300}
	var c *listCase
	arrays, failed, cases := 0, 0, map[int]int{}
	skip := false
	for _, line := range golden.Lines(t, "testdata/lists.txt.gz") {
		f := strings.Split(line, ";")
		if len(f) == 1 {
			c.close()
			arrays++
			c, skip = nil, testing.Short() && arrays%20 > 0
			if !skip {
				c = newListCase(t, r, golden.Ints(t, line), sizes[arrays/20%len(sizes)])
			}
			continue
		}
		if skip {
			continue
		}
		shape, sum, err := c.run(goldenSelection(t, f[0], f[1]))
		if f[2] == "error" {
			if failed++; !errors.Is(err, ndarray.ErrBounds) {
				t.Errorf("%v: %s: shape %v, error %v", c.shape, line, shape, err)
			}
			continue
		}
		want, _ := strconv.ParseUint(f[3], 16, 32)
		if err != nil || !slices.Equal(shape, golden.Ints(t, f[2])) || sum != uint32(want) {
			t.Errorf("%v, chunks %v, blocks %v: %s: shape %v, sum %08x, %v", c.shape, c.numbers.Chunks(), c.numbers.Blocks(), line, shape, sum, err)
		}
		cases[c.size]++
	}
	c.close()
	least := 3000
	if testing.Short() {
		least = 120
	}
	for _, size := range sizes {
		if cases[size] < least {
			t.Errorf("%d selections of items of %d bytes", cases[size], size)
		}
	}
	t.Logf("%v selections by item size, %d errors", cases, failed)
}
