package frame

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
)

const (
	gib      = int64(1) << 30
	holePage = 4096
)

// holes is a Storage that keeps only the pages that were written; the others are zeros.
type holes struct {
	mu    sync.RWMutex
	pages map[int64]*[holePage]byte
	size  int64
}

func newHoles() *holes { return &holes{pages: map[int64]*[holePage]byte{}} }

// each calls f with the pieces of [off, off+n), and the page of each or nil.
func (h *holes) each(off int64, n int, f func(at, in, n int, page *[holePage]byte)) {
	for at := 0; at < n; {
		x := off + int64(at)
		in := int(x % holePage)
		k := min(n-at, holePage-in)
		f(at, in, k, h.pages[x/holePage])
		at += k
	}
}

func (h *holes) ReadAt(p []byte, off int64) (int, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	n := int(max(0, min(int64(len(p)), h.size-off)))
	h.each(off, n, func(at, in, k int, page *[holePage]byte) {
		if page == nil {
			clear(p[at : at+k])
		} else {
			copy(p[at:at+k], page[in:])
		}
	})
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *holes) WriteAt(p []byte, off int64) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.each(off, len(p), func(at, in, k int, page *[holePage]byte) {
		if page == nil {
			page = new([holePage]byte)
			h.pages[(off+int64(at))/holePage] = page
		}
		copy(page[in:], p[at:at+k])
	})
	h.size = max(h.size, off+int64(len(p)))
	return len(p), nil
}

func (h *holes) Size() (int64, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.size, nil
}

func (h *holes) Truncate(size int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.size = size
	for at := range h.pages {
		if at*holePage >= size {
			delete(h.pages, at)
		}
	}
	return nil
}

func (h *holes) Sync() error  { return nil }
func (h *holes) Close() error { return nil }

// put writes a frame without chunks to a storage and opens it for editing.
func put(t *testing.T, st Storage, at int64, o *options) *Frame {
	t.Helper()
	empty, err := Create(t.Context(), "", o.memory())
	must(t, err)
	b, err := appendTo(empty, nil)
	must(t, err)
	must(t, empty.Close())
	_, err = st.WriteAt(b, at)
	must(t, err)
	f, err := EditStorage(t.Context(), window{st, at}, o.storage())
	must(t, err)
	return f
}

// words returns n bytes that no special value represents.
func words(n, first int) []byte {
	b := make([]byte, 0, n)
	for i := first; len(b) < n; i++ {
		b = binary.LittleEndian.AppendUint32(b, uint32(i*i))
	}
	return b
}

// checkLarge compares the decoded bytes around the chunks that have content, and around 4 GiB, with what they must be.
func checkLarge(t *testing.T, what string, f *Frame, chunks, size int, content map[int][]byte) {
	t.Helper()
	if f.Info().NBytes != int64(chunks)*int64(size) || f.Info().NBytes <= 4*gib {
		t.Fatalf("%s: %d decoded bytes", what, f.Info().NBytes)
	}
	places := []int64{0, 2*gib - 1, 4*gib - 1, 4 * gib, f.Info().NBytes - 1}
	for i := range content {
		places = append(places, int64(i)*int64(size), int64(i+1)*int64(size))
	}
	for _, at := range places {
		from, to := max(0, at-3000), min(f.Info().NBytes, at+3000)
		got := make([]byte, to-from)
		if n, err := f.Content(t.Context()).ReadAt(got, from); n != len(got) || err != nil {
			t.Fatalf("%s: reading at %d: %d, %v", what, from, n, err)
		}
		want := make([]byte, to-from)
		for i := from / int64(size); i <= (to-1)/int64(size); i++ {
			c := content[int(i)]
			if c == nil {
				continue
			}
			start := i * int64(size)
			lo, hi := max(from, start), min(to, start+int64(size))
			copy(want[lo-from:], c[lo-start:hi-start])
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the bytes at %d are others", what, from)
		}
	}
	if n, err := f.Content(t.Context()).ReadAt(make([]byte, 10), f.Info().NBytes-4); n != 4 || err != io.EOF {
		t.Errorf("%s: reading past the end: %d, %v", what, n, err)
	}
}

