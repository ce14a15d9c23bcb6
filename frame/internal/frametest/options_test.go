package frametest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/meta"
)

func keepBlock(dst, src []byte, _ chunk.BlockInfo) error { copy(dst, src); return nil }

// TestOpenOptions sets each field that cannot apply to a way of opening, which is an error, and each one that can.
func TestOpenOptions(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := frame.Create(t.Context(), name, nil)
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	must(t, f.Close())
	ways := map[string]func(o *frame.OpenOptions) (*frame.Frame, error){
		"Open":      func(o *frame.OpenOptions) (*frame.Frame, error) { return frame.Open(t.Context(), name, o) },
		"Edit":      func(o *frame.OpenOptions) (*frame.Frame, error) { return frame.Edit(t.Context(), name, o) },
		"OpenBytes": func(o *frame.OpenOptions) (*frame.Frame, error) { return frame.OpenBytes(b, o) },
		"OpenReaderAt": func(o *frame.OpenOptions) (*frame.Frame, error) {
			return frame.OpenReaderAt(t.Context(), frame.NewMemory(b), int64(len(b)), o)
		},
		"OpenSource": func(o *frame.OpenOptions) (*frame.Frame, error) {
			return frame.OpenSource(t.Context(), &slowSource{b: b}, o)
		},
		"EditStorage": func(o *frame.OpenOptions) (*frame.Frame, error) {
			return frame.EditStorage(t.Context(), frame.NewMemory(b), o)
		},
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
		o    frame.OpenOptions
		fits map[string]bool // the ways it applies to; nil = all
	}{
		{"negative Concurrency", frame.OpenOptions{Concurrency: -1}, none},
		{"negative Cache", frame.OpenOptions{Cache: -1}, none},
		{"negative MaxMeta", frame.OpenOptions{MaxMeta: -1}, none},
		{"negative MaxChunks", frame.OpenOptions{MaxChunks: -1}, none},
		{"Cache with Postfilter", frame.OpenOptions{Cache: 1, Postfilter: keepBlock}, none},
		{"Mmap", frame.OpenOptions{Mmap: true}, only("Open")},
		{"Locking", frame.OpenOptions{Locking: true}, only("Open", "Edit")},
		{"NoSync", frame.OpenOptions{NoSync: true}, only("Edit", "EditStorage")},
		{"Prefilter", frame.OpenOptions{Prefilter: keepBlock}, only("Edit", "EditStorage")},
		{"others", frame.OpenOptions{Concurrency: 2, Cache: 1 << 20, Verify: true, MaxBytes: -1, MaxMeta: 1 << 20, MaxChunks: 10}, nil},
	} {
		if c.o.Locking && !storage.CanLock {
			continue
		}
		for way, open := range ways {
			f, err := open(&c.o)
			if err == nil {
				must(t, f.Close())
			}
			if fits := c.fits == nil || c.fits[way]; fits != (err == nil) || !fits && !errors.Is(err, frame.ErrParam) {
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
	f, err := frame.CreateFunc(ctx, broken, func(b *frame.Batch) error { return b.Append(ctx, small(1)) }, nil)
	must(t, err)
	defer f.Close()
	name := filepath.Join(dir, "new")
	ways := map[string]func(o *frame.CreateOptions) (*frame.Frame, error){
		"Create":         func(o *frame.CreateOptions) (*frame.Frame, error) { return frame.Create(ctx, name, o) },
		"Create, memory": func(o *frame.CreateOptions) (*frame.Frame, error) { return frame.Create(ctx, "", o) },
		"Copy":           func(o *frame.CreateOptions) (*frame.Frame, error) { return frame.Copy(ctx, name, f, o) },
		"Salvage": func(o *frame.CreateOptions) (*frame.Frame, error) {
			f, _, err := frame.Salvage(ctx, name, broken, nil, o)
			return f, err
		},
	}
	type ok map[string]bool
	files := ok{"Create": true, "Copy": true, "Salvage": true}
	made := ok{"Create": true, "Create, memory": true}
	for _, c := range []struct {
		what string
		o    frame.CreateOptions
		fits ok // nil = all
	}{
		{"negative Concurrency", frame.CreateOptions{Concurrency: -1}, ok{}},
		{"negative ChunkSize", frame.CreateOptions{ChunkSize: -1}, ok{}},
		{"large ChunkSize", frame.CreateOptions{ChunkSize: chunk.MaxBytes + 1}, ok{}},
		{"Storage", frame.CreateOptions{Storage: new(frame.Memory)}, ok{"Create, memory": true}},
		{"Storage, Sparse", frame.CreateOptions{Storage: new(frame.Memory), Sparse: true}, ok{}},
		{"Sparse", frame.CreateOptions{Sparse: true}, files},
		{"Locking", frame.CreateOptions{Locking: true}, files},
		{"Params", frame.CreateOptions{Params: chunk.Params{TypeSize: 2}}, made},
		{"ChunkSize", frame.CreateOptions{ChunkSize: 100}, made},
		{"Goal", frame.CreateOptions{Goal: chunk.Balanced}, ok{"Create": true, "Create, memory": true, "Copy": true}},
		{"no goal", frame.CreateOptions{Goal: 9}, ok{}},
		{"Goal, Codec", frame.CreateOptions{Goal: chunk.Balanced, Params: chunk.Params{Codec: codec.LZ4}}, ok{}},
		{"Goal, CodecMeta", frame.CreateOptions{Goal: chunk.Balanced, Params: chunk.Params{CodecMeta: 1}}, ok{}},
		{"Goal, Level", frame.CreateOptions{Goal: chunk.Balanced, Params: chunk.Params{Level: 1}}, ok{}},
		{"Goal, Filters", frame.CreateOptions{Goal: chunk.Balanced, Params: chunk.Params{Filters: []chunk.Filter{}}}, ok{}},
		{"Goal, Split", frame.CreateOptions{Goal: chunk.Balanced, Params: chunk.Params{Split: chunk.SplitNever}}, ok{}},
		{"Goal, Dict", frame.CreateOptions{Goal: chunk.Balanced, Params: chunk.Params{Dict: true}}, ok{}},
		{"Goal, sizes", frame.CreateOptions{Goal: chunk.Fastest, Params: chunk.Params{TypeSize: 2, BlockSize: 64}}, made},
		{"Goal, Prefilter", frame.CreateOptions{Goal: chunk.Balanced, Prefilter: keepBlock}, ok{}},
		{"Goal, Postfilter", frame.CreateOptions{Goal: chunk.Balanced, Postfilter: keepBlock}, ok{}},
		{"Meta", frame.CreateOptions{Meta: []meta.Layer{}}, made},
		{"VLMeta", frame.CreateOptions{VLMeta: []meta.Layer{}}, made},
		{"Meta of one name", frame.CreateOptions{Meta: []meta.Layer{{Name: "a"}, {Name: "b"}, {Name: "a"}}}, ok{}},
		{"VLMeta of one name", frame.CreateOptions{VLMeta: []meta.Layer{{Name: "a"}, {Name: "b"}, {Name: "a"}}}, ok{}},
		{"VLMeta without a name", frame.CreateOptions{VLMeta: []meta.Layer{{Name: ""}}}, ok{}},
		{"others", frame.CreateOptions{Checksums: true, Overwrite: true, Concurrency: 2, NoSync: true, Prefilter: keepBlock, Postfilter: keepBlock}, nil},
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
			if fits := c.fits == nil || c.fits[way]; fits != (err == nil) || !fits && !errors.Is(err, frame.ErrParam) {
				t.Errorf("%s, %s: %v", way, c.what, err)
			}
		}
	}
}

// xorFilter changes all bytes.
type xorFilter byte

func (xorFilter) Code() uint8 { return 200 }

func (x xorFilter) Forward(dst, src []byte, _ chunk.BlockInfo) error {
	for i, b := range src {
		dst[i] = b ^ byte(x)
	}
	return nil
}

func (x xorFilter) Backward(dst, src []byte, b chunk.BlockInfo) error { return x.Forward(dst, src, b) }

// otherCodec is a codec that no chunk has.
type otherCodec struct{ codec.Codec }

func (otherCodec) ID() codec.ID { return codec.FromCode(200) }

// TestOptionsChanged changes the slices in the options of a frame, which keeps what they had before.
func TestOptionsChanged(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	for way, create := range map[string]func(name string, o *frame.CreateOptions) (change func() error, err error){
		"Create": func(name string, o *frame.CreateOptions) (func() error, error) {
			f, err := frame.Create(ctx, name, o)
			return func() error { return errors.Join(f.Append(ctx, small(1)), f.Close()) }, err
		},
		"CreateRegions": func(name string, o *frame.CreateOptions) (func() error, error) {
			o.ChunkSize = len(small(1))
			r, err := frame.CreateRegions(ctx, name, int64(o.ChunkSize), o)
			return func() error { return errors.Join(r.Write(ctx, 0, small(1)), r.Finish(ctx), r.Close()) }, err
		},
	} {
		name := filepath.Join(dir, way)
		layers := []meta.Layer{{Name: "a", Content: []byte{1}}, {Name: "b", Content: []byte{2}}}
		use, err := create(name, &frame.CreateOptions{Meta: layers, Checksums: true})
		must(t, err)
		layers[0].Content[0], layers[1].Content = 9, []byte{9}
		must(t, use())
		f, err := frame.Open(ctx, name, &frame.OpenOptions{Verify: true})
		if err != nil {
			t.Errorf("%s: %v", way, err)
			continue
		}
		if m := f.Meta(); m[0].Content[0] != 1 || m[1].Content[0] != 2 {
			t.Errorf("%s: metalayers %v", way, m)
		}
		must(t, f.Close())
	}
	filters, codecs := []chunk.UserFilter{xorFilter(1)}, []codec.Codec{otherCodec{}}
	f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, small(1)) }, &frame.CreateOptions{
		UserFilters: filters, Codecs: codecs,
		Params: chunk.Params{Filters: []chunk.Filter{chunk.Filter(filters[0].Code())}},
	})
	must(t, err)
	file, err := appendTo(f, nil)
	must(t, err)
	g, err := frame.OpenBytes(file, &frame.OpenOptions{UserFilters: filters, Codecs: codecs})
	must(t, err)
	filters[0], codecs[0] = xorFilter(2), nil
	for way, f := range map[string]*frame.Frame{"CreateFunc": f, "OpenBytes": g} {
		c, err := frame.Copy(ctx, "", f, nil)
		if err != nil {
			t.Errorf("%s and Copy: %v", way, err)
		} else if b := content(t, c); !bytes.Equal(b, small(1)) {
			t.Errorf("%s and Copy: %v", way, b)
		}
	}
}

