package frametest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/meta"
)

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// writeFrame writes the bytes of a frame to a file.
func writeFrame(t testing.TB, b []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.b2frame")
	must(t, os.WriteFile(name, b, 0o666))
	return name
}

// withLayers returns a frame without chunks and with n variable-length metalayers, whose contents start at offset
// at(i) of all.
func withLayers(t testing.TB, n int, all []byte, at func(i int) int) []byte {
	t.Helper()
	f, err := frame.Create(t.Context(), "", nil)
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	b = b[:len(b)-int(binary.BigEndian.Uint32(b[len(b)-22:]))]
	const entry = 1 + 4 + 5
	tr := append([]byte{0x94, 1, 0x93, 0xcd, 0, 0, 0xde}, byte(n>>8), byte(n))
	first := len(tr) + n*entry + 3
	for i := range n {
		tr = fmt.Appendf(append(tr, 0xa4), "%04d", i)
		tr = binary.BigEndian.AppendUint32(append(tr, 0xd2), uint32(first+at(i)))
	}
	tr = append(append(tr, 0xdc, byte(n>>8), byte(n)), all...)
	tr = binary.BigEndian.AppendUint32(append(tr, 0xce), uint32(len(tr)+23))
	tr = append(append(tr, 0xd8), make([]byte, 17)...)
	b = append(b, tr...)
	binary.BigEndian.PutUint64(b[offFrameLen:], uint64(len(b)))
	return b
}

// binary32 returns a MessagePack value of 32-bit length.
func binary32(content []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0xc6}, uint32(len(content))), content...)
}

// TestSharedLayers reads a frame whose metalayers all have the same stored bytes: these are decoded once.
func TestSharedLayers(t *testing.T) {
	ctx := t.Context()
	const size = 8 << 20
	c, err := chunk.EncodeSpecial(nil, chunk.Zeros, size, nil, chunk.Params{TypeSize: 1})
	must(t, err)
	padded := append(c, make([]byte, 128<<10)...) // so much may decode to size, if it is stored
	b := withLayers(t, 200, binary32(padded), func(int) int { return 0 })
	name := writeFrame(t, b)
	for what, f := range map[string]func() error{
		"verify": func() error {
			f, err := frame.OpenBytes(b, nil)
			must(t, err)
			return f.Verify(ctx, nil)
		},
		"open": func() error {
			_, err := frame.OpenBytes(b, &frame.OpenOptions{Verify: true})
			return err
		},
		"salvage": func() error {
			f, _, err := frame.Salvage(ctx, "", name, nil, nil)
			if err == nil && len(f.VLMetaNames()) != meta.MaxVLLayersWrite {
				t.Errorf("%d metalayers", len(f.VLMetaNames()))
			}
			return err
		},
	} {
		var err error
		if n := allocated(func() { err = f() }); n > 8*size+2*200*uint64(len(padded)) || err != nil {
			t.Errorf("%s: %d MiB, %v", what, n>>20, err)
		}
	}
}

// TestManyWrongChecksums salvages a frame whose checksums are all zero.
func TestManyWrongChecksums(t *testing.T) {
	ctx := t.Context()
	const n = 10000
	f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error {
		for i := range uint64(n) {
			if err := b.Append(ctx, binary.LittleEndian.AppendUint64(nil, i*0x9e3779b97f4a7c15+1)); err != nil {
				return err
			}
		}
		return nil
	}, &frame.CreateOptions{Params: chunk.Params{TypeSize: 8, Level: codec.NoCompression}, Checksums: true})
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	key := []byte("chunks")
	at := bytes.LastIndex(b, key) + len(key) + 3 // the length has two bytes
	clear(b[at : at+4*n])
	name := writeFrame(t, b)
	reports := 0
	memory := allocated(func() {
		f, found, err := frame.Salvage(ctx, "", name, func(error) { reports++ }, nil)
		must(t, err)
		if want := (frame.Salvaged{Chunks: n, Index: true}); found != want || reports < n {
			t.Errorf("%+v, %d reports", found, reports)
		}
		must(t, f.Close())
	})
	if memory > n*30<<10 && !race.Enabled { // the race detector drops pooled memory
		t.Errorf("%d bytes allocated", memory)
	}
}

