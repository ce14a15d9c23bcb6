package ndarray

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/meta"
)

// storedChunks returns the offset and the stored bytes of each chunk.
func storedChunks(t testing.TB, a *Array) (offs []int64, raw [][]byte) {
	t.Helper()
	for i := range a.Frame().NumChunks() {
		info, err := a.Frame().ChunkInfo(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		b, err := a.Frame().ReadRaw(t.Context(), nil, i)
		if err != nil {
			t.Fatal(err)
		}
		offs, raw = append(offs, info.Off), append(raw, b)
	}
	return offs, raw
}

// inChunks returns, for each chunk of an array, a map from positions in the chunk to items.
func (m *model) inChunks(t testing.TB, a *Array) []map[int64]uint32 {
	t.Helper()
	g := a.state.Load().geo
	chunks := make([]map[int64]uint32, g.Chunks)
	for i := range int64(len(m.data) / m.size) {
		var chunk, block, item int64
		at := unravel(i, m.shape)
		for k := range m.shape {
			c, b := g.ChunkShape[k], g.BlockShape[k]
			chunk = chunk*g.Grid[k] + at[k]/c
			block = block*g.BlockGrid[k] + at[k]%c/b
			item = item*b + at[k]%c%b
		}
		if chunks[chunk] == nil {
			chunks[chunk] = map[int64]uint32{}
		}
		chunks[chunk][block*g.BlockItems+item] = binary.LittleEndian.Uint32(m.item(i))
	}
	return chunks
}

// TestChangesKeepChunks checks that an edit does not rewrite a chunk whose items all remain in one chunk, at the same
// positions.
func TestChangesKeepChunks(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(23, 1))
	moved := 0
	for round := range 300 {
		shape := make([]int64, 1+rng.IntN(3))
		o := &CreateOptions{}
		for i := range shape {
			shape[i] = 1 + rng.Int64N(9)
			o.Chunks = append(o.Chunks, 1+rng.Int64N(4))
			o.Blocks = append(o.Blocks, 1+rng.Int64N(o.Chunks[i]))
		}
		m := newModel(shape, 4)
		for i := range len(m.data) / 4 { // all items are different, and none is zero
			binary.LittleEndian.PutUint32(m.item(int64(i)), uint32(i+1))
		}
		a, err := CreateBytes(ctx, "", shape, "<u4", m.data, o)
		if err != nil {
			t.Fatal(err)
		}
		offs, raw := storedChunks(t, a)
		before := m.inChunks(t, a)
		axis := rng.IntN(len(shape))
		c := int64(o.Chunks[axis])
		at := rng.Int64N(shape[axis] + 1)
		if rng.IntN(2) == 0 {
			at -= at % c
		}
		n := 1 + rng.Int64N(5)
		if rng.IntN(2) == 0 {
			n = c * (1 + rng.Int64N(2))
		}
		what := "insert"
		if rng.IntN(2) == 0 {
			what, n = "delete", min(n, shape[axis]-at)
			err = a.Delete(ctx, axis, at, n)
			m = m.splice(axis, at, n, 0, nil)
		} else {
			data := bytes.Repeat([]byte{0xee, 0xee, 0xee, 0xee}, int(n*m.steps(axis)))
			err = a.InsertBytes(ctx, axis, at, data)
			m = m.splice(axis, at, 0, n, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		m.check(t, a, rng)
		nextOffs, nextRaw := storedChunks(t, a)
		for i, items := range m.inChunks(t, a) {
			for k, old := range before {
				if !equalOrPart(items, old) {
					continue
				}
				if nextOffs[i] != offs[k] || !bytes.Equal(nextRaw[i], raw[k]) {
					t.Fatalf("round %d: %s of %d at %d of axis %d of %v, chunks %v: chunk %d, previously %d, was rewritten", round, what, n, at, axis, shape, o.Chunks, i, k)
				}
				if i != k {
					moved++
				}
			}
		}
	}
	if moved < 300 {
		t.Errorf("only %d chunks moved", moved)
	}
}

// equalOrPart reports whether all items of a chunk were at the same positions of an old chunk. The old chunk may have
// more items, which were removed from the array.
func equalOrPart(items, old map[int64]uint32) bool {
	for at, x := range items {
		if old[at] != x {
			return false
		}
	}
	return len(items) > 0
}

// TestAppendReadsNothing checks that appending whole chunks reads no chunk. It damages the stored chunk, so that any
// read of it fails.
func TestAppendReadsNothing(t *testing.T) {
	ctx := context.Background()
	a, err := CreateBytes(ctx, "", []int64{6, 4}, "|u1", bytes.Repeat([]byte{1, 2, 3}, 8), &CreateOptions{Chunks: []int64{6, 4}, Blocks: []int64{2, 4}})
	if err != nil {
		t.Fatal(err)
	}
	_, before := storedChunks(t, a)
	base, err := saved(a.Frame())
	if err != nil {
		t.Fatal(err)
	}
	// Damage the stored chunk, so that reading it fails.
	at := bytes.Index(base, before[0])
	damaged := bytes.Clone(base)
	for i := at + 32; i < at+len(before[0]); i++ {
		damaged[i] ^= 0xff
	}
	b := editBytes(t, damaged)
	if err := b.AppendBytes(ctx, 0, bytes.Repeat([]byte{7}, 6*4)); err != nil {
		t.Errorf("append of a whole chunk: %v", err)
	}
	if err := b.InsertBytes(ctx, 0, 6, bytes.Repeat([]byte{7}, 6*4)); err != nil {
		t.Errorf("insert of a whole chunk: %v", err)
	}
	if err := b.InsertBytes(ctx, 0, 0, bytes.Repeat([]byte{7}, 6*4)); err != nil {
		t.Errorf("insert of a whole chunk before others: %v", err)
	}
	if err := b.Delete(ctx, 0, 6, 6); err != nil {
		t.Errorf("delete of a whole chunk: %v", err)
	}
	if got, err := Read[uint8](ctx, b); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{7}, 18*4)) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestShiftMemory checks that inserting at the front of an array allocates memory for a few groups of chunks, however
// large the array is.
func TestShiftMemory(t *testing.T) {
	if race.Enabled {
		t.Log("the race detector makes pools drop memory at random")
		return
	}
	ctx := context.Background()
	o := &CreateOptions{Chunks: []int64{64 << 10}, Blocks: []int64{16 << 10}}
	o.NoSync, o.Concurrency, o.Codec = true, 2, codec.LZ4
	n := 96 << 20
	if testing.Short() {
		n = 32 << 20
	}
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i>>10) ^ byte(i)&7
	}
	a, err := CreateBytes(ctx, t.TempDir()+"/a.b2nd", []int64{int64(n)}, "|u1", data, o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := a.InsertBytes(ctx, 0, 0, []byte{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	t.Logf("%d KiB allocated", (after.TotalAlloc-before.TotalAlloc)>>10)
	if all := after.TotalAlloc - before.TotalAlloc; all > uint64(n/2) {
		t.Errorf("inserting into %d bytes allocated %d bytes", n, all)
	}
	got, err := Read[uint8](ctx, a)
	if err != nil || !bytes.Equal(got[:3], []byte{1, 2, 3}) || !bytes.Equal(got[3:], data) {
		t.Errorf("the items differ (%v)", err)
	}
}

// editBytes opens an array in memory for editing.
func editBytes(t testing.TB, b []byte) *Array {
	t.Helper()
	f, err := frame.EditStorage(t.Context(), frame.NewMemory(bytes.Clone(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := OpenFrame(f)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestUntouchedBlocksStay writes whole blocks of a chunk whose stored blocks are damaged, and reads none of them.
func TestUntouchedBlocksStay(t *testing.T) {
	ctx := context.Background()
	o := &CreateOptions{Chunks: []int64{64, 64}, Blocks: []int64{8, 64}}
	o.Codec = codec.LZ4
	items := make([]uint16, 60*64)
	for i := range items {
		items[i] = uint16(i * i >> 7)
	}
	a, err := Create(ctx, "", []int64{60, 64}, items, o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := saved(a.Frame())
	if err != nil {
		t.Fatal(err)
	}
	_, raw := storedChunks(t, a)
	at := bytes.Index(b, raw[0])
	for i := at + 32 + 4*8; i < at+len(raw[0]); i++ {
		b[i] ^= 0xff
	}
	a = editBytes(t, b)
	if _, err := Read[uint16](ctx, a); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("reading damaged blocks: %v", err)
	}
	if err := Fill(ctx, a, uint16(7), Span(8, 24)); err != nil {
		t.Errorf("filling two blocks: %v", err)
	}
	if err := Write(ctx, a, items[40*64:48*64], Pick(40, 41, 42, 43, 44, 45, 46, 47)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("writing a block through a list, which reads it: %v", err)
	}
	if err := Fill(ctx, a, uint16(7), Span(3, 4)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("filling a part of a block: %v", err)
	}
	if got, err := Read[uint16](ctx, a, Span(8, 24)); err != nil || !slices.Equal(got, slices.Repeat([]uint16{7}, 16*64)) {
		t.Error(err)
	}
	_, now := storedChunks(t, a)
	if tail := b[at+len(raw[0])-100 : at+len(raw[0])]; !bytes.Contains(now[0], tail) {
		t.Error("the stored blocks changed")
	}
}

// TestResizeModel grows and shrinks arrays at random and compares them with a model after each step.
func TestResizeModel(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		ndim := 1 + rng.IntN(3)
		shape := make([]int64, ndim)
		chunks := make([]int64, ndim)
		blocks := make([]int64, ndim)
		for i := range shape {
			shape[i] = rng.Int64N(12)
			chunks[i] = 1 + rng.Int64N(5)
			blocks[i] = 1 + rng.Int64N(chunks[i])
		}
		a, err := Zeros(ctx, "", shape, "<i4", &CreateOptions{Chunks: chunks, Blocks: blocks})
		if err != nil {
			t.Fatal(err)
		}
		model := map[[3]int64]int32{}
		for step := range 15 {
			if rng.IntN(2) == 0 {
				next := make([]int64, ndim)
				for i := range next {
					next[i] = rng.Int64N(12)
				}
				if err := a.Resize(ctx, next...); err != nil {
					t.Fatalf("round %d step %d: %v to %v: %v", round, step, shape, next, err)
				}
				shape = next
				for at := range model {
					if slices.ContainsFunc([]int{0, 1, 2}[:ndim], func(i int) bool { return at[i] >= shape[i] }) {
						delete(model, at)
					}
				}
			} else {
				n := a.Size()
				data := make([]int32, n)
				for i := range data {
					data[i] = rng.Int32()
					model[unravel(int64(i), shape)] = data[i]
				}
				if err := Write(ctx, a, data); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Read[int32](ctx, a)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range got {
				if want := model[unravel(int64(i), shape)]; x != want {
					t.Fatalf("round %d step %d shape %v chunks %v: item %v is %d, want %d", round, step, shape, chunks, unravel(int64(i), shape), x, want)
				}
			}
		}
	}
}

// unravel returns the coordinates of a position in C order.
func unravel(i int64, shape []int64) (at [3]int64) {
	for k := len(shape) - 1; k >= 0; k-- {
		at[k] = i % shape[k]
		i /= shape[k]
	}
	return at
}

// TestRewriteAllocations rewrites all chunks of arrays in one commit. The allocated memory must grow with the number of
// chunks, not with its square.
func TestRewriteAllocations(t *testing.T) {
	rewrite := func(n int64) uint64 {
		data := bytes.Repeat([]byte{7, 8}, int(n)/2)
		a, err := Create(ctx, "", []int64{n}, data, &CreateOptions{Chunks: []int64{1}, Blocks: []int64{1}, Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := Write(ctx, a, data); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const n = 10_000
	if few, many := rewrite(n), rewrite(8*n); many > 16*few {
		t.Errorf("%d bytes allocated for %d chunks, %d for %d", few, n, many, 8*n)
	}
}

// TestDamageIsNotCopied copies and edits an array with checksums in which a bit has changed. Without
// OpenOptions.Verify, too, no damaged item may get a checksum that matches it.
func TestDamageIsNotCopied(t *testing.T) {
	ctx := context.Background()
	items := make([]uint16, 250*100)
	for i := range items {
		items[i] = uint16(i * i >> 5)
	}
	a, err := Create(ctx, "", []int64{250, 100}, items, &CreateOptions{Codec: codec.LZ4, Chunks: []int64{100, 100}, Blocks: []int64{50, 100}, Checksums: true})
	must(t, err)
	offs, raw := storedChunks(t, a)
	var file bytes.Buffer
	_, err = a.Save(ctx, &file)
	must(t, err)
	damaged := file.Bytes()
	for _, i := range []int{0, 2} {
		damaged[int(offs[i])+len(raw[i])-3] ^= 1
	}
	a, err = OpenBytes(damaged, nil)
	must(t, err)
	result := func(r Reader, o *CreateOptions) error {
		_, err := Copy(ctx, "", r, o)
		return err
	}
	join := func(r ...Reader) error {
		_, err := Concat(ctx, "", 0, r, nil)
		return err
	}
	edit := func(f func(*Array) error) error {
		e := editBytes(t, damaged)
		err := f(e)
		if got := e.Verify(ctx, nil); !errors.Is(got, ErrChecksum) {
			t.Errorf("after an edit, Verify returns %v", got)
		}
		return err
	}
	view, err := Slice(a, Span(10, 240))
	must(t, err)
	for name, err := range map[string]error{
		"copy":         result(a, nil),
		"other chunks": result(a, &CreateOptions{Chunks: []int64{80, 100}}),
		"other level":  result(a, &CreateOptions{Level: 9}),
		"goal":         result(a, &CreateOptions{Goal: Balanced}),
		"view":         result(view, nil),
		"concat":       join(a),
		"concat two":   join(a, a),
		"reshape":      func() error { _, err := Reshape(ctx, "", a, []int64{100, 250}, nil); return err }(),
		"map": func() error {
			_, err := Map(ctx, "", a, func(out []uint16, in Tile[uint16]) error { copy(out, in.Items); return nil }, nil)
			return err
		}(),
		"write":  edit(func(e *Array) error { return Write(ctx, e, items[:100], At(20)) }),
		"append": edit(func(e *Array) error { return Append(ctx, e, 0, items[:100]) }),
		"insert": edit(func(e *Array) error { return Insert(ctx, e, 0, 30, items[:100]) }),
		"delete": edit(func(e *Array) error { return e.Delete(ctx, 0, 30, 1) }),
	} {
		if !errors.Is(err, ErrChecksum) {
			t.Errorf("%s: %v, want ErrChecksum", name, err)
		}
	}
	// What does not use the damaged chunks is not affected.
	must(t, edit(func(e *Array) error { return Write(ctx, e, items[:100], At(120)) }))
	got, err := Read[uint16](ctx, a, Span(100, 200))
	if err != nil || !slices.Equal(got, items[100*100:200*100]) {
		t.Errorf("reading: %v", err)
	}
}

// TestDamagedMetaIsNotCopied does what TestDamageIsNotCopied does with an attribute and a metalayer.
func TestDamagedMetaIsNotCopied(t *testing.T) {
	ctx := context.Background()
	o := &CreateOptions{Checksums: true, Attrs: map[string]any{"units": "attribute"}, Meta: []meta.Layer{{Name: "m", Content: []byte("\xa9metalayer")}}}
	a, err := Create(ctx, "", []int64{3}, []int32{1, 2, 3}, o)
	must(t, err)
	var file bytes.Buffer
	_, err = a.Save(ctx, &file)
	must(t, err)
	for _, text := range []string{"attribute", "metalayer"} {
		at := bytes.LastIndex(file.Bytes(), []byte(text))
		if at < 0 {
			t.Fatalf("no %s", text)
		}
		damaged := bytes.Clone(file.Bytes())
		damaged[at] ^= 1
		a, err := OpenBytes(damaged, nil)
		must(t, err)
		_, all := Copy(ctx, "", a, nil)
		_, again := Copy(ctx, "", a, &CreateOptions{Level: 9})
		_, frames := frame.Copy(ctx, "", a.Frame(), nil)
		e := editBytes(t, damaged)
		for what, err := range map[string]error{"copy": all, "other level": again, "frame": frames, "Verify": e.Verify(ctx, nil)} {
			if !errors.Is(err, ErrChecksum) {
				t.Errorf("%s: %s: %v, want ErrChecksum", text, what, err)
			}
		}
		// SetChecksums accepts what the file holds.
		b, err := e.Frame().Begin(ctx)
		must(t, err)
		must(t, b.SetChecksums(ctx, true))
		must(t, b.Commit())
		must(t, e.Verify(ctx, nil))
	}
}
