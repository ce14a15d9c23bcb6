package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/meta"
)

func keepBlock(dst, src []byte, _ chunk.BlockInfo) error { copy(dst, src); return nil }

// TestOpenOptions sets each field that cannot apply to a way of opening, which is an error, and each one that can.
func TestOpenOptions(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := Create(t.Context(), name, nil)
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	must(t, f.Close())
	ways := map[string]func(o *OpenOptions) (*Frame, error){
		"Open":         func(o *OpenOptions) (*Frame, error) { return Open(t.Context(), name, o) },
		"Edit":         func(o *OpenOptions) (*Frame, error) { return Edit(t.Context(), name, o) },
		"OpenBytes":    func(o *OpenOptions) (*Frame, error) { return OpenBytes(b, o) },
		"OpenReaderAt": func(o *OpenOptions) (*Frame, error) { return OpenReaderAt(t.Context(), NewMemory(b), int64(len(b)), o) },
		"OpenSource":   func(o *OpenOptions) (*Frame, error) { return OpenSource(t.Context(), &liveSource{st: NewMemory(b)}, o) },
		"EditStorage":  func(o *OpenOptions) (*Frame, error) { return EditStorage(t.Context(), NewMemory(b), o) },
	}
	none := map[string]bool{}
	only := func(names ...string) map[string]bool {
		m := map[string]bool{}
		for _, n := range names {
			m[n] = true
		}
		return m
	}
	for _, c := range []struct {
		what string
		o    OpenOptions
		fits map[string]bool // the ways it applies to; nil = all
	}{
		{"negative Concurrency", OpenOptions{Concurrency: -1}, none},
		{"negative Cache", OpenOptions{Cache: -1}, none},
		{"negative MaxMeta", OpenOptions{MaxMeta: -1}, none},
		{"negative MaxChunks", OpenOptions{MaxChunks: -1}, none},
		{"Cache with Postfilter", OpenOptions{Cache: 1, Postfilter: keepBlock}, none},
		{"Mmap", OpenOptions{Mmap: true}, only("Open")},
		{"Locking", OpenOptions{Locking: true}, only("Open", "Edit")},
		{"NoSync", OpenOptions{NoSync: true}, only("Edit", "EditStorage")},
		{"Prefilter", OpenOptions{Prefilter: keepBlock}, only("Edit", "EditStorage")},
		{"others", OpenOptions{Concurrency: 2, Cache: 1 << 20, Verify: true, MaxBytes: -1, MaxMeta: 1 << 20, MaxChunks: 10}, nil},
	} {
		if c.o.Locking && !storage.CanLock {
			continue
		}
		for way, open := range ways {
			f, err := open(&c.o)
			if err == nil {
				must(t, f.Close())
			}
			if fits := c.fits == nil || c.fits[way]; fits != (err == nil) || !fits && !errors.Is(err, ErrParam) {
				t.Errorf("%s, %s: %v", way, c.what, err)
			}
		}
	}
}