// TestLarge makes a frame that is longer than 4 GiB, stored and decoded, by leaving room between chunks, edits it and
// opens it again.
func TestLarge(t *testing.T) {
	const size, chunks = 1 << 20, 5000
	for _, offset := range []int64{0, 5*gib + 77} {
		t.Run(fmt.Sprint(offset), func(t *testing.T) {
			st := newHoles()
			o := &options{ChunkSize: size, Params: chunk.Params{TypeSize: 4, Codec: codec.FromCode(1)}}
			f := put(t, st, offset, o)
			must(t, one(f).FillSpecial(chunks*size, chunk.Zeros))
			content := map[int][]byte{}
			// at is where the space ends that counts as taken when the chunk is written, 0 = where it does.
			write := func(b *Batch, i int, at int64) {
				content[i] = words(size, i)
				b.end = max(b.end, at)
				must(t, b.Update(t.Context(), i, content[i]))
			}
			b, err := f.Begin(context.Background())
			must(t, err)
			write(b, 0, 0)
			write(b, 4095, 4*gib-1000)
			write(b, 4096, 0)
			write(b, chunks-1, 6*gib)
			must(t, b.Commit())
			checkLarge(t, "made", f, chunks, size, content)
			across, err := f.ChunkInfo(t.Context(), 4095)
			must(t, err)
			if across.Off >= 4*gib || across.Off+int64(across.CBytes) <= 4*gib || f.Info().FrameLen <= 6*gib {
				t.Fatalf("the chunk is at %d, the frame has %d bytes", across.Off, f.Info().FrameLen)
			}
			must(t, f.Close())

			total, err := st.Size()
			must(t, err)
			f, err = OpenReaderAt(t.Context(), window{st, offset}, total-offset, nil)
			must(t, err)
			checkLarge(t, "read", f, chunks, size, content)
			must(t, f.Close())

			f, err = EditStorage(t.Context(), window{st, offset}, o.storage())
			must(t, err)
			for _, i := range []int{1, 4094, 4095, 4096, chunks - 1} {
				content[i] = words(size, 100*i)
				must(t, one(f).Update(i, content[i]))
			}
			must(t, one(f).SetVLMeta("place", []byte("behind 6 GiB")))
			must(t, one(f).Delete(4097))
			must(t, f.Append(t.Context(), words(size, 3)))
			content[chunks-2], content[chunks-1] = content[chunks-1], words(size, 3)
			checkLarge(t, "edited", f, chunks, size, content)
			info, err := f.ChunkInfo(t.Context(), 4095)
			must(t, err)
			if info.Off > 4*gib-1000 {
				t.Errorf("chunk 4095 went to %d, not to the free space in front", info.Off)
			}
			must(t, f.Close())

			total, err = st.Size()
			must(t, err)
			f, err = OpenReaderAt(t.Context(), window{st, offset}, total-offset, nil)
			must(t, err)
			checkLarge(t, "reopened", f, chunks, size, content)
			if v, err := f.VLMeta("place"); string(v) != "behind 6 GiB" || err != nil {
				t.Errorf("metalayer %q, %v", v, err)
			}
			must(t, f.Close())
			if used := int64(len(st.pages)) * holePage; used > 32<<20 {
				t.Errorf("%d bytes of the storage are written", used)
			}
		})
	}
}

// failingHoles is a holes that fails like disk.
type failingHoles struct {
	*holes
	disk
}

func (h *failingHoles) Close() error                            { return nil }
func (h *failingHoles) Sync() error                             { return h.disk.Sync() }
func (h *failingHoles) Size() (int64, error)                    { return h.holes.Size() }
func (h *failingHoles) ReadAt(p []byte, off int64) (int, error) { return h.holes.ReadAt(p, off) }

