package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/manifest"
	"github.com/goblosc/blosc2/meta"
)

// renamed returns a frame with another name, of the same length, in place of one.
func renamed(t *testing.T, b []byte, from, to string) []byte {
	t.Helper()
	if n := bytes.Count(b, []byte(from)); n != 1 || len(from) != len(to) {
		t.Fatalf("%q occurs %d times", from, n)
	}
	return bytes.Replace(b, []byte(from), []byte(to), 1)
}

// TestChecksumLayerRenamed changes the name of the layer with the checksums, which hid them before.
func TestChecksumLayerRenamed(t *testing.T) {
	b := renamed(t, checkedFrame(t), checksumLayer, "b2crc32b")
	if list := faults(t, b); len(list) != 1 || !errors.Is(list[0], ErrChecksum) || !strings.Contains(list[0].Error(), "b2crc32b") {
		t.Errorf("Verify: %v", list)
	}
	if _, err := OpenBytes(b, &OpenOptions{Verify: true}); !errors.Is(err, ErrChecksum) {
		t.Errorf("opening with OpenOptions.Verify: %v", err)
	}
	f, err := OpenBytes(b, nil)
	must(t, err)
	must(t, f.Close())
}

// TestChecksumLayerDropped changes the trailer so that it counts fewer metalayers, or none.
func TestChecksumLayerDropped(t *testing.T) {
	b := checkedFrame(t)
	at := bytes.LastIndex(b, []byte{0xde, 0, 3}) // the count of layers: checksums, v, empty
	if at < 0 {
		t.Fatal("no count")
	}
	b[at+2] = 0
	if list := faults(t, b); len(list) != 1 || !errors.Is(list[0], ErrCorrupt) || !strings.Contains(list[0].Error(), "trailer") {
		t.Errorf("Verify: %v", list)
	}
	if _, err := OpenBytes(b, &OpenOptions{Verify: true}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("opening with OpenOptions.Verify: %v", err)
	}
}

// TestChecksumRecordCopy keeps a copy of the record under another name, which is not a fault while the checksums are
// there.
func TestChecksumRecordCopy(t *testing.T) {
	f, err := EditStorage(t.Context(), NewMemory(checkedFrame(t)), nil)
	must(t, err)
	defer f.Close()
	record, err := f.VLMeta(checksumLayer)
	must(t, err)
	must(t, one(f).SetVLMeta("copy", record))
	must(t, f.Verify(context.Background(), func(err error) error { return err }))
}

// plainFrame makes a frame without checksums.
func plainFrame(t *testing.T) []byte {
	t.Helper()
	f, err := CreateFunc(t.Context(), "", func(b *Batch) error { return b.Append(t.Context(), make([]byte, 64)) }, &CreateOptions{ChunkSize: 64})
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	return b
}

// TestRequireChecksums opens frames with and without checksums, and with stale ones.
func TestRequireChecksums(t *testing.T) {
	ctx, o := context.Background(), &options{RequireChecksums: true}
	_, err := OpenBytes(plainFrame(t), o.bytes())
	if !errors.Is(err, ErrChecksum) || !strings.Contains(err.Error(), "the frame has no checksums, but option RequireChecksums is set") {
		t.Errorf("without checksums: %v", err)
	}
	b := checkedFrame(t)
	f, err := OpenBytes(b, o.bytes())
	must(t, err)
	if !f.Engine().Options().Verify {
		t.Error("it does not imply Verify")
	}
	// A library that knows nothing of checksums changes a variable-length metalayer, or adds one.
	for _, edit := range []func(s *snapshot){
		func(s *snapshot) { s.vlmeta[findLayer(s.vlmeta, "v")].Name = "w" },
		func(s *snapshot) {
			s.vlmeta = append(s.vlmeta, meta.Layer{Name: "w", Content: s.vlmeta[findLayer(s.vlmeta, "v")].Content})
		},
	} {
		g, err := OpenBytes(slices.Clone(b), nil)
		must(t, err)
		s := g.snap.Load()
		edit(s)
		trailer, err := meta.AppendTrailer(nil, s.vlmeta)
		must(t, err)
		c := slices.Concat(b[:s.frameLen-int64(s.trailerLen)], trailer)
		s.frameLen = int64(len(c))
		head, err := appendHeader(s)
		must(t, err)
		copy(c, head)
		if _, err := OpenBytes(c, o.bytes()); !errors.Is(err, ErrChecksum) {
			t.Errorf("a stale layer: %v", err)
		}
		if _, err := OpenBytes(c, &OpenOptions{Verify: true}); err != nil {
			t.Errorf("a stale layer, which OpenOptions.Verify compares when it is read: %v", err)
		}
	}
	m, err := EditStorage(ctx, NewMemory(checkedFrame(t)), o.storage())
	must(t, err)
	defer m.Close()
	for what, err := range map[string]error{
		"SetChecksums": one(m).SetChecksums(ctx, false), "DeleteVLMeta": one(m).DeleteVLMeta(checksumLayer),
	} {
		if !errors.Is(err, ErrParam) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, m.Append(ctx, make([]byte, 64)))
	if !m.Info().Checksums {
		t.Error("the checksums are gone")
	}
}