// TestCreateOptions does the same for ways of creating.
func TestCreateOptions(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	f, err := CreateFunc(ctx, broken, func(b *Batch) error { return b.Append(ctx, small(1)) }, nil)
	must(t, err)
	defer f.Close()
	name := filepath.Join(dir, "new")
	ways := map[string]func(o *CreateOptions) (*Frame, error){
		"Create":         func(o *CreateOptions) (*Frame, error) { return Create(ctx, name, o) },
		"Create, memory": func(o *CreateOptions) (*Frame, error) { return Create(ctx, "", o) },
		"Copy":           func(o *CreateOptions) (*Frame, error) { return Copy(ctx, name, f, o) },
		"Salvage": func(o *CreateOptions) (*Frame, error) {
			f, _, err := Salvage(ctx, name, broken, nil, o)
			return f, err
		},
	}
	type ok map[string]bool
	files := ok{"Create": true, "Copy": true, "Salvage": true}
	made := ok{"Create": true, "Create, memory": true}
	for _, c := range []struct {
		what string
		o    CreateOptions
		fits ok // nil = all
	}{
		{"negative Concurrency", CreateOptions{Concurrency: -1}, ok{}},
		{"negative ChunkSize", CreateOptions{ChunkSize: -1}, ok{}},
		{"large ChunkSize", CreateOptions{ChunkSize: chunk.MaxBytes + 1}, ok{}},
		{"Storage", CreateOptions{Storage: new(Memory)}, ok{"Create, memory": true}},
		{"Storage, Sparse", CreateOptions{Storage: new(Memory), Sparse: true}, ok{}},
		{"Sparse", CreateOptions{Sparse: true}, files},
		{"Locking", CreateOptions{Locking: true}, files},
		{"Params", CreateOptions{Params: chunk.Params{TypeSize: 2}}, made},
		{"ChunkSize", CreateOptions{ChunkSize: 100}, made},
		{"Goal", CreateOptions{Goal: chunk.Balanced}, ok{"Create": true, "Create, memory": true, "Copy": true}},
		{"no goal", CreateOptions{Goal: 9}, ok{}},
		{"Goal, Codec", CreateOptions{Goal: chunk.Balanced, Params: chunk.Params{Codec: codec.LZ4}}, ok{}},
		{"Goal, CodecMeta", CreateOptions{Goal: chunk.Balanced, Params: chunk.Params{CodecMeta: 1}}, ok{}},
		{"Goal, Level", CreateOptions{Goal: chunk.Balanced, Params: chunk.Params{Level: 1}}, ok{}},
		{"Goal, Filters", CreateOptions{Goal: chunk.Balanced, Params: chunk.Params{Filters: []chunk.Filter{}}}, ok{}},
		{"Goal, Split", CreateOptions{Goal: chunk.Balanced, Params: chunk.Params{Split: chunk.SplitNever}}, ok{}},
		{"Goal, Dict", CreateOptions{Goal: chunk.Balanced, Params: chunk.Params{Dict: true}}, ok{}},
		{"Goal, sizes", CreateOptions{Goal: chunk.Fastest, Params: chunk.Params{TypeSize: 2, BlockSize: 64}}, made},
		{"Goal, Prefilter", CreateOptions{Goal: chunk.Balanced, Prefilter: keepBlock}, ok{}},
		{"Goal, Postfilter", CreateOptions{Goal: chunk.Balanced, Postfilter: keepBlock}, ok{}},
		{"Meta", CreateOptions{Meta: []meta.Layer{}}, made},
		{"VLMeta", CreateOptions{VLMeta: []meta.Layer{}}, made},
		{"others", CreateOptions{Checksums: true, Overwrite: true, Concurrency: 2, NoSync: true, Prefilter: keepBlock, Postfilter: keepBlock}, nil},
	} {
		if c.o.Locking && !storage.CanLock {
			continue
		}
		for way, create := range ways {
			c.o.Overwrite = true
			f, err := create(&c.o)
			if err == nil {
				must(t, f.Close())
			}
			if fits := c.fits == nil || c.fits[way]; fits != (err == nil) || !fits && !errors.Is(err, ErrParam) {
				t.Errorf("%s, %s: %v", way, c.what, err)
			}
		}
	}
}

// TestCreateStorage creates frames in a Storage, which has none or other content.
func TestCreateStorage(t *testing.T) {
	ctx := context.Background()
	st := new(Memory)
	f, err := CreateFunc(ctx, "", func(b *Batch) error { return b.Append(ctx, small(1)) }, &CreateOptions{Storage: st})
	must(t, err)
	must(t, f.Append(ctx, small(2)))
	must(t, f.Close())
	f, err = OpenBytes(st.Bytes(), nil)
	must(t, err)
	if f.NumChunks() != 2 {
		t.Errorf("%d chunks", f.NumChunks())
	}
	before := len(st.Bytes())
	if _, err := Create(ctx, "", &CreateOptions{Storage: st}); !errors.Is(err, fs.ErrExist) || len(st.Bytes()) != before {
		t.Errorf("without Overwrite: %v", err)
	}
	f, err = Create(ctx, "", &CreateOptions{Storage: st, Overwrite: true})
	must(t, err)
	must(t, f.Close())
	f, err = OpenBytes(st.Bytes(), nil)
	must(t, err)
	if f.NumChunks() != 0 {
		t.Errorf("%d chunks after Overwrite", f.NumChunks())
	}
}

