package ndarray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// shapeOf returns a random shape with few items or none, and a partition that need not divide it.
func shapeOf(r *rand.Rand) (shape []int64, o *CreateOptions) {
	o = &CreateOptions{}
	o.Concurrency = 1 + r.IntN(4)
	o.Level = 1 + r.IntN(3)
	for range r.IntN(5) {
		n := int64(r.IntN(9))
		if r.IntN(3) > 0 {
			n = max(n, 1)
		}
		c := 1 + r.Int64N(5)
		shape = append(shape, n)
		o.Chunks, o.Blocks = append(o.Chunks, c), append(o.Blocks, 1+r.Int64N(c))
	}
	if len(shape) == 0 {
		o.Chunks, o.Blocks = []int64{}, []int64{}
	}
	return shape, o
}

// eachItem calls f for each position of a box of an array in C order, with the position in C order of the array.
func eachItem(b Box, shape []int64, f func(at []int64, flat int64)) {
	if b.Size() == 0 {
		return
	}
	at := slices.Clone(b.Start)
	for {
		flat := int64(0)
		for i, n := range shape {
			flat = flat*n + at[i]
		}
		f(at, flat)
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < b.Start[i]+b.Shape[i] {
				break
			}
			at[i] = b.Start[i]
		}
		if i < 0 {
			return
		}
	}
}

// whole returns the box of all items.
func whole(shape []int64) Box { return Box{make([]int64, len(shape)), shape} }

// counting returns the numbers from 0 to n-1.
func counting(n int64) []int32 {
	data := make([]int32, n)
	for i := range data {
		data[i] = int32(i) * 3
	}
	return data
}