// TestRequireChecksumsRefresh lets another handle remove the checksums.
func TestRequireChecksumsRefresh(t *testing.T) {
	ctx := context.Background()
	kinds := []bool{false}
	if storage.CanLock {
		kinds = append(kinds, true)
	}
	for _, locking := range kinds {
		t.Run(fmt.Sprintf("locking=%v", locking), func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "a")
			must(t, os.WriteFile(name, checkedFrame(t), 0o666))
			f, err := Open(ctx, name, &OpenOptions{RequireChecksums: true, Locking: locking})
			must(t, err)
			defer f.Close()
			g, err := Edit(ctx, name, &OpenOptions{Locking: locking})
			must(t, err)
			defer g.Close()
			_, err = f.ReadChunk(ctx, nil, 0)
			must(t, err)
			must(t, one(g).SetChecksums(ctx, false))
			if locking {
				if _, err := f.ReadChunk(ctx, nil, 0); !errors.Is(err, ErrChecksum) {
					t.Errorf("reading: %v", err)
				}
			}
			if _, err := f.Refresh(ctx); !errors.Is(err, ErrChecksum) {
				t.Errorf("Refresh: %v", err)
			}
			must(t, one(g).SetChecksums(ctx, true))
			if _, err := f.Refresh(ctx); err != nil {
				t.Errorf("Refresh, with checksums again: %v", err)
			}
		})
	}
}

// smallArrayFrame makes a small frame with checksums, the metalayers of an array and one more, an index of stored
// chunks, and variable-length metalayers.
func smallArrayFrame(t *testing.T) []byte {
	t.Helper()
	a := meta.Array{Shape: []int64{6, 4}, ChunkShape: []int32{2, 4}, BlockShape: []int32{1, 4}, DType: "<i2"}
	content, err := a.Append(nil)
	must(t, err)
	o := &options{
		Checksums: true, ChunkSize: 16, Params: chunk.Params{TypeSize: 2, BlockSize: 8},
		Meta: []meta.Layer{{Name: "b2nd", Content: content}, {Name: "unit", Content: []byte{0xa1, 'K'}}},
	}
	f, err := CreateFunc(t.Context(), "", func(b *Batch) error {
		for i := range 3 {
			if err := b.Append(t.Context(), []byte(strings.Repeat(string(rune('a'+i)), 15)+"z")); err != nil {
				return err
			}
		}
		return b.SetVLMeta("note", []byte{0xa2, 'h', 'i'})
	}, o.create())
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	return b
}

// readAllOf returns all that a frame says, opened with RequireChecksums, or an error.
func readAllOf(b []byte) (data, info string, err error) {
	f, err := OpenBytes(b, &OpenOptions{RequireChecksums: true, Concurrency: 1})
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	var all bytes.Buffer
	if _, err = io.Copy(&all, f.Content(context.Background())); err != nil {
		return "", "", err
	}
	data = fmt.Sprintf("%d chunks %x %v", f.NumChunks(), all.Bytes(), f.Meta())
	for _, n := range f.VLMetaNames() {
		v, err := f.VLMeta(n)
		if err != nil {
			return "", "", err
		}
		data += fmt.Sprintf(" %s %x", n, v)
	}
	if err := f.Verify(context.Background(), func(err error) error { return err }); err != nil {
		return "", "", err
	}
	return data, fmt.Sprintf("%+v", f.Info()), nil
}

