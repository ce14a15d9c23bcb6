package ndarray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// wholeOf returns all items.
func wholeOf(t testing.TB, r Reader) []byte {
	t.Helper()
	b := make([]byte, int(r.Size())*r.DType().Size)
	if err := r.ReadBytes(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// plainChunks creates an array with uncompressed chunks, although its parameters would compress them. A chunk that is
// compressed again is therefore different.
func plainChunks(t testing.TB, shape []int64, chunks, blocks []int64) *Array {
	t.Helper()
	total, _ := grid.Product(shape)
	o := &CreateOptions{Chunks: chunks, Blocks: blocks}
	a, err := Create(context.Background(), "", shape, count(total), o)
	if err != nil {
		t.Fatal(err)
	}
	f := a.Frame()
	batch, err := f.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Rollback()
	for i := range f.NumChunks() {
		data, err := f.ReadChunk(t.Context(), nil, i)
		if err != nil {
			t.Fatal(err)
		}
		p := f.Info().Params
		p.Level = codec.NoCompression
		c, err := chunk.Encode(nil, data, p)
		if err == nil {
			err = batch.UpdateRaw(t.Context(), i, c)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// rawChunks returns the chunks of an array as they are stored.
func rawChunks(t testing.TB, a *Array) (list [][]byte) {
	t.Helper()
	for i := range a.Frame().NumChunks() {
		c, err := a.Frame().ReadRaw(t.Context(), nil, i)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// sharedChunks returns the number of chunks of a that b has, too, with the same stored bytes.
func sharedChunks(t testing.TB, a, b *Array) (n int) {
	have := rawChunks(t, b)
	for _, c := range rawChunks(t, a) {
		if slices.ContainsFunc(have, func(x []byte) bool { return bytes.Equal(x, c) }) {
			n++
		}
	}
	return n
}

// TestConcatCopiesChunks counts the chunks that Concat copies as stored.
func TestConcatCopiesChunks(t *testing.T) {
	ctx := context.Background()
	chunks, blocks := []int64{4, 5}, []int64{2, 3}
	a := plainChunks(t, []int64{8, 10}, chunks, blocks)  // 2 by 2 chunks
	b := plainChunks(t, []int64{6, 10}, chunks, blocks)  // 2 by 2, the last row not full
	c := plainChunks(t, []int64{8, 10}, chunks, blocks)  // does not begin at a chunk boundary
	d := plainChunks(t, []int64{10, 10}, chunks, blocks) // begins at a chunk boundary again, and is the last
	for _, test := range []struct {
		axis  int
		parts []Reader
		from  []*Array
		want  int
	}{
		{0, []Reader{a, b}, []*Array{a, b}, 8},
		{0, []Reader{b, a}, []*Array{b}, 2},           // only the first row of chunks of b
		{0, []Reader{a, c, d}, []*Array{a, c, d}, 14}, // all begin at chunk boundaries
		{0, []Reader{b, b, d}, []*Array{b, d}, 2 + 6},
		{1, []Reader{a, c}, []*Array{a, c}, 8},
		{-1, []Reader{c, a, c}, []*Array{a, c}, 12},
	} {
		x, err := Concat(ctx, "", test.axis, test.parts, nil)
		if err != nil {
			t.Fatal(err)
		}
		// Arrays of the same shape have the same chunks.
		same := map[string]bool{}
		copied := 0
		for _, part := range test.from {
			for _, raw := range rawChunks(t, part) {
				same[string(raw)] = true
			}
		}
		for _, have := range rawChunks(t, x) {
			if same[string(have)] {
				copied++
			}
		}
		if copied != test.want {
			t.Errorf("axis %d, %d parts: %d chunks copied as stored, want %d", test.axis, len(test.parts), copied, test.want)
		}
		checkConcat(t, x, test.axis, test.parts)
		x.Close()
	}
}

// checkConcat compares an array with its parts.
func checkConcat(t testing.TB, x *Array, axis int, parts []Reader) {
	t.Helper()
	if axis < 0 {
		axis += len(x.Shape())
	}
	at := int64(0)
	for _, p := range parts {
		sel := make([]Index, axis+1)
		for i := range sel {
			sel[i] = All
		}
		n := p.Shape()[axis]
		sel[axis] = Span(at, at+n)
		at += n
		v, err := Slice(x, sel...)
		if err != nil {
			t.Fatal(err)
		}
		want := wholeOf(t, p)
		if convert, err := convert.Cast(x.DType(), p.DType()); err != nil {
			t.Fatal(err)
		} else if !convert.None() {
			swapped := make([]byte, len(want))
			convert.Run(swapped, want)
			want = swapped
		}
		if !slices.Equal(v.Shape(), p.Shape()) || !bytes.Equal(wholeOf(t, v), want) {
			t.Fatalf("part of shape %v in shape %v along axis %d: the items differ", p.Shape(), x.Shape(), axis)
		}
	}
	if at != x.Shape()[axis] {
		t.Fatalf("shape %v for parts of %d along axis %d", x.Shape(), at, axis)
	}
}

// TestStackCopiesChunks counts the chunks that Stack and Copy copy as stored.
func TestStackCopiesChunks(t *testing.T) {
	ctx := context.Background()
	a := plainChunks(t, []int64{8, 9}, []int64{4, 5}, []int64{2, 3})
	b := plainChunks(t, []int64{8, 9}, []int64{4, 5}, []int64{2, 3})
	for _, axis := range []int{0, 1, 2, -1} {
		x, err := Stack(ctx, "", axis, []Reader{a, b, a}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := sharedChunks(t, x, a); n != 12 {
			t.Errorf("axis %d: %d of 12 chunks copied as stored", axis, n)
		}
		at := axis
		if at < 0 {
			at += 3
		}
		v, err := Transpose(x, slices.Insert(slices.DeleteFunc([]int{0, 1, 2}, func(i int) bool { return i == at }), 0, at)...)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(v.Shape(), []int64{3, 8, 9}) || !bytes.Equal(wholeOf(t, v), bytes.Repeat(wholeOf(t, a), 3)) {
			t.Errorf("axis %d: shape %v, the items differ", axis, x.Shape())
		}
		x.Close()
	}
	v, err := ExpandDims(a, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Copy(ctx, "", v, nil)
	if err != nil || sharedChunks(t, c, a) != 4 {
		t.Errorf("copy with more axes: chunks were compressed again (%v)", err)
	}
	w, err := Squeeze(c)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Copy(ctx, "", w, nil)
	if err != nil || sharedChunks(t, d, a) != 4 || !bytes.Equal(wholeOf(t, d), wholeOf(t, a)) {
		t.Errorf("copy with fewer axes: chunks were compressed again (%v)", err)
	}
	o := a.CreateOptions()
	o.Level = 9
	e, err := Concat(ctx, "", 0, []Reader{a, b}, o)
	if err != nil || sharedChunks(t, e, a) != 0 {
		t.Errorf("copy with another level: chunks were copied as stored (%v)", err)
	}
	checkConcat(t, e, 0, []Reader{a, b})
}

// TestConcatRandom concatenates random arrays and views.
func TestConcatRandom(t *testing.T) {
	ctx := context.Background()
	n := 300
	if testing.Short() || race.Enabled {
		n = 60
	}
	for seed := range n {
		rng := rand.New(rand.NewPCG(uint64(seed), 77))
		ndim := 1 + rng.IntN(3)
		axis := rng.IntN(ndim)
		shape := make([]int64, ndim)
		for i := range shape {
			shape[i] = rng.Int64N(9)
		}
		chunks, blocks := make([]int64, ndim), make([]int64, ndim)
		for i := range chunks {
			chunks[i] = 1 + rng.Int64N(5)
			blocks[i] = 1 + rng.Int64N(chunks[i])
		}
		var parts []Reader
		for range 1 + rng.IntN(4) {
			s := slices.Clone(shape)
			s[axis] = rng.Int64N(10)
			if rng.IntN(2) == 0 {
				s[axis] = int64(chunks[axis]) * rng.Int64N(3)
			}
			o := &CreateOptions{Chunks: chunks, Blocks: blocks}
			if rng.IntN(4) == 0 {
				o = nil
			}
			items, _ := grid.Product(s)
			dtype := []string{"<i4", "<i4", ">i4"}[rng.IntN(3)]
			a, err := CreateBytes(ctx, "", s, dtype, randomBytes(rng, int(items)*4), o)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			parts = append(parts, a)
			if rng.IntN(4) == 0 {
				v, err := Flip(a)
				if err != nil {
					t.Fatal(err)
				}
				parts[len(parts)-1] = v
			}
		}
		var o *CreateOptions
		if rng.IntN(2) == 0 {
			o = &CreateOptions{Chunks: chunks, Blocks: blocks}
		}
		x, err := Concat(ctx, "", axis, parts, o)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkConcat(t, x, axis, parts)
		x.Close()
	}
}

// TestCombineErrors checks the errors of functions that combine arrays.
func TestCombineErrors(t *testing.T) {
	ctx := context.Background()
	make2 := func(shape []int64, dtype string) *Array {
		a, err := Zeros(ctx, "", shape, dtype, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a
	}
	a, b, c := make2([]int64{3, 4}, "<i4"), make2([]int64{3, 5}, "<i4"), make2([]int64{3, 4}, "<f4")
	one := func(_ *Array, err error) error { return err }
	view := func(_ *View, err error) error { return err }
	for i, test := range []struct{ err, want error }{
		{one(Concat(ctx, "", 0, nil, nil)), ErrShape},
		{one(Concat(ctx, "", 0, []Reader{a, b}, nil)), ErrShape},
		{one(Concat(ctx, "", 2, []Reader{a, a}, nil)), ErrShape},
		{one(Concat(ctx, "", 0, []Reader{a, c}, nil)), ErrType},
		{one(Stack(ctx, "", 0, nil, nil)), ErrShape},
		{one(Stack(ctx, "", 4, []Reader{a, a}, nil)), ErrShape},
		{one(Stack(ctx, "", 0, []Reader{a, b}, nil)), ErrShape},
		{one(Reshape(ctx, "", a, []int64{5, -1}, nil)), ErrShape},
		{one(Reshape(ctx, "", a, []int64{-1, -1}, nil)), ErrShape},
		{one(Reshape(ctx, "", a, []int64{-2, -6}, nil)), ErrShape},
		{one(Reshape(ctx, "", a, []int64{13}, nil)), ErrShape},
		{one(Reshape(ctx, "", a, []int64{0, -1}, nil)), ErrShape},
		{view(AsType(a, "|S3")), ErrType},
		{view(AsType(a, "nonsense")), ErrType},
		{view(AsType(a, "<f16")), ErrType},
		{view(Transpose(a, 0)), ErrShape},
		{view(Transpose(a, 0, 0)), ErrShape},
		{view(Transpose(a, 0, 2)), ErrShape},
		{view(Flip(a, 2)), ErrShape},
		{view(ExpandDims(a, 3)), ErrShape},
		{view(ExpandDims(a, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)), ErrShape},
		{view(Squeeze(a, 0)), ErrShape},
		{view(BroadcastTo(a, 4)), ErrShape},
		{view(BroadcastTo(a, 3, 3)), ErrShape},
		{view(BroadcastTo(a, -1, 3, 4)), ErrShape},
		{view(BroadcastTo(a, 1<<62, 3, 4)), ErrTooLarge},
		{view(Field(a, "x")), ErrType},
		{view(Slice(a, Pick(1, 2))), ErrBounds},
		{view(Slice(a, At(3))), ErrBounds},
	} {
		if !errors.Is(test.err, test.want) {
			t.Errorf("case %d: %v, want %v", i, test.err, test.want)
		}
	}
}

// TestViewsSeeCommits reads views after edits of their array.
func TestViewsSeeCommits(t *testing.T) {
	ctx := context.Background()
	a, err := Create(ctx, "", []int64{4, 3}, count(12), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	v, err := Transpose(a)
	if err != nil {
		t.Fatal(err)
	}
	row, err := Slice(v, All, At(3))
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(ctx, v, []int64{100, 101, 102}, Ellipsis, At(3)); err != nil {
		t.Fatal(err)
	}
	if err := a.Resize(ctx, 5, 3); err != nil {
		t.Fatal(err)
	}
	if got, err := Read[int64](ctx, row); err != nil || !slices.Equal(got, []int64{100, 101, 102}) || !slices.Equal(v.Shape(), []int64{3, 4}) {
		t.Errorf("%v, %v, shape %v", got, err, v.Shape())
	}
	if x, err := Item[int64](ctx, row, -1); err != nil || x != 102 {
		t.Errorf("%v, %v", x, err)
	}
	if err := a.Resize(ctx, 3, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := Read[int64](ctx, row); !errors.Is(err, ErrBounds) {
		t.Errorf("reading a view of removed items: %v", err)
	}
	if _, err := Item[int64](ctx, v, 0, 0); !errors.Is(err, ErrBounds) {
		t.Errorf("reading a view of removed items: %v", err)
	}
	if _, err := Copy(ctx, "", v, nil); !errors.Is(err, ErrBounds) {
		t.Errorf("copying a view of removed items: %v", err)
	}
	if err := Fill[int64](ctx, v, 1); !errors.Is(err, ErrBounds) {
		t.Errorf("writing to a view of removed items: %v", err)
	}
}

// TestConcatOneState joins an array with itself while another goroutine sets all items to the same number, again and
// again.
func TestConcatOneState(t *testing.T) {
	ctx := t.Context()
	a, err := Full(ctx, "", []int64{100}, int64(1), &CreateOptions{Chunks: []int64{10}})
	if err != nil {
		t.Fatal(err)
	}
	flipped, err := Flip(a)
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan bool), make(chan bool)
	defer func() {
		close(stop)
		<-done
	}()
	go func() {
		defer close(done)
		for k := int64(2); ; k++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := Fill(ctx, a, k); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for range 200 {
		c, err := Concat(ctx, "", 0, []Reader{a, flipped, a, a, a, a}, nil)
		if err != nil {
			t.Fatal(err)
		}
		items, err := Read[int64](ctx, c)
		if err != nil || slices.Min(items) != slices.Max(items) {
			t.Fatalf("items from %d to %d, %v", slices.Min(items), slices.Max(items), err)
		}
	}
}

// TestHoldLocking holds arrays with Locking: one in one state, and several in their newest state each time, because
// their locks would be taken one after the other.
func TestHoldLocking(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	name := filepath.Join(t.TempDir(), "a.b2nd")
	a, err := Create(ctx, name, []int64{2}, []int8{1, 2}, &CreateOptions{Locking: true})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no file locks here")
	}
	must(t, err)
	defer a.Close()
	b, err := Open(ctx, name, &OpenOptions{Locking: true})
	must(t, err)
	defer b.Close()
	held, release, err := Hold(ctx, []Reader{a, b}, engine.Internal{})
	must(t, err)
	must(t, Fill(ctx, a, 3)) // waits for no lock
	for _, r := range held {
		items, err := Read[int8](ctx, r)
		if err != nil || items[0] != 3 {
			t.Errorf("%v, %v", items, err)
		}
	}
	release()
	held, release, err = Hold(ctx, []Reader{b, b}, engine.Internal{})
	must(t, err)
	done := make(chan error)
	go func() { done <- Fill(ctx, a, 4) }()
	for _, r := range held {
		if items, err := Read[int8](ctx, r); err != nil || items[0] != 3 {
			t.Errorf("%v, %v, want the items before the edit", items, err)
		}
	}
	release()
	must(t, <-done)
}

// TestConcatLocking concatenates two handles of one file, while the second edits it: Concat waits for no lock while it
// holds one.
func TestConcatLocking(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	name := filepath.Join(t.TempDir(), "a.b2nd")
	o := &CreateOptions{Locking: true, NoSync: true, Chunks: []int64{2}}
	a, err := Create(ctx, name, []int64{5}, []int8{1, 1, 1, 1, 1}, o) // the chunks of b are not copied as stored
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no file locks here")
	}
	must(t, err)
	defer a.Close()
	b, err := Edit(ctx, name, &OpenOptions{Locking: true, NoSync: true})
	must(t, err)
	defer b.Close()
	stop, done := make(chan bool), make(chan error, 1)
	go func() {
		for k := 2; ; k++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := Fill(ctx, b, int8(k%100)); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 40 {
		c, err := Concat(ctx, "", 0, []Reader{a, b}, nil)
		if err != nil || c.Size() != 10 {
			t.Error(err)
			break
		}
	}
	close(stop)
	must(t, <-done)
	j := joining{}
	must(t, j.add(ctx, a))
	must(t, b.Resize(ctx, 7))
	if _, _, err := j.parts[0].now(ctx); !errors.Is(err, ErrChanged) {
		t.Errorf("another shape: %v, want ErrChanged", err)
	}
}

// TestBoxWriterLarge creates arrays that are larger than the memory of a boxWriter.
func TestBoxWriterLarge(t *testing.T) {
	if testing.Short() || race.Enabled {
		return // other tests do the same with small arrays
	}
	ctx := context.Background()
	rows, columns := int64(5000), int64(9001)
	data := make([]byte, rows*columns)
	for i := 0; i < len(data); i += 1 + i%613 {
		data[i] = byte(i)
	}
	a, err := Create(ctx, "", []int64{rows, columns}, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	o := &CreateOptions{Chunks: []int64{700, 1100}, Blocks: []int64{70, 110}}
	flat, err := Reshape(ctx, "", a, []int64{columns, -1}, o)
	if err != nil || !bytes.Equal(wholeOf(t, flat), data) {
		t.Fatalf("reshape: the items differ, or %v", err)
	}
	defer flat.Close()
	v, err := Transpose(a)
	if err != nil {
		t.Fatal(err)
	}
	turned, err := Copy(ctx, "", v, o)
	if err != nil {
		t.Fatal(err)
	}
	defer turned.Close()
	got := wholeOf(t, turned)
	for i := range rows {
		for k := range columns {
			if got[k*rows+i] != data[i*columns+k] {
				t.Fatalf("transposed copy: item (%d, %d)", k, i)
			}
		}
	}
	turnedBytes, err := AsType(a, ">i2")
	if err != nil {
		t.Fatal(err)
	}
	wide, err := Copy(ctx, "", turnedBytes, o)
	if err != nil {
		t.Fatal(err)
	}
	defer wide.Close()
	if got, err := Read[int16](ctx, wide); err != nil || fmt.Sprint(got[:5000]) != fmt.Sprint(data[:5000]) {
		t.Errorf("astype: the items differ, or %v", err)
	}
}

// TestBoxWriterLimit checks that copies respect Options.MaxBytes.
func TestBoxWriterLimit(t *testing.T) {
	ctx := context.Background()
	z, err := fullBytes("", []int64{3000, 1000}, "|u1", []byte{7}, &CreateOptions{Chunks: []int64{1000, 1000}, Blocks: []int64{100, 100}})
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	file, err := saved(z.Frame())
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{999_999, 1_000_000} {
		a, err := OpenBytes(file, &OpenOptions{MaxBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		to := &CreateOptions{Chunks: []int64{1000, 1000}, Blocks: []int64{50, 50}}
		c, err := Copy(ctx, "", a, to)
		if limit < 1_000_000 {
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("limit %d: %v", limit, err)
			}
		} else if err != nil || !bytes.Equal(wholeOf(t, c), bytes.Repeat([]byte{7}, 3_000_000)) {
			t.Errorf("limit %d: %v", limit, err)
		}
		a.Close()
	}
}
