package ndarray

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/internal/golden"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// applyStep applies a step in the notation of testdata/views.py.
func applyStep(t testing.TB, r Reader, step string, rng *rand.Rand) (Reader, error) {
	word, text, _ := strings.Cut(step, " ")
	var axes []int
	if word != "slice" && word != "field" && word != "astype" && text != "" {
		for _, x := range golden.Ints(t, text) {
			axes = append(axes, int(x))
		}
	}
	var v *View
	var err error
	switch word {
	case "slice":
		sel, wrong := ParseSelection(text)
		if wrong != nil {
			return nil, wrong
		}
		v, err = Slice(r, sel...)
	case "transpose":
		v, err = Transpose(r, axes...)
	case "flip":
		v, err = Flip(r, axes...)
	case "expand":
		v, err = ExpandDims(r, axes...)
	case "squeeze":
		v, err = Squeeze(r, axes...)
	case "broadcast":
		v, err = BroadcastTo(r, golden.Ints(t, text)...)
	case "field":
		v, err = Field(r, text)
	case "astype":
		v, err = AsType(r, text)
	case "reshape":
		a, err := Reshape(context.Background(), "", r, golden.Ints(t, text), nil)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { a.Close() })
		o := a.CreateOptions()
		o.Chunks, o.Blocks = randomPartition(rng, a.Shape())
		return Reshape(context.Background(), "", r, golden.Ints(t, text), o)
	default:
		t.Fatalf("step %q", step)
	}
	return v, err
}

// TestViewsAsNumPy creates the chains of views of testdata/views.py and compares their items with NumPy's.
func TestViewsAsNumPy(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(4, 4))
	steps := map[string]int{}
	for n, line := range golden.Lines(t, "testdata/views.txt.gz") {
		f := strings.Split(line, ";")
		if f[0] != "v" || testing.Short() && n%8 > 0 {
			continue
		}
		dt, err := meta.ParseDType(f[1])
		if err != nil {
			t.Fatal(err)
		}
		shape := golden.Ints(t, f[2])
		items, _ := grid.Product(shape)
		data := make([]byte, items*int64(dt.Size))
		for i := range data {
			data[i] = byte(i*i*31 + i*7 + i>>3)
		}
		o := &CreateOptions{}
		o.Chunks, o.Blocks = randomPartition(rng, shape)
		a, err := CreateBytes(ctx, "", shape, f[1], data, o)
		if err != nil {
			t.Fatal(err)
		}
		var r Reader = a
		for step := range strings.SplitSeq(f[3], "|") {
			if step == "" {
				continue
			}
			if r, err = applyStep(t, r, step, rng); err != nil {
				t.Fatalf("%s: %s: %v", line, step, err)
			}
			word, _, _ := strings.Cut(step, " ")
			steps[word]++
		}
		got := make([]byte, int(r.Size())*r.DType().Size)
		err = r.ReadBytes(ctx, got)
		kind := r.DType().String()
		if r.DType().Fields != nil {
			kind = strconv.Itoa(r.DType().Size)
		}
		if err != nil || !slices.Equal(r.Shape(), golden.Ints(t, f[4])) || kind != f[5] || fmt.Sprintf("%08x", crc32.ChecksumIEEE(got)) != f[6] {
			t.Errorf("%s: shape %v, dtype %s, sum %08x, %v", line, r.Shape(), kind, crc32.ChecksumIEEE(got), err)
		}
		a.Close()
	}
	for _, step := range []string{"slice", "transpose", "flip", "expand", "squeeze", "broadcast", "field", "reshape"} {
		if steps[step] < 50 {
			t.Errorf("only %d steps of kind %s", steps[step], step)
		}
	}
}

// TestAsTypeAsNumPy converts the items of testdata/views.py and compares the results with NumPy's, bit by bit.
func TestAsTypeAsNumPy(t *testing.T) {
	ctx := context.Background()
	var a *Array
	pairs := 0
	for _, line := range golden.Lines(t, "testdata/views.txt.gz") {
		f := strings.Split(line, ";")
		if f[0] == "v" {
			continue
		}
		items, err := hex.DecodeString(f[2])
		if err != nil {
			t.Fatal(err)
		}
		dt, err := meta.ParseDType(f[1])
		if err != nil {
			t.Fatal(err)
		}
		if f[0] == "s" {
			n := int64(len(items) / dt.Size)
			o := &CreateOptions{Chunks: []int64{n/2 + 1}, Blocks: []int64{n/3 + 1}}
			if a, err = CreateBytes(ctx, "", []int64{int64(n)}, f[1], items, o); err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			continue
		}
		pairs++
		b, err := asTypeCopy(ctx, a, f[1])
		if err != nil {
			t.Errorf("%v to %s: %v", a.DType(), f[1], err)
			continue
		}
		got := make([]byte, len(items))
		if err := b.ReadBytes(ctx, got); err != nil || b.state.Load().rec.DType != f[1] {
			t.Errorf("%v to %s: %v", a.DType(), f[1], err)
		}
		b.Close()
		wrong := 0
		from := make([]byte, int(a.Size())*a.DType().Size)
		if err := a.ReadBytes(ctx, from); err != nil {
			t.Fatal(err)
		}
		for i := 0; i*dt.Size < len(items) && wrong < 4; i++ {
			x, y := got[i*dt.Size:][:dt.Size], items[i*dt.Size:][:dt.Size]
			if !bytes.Equal(x, y) {
				wrong++
				t.Errorf("%v to %s: item %d, %x: %x, want %x", a.DType(), f[1], i, from[i*a.DType().Size:][:a.DType().Size], x, y)
			}
		}
	}
	if pairs < 450 {
		t.Errorf("%d pairs of types", pairs)
	}
}

