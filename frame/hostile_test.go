package frame

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/manifest"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/meta"
)

// readEverything opens a frame and reads all there is in all ways; it returns the first error. Whatever b holds, it
// must not panic and not take much memory.
func readEverything(b []byte) error {
	f, err := OpenBytes(b, &OpenOptions{Concurrency: 1})
	if err != nil {
		return err
	}
	defer f.Close()
	var first error
	note := func(err error) {
		if first == nil && err != io.EOF {
			first = err
		}
	}
	note(f.Verify(context.Background(), func(err error) error { note(err); return nil }))
	for _, name := range f.VLMetaNames() {
		_, err := f.VLMeta(name)
		note(err)
	}
	if f.Info().NBytes < 4<<20 {
		_, err := io.Copy(io.Discard, f.Content(context.Background()))
		note(err)
	}
	p := make([]byte, 1000)
	_, err = f.Content(context.Background()).ReadAt(p, f.Info().NBytes/2)
	note(err)
	for i := range min(f.NumChunks(), 20) {
		_, err := f.ChunkInfo(context.Background(), i)
		note(err)
		_, err = f.ReadChunk(context.Background(), nil, i)
		note(err)
		_, err = f.ReadBlock(context.Background(), nil, i, 0)
		note(err)
	}
	return first
}

// goodError checks that an error is one of this package and names the part of the frame.
func goodError(t testing.TB, err error) {
	t.Helper()
	var at *Error
	if err == nil {
		return
	}
	if !errors.As(err, &at) || at.Part == "" {
		t.Fatalf("an error without a place: %v", err)
	}
	for _, kind := range []error{ErrFormat, ErrCorrupt, errors.ErrUnsupported, ErrTooLarge, ErrBounds} {
		if errors.Is(err, kind) {
			return
		}
	}
	t.Fatalf("an error of no kind: %v", err)
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestReadRawOnce reads the stored bytes of a chunk in a file into memory once.
func TestReadRawOnce(t *testing.T) {
	ctx, name := t.Context(), filepath.Join(t.TempDir(), "a.b2f")
	f, err := Create(ctx, name, &CreateOptions{ChunkSize: 4 << 20})
	must(t, err)
	noise := make([]byte, 4<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	must(t, f.Append(ctx, noise))
	must(t, f.Close())
	f, err = Open(ctx, name, &OpenOptions{Concurrency: 1})
	must(t, err)
	defer f.Close()
	n := allocated(func() { _, err = f.ReadRaw(ctx, nil, 0) })
	if must(t, err); n > 5<<20 {
		t.Errorf("%d bytes were allocated for a chunk of 4 MiB", n)
	}
}

// TestTruncated cuts frames after each byte.
func TestTruncated(t *testing.T) {
	names, frames := manifest.Contiguous(t, 2000)
	if len(names) < 10 {
		t.Fatal(names)
	}
	for i := range min(len(names), 25) {
		b := frames[i]
		f, err := OpenBytes(b, nil)
		must(t, err)
		n := int(f.Info().FrameLen)
		for cut := range n {
			err := readEverything(b[:cut])
			if err == nil {
				t.Fatalf("%s: no error with %d of %d bytes", names[i], cut, n)
			}
			goodError(t, err)
		}
	}
}

// TestChangedBytes changes bytes of frames at random. Reading must return data, or an error that names the part.
func TestChangedBytes(t *testing.T) {
	names, frames := manifest.Contiguous(t, 8000)
	rng := rand.New(rand.NewPCG(7, 7))
	tries := 20000
	if testing.Short() || race.Enabled || runtime.GOARCH == "s390x" {
		tries = 2000
	}
	worst, failed := uint64(0), 0
	for try := range tries {
		i := rng.IntN(len(frames))
		b := slices.Clone(frames[i])
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(b))
			switch rng.IntN(4) {
			case 0: // in the header
				at = rng.IntN(min(len(b), 130))
			case 1: // in the trailer and index
				at = len(b) - 1 - rng.IntN(min(len(b), 150))
			}
			switch rng.IntN(3) {
			case 0:
				b[at] = byte(rng.Uint32())
			case 1:
				b[at] ^= 1 << rng.IntN(8)
			default:
				b[at] = []byte{0, 1, 0x7f, 0x80, 0xff}[rng.IntN(5)]
			}
		}
		var err error
		var n uint64
		if try%10 == 0 {
			n = allocated(func() { err = readEverything(b) })
		} else {
			err = readEverything(b)
		}
		if worst = max(worst, n); n > 64<<20+64*uint64(len(b)) {
			t.Errorf("%s: %d bytes allocated for %d", names[i], n, len(b))
		}
		if err != nil {
			failed++
		}
		goodError(t, err)
	}
	t.Logf("%d of %d are errors; at most %d KiB allocated", failed, tries, worst>>10)
	if failed < tries/4 {
		t.Error("the changes change nothing")
	}
}

