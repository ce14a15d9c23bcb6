package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/meta"
)

// programs returns how many random programs a test runs: few, or as many as the environment asks for.
func programs(t testing.TB, few int) int {
	if n, err := strconv.Atoi(os.Getenv("FRAME_PROGRAMS")); err == nil {
		return n
	}
	if testing.Short() {
		few = max(1, few/4)
	}
	return few
}

// simFrame makes an empty frame on a simulated disk and opens it for editing.
func simFrame(t testing.TB, sparse bool, common int) (*simulated.System, *Frame, *model) {
	t.Helper()
	s := simulated.New()
	o := &options{sys: s, Sparse: sparse, ChunkSize: common, Concurrency: 1, Params: chunk.Params{TypeSize: 4, Codec: codec.FromCode(1)}}
	f, err := Create(t.Context(), "x", o.create())
	must(t, err)
	must(t, f.Close())
	f, err = Edit(t.Context(), "x", &OpenOptions{sys: s, Concurrency: 1})
	must(t, err)
	m := &model{chunkSize: common}
	if common == 0 {
		m.chunkSize = -1
	}
	return s, f, m
}

// TestCrashFiles cuts the power at each change of the disk that random programs make, for frames in files and in
// directories. Of all that was not synced by itself any part may be lost, torn or there before what was done earlier:
// bytes of files, names in directories. The frame must be that before or after the commit that was under way.
//
// FRAME_PROGRAMS=2000 go test -run TestCrashFiles ./frame runs 2000 programs.
func TestCrashFiles(t *testing.T) {
	tried := map[bool]int{}
	for seed := range programs(t, 40) {
		sparse, common := seed%2 == 1, []int{64, 0}[seed/2%2]
		rng := rand.New(rand.NewPCG(uint64(seed), 55))
		s, f, m := simFrame(t, sparse, common)
		before := s.Image.Clone()
		s.Log = nil
		for range 2 + rng.IntN(5) {
			var view engine.View
			if rng.IntN(4) == 0 { // so that space stays in use
				var err error
				view, err = f.Engine().View(t.Context())
				must(t, err)
			}
			start, next := len(s.Log), m
			var err error
			if rng.IntN(8) == 0 {
				err = f.Compact(t.Context())
			} else {
				next, err = edit(t, rng, f, m, common)
			}
			must(t, err)
			tried[sparse] += crashFiles(t, rng, before, s.Log, start, m, next, fmt.Sprintf("program %d", seed))
			m = next
			if view != nil {
				view.Release()
			}
		}
		must(t, heldBy(f, m))
		must(t, f.Close())
		if s.Opened != 0 {
			t.Fatalf("program %d: %d files are open", seed, s.Opened)
		}
	}
	t.Logf("%d crashes of files, %d of directories", tried[false], tried[true])
}

// crashFiles builds the images that a disk may hold after a crash at or after operation start, and checks them.
func crashFiles(t testing.TB, rng *rand.Rand, before simulated.Image, log []simulated.Change, start int, old, next *model, what string) int {
	t.Helper()
	tried, err := simulated.Crashes(rng, before, log, start, func(m simulated.Image) error {
		return survives(t, rng, m, old, next)
	})
	if err != nil {
		t.Fatalf("%s, %v", what, err)
	}
	return tried
}

// survives returns an error if the frame of an image equals none of the models. It also edits one frame in ten.
func survives(t testing.TB, rng *rand.Rand, m simulated.Image, models ...*model) error {
	s := simulated.On(m)
	edits := rng.IntN(10) == 0
	o := &options{sys: s, Concurrency: 1, NoSync: true}
	var f *Frame
	var err error
	if edits {
		f, err = Edit(t.Context(), "x", o.edit())
	} else {
		f, err = Open(t.Context(), "x", o.open())
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := heldBy(f, models...); err != nil || !edits {
		return err
	}
	for _, m := range models {
		if heldBy(f, m) != nil {
			continue
		}
		next := m.clone()
		p := randomBytes(rng, 64)
		next.insert(len(next.chunks), p)
		if err := f.Append(t.Context(), p); err != nil {
			return err
		}
		checkSpace(t, f)
		return heldBy(f, next)
	}
	return nil
}

// leaks checks at the end of a test that as many goroutines run as before.
func leaks(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 100 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
	})
}