// TestRequireChecksumsFlips flips each bit of a small frame. In metalayers, chunks, index and trailer each flip is
// reported or changes nothing. The 87 fixed bytes of the header are not covered: the test lists those where a flip
// changes what Info returns. None changes data or metalayers.
func TestRequireChecksumsFlips(t *testing.T) {
	b := smallArrayFrame(t)
	data, info, err := readAllOf(b)
	must(t, err)
	reported, harmless := 0, 0
	var unnoticed []int // bytes of the fixed header
	for i := range b {
		for bit := range 8 {
			c := slices.Clone(b)
			c[i] ^= 1 << bit
			gotData, gotInfo, err := readAllOf(c)
			switch {
			case err != nil:
				reported++
			case gotData == data && gotInfo == info:
				harmless++
			case gotData == data && i < fixedLen:
				if len(unnoticed) == 0 || unnoticed[len(unnoticed)-1] != i {
					unnoticed = append(unnoticed, i)
				}
			default:
				t.Errorf("byte %d of %d, bit %d: not reported\n%s\n%s", i, len(b), bit, gotData, gotInfo)
			}
		}
	}
	t.Logf("%d flips reported, %d harmless", reported, harmless)
	var want []int
	for _, field := range [][2]int{
		{offVersion, 1}, {offCodec, 2}, {offBlockSize, 4}, {offChunkSize + 3, 1}, // 16 to 0: chunks of variable size
		{offFilters, 6}, {offCodecMeta, 1}, {offMetas, 6}, {offFlags2, 1},
	} {
		for i := range field[1] {
			want = append(want, field[0]+i)
		}
	}
	if !slices.Equal(unnoticed, want) {
		t.Errorf("fixed header bytes with flips that only change Info: %v, want %v", unnoticed, want)
	}
}

// TestLimits opens frames that are as large as the options allow, and larger.
func TestLimits(t *testing.T) {
	fixed := []meta.Layer{{Name: "m", Content: make([]byte, 5000)}}
	list := func(size int) []byte {
		f, err := CreateFunc(t.Context(), "", func(b *Batch) error {
			for i := range 50 {
				if err := b.Append(t.Context(), small(i)); err != nil {
					return err
				}
			}
			return b.SetVLMeta("v", small(1))
		}, &CreateOptions{Meta: fixed, ChunkSize: size})
		must(t, err)
		b, err := appendTo(f, nil)
		must(t, err)
		return b
	}
	one, err := CreateFunc(t.Context(), "", func(b *Batch) error { return b.Engine().FillSpecial(8*50, chunk.Zeros) }, &CreateOptions{ChunkSize: 8})
	must(t, err)
	uniform, err := appendTo(one, nil)
	must(t, err)
	for _, c := range []struct {
		what string
		b    []byte
		o    options
		ok   bool
	}{
		{"chunks", list(160), options{MaxChunks: 50}, true},
		{"chunks", list(160), options{MaxChunks: 49}, false},
		{"chunks of any size", list(200), options{MaxChunks: 50}, true},
		{"chunks of any size", list(200), options{MaxChunks: 49}, false},
		{"chunks of zeros", uniform, options{MaxChunks: 50}, true},
		{"chunks of zeros", uniform, options{MaxChunks: 49}, false},
		{"metalayers", list(160), options{MaxMeta: 5200}, true},
		{"metalayers", list(160), options{MaxMeta: 4999}, false},
		{"trailer", uniform, options{MaxMeta: 97}, true},
		{"trailer", uniform, options{MaxMeta: 34}, false},
	} {
		if _, err := OpenBytes(c.b, (&c.o).bytes()); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s, %d chunks, %d bytes allowed: %v", c.what, c.o.MaxChunks, c.o.MaxMeta, err)
		}
	}
}

// BenchmarkCommit appends one chunk to a frame of many chunks and commits. Each commit writes the whole index.
func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		for _, o := range []options{{NoSync: true}, {}, {NoSync: true, Checksums: true}} {
			o.Concurrency, o.Params = 1, chunk.Params{TypeSize: 4, Codec: codec.FromCode(1)}
			name := map[bool]string{true: "nosync", false: "sync"}[o.NoSync] + map[bool]string{true: "-checksums"}[o.Checksums]
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				f, err := CreateFunc(b.Context(), b.TempDir()+"/x", func(t *Batch) error {
					for i := range n {
						if err := t.Append(b.Context(), small(i)); err != nil {
							return err
						}
					}
					return nil
				}, (&o).create())
				must(b, err)
				defer f.Close()
				p := small(1)
				b.SetBytes(int64(len(p)))
				b.ReportAllocs()
				for b.Loop() {
					must(b, f.Append(b.Context(), p))
				}
			})
		}
	}
}

