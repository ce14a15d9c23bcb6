package ndarray

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// readers reads items of an array in every way.
func readers(a Reader) map[string]func() error {
	ctx := context.Background()
	n := len(a.Shape())
	origin := make([]int64, n)
	size := int64(1)
	for _, k := range a.Shape() {
		size *= k
	}
	return map[string]func() error{
		"ReadBytes": func() error { return a.ReadBytes(ctx, make([]byte, 8*size)) },
		"lists": func() error {
			return a.ReadBytes(ctx, make([]byte, 16*size/a.Shape()[0]), Pick(0, 1))
		},
		"Read":     func() error { _, err := Read[float64](ctx, a); return err },
		"ReadInto": func() error { return ReadInto(ctx, a, make([]float64, size)) },
		"ReadAt":   func() error { _, err := Item[float64](ctx, a, origin...); return err },
		"Take":     func() error { _, err := Read[float64](ctx, a, Flat(0, 1)); return err },
		"Reduce":   func() error { _, err := Reduce(ctx, a, OpSum, nil); return err },
		"ReduceAll": func() error {
			_, err := ReduceAll[float64](ctx, a, OpMax, nil)
			return err
		},
		"Tiles": func() error {
			for _, err := range Tiles[float64](ctx, a, ByChunk(a).ReadAhead(1)) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"WriteItems": func() error { return ToWriter(ctx, io.Discard, a) },
		"Copy":       func() error { return closed(Copy(ctx, "", a, nil)) },
		"Copy in other chunks": func() error {
			return closed(Copy(ctx, "", a, &CreateOptions{Chunks: []int64{3, 3}, Blocks: []int64{3, 3}}))
		},
		"Concat":  func() error { return closed(Concat(ctx, "", 0, []Reader{a, a}, nil)) },
		"Stack":   func() error { return closed(Stack(ctx, "", 0, []Reader{a, a}, nil)) },
		"Reshape": func() error { return closed(Reshape(ctx, "", a, []int64{size}, nil)) },
		"AsType":  func() error { return closed(asTypeCopy(ctx, a, "<f4")) },
		"Map": func() error {
			return closed(Map(ctx, "", a, func(out []float64, in Tile[float64]) error { return nil }, nil))
		},
	}
}

func closed(a *Array, err error) error {
	if err == nil {
		a.Close()
	}
	return err
}

// TestLazyExpression opens a lazy expression that python-blosc2 saved. Earlier versions read zeros.
func TestLazyExpression(t *testing.T) {
	ctx := context.Background()
	a, err := Open(ctx, "../testdata/stores/lazy_expr.b2nd", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	view, err := Transpose(a)
	if err != nil {
		t.Fatal(err)
	}
	const words = `array is a lazy expression "((o0 + o1) * 2)" saved by python-blosc2; its data is not in the file`
	for _, r := range []Reader{a, view} {
		for what, read := range readers(r) {
			if err := read(); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if a.DType().String() != "<f8" || a.Size() != 600 || a.CreateOptions() == nil {
		t.Errorf("%v items of %v", a.Size(), a.DType())
	}
	for c, err := range a.ChunkInfos(ctx) {
		if err != nil || c.NBytes != 4800 {
			t.Errorf("ChunkInfos: %+v, %v", c, err)
		}
	}
	b, err := a.Frame().VLMeta("b2o")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Expression string `msgpack:"expression"`
	}
	if err := meta.Unmarshal(b, &v); err != nil || v.Expression != "((o0 + o1) * 2)" {
		t.Errorf("vlmeta: %q, %v", v.Expression, err)
	}
	z, err := Zeros(ctx, "", a.Shape(), a.DType().String(), a.CreateOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if x, err := Item[float64](ctx, z, 1, 1); err != nil || x != 0 {
		t.Errorf("ZerosLike: %v, %v", x, err)
	}
}

// TestLazyEdits edits the data of a lazy expression.
func TestLazyEdits(t *testing.T) {
	ctx := context.Background()
	f, err := frame.Open(ctx, "../testdata/stores/lazy_expr.b2nd", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stored, err := saved(f)
	if err != nil {
		t.Fatal(err)
	}
	g, err := frame.EditStorage(ctx, frame.NewMemory(stored), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := OpenFrame(g)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for what, err := range map[string]error{
		"Fill": Fill(ctx, a, 1.5), "Write": Write(ctx, a, []float64{1}, At(0), At(0)), "Resize": a.Resize(ctx, 40, 20),
		"shrink": a.Resize(ctx, 10, 10), "Append": Append(ctx, a, 0, make([]float64, 20)), "Delete": a.Delete(ctx, 0, 0, 1),
		"Insert": a.InsertBytes(ctx, 0, 3, make([]byte, 160)), "Put": Write(ctx, a, []float64{1}, Flat([]int64{3}...)),
		"ResizeAt": a.ResizeAt(ctx, []int64{3, 0}, []int64{31, 20}),
	} {
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "only its metalayers can be edited") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := inBatch(a.Frame(), func(b *frame.Batch) error { return b.SetVLMeta("note", []byte{1}) }); err != nil {
		t.Error(err)
	}
}

// TestProxyArray reads the chunks of a Proxy that were fetched, and checks the errors for the others.
func TestProxyArray(t *testing.T) {
	ctx := context.Background()
	source, err := meta.Marshal(map[string]any{"local_abspath": "/data/a.b2nd", "urlpath": nil, "caterva2_env": false})
	if err != nil {
		t.Fatal(err)
	}
	o := &CreateOptions{Chunks: []int64{4, 4}, Blocks: []int64{2, 4}}
	o.Meta = []meta.Layer{{Name: "proxy-source", Content: source}}
	l, err := newGivenLayout(ctx, "", []int64{8, 8}, "<f8", o)
	if err != nil {
		t.Fatal(err)
	}
	rows := bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 16) // ones
	a, err := l.create(t.Context(), "", func(b *frame.Batch) error {
		if err := b.Engine().FillSpecial(4*128, 4); err != nil {
			return err
		}
		if err := b.Update(ctx, 0, rows); err != nil {
			return err
		}
		return b.Update(ctx, 1, rows)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for what, read := range readers(a) {
		err := read()
		if what == "ReadAt" || what == "Take" || what == "lists" {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), `Proxy of "/data/a.b2nd", and this chunk was not fetched`) || !strings.Contains(err.Error(), "chunk ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	top, err := Slice(a, Span(None, 4))
	if err != nil {
		t.Fatal(err)
	}
	for what, read := range readers(top) {
		if err := read(); err != nil {
			t.Errorf("%s of the fetched chunks: %v", what, err)
		}
	}
	if sum, err := ReduceAll[float64](ctx, top, OpSum, nil); err != nil || sum != 32 {
		t.Errorf("sum %v, %v", sum, err)
	}
	// A copy of fetched chunks is an ordinary array.
	c, err := Copy(ctx, "", top, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := Fill(ctx, c, 2.0); err != nil {
		t.Errorf("filling a copy: %v", err)
	}
}

// TestOpenHints checks that errors of opening name what opens the file, if its name or its bytes show it.
func TestOpenHints(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain.b2frame")
	f, err := frame.Create(ctx, plain, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	npy, zip := filepath.Join(dir, "x.npy"), filepath.Join(dir, "x.b2z")
	if err := errors.Join(os.WriteFile(npy, []byte("\x93NUMPY\x01\x00"), 0o666), os.WriteFile(zip, []byte("PK\x03\x04"), 0o666), os.Mkdir(filepath.Join(dir, "x.b2d"), 0o777)); err != nil {
		t.Fatal(err)
	}
	open := func(_ *Array, err error) error { return err }
	for i, c := range []struct {
		err  error
		hint string
	}{
		{open(Open(ctx, npy, nil)), "use npy.Read"},
		{open(Edit(ctx, npy, nil)), "use npy.Read"},
		{open(OpenBytes([]byte("\x93NUMPY\x01\x00"), nil)), "use npy.Read"},
		{open(Open(ctx, zip, nil)), "use package frame/store"},
		{open(OpenBytes([]byte("PK\x03\x04"), nil)), "use package frame/store"},
		{open(Open(ctx, filepath.Join(dir, "x.b2d"), nil)), "use package frame/store"},
		{open(Open(ctx, plain, nil)), "use package frame"},
	} {
		if !errors.Is(c.err, ErrFormat) || !strings.HasSuffix(c.err.Error(), "; "+c.hint) {
			t.Errorf("%d: error %v, want %v and %q", i, c.err, ErrFormat, c.hint)
		}
	}
}

// TestErrorsNameFile checks that errors which the file causes have its name.
func TestErrorsNameFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "named.b2nd")
	a, err := CreateBytes(ctx, name, []int64{1}, "<U1", []byte{0, 0, 0, 0xff}, &CreateOptions{Attrs: map[string]any{"text": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	if a, err = Open(ctx, name, &OpenOptions{MaxBytes: 1 << 10}); err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	wide, err := BroadcastTo(a, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	item := func(_ []string, err error) error { return err }
	number := 0
	_, dtype := Open(ctx, name, &OpenOptions{DType: "<f8"})
	_, tiles := Copy(ctx, "", wide, nil)
	for i, c := range []struct{ err, want error }{
		{item(Read[string](ctx, a)), ErrValue},
		{item(Read[string](ctx, wide)), ErrTooLarge},
		{a.Attr("text", &number), ErrType},
		{dtype, ErrType},
		{tiles, ErrTooLarge},
	} {
		if !errors.Is(c.err, c.want) || !strings.Contains(c.err.Error(), name) {
			t.Errorf("%d: error %v, want %v and the name of the file", i, c.err, c.want)
		}
	}
}
