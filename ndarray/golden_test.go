package ndarray

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/golden"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// applyStep applies a step in the notation of testdata/views.py.
func applyStep(t testing.TB, r Reader, step string, rng *rand.Rand) (Reader, error) {
	word, text, _ := strings.Cut(step, " ")
	var axes []int
	if word != "slice" && word != "field" && text != "" {
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
	case "reshape":
		a, err := Reshape(context.Background(), r, "", golden.Ints(t, text), nil)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { a.Close() })
		o := a.Options()
		o.Chunks, o.Blocks = randomPartition(rng, a.Shape())
		return Reshape(context.Background(), r, "", golden.Ints(t, text), o)
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
		o := &Options{}
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
		got := make([]byte, int(r.Size())*r.ItemSize())
		err = r.ReadBytes(ctx, got)
		kind := r.DType().String()
		if r.DType().Fields != nil {
			kind = strconv.Itoa(r.ItemSize())
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
			n := int32(len(items) / dt.Size)
			o := &Options{Chunks: []int32{n/2 + 1}, Blocks: []int32{n/3 + 1}}
			if a, err = CreateBytes(ctx, "", []int64{int64(n)}, f[1], items, o); err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			continue
		}
		pairs++
		b, err := AsType(ctx, a, "", f[1], nil)
		if err != nil {
			t.Errorf("%v to %s: %v", a.DType(), f[1], err)
			continue
		}
		got := make([]byte, len(items))
		if err := b.ReadBytes(ctx, got); err != nil || b.dtypeRaw != f[1] {
			t.Errorf("%v to %s: %v", a.DType(), f[1], err)
		}
		b.Close()
		wrong := 0
		from := make([]byte, int(a.Size())*a.ItemSize())
		if err := a.ReadBytes(ctx, from); err != nil {
			t.Fatal(err)
		}
		for i := 0; i*dt.Size < len(items) && wrong < 4; i++ {
			x, y := got[i*dt.Size:][:dt.Size], items[i*dt.Size:][:dt.Size]
			if !bytes.Equal(x, y) {
				wrong++
				t.Errorf("%v to %s: item %d, %x: %x, want %x", a.DType(), f[1], i, from[i*a.ItemSize():][:a.ItemSize()], x, y)
			}
		}
	}
	if pairs < 450 {
		t.Errorf("%d pairs of types", pairs)
	}
}