// TestFileErrors opens, edits or compacts, and closes frames in files and directories. It lets one system call fail, or
// this call and all later ones. The error must be that of the system. The open frame must not change, the stored frame
// must be in the state before or after the edit, and no file may stay open. After a failure to open a file, edits
// succeed again.
//
// FRAME_PROGRAMS=1000 go test -run TestFileErrors ./frame runs 1000 programs.
func TestFileErrors(t *testing.T) {
	leaks(t)
	kinds := map[string]int{}
	for seed := range programs(t, 120) {
		for failAt := 1; fileError(t, seed, failAt, kinds); failAt++ {
		}
	}
	t.Log(kinds)
	for _, k := range []string{"open", "read", "write", "sync", "truncate", "rename", "remove", "stat", "readdir", "poisoned"} {
		if kinds[k] == 0 {
			t.Errorf("no failing %s", k)
		}
	}
}

// fileError runs one program with one failure, and returns false when it has no such call.
func fileError(t *testing.T, seed, failAt int, kinds map[string]int) bool {
	t.Helper()
	sparse, common := seed%2 == 1, []int{64, 0}[seed/2%2]
	rng := rand.New(rand.NewPCG(uint64(seed), 77))
	s, f, m := simFrame(t, sparse, common)
	for range 1 + seed%4 {
		next, err := edit(t, rng, f, m, common)
		must(t, err)
		m = next
	}
	must(t, f.Close())
	s.Calls, s.FailAt, s.Short, s.Forever = 0, failAt, failAt%2 == 0, seed%5 == 0
	heal := func() { s.FailAt, s.Forever = 0, false }
	stored := func(models ...*model) {
		t.Helper()
		g, err := Open(t.Context(), "x", &OpenOptions{sys: s})
		must(t, err)
		if err := heldBy(g, models...); err != nil {
			t.Fatalf("seed %d, call %d, a %s: %v", seed, failAt, s.Failed, err)
		}
		must(t, g.Close())
	}
	f, err := Edit(t.Context(), "x", &OpenOptions{sys: s, Concurrency: 1})
	next := m
	if err == nil {
		if seed%7 == 0 {
			err = f.Compact(t.Context())
		} else {
			next, err = oneEdit(rng, f, m)
		}
		if s.Failed == "" {
			f.Close()
			heal()
			stored(next)
			return s.Failed != ""
		}
	}
	kinds[s.Failed]++
	if err != nil && !errors.Is(err, errDisk) {
		t.Fatalf("seed %d, call %d, a %s: %v", seed, failAt, s.Failed, err)
	}
	heal()
	stored(m, next)
	if f != nil {
		if err == nil {
			m = next // it failed when nothing depended on it any more
		}
		m.check(t, f, rng)
		last, err := oneEdit(rng, f, m)
		switch {
		case errors.Is(err, errDisk) && s.Failed == "open": // too many open files, for instance
			t.Fatalf("seed %d, call %d, an open: an edit after it: %v", seed, failAt, err)
		case errors.Is(err, errDisk):
			kinds["poisoned"]++
			stored(m, next)
		case err != nil:
			t.Fatalf("an edit after a failure: %v", err)
		default:
			stored(last)
			m = last
		}
		m.check(t, f, rng)
		must(t, f.Close())
	}
	if s.Opened != 0 {
		t.Fatalf("seed %d, call %d, a %s: %d files are open", seed, failAt, s.Failed, s.Opened)
	}
	return true
}