// listCase is an array of 64-bit numbers, and an array of other items made from the same numbers, with another
// partition.
type listCase struct {
	shape   []int64
	numbers *Array
	others  *Array
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
	options := func() *CreateOptions {
		o := &CreateOptions{Chunks: []int64{}, Blocks: []int64{}}
		o.Level = 1
		for _, n := range shape {
			chunk := 1 + r.IntN(int(n)+2)
			o.Chunks, o.Blocks = append(o.Chunks, int64(chunk)), append(o.Blocks, int64(1+r.IntN(chunk)))
		}
		return o
	}
	total, _ := grid.Product(shape)
	c := &listCase{shape: shape, size: size, next: total}
	var err error
	if c.numbers, err = Create(ctx, "", shape, count(total), options()); err == nil {
		c.others, err = CreateBytes(ctx, "", shape, fmt.Sprintf("|V%d", size), itemsOf(count(total), size), options())
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run reads and writes a selection. It returns its shape, and the checksum that testdata/lists.py computes.
func (c *listCase) run(sel []Index) (shape []int64, sum uint32, err error) {
	ctx := context.Background()
	if shape, err = c.numbers.SelectionShape(sel...); err != nil {
		return nil, 0, err
	}
	got, err := Read[int64](ctx, c.numbers, sel...)
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
	if err := Write(ctx, c.numbers, fresh, sel...); err != nil {
		return nil, 0, err
	}
	if err := c.others.WriteBytes(ctx, itemsOf(fresh, c.size), sel...); err != nil {
		return nil, 0, err
	}
	all, err := Read[int64](ctx, c.numbers)
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
func goldenSelection(t testing.TB, kind, text string) []Index {
	if kind == "f" {
		return []Index{Flat(golden.Ints(t, text)...)}
	}
	sel, err := ParseSelection(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	words := fmt.Sprint(sel)
	if again, err := ParseSelection(strings.Join(textsOf(sel), ",")); err != nil || fmt.Sprint(again) != words {
		t.Fatalf("%s: %v after a round trip (%v)", text, again, err)
	}
	for i, x := range sel {
		y, ok := x.(*selection.IndexArray)
		switch {
		case kind != "o" || !ok:
		case y.Mask():
			sel[i] = Pick(trues(y.Keep)...)
		default:
			sel[i] = Pick(y.At...)
		}
	}
	return sel
}

func textsOf(sel []Index) (texts []string) {
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
			if failed++; !errors.Is(err, ErrBounds) {
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

// sameNumbers reports whether items are equal bit by bit, or are both NaN. NumPy leaves the sign of NaNs open.
func sameNumbers(d meta.DType, got, want []byte) bool {
	if bytes.Equal(got, want) {
		return true
	}
	if d.Kind != 'f' && d.Kind != 'c' {
		return false
	}
	a, b := numbersOf(d, got), numbersOf(d, want)
	for i, x := range a {
		if y := b[i]; math.Float64bits(x) != math.Float64bits(y) && (x == x || y == y) {
			return false
		}
	}
	return len(a) == len(b)
}

// sameComplex reports whether a product, variance or extreme of complex numbers is NumPy's, except for what depends on
// the order of the steps: signs of zeros, the last digit of a variance, and the part of an extreme beside its NaN.
func sameComplex(d meta.DType, got, want []byte) bool {
	a, b := numbersOf(d, got), numbersOf(d, want)
	parts, last := 2, 0.0
	if d.Kind == 'f' { // a variance
		parts, last = 1, map[int]float64{4: 0x1p-23, 8: 0x1p-52}[d.Size]
	}
	for i := range b {
		k, n := i-i%parts, i-i%parts+parts
		isNaN := slices.ContainsFunc(b[k:n], math.IsNaN)
		if len(a) != len(b) || slices.ContainsFunc(a[k:n], math.IsNaN) != isNaN || !isNaN && math.Abs(a[i]-b[i]) > last*math.Abs(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// TestNaNAsNumPy compares reductions with SkipNaN with NumPy's results in testdata/nan.py, bit by bit. The chunks
// divide the reduced axes, except for variances, whose last digits depend on the chunks.
func TestNaNAsNumPy(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(7, 1))
	ops := map[string]Op{"prod": OpProd, "var": OpVar}
	cases, none := 0, 0
	for _, line := range golden.Lines(t, "testdata/nan.txt.gz") {
		c := strings.Split(line, ";")
		op, ok := opNames[c[0]]
		if !ok {
			op = ops[c[0]]
		}
		shape := golden.Ints(t, c[2])
		data, err1 := hex.DecodeString(c[3])
		want, err2 := hex.DecodeString(c[9])
		ddof, err3 := strconv.Atoi(c[6])
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		o := &ReduceOptions{KeepDims: c[5] == "1", DDof: ddof, SkipNaN: true}
		if c[4] != "all" {
			for _, n := range golden.Ints(t, c[4]) {
				o.Axes = append(o.Axes, int(n))
			}
		}
		opts := &CreateOptions{}
		opts.Chunks, opts.Blocks = randomPartition(rng, shape)
		if op == OpVar || op == OpStd {
			opts.Chunks, opts.Blocks = nil, nil
		}
		a, err := CreateBytes(ctx, "", shape, c[1], data, opts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Reduce(ctx, a, op, o)
		a.Close()
		cases++
		if c[7] == "error" {
			if none++; !errors.Is(err, ErrValue) {
				t.Errorf("%s: %v", line, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		b, same := rawBytes(t, got), sameNumbers
		if kind := got.DType().Kind; strings.Contains(c[1], "c") && op != OpSum && op != OpMean && kind != 'i' {
			same = sameComplex
		}
		if !slices.Equal(got.Shape(), golden.Ints(t, c[7])) || got.DType().String() != c[8] || !same(got.DType(), b, want) {
			t.Errorf("%s: %v %v %x", line, got.Shape(), got.DType(), b)
		}
	}
	if cases < 3200 || none < 50 {
		t.Errorf("%d cases, %d of them without items", cases, none)
	}
}

// TestReduceInto checks ReduceInto, ReduceAll and options that do not apply.
func TestReduceInto(t *testing.T) {
	ctx := context.Background()
	nan := float32(math.NaN())
	a, err := Create(ctx, "", []int64{2, 3}, []float32{1, nan, 3, nan, nan, -8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	skip := &ReduceOptions{Axes: []int{0}, SkipNaN: true}
	sums := make([]float64, 3)
	if err := ReduceInto(ctx, a, sums, OpSum, skip); err != nil || !slices.Equal(sums, []float64{1, 0, -5}) {
		t.Error(sums, err)
	}
	counts := make([]int, 2)
	if err := ReduceInto(ctx, a, counts, OpCountNaN, &ReduceOptions{Axes: []int{1}}); err != nil || !slices.Equal(counts, []int{1, 2}) {
		t.Error(counts, err)
	}
	if x, err := ReduceAll[float64](ctx, a, OpMin, &ReduceOptions{SkipNaN: true}); err != nil || x != -8 {
		t.Error(x, err)
	}
	for i, c := range []struct{ err, want error }{
		{ReduceInto(ctx, a, sums[:2], OpSum, skip), ErrShape},
		{ReduceInto(ctx, a, make([]Float16, 3), OpSum, skip), ErrType},
		{ReduceInto(ctx, a, counts[:1], OpArgMin, &ReduceOptions{DDof: 1}), ErrParam},
		{ReduceInto(ctx, a, counts[:1], OpCountNaN, &ReduceOptions{SkipNaN: true}), ErrParam},
		{ReduceInto(ctx, a, make([]int, 3), OpArgMin, skip), ErrValue},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%d: %v", i, c.err)
		}
	}
	if _, err := ReduceAll[float32](ctx, a, OpSum, skip); !errors.Is(err, ErrParam) {
		t.Error(err)
	}
	dates, err := CreateBytes(ctx, "", []int64{2}, "<M8[s]", []byte{0, 0, 0, 0, 0, 0, 0, 128, 5, 0, 0, 0, 0, 0, 0, 0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for op, want := range map[Op]int64{OpMin: 5, OpArgMin: 1, OpMax: 5} {
		if x, err := ReduceAll[int64](ctx, dates, op, &ReduceOptions{SkipNaN: true}); err != nil || x != want {
			t.Errorf("%v: %d, %v", op, x, err)
		}
	}
	if n, err := ReduceAll[int64](ctx, dates, OpCountNaN, nil); err != nil || n != 1 {
		t.Error(n, err)
	}
}