// mappedFrame makes a frame in a file and opens it as memory.
func mappedFrame(t *testing.T, o *options) (f *Frame, data []byte) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.b2frame")
	data = stamped(3, 5000)
	p := chunk.Params{TypeSize: 8, BlockSize: 1024}
	made, err := CreateFunc(t.Context(), name, func(b *Batch) error {
		for piece := range slices.Chunk(data, 8192) {
			if err := b.Append(t.Context(), piece); err != nil {
				return err
			}
		}
		return nil
	}, &CreateOptions{ChunkSize: 8192, Params: p, Checksums: true, NoSync: true})
	must(t, err)
	must(t, made.Close())
	o.Mmap = true
	f, err = Open(t.Context(), name, o.open())
	must(t, err)
	return f, data
}

// TestMmap reads frames of all kinds that are shown as memory, where the system can.
func TestMmap(t *testing.T) {
	names, frames := manifest.Contiguous(t, 1<<15)
	for i, b := range frames {
		name := filepath.Join(t.TempDir(), "f")
		must(t, os.WriteFile(name, b, 0o666))
		want, err := OpenBytes(b, nil)
		must(t, err)
		got, err := Open(t.Context(), name, &OpenOptions{Mmap: true})
		must(t, err)
		if !bytes.Equal(content(t, got), content(t, want)) {
			t.Errorf("%s: other content", names[i])
		}
		must(t, got.Close())
	}
	f, data := mappedFrame(t, &options{Verify: true})
	e, err := Edit(t.Context(), f.Path(), nil)
	must(t, err)
	more := bytes.Repeat([]byte("more"), 1000)
	must(t, e.Append(t.Context(), more))
	must(t, e.Close())
	// Bytes after the memory are read: those that were appended since.
	_, err = f.Refresh(t.Context())
	must(t, err)
	if !bytes.Equal(content(t, f), append(data, more...)) {
		t.Error("other content after an edit")
	}
	must(t, f.Close())
}

// TestMmapClose closes a frame while goroutines read from its memory, which must stay until they have ended.
func TestMmapClose(t *testing.T) {
	for range 5 {
		f, data := mappedFrame(t, &options{Concurrency: 1})
		m, ok := f.snap.Load().src.(*storage.Mapped)
		if !ok {
			t.Skip("this system shows no files as memory")
		}
		var wg sync.WaitGroup
		began := make(chan bool, 2)
		for range 2 {
			wg.Go(func() {
				got := make([]byte, len(data))
				for first := true; ; first = false {
					_, err := f.Content(t.Context()).ReadAt(got, 0)
					if first {
						began <- true
					}
					if errors.Is(err, fs.ErrClosed) {
						return
					}
					if err != nil || !bytes.Equal(got, data) {
						t.Error("other content", err)
						return
					}
				}
			})
		}
		v, err := f.Engine().View(t.Context())
		must(t, err)
		<-began
		must(t, f.Close())
		wg.Wait()
		if n := m.Uses(); n != 1 {
			t.Errorf("%d uses of the memory, want that of the view alone", n)
		}
		got := make([]byte, len(data))
		if err := v.Decode(context.Background(), &rangePlan{s: viewed(v), dst: got}, 1000, 0); err != nil || !bytes.Equal(got, data) {
			t.Error("a view of a closed frame:", err)
		}
		v.Release()
		if n := m.Uses(); n != 0 || m.Pin() {
			t.Errorf("%d uses of the memory after the last reader", n)
		}
	}
}