// TestDictParams creates frames with Dict. Only frames with a codec that has dictionaries keep it: C-Blosc2 does not
// append to others.
func TestDictParams(t *testing.T) {
	ctx := t.Context()
	for _, id := range []codec.ID{codec.BloscLZ, codec.LZ4, codec.LZ4HC, codec.Zlib, codec.Zstd} {
		f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, twoKinds(1<<16)) }, &frame.CreateOptions{
			Params: chunk.Params{TypeSize: 4, Codec: id, Dict: true},
		})
		must(t, err)
		has := id != codec.BloscLZ && id != codec.Zlib
		if p := f.Info().Params; p.Dict != has {
			t.Errorf("%v: Dict %v", id, p.Dict)
		}
		g, err := frame.Copy(ctx, "", f, &frame.CreateOptions{Goal: chunk.Fastest})
		must(t, err)
		if p := g.Info().Params; p.Dict {
			t.Errorf("%v, then a goal: Dict with %v", id, p.Codec)
		}
	}
}

// TestCreateStorage creates frames in a Storage, which has none or other content.
func TestCreateStorage(t *testing.T) {
	ctx := context.Background()
	st := new(frame.Memory)
	f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, small(1)) }, &frame.CreateOptions{Storage: st})
	must(t, err)
	must(t, f.Append(ctx, small(2)))
	must(t, f.Close())
	f, err = frame.OpenBytes(st.Bytes(), nil)
	must(t, err)
	if f.NumChunks() != 2 {
		t.Errorf("%d chunks", f.NumChunks())
	}
	before := len(st.Bytes())
	if _, err := frame.Create(ctx, "", &frame.CreateOptions{Storage: st}); !errors.Is(err, fs.ErrExist) || !strings.HasSuffix(err.Error(), "; set Overwrite to replace it") || len(st.Bytes()) != before {
		t.Errorf("without Overwrite: %v", err)
	}
	f, err = frame.Create(ctx, "", &frame.CreateOptions{Storage: st, Overwrite: true})
	must(t, err)
	must(t, f.Close())
	f, err = frame.OpenBytes(st.Bytes(), nil)
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
func contextReads(f *frame.Frame) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"ReadChunk": func(ctx context.Context) error { _, err := f.ReadChunk(ctx, nil, 1); return err },
		"ReadBlock": func(ctx context.Context) error { _, err := f.ReadBlock(ctx, nil, 1, 0); return err },
		"ReadRaw":   func(ctx context.Context) error { _, err := f.ReadRaw(ctx, nil, 1); return err },
		"ChunkInfo": func(ctx context.Context) error { _, err := f.ChunkInfo(ctx, 1); return err },
		"Content":   func(ctx context.Context) error { _, err := f.Content(ctx).ReadAt(make([]byte, 100), 0); return err },
		"Save":      func(ctx context.Context) error { _, err := f.Save(ctx, io.Discard); return err },
		"DeadBytes": func(ctx context.Context) error { _, err := f.DeadBytes(ctx); return err },
		"Copy":      func(ctx context.Context) error { _, err := frame.Copy(ctx, "", f, nil); return err },
		"Verify":    func(ctx context.Context) error { return f.Verify(ctx, nil) },
	}
}