// cancelingFilter is a filter that calls cancel when it decodes block number at.
type cancelingFilter struct {
	at, calls int
	cancel    func()
}

func (f *cancelingFilter) Code() uint8 { return 204 }

func (f *cancelingFilter) Forward(dst, src []byte, _ chunk.BlockInfo) error {
	copy(dst, src)
	return nil
}

func (f *cancelingFilter) Backward(dst, src []byte, _ chunk.BlockInfo) error {
	if f.calls++; f.calls == f.at {
		f.cancel()
	}
	copy(dst, src)
	return nil
}

// TestBlocksCanceled ends the context between two blocks of a chunk.
func TestBlocksCanceled(t *testing.T) {
	const size, blocks = 1 << 10, 10
	filter := &cancelingFilter{}
	made := func(sparse bool) string {
		name := filepath.Join(t.TempDir(), "x")
		f, err := frame.CreateFunc(t.Context(), name, func(b *frame.Batch) error {
			return b.Append(t.Context(), digits(size*blocks))
		}, &frame.CreateOptions{
			Params:      chunk.Params{TypeSize: 1, BlockSize: size, Filters: []chunk.Filter{chunk.Filter(filter.Code())}},
			UserFilters: []chunk.UserFilter{filter}, Sparse: sparse, NoSync: true,
		})
		must(t, err)
		must(t, f.Close())
		return name
	}
	whole, cut, dir := made(false), made(false), made(true)
	b, err := os.ReadFile(cut)
	must(t, err)
	must(t, os.Truncate(cut, int64(len(b)-10)))
	must(t, os.Remove(filepath.Join(dir, indexFile)))
	salvage := func(name string) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			_, found, err := frame.Salvage(ctx, "", name, nil, &frame.CreateOptions{UserFilters: []chunk.UserFilter{filter}, Concurrency: 1})
			if found.Lost > 0 {
				t.Errorf("%+v", found)
			}
			return err
		}
	}
	for _, test := range []struct {
		what string
		at   int
		do   func(ctx context.Context) error
	}{
		{"verify", 2, func(ctx context.Context) error {
			f, err := frame.Open(ctx, whole, &frame.OpenOptions{UserFilters: []chunk.UserFilter{filter}})
			must(t, err)
			defer f.Close()
			return f.Verify(ctx, func(err error) error { t.Error(err); return nil })
		}},
		{"salvage", 2, salvage(whole)},
		{"salvage, at the copy", blocks + 2, salvage(whole)},
		{"salvage without an index", 2, salvage(cut)},
		{"salvage of chunk files", 2, salvage(dir)},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		filter.at, filter.calls, filter.cancel = test.at, 0, cancel
		if err := test.do(ctx); !errors.Is(err, context.Canceled) || filter.calls != test.at {
			t.Errorf("%s: %d blocks, %v", test.what, filter.calls, err)
		}
	}
}

// cancelingSource is a source that ends a context when its last bytes are read.
type cancelingSource struct {
	b      []byte
	cancel func()
}

func (s *cancelingSource) Size() int64 { return int64(len(s.b)) }

func (s *cancelingSource) ReadAtContext(_ context.Context, p []byte, off int64) (int, error) {
	n, err := bytes.NewReader(s.b).ReadAt(p, off)
	if off+int64(n) == s.Size() {
		s.cancel()
	}
	return n, err
}