// slowSource is a Source whose reads wait for their context once stuck is set.
type slowSource struct {
	b     []byte
	stuck atomic.Bool
}

func (s *slowSource) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if s.stuck.Load() {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return bytes.NewReader(s.b).ReadAt(p, off)
}

func (s *slowSource) Size() int64 { return int64(len(s.b)) }

// contextReads returns all calls that read a frame, by their names.
func contextReads(f *Frame) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"ReadChunk": func(ctx context.Context) error { _, err := f.ReadChunk(ctx, nil, 1); return err },
		"ReadBlock": func(ctx context.Context) error { _, err := f.ReadBlock(ctx, nil, 1, 0); return err },
		"ReadRaw":   func(ctx context.Context) error { _, err := f.ReadRaw(ctx, nil, 1); return err },
		"ChunkInfo": func(ctx context.Context) error { _, err := f.ChunkInfo(ctx, 1); return err },
		"Content":   func(ctx context.Context) error { _, err := f.Content(ctx).ReadAt(make([]byte, 100), 0); return err },
		"Save":      func(ctx context.Context) error { _, err := f.Save(ctx, io.Discard); return err },
		"DeadBytes": func(ctx context.Context) error { _, err := f.DeadBytes(ctx); return err },
		"Copy":      func(ctx context.Context) error { _, err := Copy(ctx, "", f, nil); return err },
		"Verify":    func(ctx context.Context) error { return f.Verify(ctx, nil) },
	}
}

// noiseFrame returns a frame of chunks that do not compress.
func noiseFrame(t testing.TB) []byte {
	f, err := CreateFunc(t.Context(), "", func(b *Batch) error {
		for range 4 {
			if err := b.Append(t.Context(), noise(4000)); err != nil {
				return err
			}
		}
		return nil
	}, &CreateOptions{Params: chunk.Params{BlockSize: 1000}})
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	return b
}

// TestSourceContext ends reads of a source that does not answer, each by its own context. Refresh and opening end, too.
func TestSourceContext(t *testing.T) {
	src := &slowSource{b: noiseFrame(t)}
	f, err := OpenSource(t.Context(), src, nil)
	must(t, err)
	reads := contextReads(f)
	reads["Refresh"] = func(ctx context.Context) error {
		changed, err := f.Refresh(ctx)
		if err == nil && changed {
			err = errors.New("changed")
		}
		return err
	}
	reads["OpenSource"] = func(ctx context.Context) error { _, err := OpenSource(ctx, src, nil); return err }
	for what, read := range reads {
		src.stuck.Store(false)
		if err := read(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		src.stuck.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if err := read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s does not answer: %v", what, err)
		}
		cancel()
	}
}

