package ndarray

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/engine"
)

// regionArray is the array that TestRegions writes: 10 by 9 numbers in chunks of 4 by 3.
func regionArray() (shape []int64, o *CreateOptions, items []int16) {
	items = make([]int16, 90)
	for i := range items {
		if i/9 < 4 && i%9 < 3 {
			continue // chunk 0 holds zeros
		}
		items[i] = int16(100 - i)
	}
	return []int64{10, 9}, &CreateOptions{Chunks: []int64{4, 3}, Blocks: []int64{2, 2}, Attrs: map[string]any{"unit": "K", "a": 1}}, items
}

// TestRegions writes an array in boxes of one or more chunks.
func TestRegions(t *testing.T) {
	shape, o, items := regionArray()
	model, err := Create(ctx, "", shape, items, &CreateOptions{Chunks: o.Chunks, Blocks: o.Blocks})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "x")
	r, err := CreateRegions(ctx, name, shape, "<i2", o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := r.Chunks(); !slices.Equal(r.Shape(), shape) || !slices.Equal(got, o.Chunks) || r.DType().String() != "<i2" {
		t.Error(r.Shape(), got, r.DType())
	}
	write := func(r *Regions, b Box) {
		t.Helper()
		data, err := Read[int16](ctx, model, b.Selection()...)
		if err == nil {
			err = Write(ctx, r, data, b.Selection()...)
		}
		if err != nil {
			t.Errorf("%v: %v", b, err)
		}
	}
	for _, b := range []Box{{[]int64{4, 3}, []int64{4, 6}}, {[]int64{8, 0}, []int64{2, 3}}, {[]int64{0, 0}, []int64{4, 6}}} {
		write(r, b)
	}
	var got []Box
	for b, err := range r.Missing(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, b.clone())
	}
	want := []Box{{[]int64{0, 6}, []int64{4, 3}}, {[]int64{4, 0}, []int64{4, 3}}, {[]int64{8, 3}, []int64{2, 3}}, {[]int64{8, 6}, []int64{2, 3}}}
	if !slices.EqualFunc(got, want, sameBox) {
		t.Errorf("missing %v, want %v", got, want)
	}
	if err := r.Finish(ctx); !errors.Is(err, ErrUnfinished) {
		t.Errorf("Finish: %v", err)
	}
	if _, err := Open(ctx, name, nil); !errors.Is(err, ErrUnfinished) {
		t.Errorf("Open: %v", err)
	}
	other, err := OpenRegions(ctx, name, &OpenOptions{Concurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, b := range want {
		write(other, b)
	}
	for _, at := range [][]int64{{0, 0}, {2, 1}} { // once more
		b, err := other.ChunkBox(at...)
		if err != nil {
			t.Fatal(err)
		}
		write(other, b)
	}
	if err := other.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	a, err := Open(ctx, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	data, err := Read[int16](ctx, a)
	if err != nil || !slices.Equal(data, items) {
		t.Errorf("%v, %v", data, err)
	}
	var unit string
	if err := a.Attr("unit", &unit); err != nil || unit != "K" {
		t.Errorf("unit %q, %v", unit, err)
	}
	if err := a.Frame().Verify(ctx, nil); err != nil {
		t.Error(err)
	}
	write(r, want[1])
	if err := Fill(ctx, r, 77, want[1].Selection()...); !errors.Is(err, fs.ErrExist) {
		t.Errorf("other items after Finish: %v", err)
	}
}

// TestRegionsAsCreated compares the chunks of Regions with those that Create stores.
func TestRegionsAsCreated(t *testing.T) {
	shape, o, items := regionArray()
	want, err := Create(ctx, "", shape, items, o)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "x")
	r, err := CreateRegions(ctx, name, shape, "<i2", o)
	if err == nil {
		err = Write(ctx, r, items)
	}
	if err == nil {
		err = r.Finish(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	a, err := Open(ctx, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for i := range a.Frame().NumChunks() {
		x, errX := a.Frame().ReadRaw(ctx, nil, i)
		y, errY := want.Frame().ReadRaw(ctx, nil, i)
		if errX != nil || errY != nil || !slices.Equal(x, y) {
			t.Errorf("chunk %d: %x, %v, want %x, %v", i, x, errX, y, errY)
		}
	}
	if got, want := a.Attrs(), want.Attrs(); !slices.Equal(got, want) {
		t.Errorf("attributes %q, want %q", got, want)
	}
}

// TestRegionsShapes fills arrays without axes and without items.
func TestRegionsShapes(t *testing.T) {
	for _, shape := range [][]int64{{}, {0}, {3, 0}, {5}} {
		name := filepath.Join(t.TempDir(), "x")
		r, err := CreateRegions(ctx, name, shape, "<f8", nil)
		if err == nil {
			err = Fill(ctx, r, 1.5)
		}
		if err == nil {
			err = r.Finish(ctx)
		}
		if err != nil {
			t.Errorf("%v: %v", shape, err)
			continue
		}
		r.Close()
		a, err := Open(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := Read[float64](ctx, a)
		if err != nil || int64(len(data)) != a.Size() || slices.ContainsFunc(data, func(x float64) bool { return x != 1.5 }) {
			t.Errorf("%v: %v, %v", shape, data, err)
		}
		a.Close()
	}
}

// TestRegionsErrors checks selections that are not whole chunks, and options that do not apply.
func TestRegionsErrors(t *testing.T) {
	shape, o, items := regionArray()
	name := filepath.Join(t.TempDir(), "x")
	r, err := CreateRegions(ctx, name, shape, "<i2", o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, x := range []struct {
		sel  []Index
		n    int
		want error
	}{
		{[]Index{Span(0, 3), Span(0, 3)}, 9, ErrShape},
		{[]Index{Span(0, 5), Span(0, 3)}, 15, ErrShape},
		{[]Index{Span(0, 4), Step(0, 3, 2)}, 8, ErrShape},
		{[]Index{Pick(0, 1, 2, 3), Span(0, 3)}, 12, ErrShape},
		{[]Index{Span(0, 4), Span(0, 3)}, 11, ErrShape},
		{[]Index{At(10)}, 9, ErrBounds},
		{[]Index{Span(0, 0)}, 0, nil},
	} {
		if err := Write(ctx, r, items[:x.n], x.sel...); !errors.Is(err, x.want) {
			t.Errorf("%v: %v, want %v", x.sel, err, x.want)
		}
	}
	if err := r.FillBytes(ctx, []byte{1}); !errors.Is(err, ErrShape) {
		t.Errorf("an item of another size: %v", err)
	}
	for _, at := range [][]int64{{0}, {3, 0}, {0, 3}, {-1, 0}} {
		if _, err := r.ChunkBox(at...); !errors.Is(err, ErrBounds) {
			t.Errorf("chunk %v: %v", at, err)
		}
	}
	if n := countMissing(t, r); n != 9 {
		t.Errorf("%d chunks are missing, want 9", n)
	}
	for _, bad := range []*CreateOptions{{BlockTable: true}, {Locking: true}, {Storage: frame.NewMemory(nil)}} {
		if _, err := CreateRegions(ctx, name+"2", shape, "<i2", bad); !errors.Is(err, ErrParam) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := OpenRegions(ctx, name, &OpenOptions{Cache: 1}); !errors.Is(err, ErrParam) {
		t.Errorf("Cache: %v", err)
	}
}

// TestRegionsDiffer checks that CreateRegions names the codec that differs, not the block shape that depends on it.
func TestRegionsDiffer(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	shape := []int64{3000, 3000}
	r, err := CreateRegions(ctx, name, shape, "|u1", nil)
	must(t, err)
	defer r.Close()
	for _, c := range []struct {
		want, dtype string
		o           *CreateOptions
	}{
		{"another codec", "|u1", &CreateOptions{Codec: codec.NDLZ, CodecMeta: 4}},
		{"another shape, dtype, chunk shape or block shape", "|u1", &CreateOptions{Blocks: []int64{100, 100}}},
		{"another shape, dtype, chunk shape or block shape", "|i1", nil},
	} {
		_, err := CreateRegions(ctx, name, shape, c.dtype, c.o)
		if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "an unfinished frame with "+c.want) {
			t.Errorf("%s: %v", c.want, err)
		}
	}
}

func countMissing(t *testing.T, r *Regions) (n int) {
	t.Helper()
	for _, err := range r.Missing(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestLockedContext calls functions with a context while another handle holds the lock of their array: they return the
// error of the context.
func TestLockedContext(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.b2nd")
	a, err := Create(t.Context(), name, []int64{2, 3}, []int8{1, 2, 3, 4, 5, 6}, &CreateOptions{Locking: true})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no file locks here")
	}
	must(t, err)
	defer a.Close()
	open := func() *Array {
		r, err := Open(t.Context(), name, &OpenOptions{Locking: true})
		must(t, err)
		t.Cleanup(func() { r.Close() })
		return r
	}
	r, other := open(), open()
	v, err := Transpose(r)
	must(t, err)
	f, err := frame.Open(t.Context(), name, &frame.OpenOptions{Locking: true})
	must(t, err)
	defer f.Close()
	b, err := a.Begin(t.Context())
	must(t, err)
	must(t, Fill(t.Context(), b, 7))
	created := func(_ *Array, err error) error { return err }
	calls := map[string]func(ctx context.Context) error{
		"ToWriter":           func(ctx context.Context) error { return ToWriter(ctx, io.Discard, r) },
		"ToWriter of a view": func(ctx context.Context) error { return ToWriter(ctx, io.Discard, v) },
		"ToWriter, pick":     func(ctx context.Context) error { return ToWriter(ctx, io.Discard, r, Pick(0)) },
		"Concat":             func(ctx context.Context) error { return created(Concat(ctx, "", 0, []Reader{r, r}, nil)) },
		"Concat of views":    func(ctx context.Context) error { return created(Concat(ctx, "", 0, []Reader{v, v}, nil)) },
		"Concat of several":  func(ctx context.Context) error { return created(Concat(ctx, "", 0, []Reader{r, other}, nil)) },
		"Stack":              func(ctx context.Context) error { return created(Stack(ctx, "", 0, []Reader{r, r}, nil)) },
		"Stack of several":   func(ctx context.Context) error { return created(Stack(ctx, "", -1, []Reader{r, other}, nil)) },
		"Hold of several": func(ctx context.Context) error {
			_, _, err := Hold(ctx, []Reader{r, other}, engine.Internal{})
			return err
		},
		"Open, when the frame is open": func(ctx context.Context) error { return created(fromFrame(ctx, f, nil)) },
	}
	for what, call := range calls {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		done := make(chan error, 1)
		go func() { done <- call(ctx) }()
		select {
		case err := <-done:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v, want %v", what, err, context.DeadlineExceeded)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s waits for the lock without its context", what)
		}
		cancel()
	}
	b.Rollback()
	stacked, err := Stack(t.Context(), "", -1, []Reader{r, other}, nil)
	must(t, err)
	if got, err := Read[int8](t.Context(), stacked); err != nil || !slices.Equal(got, []int8{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}) {
		t.Errorf("%v, %v", got, err)
	}
}
