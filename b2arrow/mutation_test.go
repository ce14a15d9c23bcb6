package b2arrow

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
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

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/internal/race"
)

const (
	mutationsHere = "B2ARROW_TEST_MUTATIONS_HERE"
	mutationLimit = 256 << 20 // bytes of data of the process
)

// subject is a copy of a table of testdata.
type subject struct {
	path  string
	files []string // of the copy
	bytes [][]byte // their contents
}

// subjects copies all tables of testdata to a directory.
func subjects(t testing.TB, dir string) (list []subject) {
	t.Helper()
	for _, c := range tableCases(t) {
		s := subject{path: filepath.Join(dir, c.File)}
		from := filepath.Join("../testdata/tables", c.File)
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
	return list
}

// mutate returns a changed copy of b.
func mutate(rng *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	edges := []uint64{0, 1, 8, 31, 32, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	for range 1 + rng.IntN(4) {
		if len(b) == 0 {
			return b
		}
		at := rng.IntN(len(b))
		switch rng.IntN(6) {
		case 0:
			b[at] = byte(rng.Uint32())
		case 1:
			b[at] ^= 1 << rng.IntN(8)
		case 2, 3: // a field, in either byte order
			field := binary.LittleEndian.AppendUint64(nil, edges[rng.IntN(len(edges))]+uint64(rng.IntN(3))-1)[:2<<rng.IntN(3)]
			if rng.IntN(2) == 0 {
				slices.Reverse(field)
			}
			copy(b[at:], field)
		case 4: // bytes from elsewhere
			from := rng.IntN(len(b))
			copy(b[at:], b[from:min(len(b), from+1+rng.IntN(60))])
		default:
			n := min(1+rng.IntN(20), len(b)-at)
			if rng.IntN(2) == 0 {
				b = slices.Delete(b, at, at+n)
			} else {
				b = slices.Insert(b, at, b[at:at+n]...)
			}
		}
	}
	return b
}

// use reads the table at a path, whatever the errors. It returns the number of batches.
func use(t *testing.T, path string) (batches int) {
	ctx := context.Background()
	s, err := store.Open(ctx, path, nil)
	if err != nil {
		return 0
	}
	defer s.Close()
	tab, err := table.Open(ctx, s, "/")
	if err != nil {
		return 0
	}
	for _, info := range tab.Columns() { // one that cannot be read does not hide the others
		o := &Options{Rows: 100, Columns: []string{info.Name}, Allocator: checked(t)}
		n := 0
		for batch := range Batches(ctx, tab, o) {
			if batch != nil {
				valuesAt(t, batch.Column(0), 0, int(batch.NumRows()))
				batches++
			}
			if n++; n == 20 {
				break
			}
		}
	}
	return batches
}

// TestMutations reads mutated tables in a process with 256 MiB for data. None may end the process, or leave memory of
// the allocator. B2ARROW_MUTATIONS=100000 tests 100,000 mutations.
func TestMutations(t *testing.T) {
	if os.Getenv(mutationsHere) == "" && runtime.GOOS == "linux" && !race.Enabled {
		// The stacks of threads count as data.
		limit := fmt.Sprintf(`ulimit -s 1024; ulimit -d %d; exec "$0" "$@"`, mutationLimit>>10)
		c := exec.Command("sh", "-c", limit, os.Args[0], "-test.run=^TestMutations$", "-test.timeout=3h", "-test.v", fmt.Sprintf("-test.short=%v", testing.Short()))
		c.Env = append(os.Environ(), mutationsHere+"=1")
		if err := exec.Command(os.Args[0], "-test.run=^$").Run(); !errors.Is(err, syscall.ENOEXEC) {
			out, err := c.CombinedOutput()
			end := out[max(bytes.LastIndex(out, []byte("mutation ")), 0):]
			if err != nil {
				t.Errorf("%v: %s", err, end[:min(len(end), 20_000)])
			}
			t.Logf("%s", end[:min(len(end), 200)])
			return
		}
		t.Log("emulated, without a limit")
	}
	n, _ := strconv.Atoi(os.Getenv("B2ARROW_MUTATIONS"))
	if n == 0 {
		if n = 2000; testing.Short() {
			n = 200
		}
	}
	list := subjects(t, t.TempDir())
	batches := 0
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 17))
		s := list[rng.IntN(len(list))]
		k := rng.IntN(len(s.files))
		fmt.Printf("mutation %d of %s\n", i, s.files[k]) // the last one, if the process ends
		for _, content := range [][]byte{mutate(rng, s.bytes[k]), s.bytes[k]} {
			if err := os.WriteFile(s.files[k], content, 0o666); err != nil {
				t.Fatal(err)
			}
			batches += use(t, s.path)
		}
	}
	t.Logf("%d mutations, %d batches", n, batches)
	if batches < 2*n {
		t.Error("too few batches could be read")
	}
}