// withNames returns a file with a frame that has a metalayer and a variable-length metalayer of a name.
func withNames(t *testing.T, name string) string {
	t.Helper()
	f, err := Create(t.Context(), "", &CreateOptions{copied: true, Meta: []meta.Layer{{Name: name, Content: []byte("m")}}, VLMeta: []meta.Layer{{Name: "v", Content: []byte("v")}}})
	must(t, err)
	s := f.snap.Load().successor()
	s.vlmeta[0].Name = name
	b, err := appendTo(f, nil)
	must(t, err)
	trailer, err := meta.AppendTrailer(nil, s.vlmeta)
	must(t, err)
	b = append(b[:s.frameLen-int64(s.trailerLen)], trailer...)
	s.frameLen = int64(len(b))
	head, err := appendHeader(s)
	must(t, err)
	copy(b, head)
	file := filepath.Join(t.TempDir(), "a")
	must(t, os.WriteFile(file, b, 0o666))
	return file
}

// TestNames edits, saves, compacts, copies and salvages frames that have metalayers with names that C-Blosc2 writes,
// but other libraries misread. All keep the names, but Salvage only the empty one. No call adds such a metalayer.
func TestNames(t *testing.T) {
	ctx := t.Context()
	for _, name := range []string{"", "a\x00b", "\x00", "\xff", "a\xe4"} {
		file := withNames(t, name)
		f, err := Edit(ctx, file, nil)
		must(t, err)
		must(t, f.Append(ctx, make([]byte, 64)))
		must(t, one(f).SetMeta(name, []byte("M")))
		must(t, one(f).SetVLMeta(name, []byte("V")))
		must(t, one(f).SetVLMeta("other", []byte("other")))
		must(t, f.Compact(ctx))
		c, err := Copy(ctx, "", f, nil)
		must(t, err)
		saved, err := appendTo(f, nil)
		must(t, err)
		again, err := OpenBytes(saved, nil)
		must(t, err)
		kept := []*Frame{f, c, again}
		var faults []error
		salvaged, _, err := Salvage(ctx, "", file, func(err error) { faults = append(faults, err) }, nil)
		must(t, err)
		if name == "" {
			kept = append(kept, salvaged)
		} else if len(faults) != 2 || !errors.Is(faults[0], ErrParam) || !errors.Is(faults[1], ErrParam) {
			t.Errorf("%q: Salvage reports %q", name, faults)
		} else if names := salvaged.VLMetaNames(); len(salvaged.Meta()) != 0 || len(names) != 1 || names[0] != "other" {
			t.Errorf("%q: Salvage keeps %q and %q", name, salvaged.Meta(), names)
		}
		for i, f := range kept {
			m := f.Meta()
			v, err := f.VLMeta(name)
			if len(m) != 1 || m[0].Name != name || string(m[0].Content) != "M" || string(v) != "V" || err != nil || f.NumChunks() != 1 {
				t.Errorf("%q: frame %d: metalayers %q, %q, %d chunks, error %v", name, i, m, v, f.NumChunks(), err)
			}
		}
		must(t, one(f).DeleteVLMeta(name))
		must(t, f.Close())
		checkNewName(t, name)
	}
	checkNewName(t, strings.Repeat("n", 32))
}

// checkNewName expects that no call adds a metalayer with a name.
func checkNewName(t *testing.T, name string) {
	t.Helper()
	layers := []meta.Layer{{Name: "a"}, {Name: name}}
	_, metaErr := Create(t.Context(), "", &CreateOptions{Meta: layers})
	_, vlmetaErr := Create(t.Context(), "", &CreateOptions{VLMeta: layers})
	f, err := Create(t.Context(), "", nil)
	must(t, err)
	for i, err := range []error{metaErr, vlmetaErr, one(f).SetMeta(name, nil), one(f).SetVLMeta(name, nil)} {
		if !errors.Is(err, ErrParam) {
			t.Errorf("%q: call %d: error %v, want %v", name, i, err, ErrParam)
		}
	}
}

// TestRefreshReads compares an index with the stored one by a single read: each may be a request.
func TestRefreshReads(t *testing.T) {
	index := make([]byte, 300<<10)
	src := &counting{ReaderAt: bytes.NewReader(index)}
	if !fingerprintOf(index).matches(src, 0) || src.calls != 1 {
		t.Errorf("%d reads", src.calls)
	}
}