func (h *failingHoles) WriteAt(p []byte, off int64) (int, error) {
	if h.fails("write") {
		h.holes.WriteAt(p[:len(p)/2], off)
		return len(p) / 2, errDisk
	}
	return h.holes.WriteAt(p, off)
}

func (h *failingHoles) Truncate(size int64) error {
	if h.fails("truncate") {
		return errDisk
	}
	return h.holes.Truncate(size)
}

// TestLargeEmptied deletes all chunks of a frame of more than 2 GiB, and lets the disk fail at each call, then or in
// the next edit. The trailer of an empty frame cannot be after the chunks, so it is in their place. The frame must have
// all chunks or none.
func TestLargeEmptied(t *testing.T) {
	for _, note := range []int{10, 5000} { // bytes of the trailer
		for _, forever := range []bool{false, true} {
			for failAt, more := 1, true; more; failAt++ {
				more = largeEmptied(t, words(note, 9), forever, failAt)
			}
		}
	}
}

// largeEmptied is a case of TestLargeEmptied. It reports whether there were that many calls.
func largeEmptied(t *testing.T, note []byte, forever bool, failAt int) bool {
	t.Helper()
	ctx := t.Context()
	h := &failingHoles{holes: newHoles()}
	empty, err := Create(ctx, "", &CreateOptions{Storage: h, ChunkSize: 400, Params: chunk.Params{TypeSize: 4}})
	must(t, err)
	must(t, empty.Close())
	f, err := EditStorage(ctx, h, nil)
	must(t, err)
	b, err := f.Begin(ctx)
	must(t, err)
	for i := range 3 {
		must(t, b.Append(ctx, words(400, i)))
		b.end = max(b.end, 3*gib)
	}
	must(t, b.Commit())
	h.calls, h.failAt, h.forever = 0, failAt, forever
	states := []int{3}
	if err = emptyAll(ctx, f, note); err == nil {
		states[0] = 0
		if err = f.Append(ctx, words(400, 0)); err == nil {
			states[0] = 1
		} else {
			states = append(states, 1)
		}
	} else {
		states = append(states, 0)
	}
	more := h.failed != ""
	if err != nil && !more {
		t.Fatal(err)
	}
	check := func(what string, f *Frame) {
		t.Helper()
		n := f.NumChunks()
		if !slices.Contains(states, n) {
			t.Fatalf("%s: %d chunks, want one of %d", what, n, states)
		}
		for i := range n {
			if p, err := f.ReadChunk(ctx, nil, i); err != nil || !bytes.Equal(p, words(400, i)) {
				t.Fatalf("%s: chunk %d: %v", what, i, err)
			}
		}
		if v, err := f.VLMeta("note"); n < 3 && (err != nil || !bytes.Equal(v, note)) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	what := fmt.Sprintf("trailer of %d, call %d (%s) fails, forever %v, %v", len(note), failAt, h.failed, forever, err)
	f.Close()
	h.failAt = 0
	size, err := h.Size()
	must(t, err)
	g, err := OpenReaderAt(ctx, h, size, nil)
	must(t, err)
	check(what, g)
	if s := g.snap.Load(); !unchanged(ctx, h, s) {
		t.Fatalf("%s: the state counts as changed", what)
	}
	g, err = EditStorage(ctx, h, nil)
	must(t, err)
	check(what+", opened for editing", g)
	must(t, g.Append(ctx, words(400, 7)))
	must(t, g.Close())
	return more
}

// emptyAll deletes all chunks of a frame and sets a metalayer, in one batch.
func emptyAll(ctx context.Context, f *Frame, note []byte) error {
	b, err := f.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Rollback()
	for b.NumChunks() > 0 {
		if err := b.Delete(0); err != nil {
			return err
		}
	}
	if err := b.SetVLMeta("note", note); err != nil {
		return err
	}
	return b.Commit()
}

// TestLargeEmptiedReaders empties a frame of more than 2 GiB while an older state is read, which must not change.
func TestLargeEmptiedReaders(t *testing.T) {
	ctx := t.Context()
	f := put(t, newHoles(), 0, &options{ChunkSize: 400, Params: chunk.Params{TypeSize: 4}})
	b, err := f.Begin(ctx)
	must(t, err)
	must(t, b.Append(ctx, words(400, 0)))
	b.end = 3 * gib
	must(t, b.Append(ctx, words(400, 1)))
	must(t, b.Commit())
	for _, edited := range []int{-1, 0, 1} { // the state that is read is the newest, or an older one
		v, err := f.Engine().View(ctx)
		must(t, err)
		if edited >= 0 {
			must(t, one(f).Update(edited, words(400, edited)))
		}
		if err := emptyAll(ctx, f, nil); !errors.Is(err, ErrParam) {
			t.Errorf("%v, want ErrParam", err)
		}
		if p, err := f.readChunkOf(viewed(v)); err != nil || !bytes.Equal(p, words(400, 0)) {
			t.Errorf("the chunk has changed: %v", err)
		}
		v.Release()
		if p, err := f.ReadChunk(ctx, nil, 0); err != nil || !bytes.Equal(p, words(400, 0)) {
			t.Errorf("the chunk cannot be read any more: %v", err)
		}
	}
	must(t, emptyAll(ctx, f, nil))
	checkSpace(t, f)
	must(t, f.Append(ctx, words(400, 0)))
	checkSpace(t, f)
	must(t, f.Close())
}

// TestEmptiedShared empties a small frame that has referenced a chunk twice, while a state from before it was compacted
// is in use.
func TestEmptiedShared(t *testing.T) {
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "f.b2frame")
	o := &CreateOptions{ChunkSize: 400, Params: chunk.Params{TypeSize: 4}, NoSync: true}
	f, err := CreateFunc(ctx, name, func(b *Batch) error {
		for i := range 30 {
			must(t, b.Append(ctx, words(400, i)))
		}
		b.list()[2] = b.list()[0]
		return nil
	}, o)
	must(t, err)
	must(t, f.Close())
	f, err = Edit(ctx, name, nil)
	must(t, err)
	v, err := f.Engine().View(ctx)
	must(t, err)
	for _, left := range []int{3, 0} {
		b, err := f.Begin(ctx)
		must(t, err)
		for b.NumChunks() > left {
			must(t, b.Delete(left))
		}
		must(t, b.Commit())
		must(t, f.Compact(ctx))
	}
	if p, err := f.readChunkOf(viewed(v)); err != nil || !bytes.Equal(p, words(400, 0)) {
		t.Errorf("the chunk has changed: %v", err)
	}
	v.Release()
	must(t, f.Close())
}