// TestCreateErrors lets each single call fail while a frame is made, also in place of another.
func TestCreateErrors(t *testing.T) {
	leaks(t)
	fill := func(n int) func(b *Batch) error {
		return func(b *Batch) error { return b.Append(t.Context(), stamped(n, 10)) }
	}
	shown := func(s *simulated.System) (int, error) {
		f, err := Open(t.Context(), "x", &OpenOptions{sys: s})
		if err != nil {
			return 0, err
		}
		defer f.Close()
		b, err := f.ReadChunk(t.Context(), nil, 0)
		if err != nil {
			return 0, err
		}
		return int(b[4]), nil
	}
	for _, sparse := range []bool{false, true} {
		for _, c := range []struct{ replaces, noExchange bool }{{}, {true, false}, {true, true}} {
			for failAt := 1; ; failAt++ {
				s := simulated.New()
				s.NoExchange = c.noExchange
				o := &options{sys: s, Sparse: sparse, Overwrite: true}
				if c.replaces {
					f, err := CreateFunc(t.Context(), "x", fill(1), o.create())
					must(t, err)
					must(t, f.Close())
				}
				s.Calls, s.FailAt, s.Short = 0, failAt, failAt%2 == 0
				f, err := CreateFunc(t.Context(), "x", fill(2), o.create())
				if err == nil {
					f.Close()
				} else if !errors.Is(err, errDisk) {
					t.Fatalf("call %d, a %s: %v", failAt, s.Failed, err)
				}
				s.FailAt = 0
				n, e := shown(s)
				if err == nil && n != 2 || c.replaces && n == 0 || e != nil && err == nil {
					t.Fatalf("sparse %v, call %d, a %s: state %d is left: %v, %v", sparse, failAt, s.Failed, n, err, e)
				}
				if s.Opened != 0 {
					t.Fatalf("call %d, a %s: %d files are open", failAt, s.Failed, s.Opened)
				}
				if s.Failed == "" {
					break
				}
			}
		}
	}
}

// TestReadErrors lets each single call fail, or be short, while a frame is read: the right data or that error.
func TestReadErrors(t *testing.T) {
	leaks(t)
	tried := 0
	for _, sparse := range []bool{false, true} {
		for _, common := range []int{64, 0} {
			s, f, m := simFrame(t, sparse, common)
			rng := rand.New(rand.NewPCG(3, 3))
			for range 12 {
				p := randomBytes(rng, 64)
				if common == 0 {
					p = p[:4*(1+rng.IntN(16))]
				}
				m.insert(len(m.chunks), p)
				must(t, f.Append(t.Context(), p))
			}
			must(t, one(f).SetVLMeta("a", []byte("b")))
			must(t, f.Close())
			all := m.content()
			reads := map[string]func(f *Frame) ([]byte, error){
				"ReadAt": func(f *Frame) ([]byte, error) {
					p := make([]byte, len(all))
					n, err := f.Content(t.Context()).ReadAt(p, 0)
					return p[:n], err
				},
				"WriteTo": func(f *Frame) ([]byte, error) {
					var b bytes.Buffer
					_, err := io.Copy(&b, f.Content(t.Context()))
					return b.Bytes(), err
				},
				"chunks": func(f *Frame) (p []byte, err error) {
					for i := 0; i < f.NumChunks() && err == nil; i++ {
						p, err = f.ReadChunk(t.Context(), p, i)
					}
					return p, err
				},
				"blocks": func(f *Frame) (p []byte, err error) {
					for i := 0; i < f.NumChunks() && err == nil; i++ {
						p, err = f.ReadBlock(t.Context(), p, i, 0)
					}
					return p, err
				},
				"raw": func(f *Frame) (p []byte, err error) {
					for i := 0; i < f.NumChunks() && err == nil; i++ {
						var raw []byte
						if raw, err = f.ReadRaw(t.Context(), nil, i); err == nil {
							p, err = chunk.Decode(p, raw)
						}
					}
					return p, err
				},
				"Refresh, DeadBytes, Verify": func(f *Frame) ([]byte, error) {
					_, err := f.Refresh(t.Context())
					if err == nil {
						_, err = f.DeadBytes(t.Context())
					}
					return all, errors.Join(err, f.Verify(t.Context(), func(err error) error { return err }))
				},
			}
			for what, read := range reads {
				for failAt := 1; ; failAt++ {
					s.Calls, s.FailAt, s.Short, s.Failed = 0, failAt, failAt%2 == 0, ""
					f, err := Open(t.Context(), "x", &OpenOptions{sys: s, Concurrency: 1 + failAt%3})
					if err == nil {
						var got []byte
						if got, err = read(f); err == nil && !bytes.Equal(got, all) {
							t.Fatalf("%s, call %d: other content", what, failAt)
						}
						f.Close()
					}
					if s.Opened != 0 {
						t.Fatalf("%s, call %d, a %s: %d files are open", what, failAt, s.Failed, s.Opened)
					}
					if s.Failed == "" {
						must(t, err)
						break
					}
					tried++
					if err != nil && (!errors.Is(err, errDisk) || errors.Is(err, io.EOF)) {
						t.Fatalf("%s, call %d, a %s: %v", what, failAt, s.Failed, err)
					}
				}
			}
		}
	}
	t.Logf("%d failures", tried)
	if tried < 100 {
		t.Error("too few")
	}
}