// TestHostileHeaders sets each field of a header to values at the edges.
func TestHostileHeaders(t *testing.T) {
	f, err := CreateFunc(t.Context(), "", func(b *Batch) error {
		for i := range 5 {
			if err := b.Append(t.Context(), small(i)); err != nil {
				return err
			}
		}
		return b.SetVLMeta("a", []byte("b"))
	}, &CreateOptions{Params: chunk.Params{TypeSize: 4}})
	must(t, err)
	good, err := appendTo(f, nil)
	must(t, err)
	be := binary.BigEndian
	edges := []int64{-1 << 63, -1<<63 + 24, -1<<63 + 25, -1 << 31, -2, -1, 0, 1, 7, 24, 25, 86, 87, 112, 1<<31 - 33, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1<<62 - 1, 1<<63 - 1}
	for _, v := range edges {
		for off, width := range map[int]int{
			offHeaderLen: 4, offFrameLen: 8, offNBytes: 8, offCBytes: 8, offTypeSize: 4, offBlockSize: 4, offChunkSize: 4,
			len(good) - 22: 4, // of the trailer
		} {
			for _, near := range []int64{0, int64(len(good)), int64(len(good)) - 25, 800} {
				for _, two := range []bool{false, true} {
					b := slices.Clone(good)
					if width == 4 {
						be.PutUint32(b[off:], uint32(v+near))
					} else {
						be.PutUint64(b[off:], uint64(v+near))
					}
					if two { // chunks of variable size too
						be.PutUint32(b[offChunkSize:], 0)
					}
					var err error
					if n := allocated(func() { err = readEverything(b) }); n > 64<<20 {
						t.Errorf("field at %d = %d: %d bytes allocated", off, v+near, n)
					}
					goodError(t, err)
				}
			}
		}
	}
	step := 1
	if testing.Short() {
		step = 17
	}
	for i := range 87 {
		for v := 0; v < 256; v += step {
			b := slices.Clone(good)
			b[i] = byte(v)
			goodError(t, readEverything(b))
		}
	}
}

// oddHeader returns a frame with two chunks and the bytes of its header at off set.
func oddHeader(t *testing.T, off int, with ...byte) (b []byte, data string) {
	f, err := Create(context.Background(), "", &CreateOptions{Params: chunk.Params{Codec: codec.Zlib, TypeSize: 4}})
	must(t, err)
	defer f.Close()
	data = strings.Repeat("some text. ", 40)
	must(t, one(f).Insert(0, []byte(data[:220])))
	must(t, one(f).Insert(1, []byte(data[220:])))
	b, err = appendTo(f, nil)
	must(t, err)
	copy(b[off:], with)
	return b, data
}

// TestHighLevel edits a frame whose header has a level above 9.
func TestHighLevel(t *testing.T) {
	b, data := oddHeader(t, offCodec, 0xf4)
	m := NewMemory(b)
	f, err := EditStorage(context.Background(), m, nil)
	must(t, err)
	defer f.Close()
	if got := f.Info().Params.Level; got != 9 {
		t.Errorf("level %d", got)
	}
	must(t, one(f).Insert(2, []byte(data[:220])))
	if got := string(content(t, f)); got != data+data[:220] {
		t.Errorf("%q after an edit", got)
	}
	verify(t, f)
	if got := m.Bytes()[offCodec]; got != 0xf4 {
		t.Errorf("codec and level %#x after an edit", got)
	}
	copied := NewMemory(nil)
	g, err := Copy(context.Background(), "", f, &CreateOptions{Storage: copied})
	must(t, err)
	must(t, g.Close())
	if got := copied.Bytes()[offCodec]; got != 0x94 {
		t.Errorf("codec and level %#x in a copy", got)
	}
}