// TestOffsets keeps several frames in one storage, some of them at offsets above 4 GiB, and edits the last one.
func TestOffsets(t *testing.T) {
	st := newHoles()
	offsets := []int64{0, 5000, 4*gib - 100, 4*gib + 50000, 9 * gib}
	for i, at := range offsets {
		f := put(t, st, at, &options{Params: chunk.Params{TypeSize: 4}})
		must(t, f.Append(t.Context(), words(4000, i)))
		must(t, f.Append(t.Context(), words(400, i)))
		must(t, f.Close())
	}
	total, err := st.Size()
	must(t, err)
	for i, at := range offsets {
		f, err := OpenReaderAt(t.Context(), window{st, at}, total-at, nil)
		must(t, err)
		got := make([]byte, 4400)
		_, err = f.Content(t.Context()).ReadAt(got, 0)
		must(t, err)
		if want := append(words(4000, i), words(400, i)...); !bytes.Equal(got, want) {
			t.Errorf("the frame at %d has other content", at)
		}
		must(t, f.Close())
		if i < len(offsets)-1 {
			continue // editing truncates what follows
		}
		f, err = EditStorage(t.Context(), window{st, at}, nil)
		must(t, err)
		must(t, one(f).Delete(0))
		must(t, f.Close())
	}
}