// doubledRoot is a directory whose listing has its first file twice, as that of a tmpfs may have while a file is
// renamed over another one.
type doubledRoot struct{ storage.Root }

func (r doubledRoot) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := r.Root.ReadDir(name)
	return slices.Concat(list[:min(1, len(list))], list), err
}

// TestRegionsListing finishes frames whose directory lists a file twice.
func TestRegionsListing(t *testing.T) {
	ctx := t.Context()
	r, err := CreateRegions(ctx, filepath.Join(t.TempDir(), "a"), regionBytes, regionOptions(nil))
	must(t, err)
	defer r.Close()
	for i := range regionChunks - 1 {
		must(t, r.Write(ctx, i, regionItems(i)))
	}
	r.root = doubledRoot{r.root}
	if got := missing(t, r); !slices.Equal(got, []int{regionChunks - 1}) {
		t.Errorf("chunks %v are missing", got)
	}
	if err := r.Finish(ctx); !errors.Is(err, ErrUnfinished) {
		t.Errorf("Finish: %v, want ErrUnfinished", err)
	}
	must(t, r.Write(ctx, regionChunks-1, regionItems(regionChunks-1)))
	must(t, r.Finish(ctx))
}

// TestRegionsLateFinish lets a call of Finish publish its index after another one has ended and the frame was edited.
func TestRegionsLateFinish(t *testing.T) {
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "a")
	r := filledRegions(t, name, nil)
	defer r.Close()
	late, err := OpenRegions(ctx, name, nil)
	must(t, err)
	defer late.Close()
	must(t, late.makeDir(finishDir))
	next, err := late.collect(ctx, late.f.current())
	must(t, err)
	must(t, r.Finish(ctx))
	f, err := Edit(ctx, name, nil)
	must(t, err)
	must(t, one(f).SetVLMeta("later", []byte("x")))
	must(t, f.Close())
	if err := late.publish(next); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("late index: %v, want ErrNotExist", err)
	}
	must(t, late.Finish(ctx))
	f, err = Open(ctx, name, nil)
	must(t, err)
	defer f.Close()
	if !slices.Contains(f.VLMetaNames(), "later") {
		t.Error("the edit is lost")
	}
}

// hookedFiles calls hook once, before the first file is read.
type hookedFiles struct {
	regionFiles
	hook func()
}

func (f hookedFiles) Get(ctx context.Context, name string, n int64) ([]byte, int64, error) {
	f.hook()
	return f.regionFiles.Get(ctx, name, n)
}

// TestRegionsFinishTwice lets another call of Finish end or fail while one reads the chunks. The error names the frame.
func TestRegionsFinishTwice(t *testing.T) {
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "a")
	r := filledRegions(t, name, nil)
	defer r.Close()
	files := r.files
	for what, other := range map[string]func(){
		"ended": func() { must(t, os.Remove(filepath.Join(name, finishDir))) }, "failed": func() { must(t, r.makeDir(tempDir)) },
	} {
		r.files = hookedFiles{files, sync.OnceFunc(other)}
		err := r.Finish(ctx)
		if want := "frame " + name + ": directory: another call of Finish has " + what; !errors.Is(err, ErrUnfinished) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	r.files = files
	must(t, r.Finish(ctx))
}