// TestReplacedIsClosed follows a frame that is replaced several times. A file or directory that was replaced must be
// closed when its last reader ends, and not before.
func TestReplacedIsClosed(t *testing.T) {
	for _, c := range []struct{ sparse, locking, compact, mmap bool }{
		{}, {sparse: true}, {compact: true}, {compact: true, locking: true}, {mmap: true},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			switch {
			case c.locking && !storage.CanLock:
				t.Skip("no file locks on this system")
			case slices.Contains([]string{"windows", "js", "plan9", "wasip1"}, runtime.GOOS):
				t.Skip("the system cannot replace what is open")
			}
			name := filepath.Join(t.TempDir(), "x")
			create := func(i int) {
				o := &CreateOptions{Sparse: c.sparse, Locking: c.locking, NoSync: true, Overwrite: true, ChunkSize: 160}
				f, err := CreateFunc(t.Context(), name, func(b *Batch) error { return b.Append(t.Context(), small(i)) }, o)
				must(t, err)
				must(t, f.Close())
			}
			edit := func(change func(f *Frame) error) {
				f, err := Edit(t.Context(), name, &OpenOptions{Locking: c.locking, NoSync: true})
				must(t, err)
				must(t, change(f))
				must(t, f.Close())
			}
			create(0)
			f, err := Open(t.Context(), name, &OpenOptions{Locking: c.locking, Mmap: c.mmap})
			must(t, err)
			defer f.Close()
			want := 0
			for i := range 8 {
				old := handle(f)
				var held *snapshot // of the file before its last edit
				if i%2 == 0 && !c.locking {
					held, err = f.acquire(t.Context())
					must(t, err)
					edit(func(f *Frame) error { return one(f).SetVLMeta("i", small(i)) })
					_, err = f.Refresh(t.Context())
					must(t, err)
				}
				was := want
				if c.compact {
					edit(func(f *Frame) error { return f.Compact(t.Context()) })
				} else {
					want = i + 1
					create(want)
				}
				if !c.locking {
					_, err := f.Refresh(t.Context())
					must(t, err)
				}
				got, err := f.ReadChunk(t.Context(), nil, 0)
				must(t, err)
				if !bytes.Equal(got, small(want)) {
					t.Error("other content")
				}
				if held != nil {
					if err := stat(old); err != nil {
						t.Errorf("the file of a state in use: %v", err)
					}
					err := f.readRange(t.Context(), held, got, 0)
					if !c.sparse && (err != nil || !bytes.Equal(got, small(was))) { // the chunk files were removed
						t.Errorf("the state in use: %v, or other content", err)
					}
					f.unuse(held)
				}
				if handle(f) == old {
					t.Error("the frame was not followed")
				}
				if err := stat(old); !errors.Is(err, fs.ErrClosed) {
					t.Errorf("the replaced file is open: %v", err)
				}
			}
		})
	}
}

// TestReplacedIsClosedBesideRefresh ends the last read of a file that was replaced while Refresh holds the frame.
func TestReplacedIsClosedBesideRefresh(t *testing.T) {
	if slices.Contains([]string{"windows", "js", "plan9", "wasip1"}, runtime.GOOS) {
		t.Skip("the system cannot replace what is open")
	}
	name := filepath.Join(t.TempDir(), "x")
	create := func(i int) {
		o := &CreateOptions{NoSync: true, Overwrite: true, ChunkSize: 160}
		f, err := CreateFunc(t.Context(), name, func(b *Batch) error { return b.Append(t.Context(), small(i)) }, o)
		must(t, err)
		must(t, f.Close())
	}
	create(0)
	f, err := Open(t.Context(), name, nil)
	must(t, err)
	defer f.Close()
	open := 0
	for i := range 300 {
		old := handle(f)
		held, err := f.acquire(t.Context())
		must(t, err)
		create(i + 1)
		_, err = f.Refresh(t.Context())
		must(t, err)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := f.Refresh(t.Context()); err != nil {
				t.Error(err)
			}
		})
		runtime.Gosched()
		f.unuse(held)
		wg.Wait()
		if !errors.Is(stat(old), fs.ErrClosed) {
			open++
		}
	}
	if open > 0 {
		t.Errorf("%d of 300 replaced files are open", open)
	}
}

// handle returns the file or directory of a frame.
func handle(f *Frame) any {
	if d, ok := f.store.(*sparse); ok {
		return d.root
	}
	return f.store.(*contiguous).Bytes
}

// stat returns the error of Stat of a file or directory.
func stat(x any) error {
	_, err := x.(interface{ Stat() (fs.FileInfo, error) }).Stat()
	return err
}