// opened opens a frame and logs what that takes, which must stay below most bytes.
func opened(t *testing.T, b []byte, most uint64) *Frame {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f, err := OpenBytes(b, nil)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	must(t, err)
	n := after.TotalAlloc - before.TotalAlloc
	t.Logf("%d chunks in a frame of %d bytes: opened in %v, %d bytes of memory", f.NumChunks(), len(b), took, n)
	if n > most {
		t.Errorf("opening took %d bytes of memory, at most %d are right", n, most)
	}
	return f
}

// TestMillionChunks opens frames of a million chunks: of one special value, whose index has one entry for all, and
// with some stored ones, whose index is a list.
func TestMillionChunks(t *testing.T) {
	const size, chunks, every = 64, 1_000_000, 5000
	st := new(Memory)
	f := put(t, st, 0, &options{ChunkSize: size, Params: chunk.Params{TypeSize: 4}})
	must(t, one(f).FillSpecial(chunks*size, chunk.Uninit))
	uniform := opened(t, bytes.Clone(st.Bytes()), 1<<20)
	if info, err := uniform.ChunkInfo(t.Context(), chunks-1); info.Special != chunk.Uninit || err != nil {
		t.Errorf("the last chunk: %+v, %v", info, err)
	}
	b, err := f.Begin(context.Background())
	must(t, err)
	for i := 0; i < chunks; i += every {
		must(t, b.Update(t.Context(), i, words(size, i)))
	}
	must(t, b.Commit())
	must(t, f.Close())

	f = opened(t, st.Bytes(), 64<<20)
	got := make([]byte, 3*size)
	for i := every; i < chunks; i += every {
		_, err := f.Content(t.Context()).ReadAt(got, int64(i-1)*size)
		must(t, err)
		if want := append(append(make([]byte, size), words(size, i)...), make([]byte, size)...); !bytes.Equal(got, want) {
			t.Fatalf("the chunks around %d have other content", i)
		}
	}
	must(t, f.Close())
}

// benchFrame makes a frame of n chunks of size bytes that compress to about half.
func benchFrame(b testing.TB, n, size int) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "x.b2frame")
	p := make([]byte, size)
	f, err := CreateFunc(b.Context(), name, func(t *Batch) error {
		for i := range n {
			for k := range p {
				p[k] = byte(k*k>>3) + byte(i)
			}
			if err := t.Append(b.Context(), p); err != nil {
				return err
			}
		}
		return nil
	}, &CreateOptions{Params: chunk.Params{TypeSize: 4}, NoSync: true})
	must(b, err)
	must(b, f.Close())
	return name
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1, 1000, 100000} {
		b.Run(fmt.Sprintf("%d-chunks", n), func(b *testing.B) {
			name := benchFrame(b, n, 64)
			b.ReportAllocs()
			for b.Loop() {
				f, err := Open(b.Context(), name, nil)
				must(b, err)
				f.Close()
			}
		})
	}
}

func BenchmarkReadAt(b *testing.B) {
	for _, size := range []int{4, 1 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			f, err := Open(b.Context(), benchFrame(b, 32, 1<<20), nil)
			must(b, err)
			defer f.Close()
			p := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			off := int64(0)
			for b.Loop() {
				if _, err := f.Content(b.Context()).ReadAt(p, off); err != nil {
					b.Fatal(err)
				}
				off = (off + 1234567) % (16 << 20)
			}
		})
	}
}

