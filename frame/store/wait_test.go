package store

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
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/ndarray"
)

// slowSource is a source whose reads of some bytes wait.
type slowSource struct {
	b      []byte
	at     int64 // reads that start before this byte wait
	wait   chan struct{}
	begun  chan struct{} // gets a value from each read that waits
	active bool
}

func (s *slowSource) Size() int64 { return int64(len(s.b)) }

func (s *slowSource) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if s.active && off < s.at {
		s.begun <- struct{}{}
		select {
		case <-s.wait:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return bytes.NewReader(s.b).ReadAt(p, off)
}

// TestOpenWaits opens leaves while the opening of one takes long. Other leaves do not wait for it, calls for the same
// leaf wait no longer than their contexts, and the end of the first context does not fail the other calls.
func TestOpenWaits(t *testing.T) {
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	names := []string{"a.b2f", "b.b2f", "c.b2f"}
	for i := range 400 { // the first members are not among the last bytes, which opening reads
		names = append(names, fmt.Sprintf("d/%d.b2f", i))
	}
	b := zipOf(t, names...)
	src := &slowSource{b: b, at: 10, wait: make(chan struct{}), begun: make(chan struct{}, 10)}
	s, err := OpenSource(ctx, src, nil)
	if err != nil {
		t.Fatal(err)
	}
	src.active = true
	await := func() { // a read that waits
		t.Helper()
		select {
		case <-src.begun:
		case <-ctx.Done():
			t.Fatal("it hangs")
		}
	}
	first, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := s.Frame(first, "/a"); !errors.Is(err, context.Canceled) {
			t.Errorf("the first call: %v", err)
		}
	})
	await()
	if _, err := s.Frame(ctx, "/b"); err != nil {
		t.Errorf("another leaf: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err := s.Frame(short, "/a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the same leaf: %v", err)
	}
	all.Go(func() {
		f, err := s.Frame(ctx, "/a")
		if err != nil {
			t.Errorf("the call that waits: %v", err)
			return
		}
		if b, err := f.ReadChunk(ctx, nil, 0); err != nil || string(b) != "a.b2f" {
			t.Errorf("%q, %v", b, err)
		}
	})
	stop()
	await() // of the call that waited
	close(src.wait)
	all.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Frame(ctx, "/c"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// replacingSystem is a file system in which other files take the place of a file before it is opened.
type replacingSystem struct {
	storage.System
	left *int // files that do so
}

func (s replacingSystem) OpenRoot(dir string) (storage.Root, error) {
	r, err := s.System.OpenRoot(dir)
	return replacingRoot{r, s.left}, err
}

type replacingRoot struct {
	storage.Root
	left *int
}

func (r replacingRoot) Open(name string, flag int, mode fs.FileMode) (storage.File, error) {
	if *r.left > 0 && name == "a.b2f" {
		*r.left--
		old, err := r.Root.Open(name, os.O_RDONLY, 0)
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(io.NewSectionReader(old, 0, 1<<20))
		err = errors.Join(err, old.Close(), writeFile(r.Root, "new.tmp", nil, true, func(w io.Writer) error { _, err := w.Write(b); return err }),
			r.Root.Rename("new.tmp", name))
		if err != nil {
			return nil, err
		}
	}
	return r.Root.Open(name, flag, mode)
}

// TestOpenReplaced opens a leaf that an edit replaces at the same time, as the new one. That must not go on forever.
func TestOpenReplaced(t *testing.T) {
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "x.b2d")
	s, err := Create(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := frame.Create(ctx, "", nil)
	if err == nil {
		err = errors.Join(s.Put(ctx, "/a", f), s.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	if s, err = Open(ctx, dir, &OpenOptions{sys: replacingSystem{storage.OS(), &left}}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for n, want := range map[int]error{3: nil, 1 << 20: errors.ErrUnsupported} {
		left = n
		if _, err := s.Stat(ctx, "/a"); !errors.Is(err, want) {
			t.Errorf("replaced %d times: %v, want %v", n, err, want)
		}
	}
}

// TestReplacedLeaf opens a leaf again and again while another Store replaces and deletes it, and while its file is
// edited in place. It is always that of now. What was opened before stays readable.
func TestReplacedLeaf(t *testing.T) {
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "x.b2d")
	w, err := Create(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	a, want := noise(t, 3000, 1)
	put := func() {
		t.Helper()
		if err := w.Put(ctx, "/a", a.Frame()); err != nil {
			t.Fatal(err)
		}
	}
	put()
	r, err := Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	check := func(when string) {
		t.Helper()
		for _, s := range []*Store{r, w} {
			if same, err := readNoise(ctx, s, want); !same || err != nil {
				t.Errorf("%s: %v, %v", when, same, err)
			}
		}
	}
	check("at first")
	before, err := r.Array(ctx, "/a")
	if err != nil {
		t.Fatal(err)
	}
	first := want
	for i, n := range []int{3000, 7000, 10} {
		a, want = noise(t, n, uint64(i)+2)
		put()
		check("replaced")
	}
	if got, err := ndarray.Read[byte](ctx, before); err != nil || !bytes.Equal(got, first) {
		t.Errorf("the array that was open: %v", err)
	}
	held, err := r.Array(ctx, "/a")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	files := len(r.files.open)
	for i := range 3 {
		e, err := ndarray.Edit(ctx, filepath.Join(dir, "a.b2nd"), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, more := noise(t, 5000, uint64(i)+10)
		if want = append(want, more...); i == 2 {
			want = want[:20]
		}
		err = ndarray.Append(ctx, e, 0, more)
		if i == 2 {
			err = errors.Join(err, e.Resize(ctx, 20))
		}
		if err = errors.Join(err, e.Close()); err != nil {
			t.Fatal(err)
		}
		check("edited in place")
	}
	if n := len(r.files.open); n != files {
		t.Errorf("%d files are open, want %d as before the edits in place", n, files)
	}
	if err := w.Delete(ctx, "/a"); err != nil {
		t.Fatal(err)
	}
	if a, err := r.Array(ctx, "/a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleted: %v, %v, want %v", a, err, fs.ErrNotExist)
	}
	want = first
	if a, err = ndarray.Create(ctx, "", []int64{int64(len(want))}, want, nil); err != nil {
		t.Fatal(err)
	}
	put()
	check("put again")
}

// TestClosedLeaves opens leaves of a directory, some twice, while others replace them. The last frame of a file closes
// it, the other ones stay readable, and a second Close changes nothing.
func TestClosedLeaves(t *testing.T) {
	ctx, sys := t.Context(), simulated.New()
	o := OpenOptions{sys: sys}
	w, err := Create(ctx, "x.b2d", &CreateOptions{OpenOptions: o})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	inner, err := Create(ctx, "inner.b2e", &CreateOptions{OpenOptions: o})
	if err == nil {
		err = errors.Join(w.Put(ctx, "/inner", inner.embed), inner.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	a, want := noise(t, 3000, 1)
	put := func(key string) {
		t.Helper()
		if err := w.Put(ctx, key, a.Frame()); err != nil {
			t.Fatal(err)
		}
	}
	put("/a")
	put("/b")
	r, err := Open(ctx, "x.b2d", &o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	none := sys.Opened
	expect := func(when string, files int) {
		t.Helper()
		if n := sys.Opened - none; n != files {
			t.Errorf("%s: %d files are open, want %d", when, n, files)
		}
	}
	open := func(key string) *ndarray.Array {
		t.Helper()
		a, err := r.Array(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first, second, other := open("/a"), open("/a"), open("/b")
	expect("two leaves", 2)
	put("/a")
	third := open("/a")
	expect("replaced", 3)
	for range 2 {
		if err := errors.Join(first.Close(), other.Close()); err != nil {
			t.Error(err)
		}
		expect("two closed", 2)
	}
	for _, a := range []*ndarray.Array{second, third} {
		if got, err := ndarray.Read[byte](ctx, a); err != nil || !bytes.Equal(got, want) {
			t.Errorf("an array that is open: %v", err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	expect("all closed", 0)
	if _, err := r.Objects(ctx, "/a"); !errors.Is(err, ErrFormat) {
		t.Errorf("an array as objects: %v, want %v", err, ErrFormat)
	}
	if _, err := r.Sub(ctx, "/a"); !errors.Is(err, ErrFormat) {
		t.Errorf("an array as a store: %v, want %v", err, ErrFormat)
	}
	expect("after errors", 0)
	sub, err := r.Sub(ctx, "/inner")
	if err != nil {
		t.Fatal(err)
	}
	expect("a store", 1)
	if err := sub.Close(); err != nil {
		t.Error(err)
	}
	expect("the store closed", 0)
	last := open("/b")
	if err := errors.Join(r.Close(), last.Close()); err != nil {
		t.Error(err)
	}
}

// watchedSystem is a file system that calls a function after each change of a name in a directory.
type watchedSystem struct {
	storage.System
	changed *func()
}

func (s watchedSystem) OpenRoot(dir string) (storage.Root, error) {
	r, err := s.System.OpenRoot(dir)
	return watchedRoot{r, s.changed}, err
}

type watchedRoot struct {
	storage.Root
	changed *func()
}

func (r watchedRoot) Rename(old, name string) error {
	defer (*r.changed)()
	return r.Root.Rename(old, name)
}

func (r watchedRoot) Remove(name string) error {
	defer (*r.changed)()
	return r.Root.Remove(name)
}

// TestOpenMoved looks at a leaf in the middle of edits that move it, to a file with another name or to the embed store
// and back. It always exists.
func TestOpenMoved(t *testing.T) {
	ctx := t.Context()
	looks, changed := 0, func() {}
	o := &CreateOptions{OpenOptions: OpenOptions{Threshold: 100, sys: watchedSystem{storage.OS(), &changed}}}
	s, err := Create(ctx, filepath.Join(t.TempDir(), "x.b2d"), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	changed = func() {
		if !s.Has("/a") {
			return
		}
		looks++
		_, statErr := s.Stat(ctx, "/a")
		f, err := s.Frame(ctx, "/a")
		if err == nil {
			err = f.Close()
		}
		if _, subErr := s.Sub(ctx, "/a"); !errors.Is(subErr, ErrFormat) { // no store is in it
			err = errors.Join(err, subErr)
		}
		if err := errors.Join(statErr, err); err != nil {
			t.Error(err)
		}
	}
	for _, shape := range []int64{1000, 10, 1000, -1, 1000, -1, 10} { // -1 is no array: its file has another extension
		a, err := ndarray.Zeros(ctx, "", []int64{max(shape, 0)}, "<i4", nil)
		if err != nil {
			t.Fatal(err)
		}
		f := a.Frame()
		if shape < 0 {
			f, err = frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, make([]byte, 1000)) }, nil)
		}
		if err == nil {
			err = s.Put(ctx, "/a", f)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if looks < 8 {
		t.Errorf("%d looks", looks)
	}
}

// TestEditedRace opens a store during edits of another Store, which move a leaf or append others. No leaf is missing.
func TestEditedRace(t *testing.T) {
	ctx := t.Context()
	type put struct {
		key  string
		size int // at least 100: in a file of its own, in a directory
	}
	pairs := 0
	for _, c := range []struct {
		name string
		puts []put // the first ones before the store is opened
	}{
		{"x.b2e", []put{{"/a", 10}, {"/b", 20}, {"/c", 30}}},
		{"x.b2d", []put{{"/a", 10}, {"/b", 20}, {"/c", 30}}},
		{"x.b2d", []put{{"/a", 10}, {"/a", 200}}},
		{"x.b2d", []put{{"/a", 200}, {"/a", 20}}},
		{"x.b2d", []put{{"/a", 10}, {"/a", 200}, {"/a", 30}}},
		{"x.b2d", []put{{"/a", 200}, {"/a", 20}, {"/a", 300}}},
	} {
		n, err := simulated.Interleave(1, func() simulated.Rivals {
			sys := simulated.New()
			o := OpenOptions{sys: sys, Frames: &frame.OpenOptions{NoSync: true}}
			co := &CreateOptions{OpenOptions: o}
			if c.name == "x.b2d" {
				co.Threshold = 100
			}
			w, err := Create(ctx, c.name, co)
			if err != nil {
				t.Fatal(err)
			}
			write := func(puts []put) {
				for _, p := range puts {
					if err := w.Put(ctx, p.key, contentFrame(t, make([]byte, p.size))); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(c.puts[:1])
			var r *Store
			return simulated.Rivals{System: sys, A: func() { write(c.puts[1:]) }, B: func() { r, err = Open(ctx, c.name, &OpenOptions{sys: sys}) },
				Check: func() error {
					if err != nil {
						return err
					}
					defer r.Close()
					if !r.Has("/a") {
						return errors.New("/a is missing")
					}
					return w.Close()
				}}
		})
		if err != nil {
			t.Errorf("%s, puts %v: %v", c.name, c.puts, err)
		}
		pairs += n
	}
	t.Log(pairs, "pairs")
}

// listingSystem is a file system whose listings call a function between two steps.
type listingSystem struct {
	storage.System
	step func()
}

func (s listingSystem) OpenRoot(dir string) (storage.Root, error) {
	r, err := s.System.OpenRoot(dir)
	return listingRoot{r, s.step}, err
}

type listingRoot struct {
	storage.Root
	step func()
}

func (r listingRoot) ReadDir(dir string) ([]fs.DirEntry, error) {
	first, err := r.Root.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	r.step()
	second, err := r.Root.ReadDir(dir)
	list := slices.DeleteFunc(first, func(e fs.DirEntry) bool { return e.Name() > "a.b2f" })
	return append(list, slices.DeleteFunc(second, func(e fs.DirEntry) bool { return e.Name() <= "a.b2f" })...), err
}

// TestListedTwice opens a directory whose listing has the old and the new name of a file.
func TestListedTwice(t *testing.T) {
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "x.b2d")
	w, err := Create(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Put(ctx, "/a", kindFrame(t, 0, []byte("bytes"))); err != nil {
		t.Fatal(err)
	}
	steps := 0
	r, err := Open(ctx, dir, &OpenOptions{sys: listingSystem{storage.OS(), func() {
		if steps++; steps == 1 {
			if err := w.Put(ctx, "/a", kindFrame(t, 1, []byte("array"))); err != nil {
				t.Error(err)
			}
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !r.Has("/a") || steps != 2 {
		t.Errorf("leaves %v, %d listings", slices.Collect(r.Keys("/")), steps)
	}
}

// TestListWhileRenamed opens a directory while the file of a leaf gets other names.
func TestListWhileRenamed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a listing of other systems may have none of the names")
	}
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "x.b2d")
	w, err := Create(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range 100 { // looking at these takes a while
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%016x.tmp", i)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Put(ctx, "/a", contentFrame(t, []byte("bytes"))); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	defer all.Wait()
	end := make(chan struct{})
	defer close(end)
	all.Go(func() {
		names := [2]string{filepath.Join(dir, "a.b2f"), filepath.Join(dir, "a.b2nd")}
		for i := 0; ; i = 1 - i {
			select {
			case <-end:
				return
			case <-time.After(50 * time.Microsecond):
			}
			if err := os.Rename(names[i], names[1-i]); err != nil {
				t.Error(err)
			}
		}
	})
	for i := range 60 {
		r, err := Open(ctx, dir, nil)
		if err != nil {
			t.Fatalf("open %d: %v", i, err)
		}
		if !r.Has("/a") {
			t.Errorf("open %d: the leaf is missing", i)
		}
		r.Close()
	}
}