// rawBytes returns all items of r.
func rawBytes(t testing.TB, r Reader) []byte {
	t.Helper()
	b := make([]byte, r.Size()*int64(r.DType().Size))
	if err := r.ReadBytes(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMake creates random arrays with all functions that take items, and compares them with Create.
func TestMake(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ctx := context.Background()
	arrays := 400
	if testing.Short() {
		arrays = 100
	}
	for i := range arrays {
		shape, o := shapeOf(r)
		n, _ := grid.Product(shape)
		data := counting(n)
		raw := convert.Stored(DTypeOf[int32](), data)
		tiny := memoryLimits{slab: r.Int64N(200), most: r.Int64N(300)}
		l, err := newGivenLayout(ctx, "", shape, "<i4", o)
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		if i%50 == 0 {
			name = filepath.Join(t.TempDir(), "a.b2nd")
		}
		src := bytes.NewReader(append(slices.Clone(raw), "rest"...))
		for how, try := range []func() (*Array, error){
			func() (*Array, error) {
				return FromFunc(ctx, "", shape, func(t Tile[int32]) error {
					for at, x := range t.All() {
						flat := int64(0)
						for i, n := range shape {
							flat = flat*n + at[i]
						}
						*x += int32(flat) * 3
					}
					return nil
				}, o)
			},
			func() (*Array, error) {
				type item struct{ Lo, Hi uint16 }
				given := *o
				given.DType = "[('lo', '<u2'), ('hi', '<u2')]"
				a, err := FromFunc(ctx, "", shape, func(t Tile[item]) error {
					for at, row := range t.Rows() {
						flat := int64(0)
						for i, n := range shape {
							flat = flat*n + at[i]
						}
						for k := range row {
							x := data[flat+int64(k)]
							row[k] = item{uint16(x), uint16(x >> 16)}
						}
					}
					return nil
				}, &given)
				if err != nil {
					return nil, err
				}
				return Copy(ctx, "", a, &CreateOptions{DType: "<i4"})
			},
			func() (*Array, error) { return FromReader(ctx, "", shape, "<i4", src, o) },
			func() (*Array, error) { return FromSeq(ctx, "", shape, slices.Values(append(data, 1, 2)), o) },
			func() (*Array, error) {
				return l.collect(ctx, name, tiny, readFrom(iotestReader{bytes.NewReader(raw)}, 1+r.IntN(50)))
			},
		} {
			if how == 5 && name == "" {
				continue
			}
			a, err := try()
			if err != nil {
				t.Fatalf("%v in %v %v, way %d: %v", shape, o.Chunks, o.Blocks, how, err)
			}
			if !bytes.Equal(rawBytes(t, a), raw) || !slices.Equal(a.Shape(), append([]int64{}, shape...)) {
				t.Fatalf("%v in %v %v, way %d: the items differ", shape, o.Chunks, o.Blocks, how)
			}
			if err := a.Frame().Verify(ctx, func(err error) error { return err }); err != nil {
				t.Fatal(err)
			}
			a.Close()
		}
		if rest, _ := io.ReadAll(src); string(rest) != "rest" {
			t.Fatalf("%v: %d unread bytes", shape, len(rest))
		}
		if name != "" {
			if left, _ := filepath.Glob(filepath.Dir(name) + "/.*"); left != nil {
				t.Fatalf("remaining files: %v", left)
			}
		}
	}
}

// iotestReader returns few bytes at a time.
type iotestReader struct{ r io.Reader }

func (r iotestReader) Read(p []byte) (int, error) { return r.r.Read(p[:min(len(p), 7)]) }

// TestMakeErrors checks the errors of functions that create arrays, and that no file remains.
func TestMakeErrors(t *testing.T) {
	ctx := context.Background()
	stop := errors.New("stop")
	shape := []int64{40, 50}
	o := &CreateOptions{Chunks: []int64{7, 9}, Blocks: []int64{3, 4}}
	name := filepath.Join(t.TempDir(), "a.b2nd")
	dead, cancel := context.WithCancel(ctx)
	cancel()
	for what, c := range map[string]struct {
		want error
		make func() (*Array, error)
	}{
		"short reader": {ErrShape, func() (*Array, error) {
			return FromReader(ctx, name, shape, "<i4", bytes.NewReader(make([]byte, 7999)), o)
		}},
		"eof": {io.ErrUnexpectedEOF, func() (*Array, error) {
			return FromReader(ctx, name, shape, "<i4", bytes.NewReader(nil), nil)
		}},
		"short sequence": {ErrShape, func() (*Array, error) {
			return FromSeq(ctx, name, shape, slices.Values(make([]int32, 1999)), o)
		}},
		"reader": {stop, func() (*Array, error) {
			return FromReader(ctx, name, shape, "<i4", io.MultiReader(bytes.NewReader(make([]byte, 99)), badReader{stop}), o)
		}},
		"func":      {stop, func() (*Array, error) { return FromFunc(ctx, name, shape, func(Tile[int8]) error { return stop }, o) }},
		"cancelled": {context.Canceled, func() (*Array, error) { return Arange(dead, name, 0.0, 1000, 1, o1()) }},
		"cancelled reader": {context.Canceled, func() (*Array, error) {
			return FromReader(dead, name, shape, "<i4", bytes.NewReader(make([]byte, 8000)), o)
		}},
		"cancelled during a reader": {context.Canceled, func() (*Array, error) {
			ctx, cancel := context.WithCancel(ctx)
			return FromReader(ctx, name, shape, "<i4", io.MultiReader(bytes.NewReader(make([]byte, 99)), &idleReader{t: t, cancel: cancel}), o)
		}},
		"cancelled during a sequence": {context.Canceled, func() (*Array, error) {
			ctx, cancel := context.WithCancel(ctx)
			n := 0
			a, err := FromSeq(ctx, name, shape, func(yield func(int32) bool) {
				for cancel(); yield(1); n++ {
				}
			}, nil)
			if n > 500 {
				t.Errorf("FromSeq has taken %d items after its context was done", n)
			}
			return a, err
		}},
		"dtype":   {ErrType, func() (*Array, error) { return FromReader(ctx, name, shape, "x9", nil, o) }},
		"strings": {ErrType, func() (*Array, error) { return FromSeq(ctx, name, shape, slices.Values([]string{"a"}), nil) }},
		"strings of a func": {ErrType, func() (*Array, error) {
			return FromFunc(ctx, name, shape, func(Tile[string]) error { return nil }, &CreateOptions{DType: "S"})
		}},
		"strings in structs": {ErrType, func() (*Array, error) {
			type row struct{ Names [2]string }
			return FromFunc(ctx, name, shape, func(Tile[row]) error { return nil }, nil)
		}},
		"strings of a field": {ErrType, func() (*Array, error) {
			return FromFunc(ctx, name, shape, func(t Tile[struct {
				A string
				B int32
			}]) error {
				return nil
			}, &CreateOptions{DType: "[('A', '<U'), ('B', '<i4')]"})
		}},
		"strings of a map": {ErrType, func() (*Array, error) {
			a, err := Zeros(ctx, "", shape, "<i4", nil)
			if err != nil {
				return nil, err
			}
			return Map(ctx, name, a, func([]string, Tile[int32]) error { return nil }, nil)
		}},
		"no one":   {ErrType, func() (*Array, error) { return ones(name, shape, "S3", o) }},
		"shape":    {ErrShape, func() (*Array, error) { return FromSeq(ctx, name, []int64{-1}, slices.Values([]int8{}), nil) }},
		"no step":  {ErrShape, func() (*Array, error) { return Arange[int8](ctx, name, 1, 2, 0, nil) }},
		"step 0.0": {ErrShape, func() (*Array, error) { return Arange(ctx, name, 1, 2, 0.0, nil) }},
		"linspace": {ErrShape, func() (*Array, error) { return Linspace[int8](ctx, name, 1, 2, -1, nil) }},
	} {
		if _, err := c.make(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
		if left, _ := filepath.Glob(filepath.Dir(name) + "/*"); left != nil {
			t.Fatalf("%s: remaining files: %v", what, left)
		}
	}
}

func o1() *CreateOptions { return &CreateOptions{Chunks: []int64{10}, Blocks: []int64{4}} }

type badReader struct{ err error }

func (f badReader) Read([]byte) (int, error) { return 0, f.err }

// idleReader returns no bytes, and cancels a context.
type idleReader struct {
	t      *testing.T
	cancel func()
	n      int
}

func (r *idleReader) Read([]byte) (int, error) {
	r.cancel()
	if r.n++; r.n > 10 {
		r.t.Error("read after the context was done")
		return 0, io.EOF
	}
	return 0, nil
}

// TestOneCommit checks that new frames have no dead bytes, which several commits would leave.
func TestOneCommit(t *testing.T) {
	ctx := context.Background()
	o := &CreateOptions{Chunks: []int64{1, 50, 50}, Blocks: []int64{1, 10, 50}}
	data := make([]byte, 8*100*100)
	rng := rand.NewChaCha8([32]byte{})
	rng.Read(data)
	l, err := newGivenLayout(ctx, "", []int64{8, 100, 100}, "|u1", o)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []memoryLimits{defaultLimits, {slab: 5000, most: 1 << 20}, {slab: 1, most: 1}} {
		a, err := l.collect(ctx, "", m, readFrom(bytes.NewReader(data), 1000))
		if err != nil {
			t.Fatal(err)
		}
		packed, err := saved(a.Frame())
		if err != nil {
			t.Fatal(err)
		}
		if have := a.Frame().Info().FrameLen; have != int64(len(packed)) {
			t.Errorf("%+v: frame has %d bytes, but %d when packed", m, have, len(packed))
		}
	}
}

// TestDefaultStreams checks that creating an array with the default partition from a stream needs no temporary array.
func TestDefaultStreams(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var shape []int64
		for range 1 + r.IntN(6) {
			shape = append(shape, 1+r.Int64N(1<<(1+r.IntN(12))))
		}
		l, err := newGivenLayout(ctx, "", shape, meta16[r.IntN(len(meta16))], nil)
		if errors.Is(err, ErrTooLarge) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		f := &collector{l: l}
		if n := f.divide(1); n > l.geo.ChunkBytes {
			t.Fatalf("%v in chunks of %v: %d bytes at a time", shape, l.rec.ChunkShape, n)
		}
	}
}

var meta16 = []string{"|u1", "<f4", "<c16", "|V300"}

// TestLike creates arrays like others.
func TestLike(t *testing.T) {
	ctx := context.Background()
	for _, dtype := range []string{"?", ">i2", "<u4", "<f2", ">f4", "<f8", ">c8", "<c16", "|i1"} {
		o := &CreateOptions{Chunks: []int64{4}, Blocks: []int64{3}}
		o.Level = 2
		a, err := ones("", []int64{10}, dtype, o)
		if err != nil {
			t.Fatal(err)
		}
		one := rawBytes(t, a)[:a.DType().Size]
		for _, try := range []func() (*Array, error){
			func() (*Array, error) { return Zeros(ctx, "", a.Shape(), dtype, a.CreateOptions()) },
			func() (*Array, error) { return uninit("", a.Shape(), dtype, a.CreateOptions()) },
			func() (*Array, error) { return ones("", a.Shape(), dtype, a.CreateOptions()) },
			func() (*Array, error) { return fullBytes("", a.Shape(), dtype, one, a.CreateOptions()) },
		} {
			b, err := try()
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(b.Shape(), b.DType(), b.Chunks(), b.Blocks(), b.Frame().Info().Params.Level) != fmt.Sprint(a.Shape(), a.DType(), a.Chunks(), a.Blocks(), 2) {
				t.Errorf("%s: %v %v", dtype, b.Shape(), b.DType())
			}
		}
		switch dtype {
		case ">f4":
			if x, err := Read[float32](ctx, a); err != nil || x[9] != 1 {
				t.Error(x, err)
			}
		case ">c8":
			if x, err := Read[complex64](ctx, a); err != nil || x[0] != 1 {
				t.Error(x, err)
			}
		}
	}
	if a, err := Full(ctx, "", []int64{2}, int16(-3), nil); err != nil || !bytes.Equal(rawBytes(t, a), []byte{0xfd, 0xff, 0xfd, 0xff}) {
		t.Error(err)
	}
}

// TestMap compares Map with a loop, also for other partitions.
func TestMap(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	ctx := context.Background()
	for range 100 {
		shape, o := shapeOf(r)
		n, _ := grid.Product(shape)
		data := counting(n)
		a, err := Create(ctx, "", shape, data, o)
		if err != nil {
			t.Fatal(err)
		}
		to := []*CreateOptions{nil, {}, {}}[r.IntN(3)]
		if to != nil && r.IntN(2) == 0 {
			to.Chunks, to.Blocks = o.Blocks, o.Blocks
		}
		b, err := Map(ctx, "", a, func(out []float64, in Tile[int32]) error {
			if int64(len(out)) != in.Size() || len(out) != len(in.Items) {
				return fmt.Errorf("%d items for %v", len(out), in.Box)
			}
			for k, x := range in.Items {
				out[k] = float64(x) / 2
			}
			return nil
		}, to)
		if err != nil {
			t.Fatalf("%v %v: %v", shape, o.Chunks, err)
		}
		got, err := Read[float64](ctx, b)
		if err != nil {
			t.Fatal(err)
		}
		for k, x := range got {
			if x != float64(data[k])/2 {
				t.Fatalf("%v: item %d is %v", shape, k, x)
			}
		}
	}
	a, _ := Zeros(ctx, "", []int64{3}, "<f4", nil)
	if _, err := Map(ctx, "", a, func(out []int8, in Tile[int32]) error { return nil }, nil); !errors.Is(err, ErrType) {
		t.Error(err)
	}
}

// TestMapToAnotherDType checks that Map takes filters and codecs for numbers only for items of the same dtype.
func TestMapToAnotherDType(t *testing.T) {
	ctx := context.Background()
	for _, from := range []*CreateOptions{
		{Filters: []chunk.Filter{chunk.IntTrunc.With(28), chunk.Shuffle}}, {Codec: codec.ZFPPrec, CodecMeta: 4, Chunks: []int64{8, 8}},
	} {
		a, err := Zeros(ctx, "", []int64{16, 16}, "<i4", from)
		if err != nil {
			t.Fatal(err)
		}
		for _, dtype := range []string{"<i4", ">i4", "<f8"} {
			b, err := Map(ctx, "", a, func(out []int32, in Tile[int32]) error {
				for i := range out {
					out[i] = 0x05001110
				}
				return nil
			}, &CreateOptions{DType: dtype})
			if err != nil {
				t.Fatal(err)
			}
			was, is := a.CreateOptions(), b.CreateOptions()
			kept := is.Codec == was.Codec && slices.Equal(is.Filters, was.Filters)
			x, err := Item[float64](ctx, b, 0, 0)
			if kept != (dtype == "<i4") || !kept && x != 0x05001110 || err != nil {
				t.Errorf("from %v to %v: item %v, error %v", a, b, x, err)
			}
		}
	}
}

// TestWriteItems compares selections written in small pieces with ReadBytes.
func TestWriteItems(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	ctx := context.Background()
	for range 600 {
		shape, o := shapeOf(r)
		n, _ := grid.Product(shape)
		a, err := Create(ctx, "", shape, counting(n), o)
		if err != nil {
			t.Fatal(err)
		}
		var sel []Index
		for _, n := range shape[:r.IntN(len(shape)+1)] {
			k := r.Int64N(max(n, 1))
			sel = append(sel, []Index{All, Step(None, None, -1), Step(n, k/2, -2), Span(k, k+3), Step(k, None, 3), Pick(k - n), NewAxis, At(k)}[r.IntN(8)])
		}
		got, err := a.SelectionShape(sel...)
		if err != nil {
			continue // At fails on an empty axis
		}
		items, _ := grid.Product(got)
		want := make([]byte, 4*items)
		if err := a.ReadBytes(ctx, want, sel...); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := writeItems(ctx, &out, a, sel, memoryLimits{r.Int64N(200), r.Int64N(400)}); err != nil || !bytes.Equal(out.Bytes(), want) {
			t.Fatalf("%v%v: %d bytes, want %d (%v)", shape, sel, out.Len(), len(want), err)
		}
	}
	a, _ := Zeros(ctx, "", []int64{10}, "|u1", nil)
	if err := ToWriter(ctx, badWriter{io.ErrClosedPipe}, a); err != io.ErrClosedPipe {
		t.Error(err)
	}
	text, err := Zeros(ctx, "", []int64{3}, "|S4", nil)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := AsType(text, "|S600000000") // its blocks are larger than any block
	if err != nil {
		t.Fatal(err)
	}
	if err := ToWriter(ctx, io.Discard, wide); !errors.Is(err, ErrTooLarge) {
		t.Errorf("items of 600 MB: %v, want %v", err, ErrTooLarge)
	}
}

type badWriter struct{ err error }

func (w badWriter) Write([]byte) (int, error) { return 0, w.err }
