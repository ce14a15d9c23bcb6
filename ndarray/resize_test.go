package ndarray

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/task"
)

// TestLostItemSize reads and edits an array with items of 300 bytes and a type size of 1 in the header.
func TestLostItemSize(t *testing.T) {
	ctx := context.Background()
	data := make([]byte, 10*300)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	a, err := CreateBytes(ctx, "", []int64{10}, "|S300", data, &CreateOptions{Chunks: []int64{4}, Blocks: []int64{2}})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := saved(a.Frame())
	a.Close()
	if err != nil {
		t.Fatal(err)
	}
	const typeSize = 48 // offset of the type size in the header
	if n := binary.BigEndian.Uint32(stored[typeSize:]); n != 300 {
		t.Fatalf("item size %d", n)
	}
	binary.BigEndian.PutUint32(stored[typeSize:], 1)
	b, err := OpenBytes(stored, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if b.DType().Size != 300 || b.DType().String() != "|S300" || !bytes.Equal(contents(t, b), data) {
		t.Errorf("items of %d bytes, %v", b.DType().Size, b.DType())
	}
	if err := b.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
	c, err := Copy(ctx, "", b, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Frame().Info().TypeSize != 300 || !bytes.Equal(contents(t, c), data) {
		t.Errorf("a copy has items of %d bytes", c.Frame().Info().TypeSize)
	}
}

// TestResizeTable checks the table in the documentation of Resize.
func TestResizeTable(t *testing.T) {
	ctx := context.Background()
	o := &CreateOptions{Chunks: []int64{4}, Blocks: []int64{2}}
	item := []byte{0, 0, 0x80, 0x3f}
	for name, create := range map[string]func() (*Array, error){
		"Zeros":  func() (*Array, error) { return Zeros(ctx, "", []int64{6}, "<f4", o) },
		"Uninit": func() (*Array, error) { return uninit("", []int64{6}, "<f4", o) },
		"NaNs":   func() (*Array, error) { return nans("", []int64{6}, "<f4", o) },
		"Full":   func() (*Array, error) { return fullBytes("", []int64{6}, "<f4", item, o) },
		"Create": func() (*Array, error) { return Create(ctx, "", []int64{6}, []float32{1, 2, 3, 4, 5, 6}, o) },
	} {
		a, err := create()
		if err != nil {
			t.Fatal(err)
		}
		before := contents(t, a)
		if err := a.Resize(ctx, 14); err != nil {
			t.Fatal(err)
		}
		if after := contents(t, a); !bytes.Equal(after[:24], before) || !coder.IsZero(after[24:]) {
			t.Errorf("%s: %x, grown %x", name, before, after)
		}
		if err := a.Resize(ctx, 5); err != nil {
			t.Fatal(err)
		}
		if err := a.Resize(ctx, 8); err != nil {
			t.Fatal(err)
		}
		if after := contents(t, a); !bytes.Equal(after[:20], before[:20]) || !coder.IsZero(after[20:]) {
			t.Errorf("%s: shrunk and grown %x", name, after)
		}
		a.Close()
	}
}

// TestUniformResize changes the shape of arrays with many chunks and a special index. The memory must not depend on the
// number of chunks.
func TestUniformResize(t *testing.T) {
	ctx := context.Background()
	const length = 1 << 26 // also the number of chunks
	z, err := Zeros(ctx, "", []int64{length, 2}, "<i4", &CreateOptions{Chunks: []int64{1, 2}, Blocks: []int64{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := saved(z.Frame())
	if err != nil {
		t.Fatal(err)
	}
	z.Close()
	for _, c := range []struct {
		what string
		edit func(a *Array) error
		want error
	}{
		{"Resize", func(a *Array) error { return a.Resize(ctx, length+100, 2) }, nil},
		{"Resize", func(a *Array) error { return a.Resize(ctx, length-1, 3) }, nil},
		{"Delete", func(a *Array) error { return a.Delete(ctx, 0, 10, 5) }, nil},
		{"ResizeAt", func(a *Array) error { return a.ResizeAt(ctx, []int64{7, 0}, []int64{length + 3, 2}) }, nil},
		{"Insert", func(a *Array) error { return a.InsertBytes(ctx, 0, 7, bytes.Repeat([]byte{1}, 8)) }, ErrTooLarge},
		{"Append", func(a *Array) error { return a.AppendBytes(ctx, 0, bytes.Repeat([]byte{1}, 8)) }, ErrTooLarge},
		{"Copy", func(a *Array) error {
			c, err := Copy(ctx, "", a, &CreateOptions{Chunks: []int64{2, 2}, Blocks: []int64{1, 2}})
			if err == nil {
				err = c.Close()
			}
			return err
		}, nil},
	} {
		a := editBytes(t, file)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := c.edit(a)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%s: %d bytes allocated", c.what, n)
		}
		a.Close()
	}
}

// ResizeAt changes the shape, in one commit, at any position of each axis. An axis that grows gets zeros before item
// start. An axis that shrinks loses items from item start. Later items move. start has a number for each axis, from 0
// to its length. The number has no effect if the length stays the same.
//
// As in C-Blosc2, no chunk is compressed again at the end of an axis, or where start and the change are multiples of
// the chunk length. Otherwise C-Blosc2 returns an error, and ResizeAt rewrites the chunks from start; see Insert. The
// error wraps ErrBounds or is an error of Resize.
func (a *Array) ResizeAt(ctx context.Context, start, shape []int64) error {
	return a.edit(ctx, func(b *Batch) error { return b.ResizeAt(ctx, start, shape) })
}

// ResizeAt changes the shape at any position of each axis. See Array.ResizeAt.
func (b *Batch) ResizeAt(ctx context.Context, start, shape []int64) error {
	ctx = task.Context(ctx)
	if err := b.refresh(ctx); err != nil {
		return err
	}
	if len(shape) != b.st.geo.Ndim || len(start) != len(shape) {
		return fmt.Errorf("ndarray: %w: shape %v at %v for an array of shape %v", ErrShape, shape, start, b.st.rec.Shape)
	}
	if _, err := b.reshaped(slices.Clone(shape)); err != nil {
		return err
	}
	inner := make([]int64, len(shape)) // change of each length before the end of the axis
	ends := slices.Clone(b.st.rec.Shape)
	for i, n := range b.st.rec.Shape {
		if start[i] < 0 || start[i] > n || start[i] > shape[i] && shape[i] < n {
			return fmt.Errorf("ndarray: %w: cannot change axis %d from %d to %d items at item %d", ErrBounds, i, n, shape[i], start[i])
		}
		if start[i] == min(n, shape[i]) {
			ends[i] = shape[i]
		} else {
			inner[i] = shape[i] - n
		}
	}
	return b.fail(b.resizeAt(ctx, start, inner, ends))
}

// resizeAt deletes before it inserts, so that the array never has more items than the larger of its old and new shape.
func (b *Batch) resizeAt(ctx context.Context, start, inner, ends []int64) error {
	for i, n := range inner {
		if n < 0 {
			ends[i] += n
			if err := b.shift(ctx, i, start[i], n, nil); err != nil {
				return err
			}
		}
	}
	next, err := b.reshaped(ends)
	if err == nil {
		err = b.resize(ctx, next)
	}
	for i, n := range inner {
		if err == nil && n > 0 {
			err = b.shift(ctx, i, start[i], n, nil)
		}
	}
	return err
}

// TestEditErrors checks what errors of edits say about positions.
func TestEditErrors(t *testing.T) {
	a, err := Zeros(ctx, "", []int64{4}, "<i2", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, large := Zeros(ctx, "", []int64{4}, "<i2", &CreateOptions{Filters: []chunk.Filter{chunk.Shuffle.With(300)}})
	for want, err := range map[string]error{
		"position 9 of axis 0 of length 4":     Insert(ctx, a, 0, 9, []int16{1, 2}),
		"position -5 of axis 0 of length 4":    Insert(ctx, a, 0, -5, []int16{1, 2}),
		"3 items at 2 of axis 0 of length 4":   a.Delete(ctx, 0, 2, 3),
		"axis 1 of an array of 1 dimensions":   Append(ctx, a, 1, []int16{1}),
		"axis -2 of an array of 1 dimensions":  Append(ctx, a, -2, []int16{1}),
		"entry 1 of the list is 4, out of":     ReadInto(ctx, a, make([]int16, 2), Pick(0, 4)),
		"parameter is out of range, want -128": large,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestCreateOptionsOwned checks that the caller may change the result of CreateOptions.
func TestCreateOptionsOwned(t *testing.T) {
	a, err := Create(ctx, "", []int64{3}, []int16{1, 2, 3}, &CreateOptions{
		UserFilters: []chunk.UserFilter{countFilter{new(atomic.Int64)}}, Filters: []chunk.Filter{chunk.Filter(countFilter{}.Code())},
	})
	if err != nil {
		t.Fatal(err)
	}
	clear(a.CreateOptions().UserFilters)
	if o := a.CreateOptions(); o.UserFilters[0] == nil {
		t.Error("the filters of the array have changed")
	}
	if _, err := Copy(ctx, "", a, nil); err != nil {
		t.Error(err)
	}
}

// TestChunkItems replaces the chunk of an array by chunks with items or blocks of another size. Verify, reads and
// copies either all return ErrCorrupt, or agree about the items.
func TestChunkItems(t *testing.T) {
	special := func(s chunk.Special, n, typeSize int, value string) []byte {
		c, err := chunk.EncodeSpecial(nil, s, n, []byte(value), chunk.Params{TypeSize: typeSize})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	blocks, err := chunk.Encode(nil, bytes.Repeat([]byte("01234567"), 6), chunk.Params{TypeSize: 8, BlockSize: 24})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what  string
		item  int
		chunk []byte
		want  error
	}{
		{"NaNs of 4 bytes, items of 8", 8, special(chunk.NaNs, 48, 4, ""), nil},
		{"NaNs of 8 bytes, items of 16", 16, special(chunk.NaNs, 96, 8, ""), nil},
		{"NaNs of 8 bytes, items of 4", 4, special(chunk.NaNs, 24, 8, ""), ErrCorrupt},
		{"NaNs of 4 bytes, items of 6", 6, special(chunk.NaNs, 36, 4, ""), ErrCorrupt},
		{"value of 4 bytes, items of 8", 8, special(chunk.Value, 48, 4, "abcd"), nil},
		{"value of 3 bytes, items of 8", 8, special(chunk.Value, 48, 3, "abc"), ErrCorrupt},
		{"value of two items", 8, special(chunk.Value, 48, 16, "0123456789abcdef"), ErrCorrupt},
		{"zeros", 8, special(chunk.Zeros, 48, 3, ""), nil},
		{"other blocks", 8, blocks, ErrCorrupt},
	} {
		a, err := Zeros(ctx, "", []int64{6}, fmt.Sprint("|V", c.item), &CreateOptions{Chunks: []int64{6}, Blocks: []int64{6}})
		if err != nil {
			t.Fatal(err)
		}
		put := c.chunk
		if c.want != nil { // an edit stores an ordinary chunk in place of some of these
			put, err = chunk.Encode(nil, bytes.Repeat([]byte{1}, 6*c.item), chunk.Params{TypeSize: c.item, Level: codec.NoCompression})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := replaceOnly(ctx, a.Frame(), put); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if c.want != nil {
			var file bytes.Buffer
			if _, err := a.Save(ctx, &file); err != nil {
				t.Fatal(err)
			}
			copy(file.Bytes()[bytes.Index(file.Bytes(), put):], c.chunk)
			if a, err = OpenBytes(file.Bytes(), nil); err != nil {
				t.Fatal(err)
			}
		}
		want, err := a.Frame().ReadChunk(ctx, nil, 0)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		got, listed, wrote := make([]byte, len(want)), make([]byte, len(want)), []byte(nil)
		copied := func(o *CreateOptions) ([]byte, error) {
			b, err := Copy(ctx, "", a, o)
			if err != nil {
				return nil, err
			}
			return contents(t, b), nil
		}
		as, errAs := copied(nil)
		again, errAgain := copied(&CreateOptions{Chunks: []int64{4}, Blocks: []int64{2}})
		tuned, errTuned := copied(&CreateOptions{Goal: Balanced})
		for what, err := range map[string]error{
			"Verify": a.Verify(ctx, nil), "ReadBytes": a.ReadBytes(ctx, got), "copy as stored": errAs,
			"other chunks": errAgain, "goal": errTuned, "list": a.ReadBytes(ctx, listed, Pick(0, 1, 2, 3, 4, 5)),
		} {
			var fe *frame.Error
			if !errors.Is(err, c.want) || err != nil && (!errors.As(err, &fe) || fe.Chunk != 0) {
				t.Errorf("%s, %s: %v", c.what, what, err)
			}
		}
		if c.want != nil {
			continue
		}
		if err := a.WriteBytes(ctx, want[:c.item], At(2)); err != nil {
			t.Fatal(err)
		}
		wrote = contents(t, a)
		for i, b := range [][]byte{got, listed, as, again, tuned, wrote} {
			if !bytes.Equal(b, want) {
				t.Errorf("%s, %d: % x, want % x", c.what, i, b, want)
			}
		}
	}
}

// TestSameGridCost makes edits in a batch that change the shape but not the grid of chunks: they allocate no index.
func TestSameGridCost(t *testing.T) {
	const columns = 50_000
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "x.b2nd")
	a, err := Zeros(ctx, name, []int64{2, 8*columns - 7}, "|u1", &CreateOptions{Chunks: []int64{1, 8}, Blocks: []int64{1, 8}, NoSync: true})
	must(t, err)
	defer a.Close()
	b, err := a.Begin(ctx)
	must(t, err)
	defer b.Rollback()
	must(t, b.AppendBytes(ctx, 1, []byte{1, 2})) // makes a list of all chunks
	edits := []func() error{
		func() error { return b.AppendBytes(ctx, 1, []byte{3, 4, 5, 6}) },
		func() error { return b.Resize(ctx, 2, 8*columns-2) },
		func() error { return b.Resize(ctx, 2, 8*columns-3) },
	}
	for i, edit := range edits {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		must(t, edit())
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 8*columns {
			t.Errorf("edit %d: %d bytes allocated", i, got)
		}
	}
	must(t, b.Commit())
	got := make([]byte, 2*5)
	must(t, a.ReadBytes(ctx, got, All, Span(8*columns-8, 8*columns-3)))
	if want := []byte{0, 1, 3, 4, 0, 0, 2, 5, 6, 0}; !bytes.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// rowsOf returns an array of n rows of 3 items that are all n, and a function that changes it to another number of
// rows.
func rowsOf(t *testing.T, n int64) (a *Array, change func()) {
	t.Helper()
	ctx := context.Background()
	a, err := Full(ctx, "", []int64{n, 3}, n, &CreateOptions{Chunks: []int64{4, 3}, Blocks: []int64{2, 3}})
	must(t, err)
	t.Cleanup(func() { a.Close() })
	return a, func() {
		n = n%11 + 4
		b, err := a.Begin(ctx)
		must(t, err)
		must(t, errors.Join(b.Resize(ctx, n, 3), Fill(ctx, b, n), b.Commit()))
	}
}

// edited is an array that is edited after each look at it.
type edited struct {
	*Array
	change func()
}

func (e edited) Shape() []int64 {
	defer e.change()
	return e.Array.Shape()
}

func (e edited) SelectionShape(sel ...Index) ([]int64, error) {
	defer e.change()
	return e.Array.SelectionShape(sel...)
}

func (e edited) CreateOptions() *CreateOptions {
	defer e.change()
	return e.Array.CreateOptions()
}

// editingWriter is a writer that edits an array when it gets bytes.
type editingWriter struct {
	bytes.Buffer
	change func()
}

func (w *editingWriter) Write(p []byte) (int, error) {
	w.change()
	return w.Buffer.Write(p)
}

// TestToWriterState writes arrays that are edited during the call: the items are those of one commit.
func TestToWriterState(t *testing.T) {
	ctx := t.Context()
	for _, sel := range [][]Index{nil, {All}, {All, Pick(0, 2, 1)}} {
		for n := int64(1); n < 15; n++ {
			a, change := rowsOf(t, n)
			w := &editingWriter{change: change}
			if err := writeItems(ctx, w, edited{a, change}, sel, memoryLimits{24, 48}); err != nil {
				t.Errorf("%d rows, %v: %v", n, sel, err)
				continue
			}
			items := w.Bytes()
			rows := int64(items[0])
			if int64(len(items)) != rows*3*8 || !slices.Equal(items, bytes.Repeat(items[:8], len(items)/8)) {
				t.Errorf("%d rows, %v: %d bytes of several commits", n, sel, len(items))
			}
		}
	}
}

// TestHeaderBlockSize edits, copies and salvages arrays of 3 chunks of 2 blocks, whose frame header has another block
// size. C-Blosc2 reads them only if no chunk is special.
func TestHeaderBlockSize(t *testing.T) {
	ctx := t.Context()
	o := &CreateOptions{Chunks: []int64{8}, Blocks: []int64{4}}
	items, err := Create(ctx, "", []int64{20}, slices.Repeat([]int32{1, 2, 3, 4, 5}, 4), o)
	must(t, err)
	zeros, err := Zeros(ctx, "", []int64{20}, "<i4", o)
	must(t, err)
	info, err := items.Frame().ChunkInfo(ctx, 0)
	must(t, err)
	name := filepath.Join(t.TempDir(), "x")
	write := func(a *Array, blockSize uint32, damage byte) {
		b, err := saved(a.Frame())
		must(t, err)
		binary.BigEndian.PutUint32(b[53:], blockSize)
		b[info.Off] ^= damage
		must(t, os.WriteFile(name, b, 0o666))
	}
	check := func(what string, f *frame.Frame, err error) {
		t.Helper()
		must(t, err)
		if n := f.Info().BlockSize; n != 16 {
			t.Errorf("%s: block size %d", what, n)
		}
		must(t, f.Verify(ctx, nil))
		f.Close()
	}
	for _, size := range []uint32{0, 8, 64, 502} {
		write(items, size, 0)
		a, err := Edit(ctx, name, nil)
		must(t, err)
		wantMessage(t, a.Resize(ctx, 40), ErrCorrupt, "copy the array to edit it")
		must(t, errors.Join(a.Verify(ctx, nil), a.Delete(ctx, 0, 8, 8), a.Resize(ctx, 8), a.Verify(ctx, nil)))
		f, err := frame.Copy(ctx, "", a.Frame(), nil)
		check("copy", f, err)
		a.Close()
		write(items, size, 0xff)
		f, found, err := frame.Salvage(ctx, "", name, nil, nil)
		check("salvaged", f, err)
		if found.Lost != 1 {
			t.Errorf("%+v", found)
		}
		write(zeros, size, 0)
		a, err = Open(ctx, name, nil)
		must(t, err)
		wantMessage(t, a.Verify(ctx, nil), ErrCorrupt, "those of the array have 2")
		f, err = frame.Copy(ctx, "", a.Frame(), nil)
		check("copy of zeros", f, err)
		a.Close()
	}
}
