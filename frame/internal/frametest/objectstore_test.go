package frametest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// store is frame.Objects in memory.
type store struct {
	mu      sync.Mutex
	objects map[string]string
	puts    int // that were successful
	calls   int
	// do makes the change of a call, of which it gets the number, or returns an error before or after the change.
	do func(call int, what string, change func()) error
}

func (s *store) call(what string, f func() error) error {
	s.mu.Lock()
	s.calls++
	n, do := s.calls, s.do
	s.mu.Unlock()
	var err error
	locked := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		err = f()
	}
	if do == nil {
		locked()
		return err
	}
	return errors.Join(do(n, what, locked), err)
}

func (s *store) Put(_ context.Context, name string, data []byte, replace bool) error {
	data = bytes.Clone(data)
	return s.call("put "+name, func() error {
		if _, ok := s.objects[name]; ok && !replace {
			return fs.ErrExist
		}
		s.objects[name] = string(data)
		s.puts++
		return nil
	})
}

func (s *store) Get(_ context.Context, name string, n int64) (data []byte, size int64, err error) {
	err = s.call("get "+name, func() error {
		x, ok := s.objects[name]
		if !ok {
			return fs.ErrNotExist
		}
		data, size = []byte(x[:min(n, int64(len(x)))]), int64(len(x))
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return data, size, nil
}

func (s *store) List(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var names []string
		err := s.call("list", func() error {
			names = slices.Collect(maps.Keys(s.objects)) // in any order
			return nil
		})
		if err != nil {
			yield("", err)
			return
		}
		for _, name := range names {
			if !yield(name, nil) {
				return
			}
		}
	}
}

func (s *store) Remove(_ context.Context, name string) error {
	return s.call("remove "+name, func() error {
		if _, ok := s.objects[name]; !ok {
			return fs.ErrNotExist
		}
		delete(s.objects, name)
		return nil
	})
}

func newStore() *store { return &store{objects: map[string]string{}} }

// on calls f once, before the first call of what.
func (s *store) on(what string, f func()) {
	var once sync.Once
	s.do = func(_ int, is string, change func()) error {
		if is == what {
			once.Do(f)
		}
		change()
		return nil
	}
}

const regionCount = 7

func regionOptions(o frame.Objects) *frame.CreateOptions {
	return &frame.CreateOptions{
		ChunkSize: 64, Checksums: true, Params: chunk.Params{TypeSize: 4, Codec: codec.LZ4}, Concurrency: 1, Objects: o,
		VLMeta: []meta.Layer{{Name: "note", Content: []byte("\xa5hello")}},
	}
}

// regionItems returns the content of a chunk: zeros, a repeated value, or other items.
func regionItems(i int) []byte {
	p := make([]byte, 64-32*(i/(regionCount-1)))
	for k := range p {
		switch i % 3 {
		case 1:
			p[k] = byte(7 + i)
		case 2:
			p[k] = byte(i*i + k*k*41)
		}
	}
	return p
}

func layOut(name string, o *frame.CreateOptions) (*frame.Regions, error) {
	return frame.CreateRegions(context.Background(), name, regionCount*64-32, o)
}

func reopen(s *store) (*frame.Regions, error) {
	return frame.OpenRegions(context.Background(), "", &frame.OpenOptions{Objects: s, Concurrency: 1})
}

// fill writes all chunks and finishes the frame.
func fill(r *frame.Regions) error {
	ctx := context.Background()
	for i := range regionCount {
		if err := r.Write(ctx, i, regionItems(i)); err != nil {
			return err
		}
	}
	return r.Finish(ctx)
}

// filesOfRegions returns the files of the same frame in a directory.
func filesOfRegions(t *testing.T) map[string]string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x")
	r, err := layOut(name, regionOptions(nil))
	if err == nil {
		err = errors.Join(fill(r), r.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := frame.Open(t.Context(), name, nil)
	if err == nil {
		err = errors.Join(f.Verify(t.Context(), nil), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return readDir(t, name)
}

func readDir(t *testing.T, name string) map[string]string {
	t.Helper()
	all := map[string]string{}
	files, err := os.ReadDir(name)
	for _, x := range files {
		b, e := os.ReadFile(filepath.Join(name, x.Name()))
		all[x.Name()], err = string(b), errors.Join(err, e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// same checks that the objects are the files of a directory.
func (s *store) same(t *testing.T, want map[string]string) {
	t.Helper()
	if !maps.Equal(s.objects, want) {
		t.Fatalf("objects %q, want %q", slices.Sorted(maps.Keys(s.objects)), slices.Sorted(maps.Keys(want)))
	}
}