// BenchmarkReadSparse reads chunks of a sparse frame, each of which is opened as a file.
func BenchmarkReadSparse(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			name := filepath.Join(b.TempDir(), "x")
			p := make([]byte, size)
			made, err := CreateFunc(b.Context(), name, func(t *Batch) error {
				for i := range 64 {
					for k := range p {
						p[k] = byte(k*k>>3) + byte(i)
					}
					if err := t.Append(b.Context(), p); err != nil {
						return err
					}
				}
				return nil
			}, &CreateOptions{Params: chunk.Params{TypeSize: 4}, NoSync: true, Sparse: true})
			must(b, err)
			must(b, made.Close())
			f, err := Open(b.Context(), name, &OpenOptions{Concurrency: 1})
			must(b, err)
			defer f.Close()
			b.SetBytes(int64(size))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := f.Content(b.Context()).ReadAt(p, int64(i*size)); err != nil {
					b.Fatal(err)
				}
				i = (i + 7) % 64
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		for _, noSync := range []bool{true, false} {
			b.Run(fmt.Sprintf("%d-sync-%v", size, !noSync), func(b *testing.B) {
				f, err := Create(b.Context(), filepath.Join(b.TempDir(), "x"), &CreateOptions{NoSync: noSync})
				must(b, err)
				defer f.Close()
				p := make([]byte, size)
				for k := range p {
					p[k] = byte(k * k >> 3)
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					must(b, f.Append(b.Context(), p))
				}
			})
		}
	}
}

// TestCopyOddItems copies and salvages frames of one special value, whose last chunk ends inside an item. C-Blosc2
// cannot read it if it is an index entry. If all chunks end so, they stay entries.
func TestCopyOddItems(t *testing.T) {
	const bad = 0x80 << 56 // an unusable entry
	for _, c := range []struct {
		special    chunk.Special
		chunk, odd int // size of a chunk, and the number of the first chunk that ends inside an item
		checksums  bool
		entry      uint64 // of the index, or 0
	}{
		{special: chunk.Zeros, chunk: 800, odd: 9},
		{special: chunk.Zeros, chunk: 800, odd: 9, checksums: true},
		{special: chunk.Uninit, chunk: 800, odd: 9},
		{special: chunk.Zeros, chunk: 804, odd: 10},
		{special: chunk.Zeros, chunk: 800, odd: 9, entry: bad},
	} {
		f, err := CreateFunc(t.Context(), "", func(b *Batch) error { return b.fillSpecial(7403, c.special) }, &CreateOptions{
			Params: chunk.Params{TypeSize: 1, BlockSize: 400}, ChunkSize: c.chunk, Checksums: c.checksums,
		})
		must(t, err)
		b := bytes.Clone(f.store.(*contiguous).Bytes.(*Memory).Bytes())
		binary.BigEndian.PutUint32(b[offTypeSize:], 8)
		if c.entry != 0 {
			e, _ := specialEntry(c.special)
			entry := binary.LittleEndian.AppendUint64(nil, uint64(e))
			binary.LittleEndian.PutUint64(b[bytes.Index(b, entry):], c.entry)
		}
		name := filepath.Join(t.TempDir(), "x.b2frame")
		must(t, os.WriteFile(name, b, 0o666))
		check := func(what string, g *Frame, err error) {
			t.Helper()
			must(t, err)
			defer g.Close()
			verify(t, g)
			for i := range g.NumChunks() {
				x, err := g.ChunkInfo(t.Context(), i)
				if must(t, err); (x.Special == chunk.Regular) != (i >= c.odd) {
					t.Errorf("%+v, %s: chunk %d is %v", c, what, i, x.Special)
				}
			}
			if p := content(t, g); !bytes.Equal(p, make([]byte, 7403)) {
				t.Errorf("%+v, %s: %d bytes", c, what, len(p))
			}
		}
		for _, sparse := range []bool{false, true} {
			o := &CreateOptions{Sparse: sparse, NoSync: true, Overwrite: true}
			if c.entry == 0 {
				f, err := Open(t.Context(), name, nil)
				must(t, err)
				g, err := Copy(t.Context(), name+".copy", f, o)
				check("Copy", g, err)
				f.Close()
			}
			g, _, err := Salvage(t.Context(), name+".salvaged", name, nil, o)
			check("Salvage", g, err)
		}
	}
}