// TestRegionsLink finishes a finished frame in which a link has the name of the directory of temporary files.
func TestRegionsLink(t *testing.T) {
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "a")
	r := filledRegions(t, name, nil)
	defer r.Close()
	must(t, r.Finish(ctx))
	for _, link := range []string{tempDir, finishDir} {
		err := os.Symlink(".", filepath.Join(name, link))
		if err != nil && (runtime.GOOS == "windows" || runtime.GOOS == "wasip1") {
			t.Skip("no symbolic links: ", err)
		}
		must(t, err)
	}
	must(t, r.Finish(ctx))
	f, err := Open(ctx, name, nil)
	must(t, err)
	defer f.Close()
	must(t, checkRegions(f))
}

// TestCreateUnknownDirectory replaces an unfinished frame, while the system fails to look at one of its files: Create
// returns the error of the system.
func TestCreateUnknownDirectory(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	r, err := CreateRegions(t.Context(), name, 8, &CreateOptions{ChunkSize: 4, NoSync: true})
	must(t, err)
	must(t, r.Close())
	for _, file := range []string{layoutFile, indexFile} {
		sys := &unreadableSystem{System: storage.OS(), name: file, err: syscall.EIO}
		f, err := Create(t.Context(), name, &CreateOptions{Overwrite: true, NoSync: true, sys: sys})
		if err == nil {
			f.Close()
		}
		if file == layoutFile && (!errors.Is(err, syscall.EIO) || errors.Is(err, fs.ErrExist)) {
			t.Errorf("%s: %v", file, err)
		} else if file == indexFile && err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestSalvageErrors salvages frames with parts that the system cannot read. Only bad sectors and missing files are
// damage: after another error, Salvage returns it and creates nothing.
func TestSalvageErrors(t *testing.T) {
	const n, size = 4, 20000 // the number of chunks, and of bytes of each
	for _, checksums := range []bool{false, true} {
		create := func(sparse bool) string {
			name := filepath.Join(t.TempDir(), "broken")
			f, err := Create(t.Context(), name, &CreateOptions{Sparse: sparse, Checksums: checksums, NoSync: true, ChunkSize: size})
			must(t, err)
			data := noise(n * size)
			for i := range n {
				must(t, f.Append(t.Context(), data[i*size:][:size]))
			}
			must(t, f.Close())
			return name
		}
		file, cut, dir, noIndex := create(false), create(false), create(true), create(true)
		info, err := os.Stat(file)
		must(t, err)
		must(t, os.Truncate(cut, n*size))
		must(t, os.Truncate(filepath.Join(noIndex, indexFile), 100))
		for _, c := range []struct {
			what, name string
			sys        unreadableSystem
			missing    bool // whether fs.ErrNotExist is damage
			lost       int  // chunks in the bad sector
		}{
			{"a chunk", file, unreadableSystem{from: 38000, to: 38001}, false, 1},
			{"the trailer", file, unreadableSystem{from: info.Size() - 50, to: info.Size()}, false, 0},
			{"a chunk, with a truncated file", cut, unreadableSystem{from: 38000, to: 38001}, false, 2},
			{"a chunk file", dir, unreadableSystem{name: chunkFileName(1)}, true, 1},
			{"a chunk file, without an index", noIndex, unreadableSystem{name: chunkFileName(1)}, true, 1},
		} {
			for _, e := range []error{fs.ErrPermission, syscall.EMFILE, syscall.ENOMEM, syscall.EIO, fs.ErrNotExist} {
				if e == fs.ErrNotExist && !c.missing {
					continue
				}
				to := filepath.Join(t.TempDir(), "new")
				c.sys.System, c.sys.err = storage.OS(), e
				g, found, err := Salvage(t.Context(), to, c.name, nil, &CreateOptions{NoSync: true, sys: &c.sys})
				if err == nil {
					g.Close()
				}
				_, none := os.Lstat(to)
				switch {
				case e == syscall.EIO || e == fs.ErrNotExist:
					if err != nil || found.Chunks != n-c.lost {
						t.Errorf("%s, checksums %v, %v: %v, %+v", c.what, checksums, e, err, found)
					}
				case !errors.Is(err, e) || none == nil:
					t.Errorf("%s, checksums %v, %v: %v, %+v; creates a frame: %v", c.what, checksums, e, err, found, none == nil)
				}
			}
		}
	}
}

// TestSalvageSectors salvages frames of small chunks with a bad sector. Chunks outside of it are intact.
func TestSalvageSectors(t *testing.T) {
	salvageSectors(t, 5)
	salvageSectors(t, 600)  // the header ends in the second sector
	salvageSectors(t, 2000) // the header is longer than two chunks
}

// salvageSectors salvages a frame that has a metalayer of layer bytes.
func salvageSectors(t *testing.T, layer int) {
	const n, size, sector = 40, 800, 512
	data := noise(n * size)
	name := filepath.Join(t.TempDir(), "broken")
	f, err := CreateFunc(t.Context(), name, func(b *Batch) error {
		for i := range n {
			must(t, b.Append(t.Context(), data[i*size:][:size]))
		}
		return b.SetVLMeta("attribute", []byte("x"))
	}, &CreateOptions{
		NoSync: true, ChunkSize: size, Params: chunk.Params{Level: 3}, Meta: []meta.Layer{{Name: "layer", Content: make([]byte, layer)}},
	})
	must(t, err)
	defer f.Close()
	s := f.snap.Load()
	salvage := func(from, to int64) (*unreadableSystem, *Frame, Salvaged) {
		sys := &unreadableSystem{System: storage.OS(), from: from, to: to, err: syscall.EIO}
		g, found, err := Salvage(t.Context(), "", name, nil, &CreateOptions{NoSync: true, sys: sys})
		must(t, err)
		return sys, g, found
	}
	for from := int64(0); from+sector <= s.indexPos(); from += sector {
		sys, g, found := salvage(from, from+sector)
		if !found.Index || found.Doubt != (from == 0) || found.Chunks+found.Lost != n || from > 0 && g.Info().Params.Level != 3 {
			t.Errorf("metalayer of %d bytes, sector at %d: %+v", layer, from, found)
		}
		damaged, err := Open(t.Context(), name, &OpenOptions{sys: sys})
		if (err == nil) != (from >= int64(s.headerLen)) {
			t.Fatalf("sector at %d: %v", from, err)
		}
		for i, e := range s.index.list {
			if at := int64(s.headerLen) + int64(e); at < sys.to && at+size+coder.HeaderSize > from {
				continue
			}
			want := data[i*size:][:size]
			if b, err := g.ReadChunk(t.Context(), nil, i); err != nil || !bytes.Equal(b, want) {
				t.Errorf("metalayer of %d bytes, sector at %d, salvaged chunk %d: %v, or other data", layer, from, i, err)
			}
			if damaged == nil {
				continue
			}
			if b, err := damaged.ReadBlock(t.Context(), nil, i, 0); err != nil || !bytes.Equal(b, want) {
				t.Errorf("metalayer of %d bytes, sector at %d, block of chunk %d: %v, or other data", layer, from, i, err)
			}
		}
		must(t, g.Close())
		if damaged != nil {
			must(t, damaged.Close())
		}
	}
	_, g, _ := salvage(s.indexPos(), s.indexPos()+1)
	if _, err := g.VLMeta("attribute"); err != nil || len(g.Meta()) == 0 || g.NumChunks() != n {
		t.Errorf("a bad sector in the index: %v, %d metalayers, %d chunks", err, len(g.Meta()), g.NumChunks())
	}
	whole, err := os.ReadFile(name)
	must(t, err)
	must(t, os.Truncate(name, s.indexPos()))
	for from := int64(0); from < s.indexPos(); from += sector {
		sys, g, _ := salvage(from, from+sector)
		got := content(t, g)
		for i, e := range s.index.list {
			at := int64(s.headerLen) + int64(e)
			if (at >= sys.to || at+size+coder.HeaderSize <= from) && !bytes.Contains(got, data[i*size:][:size]) {
				t.Errorf("metalayer of %d bytes, sector at %d, without an index: chunk %d at %d is not found", layer, from, i, at)
			}
		}
	}
	must(t, os.WriteFile(name, whole, 0o666))
	must(t, one(f).Delete(n-1)) // without the header, other chunks fit the new index, too
	for _, fill := range []string{"", "\x00", "\xff"} {
		from := int64(0)
		if fill != "" {
			b, err := os.ReadFile(name)
			must(t, err)
			copy(b, strings.Repeat(fill, sector))
			must(t, os.WriteFile(name, b, 0o666))
			from = -sector // none is unreadable
		}
		_, g, found := salvage(from, from+sector)
		if b, err := g.ReadChunk(t.Context(), nil, 1); err != nil || !bytes.Equal(b, data[size:2*size]) {
			t.Errorf("metalayer of %d bytes, without a header, filled with %q: %+v, chunk 1: %v, or other data", layer, fill, found, err)
		}
	}
	b, err := os.ReadFile(name)
	must(t, err)
	clear(b[s.indexPos():][:coder.HeaderSize]) // the older index, without which nothing else excludes the larger base
	must(t, os.WriteFile(name, b, 0o666))
	if _, _, found := salvage(0, sector); !found.Doubt {
		t.Errorf("metalayer of %d bytes, without a header and an older index: %+v", layer, found)
	}
}

// TestSalvageBeginning salvages frames that have lost their header: bytes at the beginning are missing or zero. The
// index still orders the chunks, and still has the chunks of zeros, which are nowhere else.
func TestSalvageBeginning(t *testing.T) {
	const n = 6
	for kind := range 16 {
		alike, zeros, checksums, long := kind&1 > 0, kind&2 > 0, kind&4 > 0, kind&8 > 0
		name := filepath.Join(t.TempDir(), "broken")
		o := &CreateOptions{NoSync: true, Params: chunk.Params{Level: 3}, Checksums: checksums}
		if alike {
			o.ChunkSize = 700
		}
		if long { // a header longer than two chunks
			o.Meta = []meta.Layer{{Name: "layer", Content: noise(2000)}}
		}
		f, err := CreateFunc(t.Context(), name, func(b *Batch) error {
			for i := range n {
				data := noise(800 * n)[800*i:][:700+i]
				if alike {
					data = data[:700]
				}
				if zeros && i == 3 {
					clear(data)
				}
				must(t, b.Append(t.Context(), data))
			}
			return nil
		}, o)
		must(t, err)
		must(t, one(f).Reorder([]int{5, 1, 3, 2, 4, 0}))
		want, start := content(t, f), f.snap.Load().headerLen
		must(t, f.Close())
		b, err := os.ReadFile(name)
		must(t, err)
		zeroed := slices.Clone(b)
		clear(zeroed[:min(start, 512)])
		for k, damaged := range [][]byte{b[20:], b[90:], b[start:], zeroed} {
			must(t, os.WriteFile(name, damaged, 0o666))
			g, found, err := Salvage(t.Context(), "", name, nil, nil)
			must(t, err)
			sure := !alike || checksums || long && k < 2 // of the length of the header
			if found != (Salvaged{Chunks: n, Index: true, Doubt: !sure}) || !bytes.Equal(content(t, g), want) {
				t.Errorf("alike %v, zeros %v, checksums %v, long %v, damage %d: %+v, or other data", alike, zeros, checksums, long, k, found)
			}
		}
		if !alike || long {
			continue
		}
		clear(b[:512]) // the first chunk, which is the last now, is lost, too
		must(t, os.WriteFile(name, b, 0o666))
		g, found, err := Salvage(t.Context(), "", name, nil, nil)
		must(t, err)
		if found != (Salvaged{Chunks: n - 1, Lost: 1, Index: true, Doubt: !checksums}) || !bytes.Equal(content(t, g)[:5*700], want[:5*700]) {
			t.Errorf("zeros %v, checksums %v, without a chunk: %+v, or other data", zeros, checksums, found)
		}
	}
}
