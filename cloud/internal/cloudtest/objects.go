package cloudtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/ndarray"
)

// Bucket is what the tests need of a *cloud.Bucket.
type Bucket interface {
	Objects(prefix string) frame.Objects
	OpenDir(ctx context.Context, prefix string, o *remote.Options) (*remote.Dir, error)
}

// list returns the content of all objects.
func list(t *testing.T, o frame.Objects) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, err := range o.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		b, size, err := o.Get(t.Context(), name, 1<<40)
		if err != nil || size != int64(len(b)) {
			t.Fatalf("%s: %d of %d bytes, %v", name, len(b), size, err)
		}
		all[name] = string(b)
	}
	return all
}

// TestObjects checks the methods of frame.Objects.
func TestObjects(t *testing.T, b Bucket) {
	ctx := t.Context()
	o := b.Objects("dir/a.b2nd")
	want := map[string]string{}
	for _, prefix := range []string{"dir", "dir/a.b2nd2", "dir/a.b2nd/sub"} { // neighbors
		if err := b.Objects(prefix).Put(ctx, "x", []byte(prefix), false); err != nil {
			t.Fatal(err)
		}
	}
	if all := list(t, o); len(all) != 0 {
		t.Errorf("objects %q", all)
	}
	for _, name := range []string{"empty", "a", "large"} {
		data := make([]byte, map[string]int{"a": 1000, "large": 5_000_000}[name])
		for i := range data {
			data[i] = byte(i * i >> 8)
		}
		want[name] = string(data)
		if _, _, err := o.Get(ctx, name, 10); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want ErrNotExist", name, err)
		}
		if err := o.Remove(ctx, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want ErrNotExist", name, err)
		}
		for i, replace := range []bool{false, false, true} {
			content := data
			if i == 1 {
				content = []byte("other")
			}
			if err := o.Put(ctx, name, content, replace); (i == 1) != errors.Is(err, fs.ErrExist) || i != 1 && err != nil {
				t.Errorf("%s: Put %d: %v", name, i, err)
			}
		}
		for _, n := range []int64{0, 1, 32, int64(len(data)), 1 << 33} {
			got, size, err := o.Get(ctx, name, n)
			if err != nil || size != int64(len(data)) || string(got) != string(data[:min(n, size)]) {
				t.Errorf("%s: Get of %d bytes: %d of %d, %v", name, n, len(got), size, err)
			}
		}
	}
	if got := list(t, o); !maps.Equal(got, want) {
		t.Errorf("objects %q", slices.Sorted(maps.Keys(got)))
	}
	for range o.List(ctx) {
		break
	}
	if err := o.Put(ctx, "a", nil, true); err != nil {
		t.Error(err)
	}
	if got, size, err := o.Get(ctx, "a", 10); len(got) > 0 || size != 0 || err != nil {
		t.Errorf("a replaced object: %q, %d, %v", got, size, err)
	}
	for name := range want {
		if err := o.Remove(ctx, name); err != nil {
			t.Error(err)
		}
	}
	if all := list(t, o); len(all) != 0 {
		t.Errorf("objects %q", all)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	_, _, get := o.Get(done, "x", 1)
	var listed error
	for _, listed = range o.List(done) {
	}
	for i, err := range []error{o.Put(done, "x", nil, true), get, listed, o.Remove(done, "x")} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("call %d with a context that has ended: %v", i, err)
		}
	}
}

// The array of the tests has 12 chunks: the first is of zeros, the fifth of one item.
var shape = []int64{38, 30}

func model() []float32 {
	items := make([]float32, shape[0]*shape[1])
	for i := range items {
		switch row, column := i/30, i%30; {
		case row < 10 && column < 10:
		case row >= 10 && row < 20 && column >= 10 && column < 20:
			items[i] = 7
		default:
			items[i] = float32(i*i) / 7
		}
	}
	return items
}

func options(o frame.Objects) *ndarray.CreateOptions {
	return &ndarray.CreateOptions{Chunks: []int64{10, 10}, Blocks: []int64{5, 10}, Checksums: true, Attrs: map[string]any{"a": 1}, Objects: o, Concurrency: 1}
}