// TestCheckedHeader opens frames with bytes that C-Blosc2 does not check, and salvages them.
func TestCheckedHeader(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		off  int
		with []byte
	}{
		{offBlockSize, []byte{0xff, 0xff, 0xff, 0xff}},
		{offBlockSize, []byte{0x20, 0, 0, 0}},
		{offFilters - 2, []byte{0xd7}},
	} {
		b, data := oddHeader(t, c.off, c.with...)
		if _, err := OpenBytes(b, nil); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d: %v", c.off, err)
		}
		name := filepath.Join(t.TempDir(), "odd")
		must(t, os.WriteFile(name, b, 0o666))
		f, _, err := Salvage(ctx, "", name, nil, nil)
		must(t, err)
		if got := string(content(t, f)); got != data {
			t.Errorf("byte %d: %q", c.off, got)
		}
		must(t, f.Close())
	}
}

// TestHostileIndex puts indexes of all kinds into a frame.
func TestHostileIndex(t *testing.T) {
	pool := coder.NewPool(nil)
	base := func() *snapshot {
		s := &snapshot{inherited: inherited{header: header{version: 2, typeSize: 4, chunkSize: 40, nbytes: 120, threads: [2]int16{1, 1}}}}
		must(t, s.setCParams(chunk.Params{TypeSize: 4}, coder.Plugins{}))
		s.headerLen, _ = measureHeader(nil)
		return s
	}
	frame := func(s *snapshot, index []byte) []byte {
		b := append(make([]byte, 0, 1000), index...)
		s.cbytes = 0
		s.frameLen = int64(s.headerLen + len(index) + 35)
		head, err := appendHeader(s)
		must(t, err)
		return slices.Concat(head, b, unhex(t, emptyTrailer))
	}
	encode := func(list ...entry) []byte {
		x := newIndex(list, nil)
		b, err := x.append(nil, pool)
		must(t, err)
		return b
	}
	if err := readEverything(frame(base(), encode(entryZeros, entryNaNs, entryUninit))); err != nil {
		t.Fatal(err)
	}
	special := func(kind chunk.Special, n int, value []byte) []byte {
		b, err := chunk.EncodeSpecial(nil, kind, n, value, chunk.Params{TypeSize: 8})
		must(t, err)
		return b
	}
	huge := chunk.MaxBytes / 8 * 8
	for what, c := range map[string]struct {
		index  []byte
		nbytes int64
		size   int32
	}{
		"positions outside":       {encode(0, 1<<40, 5), 120, 40},
		"greatest position":       {encode(1<<63-1, 1<<63-33, 1<<62), 120, 40},
		"special of no kind":      {encode(entry(-1<<63), entry(-1<<63|8<<56), entryZeros), 120, 40},
		"too few":                 {encode(entryZeros), 120, 40},
		"too many":                {encode(entryZeros, entryZeros, entryZeros, entryZeros), 120, 40},
		"not a multiple of 8":     {special(chunk.Zeros, 20, nil), 120, 0},
		"empty":                   {special(chunk.Zeros, 0, nil), 120, 0},
		"all the same position":   {special(chunk.Zeros, 24, nil), 120, 40},
		"2 GiB of positions":      {special(chunk.Zeros, huge, nil), 120, 0},
		"2 GiB of NaNs":           {special(chunk.NaNs, huge, nil), 120, 0},
		"2^28 zero chunks":        {special(chunk.Value, huge, binary.LittleEndian.AppendUint64(nil, 0x8100<<48)), 120, 0},
		"2^28 zero chunks, sized": {special(chunk.Value, huge, binary.LittleEndian.AppendUint64(nil, 0x8100<<48)), int64(huge / 8), 1},
		"specials without size":   {encode(entryZeros, entryNaNs, entryUninit), 120, 0},
	} {
		s := base()
		s.nbytes, s.chunkSize = c.nbytes, c.size
		b := frame(s, c.index)
		var err error
		n := allocated(func() { err = readEverything(b) })
		if n > 64<<20 {
			t.Errorf("%s: %d bytes allocated", what, n)
		}
		goodError(t, err)
		if err == nil && what != "2^28 zero chunks, sized" {
			t.Errorf("%s: no error", what)
		}
		if n := allocated(func() { editEverything(b) }); n > 80<<20 {
			t.Errorf("%s: %d bytes allocated in edits", what, n)
		}
	}
}

