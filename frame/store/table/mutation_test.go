package table

import (
	"context"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/mutation"
)

// use does with a store what programs do, whatever the errors. It reports whether the store could be opened.
func use(ctx context.Context, path string) bool {
	if s, err := store.OpenTensor(ctx, path, nil); err == nil {
		s.Close()
	}
	if f, err := frame.Open(ctx, path, nil); err == nil {
		store.Describe(ctx, f)
		f.Close()
	}
	s, err := store.Open(ctx, path, nil)
	if err != nil {
		return false
	}
	defer s.Close()
	for e := range s.Walk(ctx, "/") {
		s.Attrs(ctx, e.Key)
		if sub, err := s.Sub(ctx, e.Key); err == nil {
			sub.Close()
		}
		useTable(ctx, s, e.Key)
	}
	for key := range s.Keys("/") {
		if f, err := s.Frame(ctx, key); err == nil {
			io.CopyN(io.Discard, f.Content(ctx), 4<<20)
			f.Close()
		}
		if a, err := s.Array(ctx, key); err == nil {
			a.Close()
		}
		if o, err := s.Objects(ctx, key); err == nil {
			for range o.Items(ctx, 0, min(o.Len(), 10_000)) {
			}
		}
	}
	fs.WalkDir(s, ".", func(name string, _ fs.DirEntry, _ error) error {
		fs.Stat(s, name)
		return nil
	})
	packed := path + ".packed"
	if err := s.Pack(ctx, packed, &store.CreateOptions{OpenOptions: noSync}); err == nil {
		os.Remove(packed)
	}
	return true
}

// noSync spares the disk.
var noSync = store.OpenOptions{Frames: &frame.OpenOptions{NoSync: true}}

// useTable reads the columns of a table.
func useTable(ctx context.Context, s *store.Store, key string) {
	tab, err := Open(ctx, s, key)
	if err != nil {
		return
	}
	n := min(tab.Rows(), 10_000)
	for _, info := range tab.Columns() {
		c, err := tab.Column(ctx, info.Name)
		if err != nil {
			continue
		}
		Read[any](ctx, c, 0, n)
		ReadNullable[float64](ctx, c, 0, n)
		c.Nulls(ctx, 0, n)
		c.Categories(ctx)
		Find(ctx, c, Less, int64(3))
		Find(ctx, c, Greater, 0.5)
		Find(ctx, c, Equal, "a")
	}
}

// useEdit edits a store, whatever the errors.
func useEdit(ctx context.Context, path string, leaf *frame.Frame) {
	s, err := store.Edit(ctx, path, &noSync)
	if err != nil {
		return
	}
	defer s.Close()
	for key := range s.Keys("/") {
		s.Delete(ctx, key)
		break
	}
	s.Put(ctx, "/new", leaf)
	s.SetAttr(ctx, "/", "a", 1)
}

// TestMutations opens mutated stores, tables and leaves, reads all of them and edits some, in a process with 256 MiB
// for data. None must end the process or take more than a second.
//
// STORE_MUTATIONS=100000 go test -timeout 3h -run TestMutations ./frame/store/table tests 100,000 mutations, and
// STORE_FIRST is the number of the first.
func TestMutations(t *testing.T) {
	if mutation.InChild(t) {
		return
	}
	ctx := context.Background()
	n := mutation.Count("STORE_MUTATIONS", 1000, 60)
	first, _ := strconv.Atoi(os.Getenv("STORE_FIRST"))
	list := mutation.Fixtures(t, "../../../testdata", t.TempDir(), "stores", "tables")
	if len(list) < 60 {
		t.Fatalf("%d stores and tables", len(list))
	}
	leaf, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, []byte("leaf")) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	opened, slowest := 0, time.Duration(0)
	for i := first; i < first+n; i++ {
		for try := range 3 { // the machine may be busy
			rng := rand.New(rand.NewPCG(uint64(i), 13))
			s := &list[rng.IntN(len(list))]
			name := s.Mutate(t, i, rng)
			start := time.Now()
			if use(ctx, s.Path) {
				opened++
			}
			useEdit(ctx, s.Path, leaf)
			took := time.Since(start)
			s.Restore(t)
			if slowest = max(slowest, took); took < time.Second {
				break
			}
			if try == 2 {
				t.Errorf("mutation %d of %s took %v", i, name, took)
			}
		}
	}
	t.Logf("%d mutations, %d opened, slowest %v", n, opened, slowest)
	if opened < n/10 {
		t.Error("too few were opened")
	}
}