// layOut lays out the array, or opens it if another writer has finished it.
func layOut(ctx context.Context, name string, o frame.Objects) (*ndarray.Regions, error) {
	r, err := ndarray.CreateRegions(ctx, name, shape, "<f4", options(o))
	if errors.Is(err, fs.ErrExist) {
		r, err = ndarray.OpenRegions(ctx, name, &ndarray.OpenOptions{Objects: o, Concurrency: 1})
	}
	return r, err
}

// write writes chunk i.
func write(ctx context.Context, r *ndarray.Regions, whole *ndarray.Array, i int) error {
	box, err := r.ChunkBox(int64(i/3), int64(i%3))
	if err != nil {
		return err
	}
	items := make([]byte, box.Shape[0]*box.Shape[1]*4)
	if err := whole.ReadBytes(ctx, items, box.Selection()...); err != nil {
		return err
	}
	return r.WriteBytes(ctx, items, box.Selection()...)
}

const chunks = 12

// finish finishes the array.
func finish(ctx context.Context, o frame.Objects) error {
	r, err := ndarray.OpenRegions(ctx, "", &ndarray.OpenOptions{Objects: o})
	if err == nil {
		err = errors.Join(r.Finish(ctx), r.Close())
	}
	return err
}

// local returns the array in memory, and the files of the same array in a directory.
func local(t *testing.T) (*ndarray.Array, map[string]string) {
	t.Helper()
	whole, err := ndarray.Create(t.Context(), "", shape, model(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { whole.Close() })
	name := filepath.Join(t.TempDir(), "a")
	r, err := layOut(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range chunks {
		err = errors.Join(err, write(t.Context(), r, whole, i))
	}
	if err := errors.Join(err, r.Finish(t.Context()), r.Close()); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	files, err := os.ReadDir(name)
	for _, f := range files {
		b, e := os.ReadFile(filepath.Join(name, f.Name()))
		want[f.Name()], err = string(b), errors.Join(err, e)
	}
	if err != nil || len(want) >= 1+chunks {
		t.Fatalf("%d files, %v", len(want), err)
	}
	return whole, want
}

// check opens the array, compares it with the model, and its objects with files.
func check(t *testing.T, b Bucket, prefix string, want map[string]string) {
	t.Helper()
	if got := list(t, b.Objects(prefix)); !maps.Equal(got, want) {
		t.Errorf("objects %q, want %q, or they have other bytes", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	src, err := b.OpenDir(t.Context(), prefix, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	a, err := ndarray.OpenSource(t.Context(), src, &ndarray.OpenOptions{Verify: true, RequireChecksums: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	got, err := ndarray.Read[float32](t.Context(), a)
	if err != nil || !slices.Equal(a.Shape(), shape) || !slices.Equal(got, model()) {
		t.Errorf("other items: %v", err)
	}
}

// TestRegions fills an array with two writers that both write all chunks, and finishes it twice.
func TestRegions(t *testing.T, b Bucket) {
	ctx := t.Context()
	whole, want := local(t)
	o := b.Objects("dir/a.b2nd")
	var all sync.WaitGroup
	for g := range 2 {
		all.Go(func() {
			r, err := layOut(ctx, "", o)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			for _, i := range rand.New(rand.NewPCG(uint64(g), 0)).Perm(chunks) {
				if err := write(ctx, r, whole, i); err != nil {
					t.Errorf("chunk %d: %v", i, err)
				}
			}
		})
	}
	all.Wait()
	if _, err := b.OpenDir(ctx, "dir/a.b2nd", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unfinished array: %v", err)
	}
	for range 2 {
		if err := finish(ctx, o); err != nil {
			t.Fatal(err)
		}
		check(t, b, "dir/a.b2nd", want)
	}
	r, err := layOut(ctx, "", o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := write(ctx, r, whole, 3); err != nil { // a late duplicate
		t.Error(err)
	}
	box, _ := r.ChunkBox(1, 0)
	if err := r.WriteBytes(ctx, make([]byte, 400), box.Selection()...); !errors.Is(err, fs.ErrExist) {
		t.Errorf("other items: %v", err)
	}
	check(t, b, "dir/a.b2nd", want)
}

var errFault = errors.New("a fault of the test")

// faulty is frame.Objects whose calls fail before or after they take effect. After some of the faults all calls fail:
// the process has ended.
type faulty struct {
	frame.Objects
	kills bool

	mu    sync.Mutex
	rand  *rand.Rand
	ended bool
}

// call makes a call, perhaps with a fault.
func (f *faulty) call(do func() error) error {
	f.mu.Lock()
	const before, after = 1, 2
	fault := 0
	if !f.ended {
		fault = f.rand.IntN(16)
		f.ended = f.kills && (fault == before || fault == after) && f.rand.IntN(2) == 0
	} else {
		fault = before
	}
	f.mu.Unlock()
	if fault == before {
		return errFault
	}
	err := do()
	if fault == after {
		return errFault
	}
	return err
}

// Put implements frame.Objects.
func (f *faulty) Put(ctx context.Context, name string, data []byte, replace bool) error {
	return f.call(func() error { return f.Objects.Put(ctx, name, data, replace) })
}

// Get implements frame.Objects.
func (f *faulty) Get(ctx context.Context, name string, n int64) (data []byte, size int64, err error) {
	err = f.call(func() (err error) {
		data, size, err = f.Objects.Get(ctx, name, n)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return data, size, nil
}

// List implements frame.Objects.
func (f *faulty) List(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := f.call(func() error { return nil }); err != nil {
			yield("", err)
			return
		}
		f.Objects.List(ctx)(yield)
	}
}

// Remove implements frame.Objects.
func (f *faulty) Remove(ctx context.Context, name string) error {
	return f.call(func() error { return f.Objects.Remove(ctx, name) })
}

// TestRegionsFaults fills an array with three writers, which are killed and retried, and finishes it with a process
// that is interrupted and retried, while another writer repeats its writes.
func TestRegionsFaults(t *testing.T, b Bucket, seeds uint64) {
	ctx := t.Context()
	whole, want := local(t)
	for seed := range seeds {
		prefix := fmt.Sprintf("run-%d/a.b2nd", seed)
		o := b.Objects(prefix)
		// try calls f until it succeeds. Each call is a process.
		try := func(stream uint64, kills bool, f func(o *faulty) error) {
			r := rand.New(rand.NewPCG(seed, stream))
			for range 10_000 {
				err := f(&faulty{Objects: o, kills: kills, rand: r})
				if err == nil {
					return
				}
				if !errors.Is(err, errFault) {
					t.Errorf("seed %d, process %d: %v", seed, stream, err)
					return
				}
			}
			t.Errorf("seed %d, process %d: no success", seed, stream)
		}
		fill := func(order []int) func(o *faulty) error {
			return func(o *faulty) error {
				r, err := layOut(ctx, "", o)
				if err != nil {
					return err
				}
				defer r.Close()
				for len(order) > 0 {
					if err := write(ctx, r, whole, order[0]); err != nil {
						return err
					}
					order = order[1:]
				}
				return nil
			}
		}
		var writers sync.WaitGroup
		for g := range uint64(3) {
			order := rand.New(rand.NewPCG(seed, 100+g)).Perm(chunks)
			writers.Go(func() { try(g, true, fill(order)) })
		}
		writers.Wait()
		// The late writer is not killed, because it may leave an object then.
		late := &faulty{Objects: o, rand: rand.New(rand.NewPCG(seed, 10))}
		var again *ndarray.Regions
		try(11, false, func(*faulty) (err error) {
			again, err = layOut(ctx, "", late)
			return err
		})
		if again == nil {
			return
		}
		defer again.Close()
		writers.Go(func() {
			for i := range chunks {
				try(12, false, func(*faulty) error { return write(ctx, again, whole, i) })
			}
		})
		writers.Go(func() { try(13, true, func(o *faulty) error { return finish(ctx, o) }) })
		writers.Wait()
		if err := finish(ctx, o); err != nil { // again
			t.Errorf("seed %d: %v", seed, err)
		}
		check(t, b, prefix, want)
		if t.Failed() {
			return
		}
	}
}