// editEverything edits a copy of a frame in memory, in all ways, and reads it again: nothing may panic.
func editEverything(b []byte) {
	m := NewMemory(slices.Clone(b))
	f, err := EditStorage(context.Background(), m, &OpenOptions{Concurrency: 1})
	if err != nil {
		return
	}
	one(f).SetVLMeta("new", []byte("value"))
	f.Append(context.Background(), small(1))
	f.Append(context.Background(), small(2)[:40])
	one(f).Update(0, small(3))
	one(f).Insert(0, small(4))
	one(f).Delete(f.NumChunks() - 1)
	one(f).Delete(1)
	if n := f.NumChunks(); n < 1000 {
		order := make([]int, n)
		for i := range order {
			order[i] = n - 1 - i
		}
		one(f).Reorder(order)
	}
	for _, l := range f.Meta() {
		one(f).SetMeta(l.Name, l.Content)
	}
	one(f).FillSpecial(400, chunk.Zeros)
	f.Close()
	readEverything(m.Bytes())
}

// bomb is a Storage that must not be written.
type bomb struct {
	Memory
	t testing.TB
}

func (b *bomb) WriteAt([]byte, int64) (int, error) { b.t.Error("written"); return 0, errDisk }
func (b *bomb) Truncate(int64) error               { b.t.Error("truncated"); return errDisk }
func (b *bomb) Sync() error                        { b.t.Error("synced"); return errDisk }

// TestReadOnly checks that frames opened for reading, and those that are edited without success, are not written.
func TestReadOnly(t *testing.T) {
	for _, c := range manifest.Frames(t)[:60] {
		before, err := os.Stat(c.Path)
		must(t, err)
		f, err := Open(t.Context(), c.Path, nil)
		must(t, err)
		io.Copy(io.Discard, f.Content(t.Context()))
		for what, err := range map[string]error{
			"append": f.Append(t.Context(), small(1)), "delete": one(f).Delete(0), "vlmeta": one(f).SetVLMeta("a", nil), "meta": one(f).SetMeta("a", nil),
		} {
			if !errors.Is(err, ErrReadOnly) {
				t.Errorf("%s: %v", what, err)
			}
		}
		must(t, f.Close())
		after, err := os.Stat(c.Path)
		must(t, err)
		if before.ModTime() != after.ModTime() || before.Size() != after.Size() {
			t.Errorf("%s was written", c.File)
		}
	}
	_, frames := manifest.Contiguous(t, 8000)
	for _, b := range frames {
		s := &bomb{t: t}
		_, err := s.Memory.WriteAt(b, 0)
		must(t, err)
		f, err := openBytes(t.Context(), s, nil)
		must(t, err)
		io.Copy(io.Discard, f.Content(t.Context()))
		f.Append(t.Context(), small(1))
		must(t, f.Close())
		if !bytes.Equal(s.Memory.Bytes(), b) {
			t.Error("other bytes")
		}
	}
}

// TestNotFrames opens files that are not frames.
func TestNotFrames(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	must(t, os.WriteFile(empty, nil, 0o666))
	text := filepath.Join(dir, "text")
	must(t, os.WriteFile(text, bytes.Repeat([]byte("text "), 100), 0o666))
	for _, name := range []string{dir, empty, text} {
		if _, err := Open(t.Context(), name, nil); !errors.Is(err, ErrFormat) && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for _, c := range manifest.Frames(t) {
		if fi, err := os.Stat(c.Path); err != nil || !fi.IsDir() {
			continue
		}
		if _, err := Open(t.Context(), filepath.Join(c.Path, indexFile), nil); !errors.Is(err, ErrFormat) {
			t.Errorf("the index of a sparse frame: %v", err)
		}
		break
	}
}

// FuzzOpen opens any bytes as a frame, reads all of it, verifies it, and edits a copy.
func FuzzOpen(f *testing.F) {
	_, frames := manifest.Contiguous(f, 1500)
	for _, b := range frames {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		goodError(t, readEverything(b))
		editEverything(b)
	})
}

