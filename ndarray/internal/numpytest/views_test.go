package numpytest

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

	"github.com/goblosc/blosc2/internal/golden"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// applyStep applies a step in the notation of testdata/views.py.
func applyStep(t testing.TB, r ndarray.Reader, step string, rng *rand.Rand) (ndarray.Reader, error) {
	word, text, _ := strings.Cut(step, " ")
	var axes []int
	if word != "slice" && word != "field" && word != "astype" && text != "" {
		for _, x := range golden.Ints(t, text) {
			axes = append(axes, int(x))
		}
	}
	var v *ndarray.View
	var err error
	switch word {
	case "slice":
		sel, wrong := ndarray.ParseSelection(text)
		if wrong != nil {
			return nil, wrong
		}
		v, err = ndarray.Slice(r, sel...)
	case "transpose":
		v, err = ndarray.Transpose(r, axes...)
	case "flip":
		v, err = ndarray.Flip(r, axes...)
	case "expand":
		v, err = ndarray.ExpandDims(r, axes...)
	case "squeeze":
		v, err = ndarray.Squeeze(r, axes...)
	case "broadcast":
		v, err = ndarray.BroadcastTo(r, golden.Ints(t, text)...)
	case "field":
		v, err = ndarray.Field(r, text)
	case "astype":
		v, err = ndarray.AsType(r, text)
	case "reshape":
		a, err := ndarray.Reshape(context.Background(), "", r, golden.Ints(t, text), nil)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { a.Close() })
		o := a.CreateOptions()
		o.Chunks, o.Blocks = randomPartition(rng, a.Shape())
		return ndarray.Reshape(context.Background(), "", r, golden.Ints(t, text), o)
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
		o := &ndarray.CreateOptions{}
		o.Chunks, o.Blocks = randomPartition(rng, shape)
		a, err := ndarray.CreateBytes(ctx, "", shape, f[1], data, o)
		if err != nil {
			t.Fatal(err)
		}
		var r ndarray.Reader = a
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
	var a *ndarray.Array
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
			o := &ndarray.CreateOptions{Chunks: []int64{n/2 + 1}, Blocks: []int64{n/3 + 1}}
			if a, err = ndarray.CreateBytes(ctx, "", []int64{int64(n)}, f[1], items, o); err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			continue
		}
		pairs++
		v, err := ndarray.AsType(a, f[1])
		if err != nil {
			t.Errorf("%v to %s: %v", a.DType(), f[1], err)
			continue
		}
		b, err := ndarray.Copy(ctx, "", v, nil)
		if err != nil {
			t.Errorf("%v to %s: %v", a.DType(), f[1], err)
			continue
		}
		got := make([]byte, len(items))
		if err := b.ReadBytes(ctx, got); err != nil || storedDType(t, b) != f[1] {
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

// storedDType returns the dtype of an array as it is stored.
func storedDType(t testing.TB, a *ndarray.Array) string {
	t.Helper()
	rec, err := meta.ParseArray(a.Frame().Meta()[0].Content, a.DType().Size)
	if err != nil {
		t.Fatal(err)
	}
	return rec.DType
}