// TestDoneContext calls everything that takes a context with one that is done.
func TestDoneContext(t *testing.T) {
	b := noiseFrame(t)
	f, err := OpenReaderAt(t.Context(), bytes.NewReader(b), int64(len(b)), nil)
	must(t, err)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	calls := contextReads(f)
	e, err := EditStorage(t.Context(), NewMemory(bytes.Clone(b)), nil)
	must(t, err)
	name := filepath.Join(t.TempDir(), "x")
	calls["Append"] = func(ctx context.Context) error { return e.Append(ctx, small(1)) }
	calls["Begin"] = func(ctx context.Context) error { _, err := e.Begin(ctx); return err }
	calls["Compact"] = e.Compact
	calls["Open"] = func(ctx context.Context) error { _, err := Open(ctx, name, nil); return err }
	calls["Edit"] = func(ctx context.Context) error { _, err := Edit(ctx, name, nil); return err }
	calls["EditStorage"] = func(ctx context.Context) error { _, err := EditStorage(ctx, NewMemory(b), nil); return err }
	calls["Create"] = func(ctx context.Context) error { _, err := Create(ctx, name, nil); return err }
	calls["Salvage"] = func(ctx context.Context) error { _, _, err := Salvage(ctx, name, name, nil, nil); return err }
	batch, err := e.Begin(t.Context())
	must(t, err)
	calls["Batch.Append"] = func(ctx context.Context) error { return batch.Append(ctx, small(1)) }
	calls["Batch.Insert"] = func(ctx context.Context) error { return batch.Insert(ctx, 0, small(1)) }
	calls["Batch.Update"] = func(ctx context.Context) error { return batch.Update(ctx, 0, small(1)) }
	calls["Batch.AppendRaw"] = func(ctx context.Context) error { return batch.AppendRaw(ctx, nil) }
	calls["Batch.InsertRaw"] = func(ctx context.Context) error { return batch.InsertRaw(ctx, 0, nil) }
	calls["Batch.UpdateRaw"] = func(ctx context.Context) error { return batch.UpdateRaw(ctx, 0, nil) }
	calls["Batch.AppendBlocks"] = func(ctx context.Context) error { return batch.AppendBlocks(ctx, nil) }
	calls["Batch.SetChecksums"] = func(ctx context.Context) error { return batch.SetChecksums(ctx, true) }
	for what, call := range calls {
		if err := call(done); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if n := batch.NumChunks(); n != 4 {
		t.Errorf("%d chunks in the batch", n)
	}
}

// TestNilContext calls what reads and edits with a nil context, which is context.Background().
func TestNilContext(t *testing.T) {
	var none context.Context
	b := noiseFrame(t)
	f, err := OpenReaderAt(none, bytes.NewReader(b), int64(len(b)), &OpenOptions{Concurrency: 4})
	must(t, err)
	for what, read := range contextReads(f) {
		if err := read(none); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = f.Refresh(none)
	must(t, err)
	name := filepath.Join(t.TempDir(), "x")
	e, err := CreateFunc(none, name, func(b *Batch) error { return b.Append(none, small(1)) }, nil)
	must(t, err)
	must(t, e.Append(none, small(2)))
	batch, err := e.Begin(none)
	must(t, err)
	must(t, batch.Update(none, 0, small(3)))
	must(t, batch.SetChecksums(none, true))
	must(t, batch.Commit())
	must(t, e.Compact(none))
	must(t, e.Close())
	_, _, err = Salvage(none, "", name, nil, nil)
	must(t, err)
	_, err = EditStorage(none, NewMemory(b), nil)
	must(t, err)
	_, err = Open(none, name, nil)
	must(t, err)
}

// TestBatchConcurrent lets several goroutines edit in one batch.
func TestBatchConcurrent(t *testing.T) {
	f, err := Create(t.Context(), "", &CreateOptions{ChunkSize: 40, Params: chunk.Params{TypeSize: 4}})
	must(t, err)
	b, err := f.Begin(t.Context())
	must(t, err)
	const goroutines, edits = 8, 20
	done := make(chan error)
	for g := range goroutines {
		go func() {
			var err error
			for i := range edits {
				err = errors.Join(err, b.Append(t.Context(), stamped(g*edits+i, 10)), b.SetVLMeta(fmt.Sprint(g), []byte{1}))
				b.NumChunks()
			}
			done <- err
		}()
	}
	for range goroutines {
		must(t, <-done)
	}
	must(t, b.Commit())
	seen := map[string]bool{}
	for i := range f.NumChunks() {
		p, err := f.ReadChunk(t.Context(), nil, i)
		must(t, err)
		seen[string(p)] = true
	}
	if len(seen) != goroutines*edits || len(f.VLMetaNames()) != goroutines {
		t.Errorf("%d chunks, %d metalayers", len(seen), len(f.VLMetaNames()))
	}
	verify(t, f)
}