// FuzzEdit runs the program of edits that the bytes spell, and compares with the model.
func FuzzEdit(f *testing.F) {
	f.Add(uint64(1), uint64(1), false)
	f.Add(uint64(2), uint64(7), true)
	f.Fuzz(func(t *testing.T, seed, program uint64, variable bool) {
		common := 64
		if variable {
			common = 0
		}
		rng := newRand(seed)
		_, fr, m := diskFrame(t, common)
		for ; program > 0; program >>= 2 {
			b, err := fr.Begin(context.Background())
			must(t, err)
			next := m.clone()
			for range 1 + program%3 {
				step(t, rng, b, next, common)
			}
			if program%4 == 3 {
				b.Rollback()
			} else {
				must(t, b.Commit())
				m = next
			}
			m.check(t, fr, rng)
		}
	})
}

// TestCheckAllocs checks memory that frames justify together, but not one of them.
func TestCheckAllocs(t *testing.T) {
	const stored = 12_000 // justify 47 MiB
	rng := rand.New(rand.NewPCG(1, 2))
	open := func(limit int64) *Frame {
		content := make([]byte, stored)
		for i := range content {
			content[i] = byte(rng.IntN(255) + 1)
		}
		source, err := Create(t.Context(), "", nil)
		must(t, err)
		var b bytes.Buffer
		must(t, source.Append(t.Context(), content))
		_, err = source.Save(t.Context(), &b)
		must(t, err)
		f, err := OpenBytes(b.Bytes(), &OpenOptions{MaxBytes: limit})
		must(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b, c := open(0), open(0), open(0)
	small, large, free := open(1<<20), open(1<<30), open(-1)
	for _, x := range []struct {
		n      int64
		frames []*Frame
		want   error
	}{
		{0, nil, nil},
		{coder.FreeBytes, []*Frame{a, b}, nil},
		{coder.FreeBytes + 1, []*Frame{a}, ErrTooLarge},
		{stored * 2 * coder.MemoryRatio, []*Frame{a, b}, nil},
		{stored * 3 * coder.MemoryRatio, []*Frame{a, b}, ErrTooLarge},
		{stored * 3 * coder.MemoryRatio, []*Frame{a, b, c}, nil},
		{1 << 20, []*Frame{small, small}, nil},
		{1<<20 + 1, []*Frame{small, small}, ErrTooLarge},
		{coder.FreeBytes, []*Frame{small, a}, nil},
		{1 << 30, []*Frame{a, large, small}, nil},
		{1<<30 + 1, []*Frame{a, large, small}, ErrTooLarge},
		{1<<31 - 1, []*Frame{small, free}, nil},
	} {
		if err := CheckAllocs(x.n, x.frames...); !errors.Is(err, x.want) {
			t.Errorf("%d bytes of %d frames: %v, want %v", x.n, len(x.frames), err, x.want)
		}
	}
}

// sharedFrame returns a frame whose index references each of some chunks of 8 bytes n times. nbytes is added to the
// size in the header.
func sharedFrame(t *testing.T, chunks, n int, variable bool, nbytes int64) []byte {
	t.Helper()
	f, err := CreateFunc(t.Context(), "", func(b *Batch) error {
		for i := range chunks {
			if err := b.Append(t.Context(), bytes.Repeat([]byte{byte(i + 1), 2}, 4)); err != nil {
				return err
			}
		}
		b.next.index = newIndex(slices.Repeat(b.list(), n), nil)
		if b.next.nbytes = 8*int64(chunks)*int64(n) + nbytes; variable {
			b.next.chunkSize = 0
		}
		return nil
	}, &CreateOptions{Params: chunk.Params{TypeSize: 1}})
	must(t, err)
	defer f.Close()
	b, err := appendTo(f, nil)
	must(t, err)
	return b
}

// hookedSource is a Source that calls a hook before each read.
type hookedSource struct {
	b    []byte
	hook atomic.Pointer[func(ctx context.Context) error]
}

func (s *hookedSource) Size() int64 { return int64(len(s.b)) }

func (s *hookedSource) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if hook := s.hook.Load(); hook != nil {
		if err := (*hook)(ctx); err != nil {
			return 0, err
		}
	}
	return bytes.NewReader(s.b).ReadAt(p, off)
}

// hookReads calls do before each read.
func hookReads(s *hookedSource, do func(ctx context.Context) error) { s.hook.Store(&do) }

// readByte reads byte 20 of a frame.
func readByte(ctx context.Context, f *Frame) error {
	var p [1]byte
	n, err := f.Content(ctx).ReadAt(p[:], 20)
	if err == nil && (n != 1 || p[0] == 0) {
		err = errors.New("another byte")
	}
	return err
}

// TestContentShared reads frames with chunks of variable size that the index references many times. The headers are
// read once, and the error of a wrong size is kept.
func TestContentShared(t *testing.T) {
	const chunks, n = 3, 10000
	for _, wrong := range []int64{0, 8} {
		src := &hookedSource{b: sharedFrame(t, chunks, n, true, wrong)}
		f, err := OpenSource(t.Context(), src, nil)
		must(t, err)
		defer f.Close()
		reads := 0
		hookReads(src, func(context.Context) error { reads++; return nil })
		for range 2 {
			if err := readByte(t.Context(), f); (err == nil) != (wrong == 0) || err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("a size that differs by %d: %v", wrong, err)
			}
			if reads > 20 {
				t.Errorf("a size that differs by %d: %d reads", wrong, reads)
			}
			if reads = 0; wrong > 0 {
				hookReads(src, func(context.Context) error { return errDisk })
			}
		}
	}
}