// noiseFrame returns a frame of chunks that do not compress.
func noiseFrame(t testing.TB) []byte {
	noise := make([]byte, 4000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	f, err := frame.CreateFunc(t.Context(), "", func(b *frame.Batch) error {
		for range 4 {
			if err := b.Append(t.Context(), noise); err != nil {
				return err
			}
		}
		return nil
	}, &frame.CreateOptions{Params: chunk.Params{BlockSize: 1000}})
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	return b
}

// TestSourceContext ends reads of a source that does not answer, each by its own context. Refresh and opening end, too.
func TestSourceContext(t *testing.T) {
	src := &slowSource{b: noiseFrame(t)}
	f, err := frame.OpenSource(t.Context(), src, nil)
	must(t, err)
	reads := contextReads(f)
	reads["Refresh"] = func(ctx context.Context) error {
		changed, err := f.Refresh(ctx)
		if err == nil && changed {
			err = errors.New("changed")
		}
		return err
	}
	reads["OpenSource"] = func(ctx context.Context) error { _, err := frame.OpenSource(ctx, src, nil); return err }
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
	f, err := frame.OpenReaderAt(t.Context(), bytes.NewReader(b), int64(len(b)), nil)
	must(t, err)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	calls := contextReads(f)
	e, err := frame.EditStorage(t.Context(), frame.NewMemory(bytes.Clone(b)), nil)
	must(t, err)
	name := filepath.Join(t.TempDir(), "x")
	calls["Append"] = func(ctx context.Context) error { return e.Append(ctx, small(1)) }
	calls["Begin"] = func(ctx context.Context) error { _, err := e.Begin(ctx); return err }
	calls["Compact"] = e.Compact
	calls["Open"] = func(ctx context.Context) error { _, err := frame.Open(ctx, name, nil); return err }
	calls["Edit"] = func(ctx context.Context) error { _, err := frame.Edit(ctx, name, nil); return err }
	calls["EditStorage"] = func(ctx context.Context) error { _, err := frame.EditStorage(ctx, frame.NewMemory(b), nil); return err }
	calls["Create"] = func(ctx context.Context) error { _, err := frame.Create(ctx, name, nil); return err }
	calls["Salvage"] = func(ctx context.Context) error { _, _, err := frame.Salvage(ctx, name, name, nil, nil); return err }
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
	f, err := frame.OpenReaderAt(none, bytes.NewReader(b), int64(len(b)), &frame.OpenOptions{Concurrency: 4})
	must(t, err)
	for what, read := range contextReads(f) {
		if err := read(none); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = f.Refresh(none)
	must(t, err)
	name := filepath.Join(t.TempDir(), "x")
	e, err := frame.CreateFunc(none, name, func(b *frame.Batch) error { return b.Append(none, small(1)) }, nil)
	must(t, err)
	must(t, e.Append(none, small(2)))
	batch, err := e.Begin(none)
	must(t, err)
	must(t, batch.Update(none, 0, small(3)))
	must(t, batch.SetChecksums(none, true))
	must(t, batch.Commit())
	must(t, e.Compact(none))
	must(t, e.Close())
	_, _, err = frame.Salvage(none, "", name, nil, nil)
	must(t, err)
	_, err = frame.EditStorage(none, frame.NewMemory(b), nil)
	must(t, err)
	_, err = frame.Open(none, name, nil)
	must(t, err)
}

// TestBatchConcurrent lets several goroutines edit in one batch.
func TestBatchConcurrent(t *testing.T) {
	f, err := frame.Create(t.Context(), "", &frame.CreateOptions{ChunkSize: 40, Params: chunk.Params{TypeSize: 4}})
	must(t, err)
	b, err := f.Begin(t.Context())
	must(t, err)
	const goroutines, edits = 8, 20
	done := make(chan error)
	for g := range goroutines {
		go func() {
			var err error
			for i := range edits {
				err = errors.Join(err, b.Append(t.Context(), small(g*edits+i)), b.SetVLMeta(fmt.Sprint(g), []byte{1}))
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

// TestCopyOntoItself replaces the file of a frame by a copy of it. With Locking on both sides, the copy would wait for
// its own reading.
func TestCopyOntoItself(t *testing.T) {
	if !storage.CanLock {
		t.Skip("this system has no locks")
	}
	for _, sparse := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "x")
		f, err := frame.Create(t.Context(), name, &frame.CreateOptions{Locking: true, Sparse: sparse})
		must(t, err)
		defer f.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := frame.Copy(ctx, name, f, &frame.CreateOptions{Locking: true}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("sparse %v: %v, want fs.ErrExist", sparse, err)
		}
		g, err := frame.Copy(ctx, name, f, &frame.CreateOptions{Locking: true, Overwrite: true, Sparse: sparse})
		if !sparse && !errors.Is(err, frame.ErrParam) || sparse && err != nil { // the lock is in the old directory
			t.Errorf("sparse %v: %v", sparse, err)
		}
		if err == nil {
			must(t, g.Close())
		}
	}
	// A relative name counts from the present working directory, not from that of the frame.
	dir, other := t.TempDir(), t.TempDir()
	sub := filepath.Join(dir, "sub")
	must(t, os.Mkdir(sub, 0o777))
	t.Chdir(dir)
	o := &frame.CreateOptions{Locking: true, Overwrite: true}
	f, err := frame.Create(t.Context(), filepath.Join("sub", "x"), o)
	must(t, err)
	defer f.Close()
	t.Chdir(sub)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := frame.Copy(ctx, "x", f, o); !errors.Is(err, frame.ErrParam) {
		t.Errorf("the same file after Chdir: %v", err)
	}
	g, err := frame.Open(t.Context(), "x", &frame.OpenOptions{Locking: true})
	must(t, err)
	defer g.Close()
	t.Chdir(other)
	h, err := frame.Copy(t.Context(), "x", g, o)
	must(t, err)
	must(t, h.Close())
	must(t, os.Remove("x")) // the copy is here
}

// countFilter counts the goroutines that are in Backward.
type countFilter struct{ now, most atomic.Int32 }

func (*countFilter) Code() uint8 { return 200 }

func (*countFilter) Forward(dst, src []byte, _ chunk.BlockInfo) error { copy(dst, src); return nil }

func (c *countFilter) Backward(dst, src []byte, _ chunk.BlockInfo) error {
	n := c.now.Add(1)
	defer c.now.Add(-1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	time.Sleep(5 * time.Millisecond)
	copy(dst, src)
	return nil
}

// TestLargeBlockWorkers reads chunks with blocks of 9 MiB, of which MaxBytes allows two goroutines. The header of the
// frame may have another block size.
func TestLargeBlockWorkers(t *testing.T) {
	const size, blocks = 9 << 20, 4
	c := new(countFilter)
	filters := []chunk.UserFilter{c}
	src := make([]byte, size*blocks)
	for i := 0; i < len(src); i += size {
		src[i] = 1
	}
	f, err := frame.CreateFunc(t.Context(), "", func(b *frame.Batch) error {
		for range 2 {
			if err := b.Append(t.Context(), src); err != nil {
				return err
			}
		}
		return nil
	}, &frame.CreateOptions{UserFilters: filters, Params: chunk.Params{
		BlockSize: size, Codec: codec.LZ4, Filters: []chunk.Filter{chunk.Filter(c.Code())},
	}})
	must(t, err)
	file, err := appendTo(f, nil)
	must(t, err)
	for _, blockSize := range []uint32{size, 1024, 0} {
		binary.BigEndian.PutUint32(file[53:], blockSize)
		f, err := frame.OpenBytes(file, &frame.OpenOptions{MaxBytes: 60 << 20, Concurrency: 8, UserFilters: filters})
		must(t, err)
		for name, read := range map[string]func() error{
			"ReadAt":    func() error { _, err := f.Content(t.Context()).ReadAt(src, size/2); return err },
			"ReadChunk": func() error { _, err := f.ReadChunk(t.Context(), src[:0], 0); return err },
		} {
			c.most.Store(0)
			must(t, read())
			if n := c.most.Load(); n < 1 || n > 2 {
				t.Errorf("block size %d in the header, %s: %d goroutines, want 1 or 2", blockSize, name, n)
			}
		}
	}
}
