package table

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/race"
)

const (
	mutationsHere = "BLOSC2_TEST_STORE_MUTATIONS_HERE"
	mutationLimit = 256 << 20 // bytes of data of the process
)

// subject is a store or leaf of testdata.
type subject struct {
	path  string   // of the copy
	files []string // that are mutated, of the copy
	bytes [][]byte // their contents
}

// subjects copies all stores, tables and leaves of testdata to a directory.
func subjects(t testing.TB, dir string) (list []subject) {
	t.Helper()
	for _, folder := range []string{"stores", "tables"} {
		entries, err := os.ReadDir("../../../testdata/" + folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) == ".json" {
				continue
			}
			s := subject{path: filepath.Join(dir, e.Name())}
			from := filepath.Join("../../../testdata", folder, e.Name())
			err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
				to := filepath.Join(dir, strings.TrimPrefix(p, filepath.Dir(from)))
				if err != nil || d.IsDir() {
					return errors.Join(err, os.MkdirAll(to, 0o777))
				}
				b, err := os.ReadFile(p)
				s.files, s.bytes = append(s.files, to), append(s.bytes, b)
				return errors.Join(err, os.WriteFile(to, b, 0o666))
			})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
	}
	if len(list) < 60 {
		t.Fatalf("%d stores and tables", len(list))
	}
	return list
}

// mutate returns a changed copy of b.
func mutate(rng *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	edges := []uint64{0, 1, 8, 15, 16, 31, 32, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	for range 1 + rng.IntN(4) {
		if len(b) == 0 {
			return b
		}
		at := rng.IntN(len(b))
		switch rng.IntN(4) {
		case 0: // the header
			at = rng.IntN(min(len(b), 200))
		case 1: // index, trailer, or zip directory
			at = len(b) - 1 - rng.IntN(min(len(b), 400))
		}
		switch rng.IntN(8) {
		case 0, 1:
			b[at] = byte(rng.Uint32())
		case 2, 3:
			b[at] ^= 1 << rng.IntN(8)
		case 4, 5: // a field, in either byte order
			field := binary.LittleEndian.AppendUint64(nil, edges[rng.IntN(len(edges))]+uint64(rng.IntN(3))-1)[:2<<rng.IntN(3)]
			if rng.IntN(2) == 0 {
				slices.Reverse(field)
			}
			copy(b[at:], field)
		case 6: // bytes from elsewhere
			from := rng.IntN(len(b))
			copy(b[at:], b[from:min(len(b), from+1+rng.IntN(60))])
		default:
			switch n := min(1+rng.IntN(20), len(b)-at); rng.IntN(3) {
			case 0:
				b = slices.Delete(b, at, at+n)
			case 1:
				b = slices.Insert(b, at, b[at:at+n]...)
			default:
				b = b[:at]
			}
		}
	}
	return b
}

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
		c.Categories()
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
	if os.Getenv(mutationsHere) == "" && runtime.GOOS == "linux" && !race.Enabled {
		// The stacks of threads count as data.
		limit := fmt.Sprintf(`ulimit -s 1024; ulimit -d %d; exec "$0" "$@"`, mutationLimit>>10)
		c := exec.Command("sh", "-c", limit, os.Args[0], "-test.run=^TestMutations$", "-test.v", "-test.timeout=3h", fmt.Sprintf("-test.short=%v", testing.Short()))
		c.Env = append(os.Environ(), mutationsHere+"=1")
		if err := exec.Command(os.Args[0], "-test.run=^$").Run(); !errors.Is(err, syscall.ENOEXEC) {
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, lastLines(out))
			}
			t.Logf("%s", lastLines(out))
			return
		}
		t.Log("emulated, without a limit")
	}
	ctx := context.Background()
	n, _ := strconv.Atoi(os.Getenv("STORE_MUTATIONS"))
	first, _ := strconv.Atoi(os.Getenv("STORE_FIRST"))
	if n == 0 {
		if n = 3000; testing.Short() {
			n = 60
		}
	}
	list := subjects(t, t.TempDir())
	leaf, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, []byte("leaf")) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	opened, slowest := 0, time.Duration(0)
	for i := first; i < first+n; i++ {
		rng := rand.New(rand.NewPCG(uint64(i), 13))
		s := list[rng.IntN(len(list))]
		k := rng.IntN(len(s.files))
		if os.Getenv(mutationsHere) != "" {
			fmt.Printf("mutation %d of %s\n", i, s.files[k]) // the last one, if the process ends
		}
		changed := mutate(rng, s.bytes[k])
		for try := range 3 { // the machine may be busy
			write(t, s.files[k], changed)
			start := time.Now()
			if use(ctx, s.path) {
				opened++
			}
			useEdit(ctx, s.path, leaf)
			took := time.Since(start)
			if slowest = max(slowest, took); took < time.Second {
				break
			}
			if try == 2 {
				t.Errorf("mutation %d of %s took %v", i, s.files[k], took)
			}
		}
		restore(t, s)
	}
	t.Logf("%d mutations, %d opened, slowest %v", n, opened, slowest)
	if opened < n/10 {
		t.Error("too few were opened")
	}
}

// restore undoes the mutation and the edits of a store.
func restore(t *testing.T, s subject) {
	t.Helper()
	if fi, err := os.Stat(s.path); err == nil && fi.IsDir() {
		if err := os.RemoveAll(s.path); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range s.files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, name, s.bytes[i])
	}
}

func write(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// lastLines returns the end of what a process printed: the last mutation and what follows it.
func lastLines(out []byte) string {
	var lines []string
	for r := bufio.NewScanner(bytes.NewReader(out)); r.Scan(); {
		if strings.HasPrefix(r.Text(), "mutation ") {
			lines = nil
		}
		if lines = append(lines, r.Text()); len(lines) > 200 {
			break
		}
	}
	return strings.Join(lines, "\n")
}