// TestContentErrors reads a frame with chunks of variable size. Errors of the source and of a context are not kept, and
// a context ends the reading of headers and the waiting for another call that reads them.
func TestContentErrors(t *testing.T) {
	src := &hookedSource{b: sharedFrame(t, 1, 1000, true, 0)}
	f, err := OpenSource(t.Context(), src, nil)
	must(t, err)
	defer f.Close()
	hookReads(src, func(context.Context) error { return errDisk })
	if err := readByte(t.Context(), f); !errors.Is(err, errDisk) {
		t.Errorf("the source fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	hookReads(src, func(context.Context) error { cancel(); return nil })
	if err := readByte(ctx, f); !errors.Is(err, context.Canceled) || f.snap.Load().ends.list != nil {
		t.Errorf("canceled: %v", err)
	}
	started, resume := make(chan struct{}), make(chan struct{})
	var once sync.Once
	hookReads(src, func(context.Context) error {
		once.Do(func() { close(started); <-resume })
		return nil
	})
	done := make(chan error, 1)
	go func() { done <- readByte(context.Background(), f) }()
	<-started
	soonCanceled(t, "another call reads the headers", "", func(ctx context.Context) error { return readByte(ctx, f) })
	close(resume)
	must(t, <-done)
	if _, err := io.Copy(io.Discard, f.Content(t.Context())); err != nil {
		t.Error(err)
	}
}

// hookedStorage is a Memory that calls a hook before each read, unless it is nil.
type hookedStorage struct {
	Memory
	hook func()
}

func (s *hookedStorage) ReadAt(p []byte, off int64) (int, error) {
	if s.hook != nil {
		s.hook()
	}
	return s.Memory.ReadAt(p, off)
}

// TestSelectShared removes chunks that the index references many times. Their headers are read once, and a context ends
// the edit.
func TestSelectShared(t *testing.T) {
	const chunks, n = 3, 10000
	for _, rest := range []int64{0, chunks * n / 2} {
		st := &hookedStorage{Memory: *NewMemory(sharedFrame(t, chunks, n, false, 0))}
		f, err := EditStorage(t.Context(), st, nil)
		must(t, err)
		reads := 0
		ctx, cancel := context.WithCancel(t.Context())
		keep := func(i int64) int64 { return i }
		for _, c := range []struct {
			what string
			hook func()
			from func(i int64) int64
			want error
		}{
			{"canceled while chunks are selected", nil, func(i int64) int64 { cancel(); return i }, context.Canceled},
			{"canceled while headers are read", func() { cancel() }, keep, context.Canceled},
			{"not canceled", func() { reads++ }, keep, nil},
		} {
			if rest == 0 && c.hook == nil || rest > 0 && c.hook != nil && c.want != nil {
				continue // no chunk is selected, or each is still referenced, so that no header is read
			}
			b, err := f.Begin(t.Context())
			must(t, err)
			st.hook = c.hook
			if err := b.Engine().SelectChunks(ctx, rest, 8, c.from); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("%s, %d chunks: %v", c.what, rest, err)
			}
			ctx, cancel = context.WithCancel(t.Context())
			defer cancel()
			if st.hook = nil; c.want != nil {
				b.Rollback()
			} else {
				must(t, b.Commit())
			}
		}
		if reads > 20 || f.NumChunks() != int(rest) {
			t.Errorf("%d of %d chunks: %d reads", f.NumChunks(), rest, reads)
		}
		if rest > 0 {
			must(t, readByte(t.Context(), f))
		}
		must(t, f.Close())
	}
}

// TestSelectKept drops some of the entries that reference a chunk file. The size of the chunks stays that of the files
// in use.
func TestSelectKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := CreateFunc(t.Context(), name, func(b *Batch) error {
		for i := range 3 {
			if err := b.Append(t.Context(), bytes.Repeat([]byte{byte(i + 1), 2, 9, byte(i)}, 40)); err != nil {
				return err
			}
		}
		x := b.list()
		b.next.index = newIndex([]entry{x[0], x[1], x[0], x[2], x[1]}, nil)
		b.next.nbytes = 5 * 160
		return nil
	}, &CreateOptions{Sparse: true, Params: chunk.Params{TypeSize: 1}})
	must(t, err)
	must(t, f.Close())
	f, err = Edit(t.Context(), name, nil)
	must(t, err)
	defer f.Close()
	size := f.Info().CBytes / 3 // all files have the same size
	must(t, f.edit(t.Context(), func(b *Batch) error {
		return b.Engine().SelectChunks(t.Context(), 2, 160, func(i int64) int64 { return i })
	}))
	if got := f.Info().CBytes; got != 2*size {
		t.Errorf("%d bytes in two chunk files of %d bytes", got, size)
	}
	must(t, f.Verify(t.Context(), nil))
}