// TestLayersCanceled ends the context between metalayers.
func TestLayersCanceled(t *testing.T) {
	b := withLayers(t, 10, binary32(make([]byte, 100)), func(int) int { return 0 }) // no chunk
	name := writeFrame(t, b)
	f, err := frame.OpenBytes(b, nil)
	must(t, err)
	for what, do := range map[string]func(ctx context.Context, report func(error)) error{
		"verify": func(ctx context.Context, report func(error)) error {
			return f.Verify(ctx, func(err error) error { report(err); return nil })
		},
		"salvage": func(ctx context.Context, report func(error)) error {
			_, _, err := frame.Salvage(ctx, "", name, report, nil)
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		err := do(ctx, func(error) { n++; cancel() })
		if n != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d faults, %v", what, n, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = frame.OpenSource(ctx, &cancelingSource{b, cancel}, &frame.OpenOptions{Verify: true})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
}

// watchedContext finds the largest memory that is allocated between two calls of Err.
type watchedContext struct {
	context.Context
	mu         sync.Mutex
	last, most uint64
}

func (c *watchedContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if c.last > 0 {
		c.most = max(c.most, m.TotalAlloc-c.last)
	}
	c.last = m.TotalAlloc
	return c.Context.Err()
}

// TestManyIndexes salvages a frame without a header and with many indexes of one repeated entry. Each one is compared
// with the chunks for several lengths of the header.
func TestManyIndexes(t *testing.T) {
	const chunks, indexes, entries = 100, 20, 8192
	b := make([]byte, 64)
	for i := range uint64(chunks) {
		var err error
		b, err = chunk.EncodeSpecial(b, chunk.Value, 16, binary.LittleEndian.AppendUint64(nil, i+77), chunk.Params{TypeSize: 8})
		must(t, err)
	}
	params := chunk.Params{TypeSize: 8, Codec: codec.Zstd, Level: 9, Filters: []chunk.Filter{chunk.Shuffle}}
	x, err := chunk.Encode(nil, make([]byte, 8*entries), params)
	must(t, err)
	for range indexes {
		b = append(append(b, x...), 0x94, 1, 0x93)
	}
	name := writeFrame(t, b)
	ctx := &watchedContext{Context: t.Context()}
	memory := allocated(func() {
		f, found, err := frame.Salvage(ctx, "", name, nil, nil)
		must(t, err)
		if found != (frame.Salvaged{Chunks: chunks}) {
			t.Errorf("%+v", found)
		}
		must(t, f.Close())
	})
	if memory > 100<<20 || ctx.most > 10<<20 {
		t.Errorf("%d bytes allocated, %d without a look at the context", memory, ctx.most)
	}
}

// TestSparseIndex salvages a frame without a header whose index has many special values and few chunks.
func TestSparseIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const chunks, every, size = 600_000, 100, 64
	name := filepath.Join(t.TempDir(), "x.b2frame")
	f, err := frame.CreateFunc(t.Context(), name, func(b *frame.Batch) error {
		data := make([]byte, size)
		for i := range chunks {
			for k := range data {
				data[k] = 0
				if i%every == 0 {
					data[k] = byte(i/every*(k+1) + k)
				}
			}
			if err := b.Append(t.Context(), data); err != nil {
				return err
			}
		}
		return nil
	}, &frame.CreateOptions{ChunkSize: size, Params: chunk.Params{TypeSize: 1}})
	must(t, err)
	must(t, f.Close())
	b, err := os.ReadFile(name)
	must(t, err)
	clear(b[:95])
	_, found, err := frame.Salvage(t.Context(), "", writeFrame(t, b), nil, nil)
	if err != nil || found.Chunks != chunks || !found.Index {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestContentRestored reads a sparse frame with chunks of variable size while a chunk file is missing, empty or cut,
// and after the file was restored.
func TestContentRestored(t *testing.T) {
	for _, left := range []int{-1, 0, 20} {
		dir := filepath.Join(t.TempDir(), "f")
		f, err := frame.CreateFunc(t.Context(), dir, func(b *frame.Batch) error {
			for i := range 4 {
				if err := b.Append(t.Context(), bytes.Repeat([]byte{byte(i + 1), 2, 3}, 40+i*7)); err != nil {
					return err
				}
			}
			return nil
		}, &frame.CreateOptions{Sparse: true, Params: chunk.Params{TypeSize: 1}})
		must(t, err)
		must(t, f.Close())
		f, err = frame.Open(t.Context(), dir, nil)
		must(t, err)
		name := filepath.Join(dir, "00000001.chunk")
		whole, err := os.ReadFile(name)
		must(t, err)
		must(t, os.Remove(name))
		if left >= 0 {
			must(t, os.WriteFile(name, whole[:left], 0o666))
		}
		var p [1]byte
		if _, err := f.Content(t.Context()).ReadAt(p[:], 200); !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("%d bytes left: %v", left, err)
		}
		must(t, os.WriteFile(name, whole, 0o666))
		if _, err := f.Content(t.Context()).ReadAt(p[:], 200); err != nil {
			t.Errorf("restored after %d bytes were left: %v", left, err)
		}
		must(t, f.Close())
	}
}