// TestLazyLayers reads lazy frames and proxy caches with metalayers of many values. Decoding one is limited, and done
// only once.
func TestLazyLayers(t *testing.T) {
	for _, name := range []string{engine.ProxyLayer, engine.ObjectLayer, engine.OldLazyLayer} {
		for _, n := range []int{2000, 1 << 20} {
			list := binary.BigEndian.AppendUint32([]byte{0xdd}, uint32(n))
			list = append(list, bytes.Repeat([]byte{0xc0}, n)...) // nil
			o := &CreateOptions{ChunkSize: 8, Meta: []meta.Layer{{Name: name, Content: list}}}
			f, err := CreateFunc(t.Context(), "", func(b *Batch) error { return b.fillSpecial(80, chunk.Uninit) }, o)
			must(t, err)
			got := allocated(func() {
				for range 100 {
					if _, err := f.ReadChunk(t.Context(), nil, 0); !errors.Is(err, errors.ErrUnsupported) {
						t.Fatal(err)
					}
				}
			})
			if got > 2<<20 {
				t.Errorf("%s of %d values: %d bytes allocated", name, n, got)
			}
			must(t, f.Close())
		}
	}
}

// TestFetchedBits compares the lists of a proxy cache with a slow way to read them. Whatever the number of bits for a
// chunk is, one is kept.
func TestFetchedBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		n, parts := 1+rng.IntN(20), 1+rng.IntN(40)
		list := bytes.Repeat([]byte{0xff}, (n*parts+7)/8)
		for range rng.IntN(n) {
			list[rng.IntN(len(list))] &^= 1 << rng.IntN(8)
		}
		var o origin
		if !o.take(list, n, parts) || len(o.bits) != (n+7)/8 {
			t.Fatalf("%d chunks of %d parts: %d bytes", n, parts, len(o.bits))
		}
		for i := range n {
			want := true
			for k := i * parts; k < (i+1)*parts; k++ {
				want = want && list[k/8]>>(k%8)&1 == 1
			}
			if got := o.holds(i, 0); got != want {
				t.Fatalf("%d chunks of %d parts, %x: chunk %d is held: %v", n, parts, list, i, got)
			}
		}
	}
}
