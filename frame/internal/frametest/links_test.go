package frametest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/storage"
)

// outside is a file outside a frame, which no link may lead a write to.
type outside struct {
	name string
	want []byte
}

func newOutside(t testing.TB) outside {
	t.Helper()
	v := outside{filepath.Join(t.TempDir(), "victim"), []byte("precious content of another file")}
	must(t, os.WriteFile(v.name, v.want, 0o600))
	return v
}

func (v outside) check(t testing.TB, what string) {
	t.Helper()
	got, err := os.ReadFile(v.name)
	if err != nil || !bytes.Equal(got, v.want) {
		t.Errorf("%s: the file outside holds %q, %v", what, got, err)
	}
}

// symlink makes a symbolic link. It skips the test on systems where that is not allowed.
func symlink(t testing.TB, target, name string) {
	t.Helper()
	err := os.Symlink(target, name)
	if err != nil && (runtime.GOOS == "windows" || runtime.GOOS == "plan9" || runtime.GOOS == "wasip1") {
		t.Skip("no symbolic links: ", err)
	}
	must(t, err)
}

// plants are ways to put something under a name that leads to a file outside, or to one that does not exist.
var plants = map[string]func(t testing.TB, v outside, name string){
	"symbolic link": func(t testing.TB, v outside, name string) { symlink(t, v.name, name) },
	"relative link": func(t testing.TB, v outside, name string) {
		to, err := filepath.Rel(filepath.Dir(name), v.name)
		must(t, err)
		symlink(t, to, name)
	},
	"hard link":     func(t testing.TB, v outside, name string) { must(t, os.Link(v.name, name)) },
	"dangling link": func(t testing.TB, v outside, name string) { symlink(t, v.name+".new", name) },
}

// planted runs a test for each way, and checks that nothing outside has changed.
func planted(t *testing.T, test func(t *testing.T, plant func(name string))) {
	for what, plant := range plants {
		t.Run(what, func(t *testing.T) {
			v := newOutside(t)
			test(t, func(name string) { plant(t, v, name) })
			v.check(t, what)
			if _, err := os.Lstat(v.name + ".new"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file was created through the link: %v", err)
			}
		})
	}
}

// sparseOf makes a sparse frame of n chunks and returns its directory.
func sparseOf(t testing.TB, n int) string {
	t.Helper()
	o := &frame.CreateOptions{Sparse: true, NoSync: true, ChunkSize: 160, Params: chunk.Params{TypeSize: 4}}
	dir := filepath.Join(t.TempDir(), "x")
	f, err := frame.CreateFunc(t.Context(), dir, func(b *frame.Batch) error {
		for i := range n {
			if err := b.Append(t.Context(), small(i)); err != nil {
				return err
			}
		}
		return nil
	}, o)
	must(t, err)
	must(t, f.Close())
	return dir
}

// frameHolds checks that a frame has the chunks small(0) to small(n-1).
func frameHolds(t testing.TB, name string, n int) {
	t.Helper()
	f, err := frame.Open(t.Context(), name, nil)
	must(t, err)
	defer f.Close()
	if f.NumChunks() != n {
		t.Errorf("%d chunks, want %d", f.NumChunks(), n)
	}
	for i := range f.NumChunks() {
		if got, err := f.ReadChunk(t.Context(), nil, i); err != nil || !bytes.Equal(got, small(i)) {
			t.Errorf("chunk %d: %v, other content", i, err)
		}
	}
}

// TestLinksForNewFiles puts links where an edit of a sparse frame creates files: they are replaced.
func TestLinksForNewFiles(t *testing.T) {
	planted(t, func(t *testing.T, plant func(name string)) {
		dir := sparseOf(t, 3)
		for i := range 4 {
			plant(filepath.Join(dir, chunkFile(int64(3+i))))
		}
		f, err := frame.Edit(t.Context(), dir, &frame.OpenOptions{NoSync: true})
		must(t, err)
		for i := 3; i < 6; i++ {
			plant(filepath.Join(dir, indexFile+".tmp"))
			must(t, f.Append(t.Context(), small(i)))
		}
		b, err := f.Begin(t.Context())
		must(t, err)
		must(t, b.Append(t.Context(), small(6)))
		b.Rollback()
		must(t, f.Compact(t.Context()))
		must(t, f.Close())
		frameHolds(t, dir, 6)
		for _, name := range append(chunkFiles(t, dir), indexFile) {
			if fi, err := os.Lstat(filepath.Join(dir, name)); err != nil || !fi.Mode().IsRegular() {
				t.Errorf("%s: %v, %v", name, fi.Mode(), err)
			}
		}
	})
}

// TestLinksForOldFiles puts links in place of files that a sparse frame has. Edits must not write through them, and
// symbolic ones that lead outside are not read.
func TestLinksForOldFiles(t *testing.T) {
	planted(t, func(t *testing.T, plant func(name string)) {
		for _, name := range []string{chunkFile(1), indexFile} {
			dir := sparseOf(t, 3)
			f, err := frame.Edit(t.Context(), dir, &frame.OpenOptions{NoSync: true})
			must(t, err)
			defer f.Close()
			at := filepath.Join(dir, name)
			must(t, os.Remove(at))
			plant(at)
			fi, err := os.Lstat(at)
			must(t, err)
			link := fi.Mode().Type() == fs.ModeSymlink
			g, err := frame.Open(t.Context(), dir, nil)
			if err == nil {
				_, err = io.Copy(io.Discard, g.Content(t.Context()))
				must(t, g.Close())
			}
			if err == nil || link && (!errors.Is(err, storage.ErrNotFile) || !errors.Is(err, frame.ErrCorrupt)) {
				t.Errorf("%s read through a link: %v", name, err)
			}
			_, _, err = frame.Salvage(context.Background(), filepath.Join(t.TempDir(), "new"), dir, nil, nil)
			must(t, err)
			must(t, f.Append(t.Context(), small(3)))
			must(t, f.Close())
			if name == indexFile { // it was replaced
				frameHolds(t, dir, 4)
			}
		}
	})
}

// TestLinkInside reads a chunk file through a link to another one in the directory, which is allowed, and edits it.
func TestLinkInside(t *testing.T) {
	dir := sparseOf(t, 3)
	must(t, os.Rename(filepath.Join(dir, chunkFile(1)), filepath.Join(dir, "moved")))
	symlink(t, "moved", filepath.Join(dir, chunkFile(1)))
	frameHolds(t, dir, 3)
	was, err := os.ReadFile(filepath.Join(dir, "moved"))
	must(t, err)
	f, err := frame.Edit(t.Context(), dir, &frame.OpenOptions{NoSync: true})
	must(t, err)
	must(t, change(f, func(b *frame.Batch) error { return b.Update(t.Context(), 1, small(7)) }))
	must(t, change(f, func(b *frame.Batch) error { return b.Update(t.Context(), 1, small(1)) }))
	must(t, f.Close())
	frameHolds(t, dir, 3)
	if is, err := os.ReadFile(filepath.Join(dir, "moved")); err != nil || !bytes.Equal(is, was) {
		t.Error("the target of the link changed", err)
	}
}

// TestLockLinks puts links in place of lock files, of frames of both kinds. Neither reading nor editing nor replacing
// the frame may write to what they lead to.
func TestLockLinks(t *testing.T) {
	if !storage.CanLock {
		t.Skip("no file locks on this system")
	}
	for _, sparse := range []bool{false, true} {
		t.Run(fmt.Sprintf("sparse %v", sparse), func(t *testing.T) {
			planted(t, func(t *testing.T, plant func(name string)) {
				o := &frame.CreateOptions{Sparse: sparse, NoSync: true}
				name := filepath.Join(t.TempDir(), "x")
				f, err := frame.CreateFunc(t.Context(), name, func(b *frame.Batch) error { return b.Append(t.Context(), small(0)) }, o)
				must(t, err)
				must(t, f.Close())
				plant(storage.LockName(name, sparse))
				fi, err := os.Lstat(storage.LockName(name, sparse))
				must(t, err)
				link := fi.Mode().Type() == fs.ModeSymlink
				f, err = frame.Open(t.Context(), name, &frame.OpenOptions{Locking: true})
				if link != errors.Is(err, storage.ErrNotFile) {
					t.Errorf("Open: %v", err)
				}
				if err == nil {
					_, err = f.ReadChunk(t.Context(), nil, 0)
					must(t, err)
					must(t, f.Close())
				}
				f, err = frame.Edit(t.Context(), name, &frame.OpenOptions{Locking: true, NoSync: true})
				if err == nil {
					t.Error("Edit:", f.Append(t.Context(), small(1)))
					f.Close()
				}
				o.Locking, o.Overwrite = true, true
				if !sparse { // the new directory has none
					f, err = frame.Create(t.Context(), name, o)
					if err == nil {
						t.Error("Create took the link")
						f.Close()
					}
				}
				frameHolds(t, name, 1)
			})
		})
	}
}

// TestLockFileInside checks that a lock file which is a link to another file of the frame is not written to.
func TestLockFileInside(t *testing.T) {
	if !storage.CanLock {
		t.Skip("no file locks on this system")
	}
	dir := sparseOf(t, 2)
	symlink(t, chunkFile(0), filepath.Join(dir, ".b2lock"))
	f, err := frame.Edit(t.Context(), dir, &frame.OpenOptions{Locking: true})
	if err == nil {
		f.Append(t.Context(), small(2))
		f.Close()
	}
	if !errors.Is(err, storage.ErrNotFile) {
		t.Error(err)
	}
	frameHolds(t, dir, 2)
}

// TestLockNames edits a frame by two handles in turn that have opened different lock files: one by a symbolic link, or
// after the lock file was removed. No commit may be lost.
func TestLockNames(t *testing.T) {
	if !storage.CanLock {
		t.Skip("no file locks on this system")
	}
	for _, sparse := range []bool{false, true} {
		for _, how := range []string{"link", "removed", "replaced"} {
			t.Run(fmt.Sprintf("%s, sparse %v", how, sparse), func(t *testing.T) {
				name := filepath.Join(t.TempDir(), "x")
				lock, other := storage.LockName(name, sparse), name
				f, err := frame.Create(t.Context(), name, &frame.CreateOptions{Locking: true, NoSync: true, Sparse: sparse})
				must(t, err)
				defer f.Close()
				must(t, f.Append(t.Context(), small(0)))
				r, err := frame.Open(t.Context(), name, &frame.OpenOptions{Locking: true})
				must(t, err)
				defer r.Close()
				if how == "link" {
					other = name + ".link"
					symlink(t, name, other)
				} else if err := os.Remove(lock); err != nil {
					t.Skip(err) // the system does not remove an open file
				}
				if how == "replaced" {
					b := make([]byte, 16)
					binary.NativeEndian.PutUint64(b[8:], 1) // the counter of f
					must(t, os.WriteFile(lock, b, 0o666))
				}
				g, err := frame.Edit(t.Context(), other, &frame.OpenOptions{Locking: true, NoSync: true})
				must(t, err)
				defer g.Close()
				for i := range 3 {
					must(t, g.Append(t.Context(), small(2*i+1)))
					must(t, f.Append(t.Context(), small(2*i+2)))
				}
				for i := range 2 { // the second update may restore the header of the state before the first
					must(t, update(t, g, 0, small(10+i)))
				}
				must(t, update(t, f, 1, small(20)))
				h, err := frame.Edit(t.Context(), name, &frame.OpenOptions{Locking: true, NoSync: true})
				must(t, err)
				must(t, h.Append(t.Context(), small(7)))
				must(t, h.Close())
				want := slices.Concat(small(11), small(20), small(2), small(3), small(4), small(5), small(6), small(7))
				for i, x := range []*frame.Frame{f, g, r} {
					begin := func(f *frame.Frame) error { _, err := f.ReadChunk(t.Context(), nil, 0); return err }
					if i < 2 { // it follows all states; a read only those of the same lock file
						begin = func(f *frame.Frame) error { return update(t, f, 0, small(11)) }
					}
					must(t, begin(x))
					if got := content(t, x); !bytes.Equal(got, want) {
						t.Errorf("handle %d: content %x", i, got)
					}
				}
				verify(t, f)
			})
		}
	}
}

// TestOverwriteLocked replaces frames of both kinds during a batch. With Locking, Create must wait. Without it, Commit
// must return ErrChanged.
func TestOverwriteLocked(t *testing.T) {
	if !storage.CanLock || runtime.GOOS == "windows" {
		t.Skip("no file locks on this system, or it cannot replace open files")
	}
	for i := range 8 {
		from, to, locking := i&1 != 0, i&2 != 0, i&4 != 0
		t.Run(fmt.Sprintf("sparse %v to %v, locking %v", from, to, locking), func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "x")
			f, err := frame.Create(t.Context(), name, &frame.CreateOptions{Locking: true, NoSync: true, Sparse: from})
			must(t, err)
			defer f.Close()
			b, err := f.Begin(t.Context())
			must(t, err)
			defer b.Rollback()
			must(t, b.Append(t.Context(), small(0)))
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			o := &frame.CreateOptions{Locking: locking, Overwrite: true, NoSync: true, Sparse: to}
			g, err := frame.Create(ctx, name, o)
			if err == nil {
				must(t, g.Close())
			}
			if locking != errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Create: %v", err)
			}
			if err := b.Commit(); !locking && !errors.Is(err, frame.ErrChanged) || locking && err != nil {
				t.Errorf("Commit: %v", err)
			}
			var none context.Context // nil is Background
			g, err = frame.Create(none, name, o)
			must(t, err)
			must(t, g.Close())
		})
	}
}

// update replaces a chunk.
func update(t *testing.T, f *frame.Frame, i int, p []byte) error {
	b, err := f.Begin(t.Context())
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err := b.Update(t.Context(), i, p); err != nil {
		return err
	}
	return b.Commit()
}

// TestOverwriteLinks replaces frames through names that are links, and frames with links in them.
func TestOverwriteLinks(t *testing.T) {
	fill := func(b *frame.Batch) error { return b.Append(t.Context(), small(0)) }
	for _, sparse := range []bool{false, true} {
		planted(t, func(t *testing.T, plant func(name string)) {
			name := filepath.Join(t.TempDir(), "x")
			o := &frame.CreateOptions{Sparse: sparse, NoSync: true, Overwrite: true}
			plant(name)
			f, err := frame.CreateFunc(t.Context(), name, fill, o)
			must(t, err)
			must(t, f.Append(t.Context(), small(1)))
			must(t, f.Close())
			frameHolds(t, name, 2)
		})
		// A link to a frame: the link is replaced, the frame stays, so its lock does not matter.
		other := sparseOf(t, 3)
		name := filepath.Join(t.TempDir(), "x")
		symlink(t, other, name)
		e, err := frame.Edit(t.Context(), other, &frame.OpenOptions{NoSync: true, Locking: storage.CanLock})
		must(t, err)
		b, err := e.Begin(t.Context())
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		o := &frame.CreateOptions{Sparse: sparse, NoSync: true, Overwrite: true, Locking: storage.CanLock}
		f, err := frame.CreateFunc(ctx, name, fill, o)
		must(t, err)
		must(t, f.Close())
		b.Rollback()
		must(t, e.Close())
		frameHolds(t, name, 1)
		frameHolds(t, other, 3)
	}
	planted(t, func(t *testing.T, plant func(name string)) {
		dir := sparseOf(t, 3)
		for _, name := range []string{chunkFile(3), chunkFile(9), indexFile + ".tmp", ".b2lock"} {
			plant(filepath.Join(dir, name))
		}
		f, err := frame.CreateFunc(t.Context(), dir, fill, &frame.CreateOptions{Sparse: true, NoSync: true, Overwrite: true, Locking: storage.CanLock})
		must(t, err)
		must(t, f.Append(t.Context(), small(1)))
		must(t, f.Close())
		frameHolds(t, dir, 2)
	})
	// A directory is a frame by its own index, not by that of another.
	dir := filepath.Join(t.TempDir(), "folder")
	must(t, os.Mkdir(dir, 0o777))
	symlink(t, filepath.Join(sparseOf(t, 1), indexFile), filepath.Join(dir, indexFile))
	if f, err := frame.Create(t.Context(), dir, &frame.CreateOptions{Overwrite: true}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a directory with a link for its index: %v, %v", f, err)
	}
}

// TestCompactLinks compacts frames with links under the names of files that Compact removes or makes.
func TestCompactLinks(t *testing.T) {
	planted(t, func(t *testing.T, plant func(name string)) {
		dir := sparseOf(t, 3)
		plant(filepath.Join(dir, chunkFile(5)))
		plant(filepath.Join(dir, indexFile+".tmp"))
		f, err := frame.Edit(t.Context(), dir, &frame.OpenOptions{NoSync: true})
		must(t, err)
		must(t, f.Compact(t.Context()))
		must(t, f.Close())
		frameHolds(t, dir, 3)
	})
	// The name of a contiguous frame is resolved: the link stays and its target is compacted.
	real := filepath.Join(t.TempDir(), "real")
	f, err := frame.CreateFunc(t.Context(), real, func(b *frame.Batch) error { return b.Append(t.Context(), small(0)) }, &frame.CreateOptions{NoSync: true})
	must(t, err)
	must(t, f.Close())
	name := filepath.Join(t.TempDir(), "link")
	symlink(t, real, name)
	f, err = frame.Edit(t.Context(), name, &frame.OpenOptions{NoSync: true})
	must(t, err)
	must(t, f.Compact(t.Context()))
	must(t, f.Close())
	if fi, err := os.Lstat(name); err != nil || fi.Mode().Type() != fs.ModeSymlink {
		t.Error("the link is gone", err)
	}
	frameHolds(t, real, 1)
}

// TestSalvageLinks salvages a directory whose files are links to chunks of another: none is taken from there.
func TestSalvageLinks(t *testing.T) {
	secret := sparseOf(t, 4)
	dir := sparseOf(t, 3)
	symlink(t, filepath.Join(secret, chunkFile(3)), filepath.Join(dir, chunkFile(3)))
	must(t, os.Remove(filepath.Join(dir, indexFile)))
	symlink(t, filepath.Join(secret, indexFile), filepath.Join(dir, indexFile))
	to := filepath.Join(t.TempDir(), "new")
	f, found, err := frame.Salvage(context.Background(), to, dir, nil, nil)
	must(t, err)
	must(t, f.Close())
	if found.Chunks != 3 {
		t.Errorf("%+v", found)
	}
	frameHolds(t, to, 3)
}

// TestReplacedDirectory checks that a frame keeps to the directory that it has opened until Refresh.
func TestReplacedDirectory(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "plan9" {
		t.Skip("this system cannot rename an opened directory, or follows the name")
	}
	dir, other := sparseOf(t, 3), sparseOf(t, 5)
	f, err := frame.Edit(t.Context(), dir, &frame.OpenOptions{NoSync: true})
	must(t, err)
	defer f.Close()
	must(t, os.Rename(dir, dir+".old"))
	symlink(t, other, dir)
	must(t, f.Append(t.Context(), small(3)))
	frameHolds(t, dir+".old", 4)
	frameHolds(t, other, 5)
	if changed, err := f.Refresh(t.Context()); !changed || err != nil || f.NumChunks() != 5 {
		t.Error(changed, err, f.NumChunks())
	}
	if got, err := f.ReadChunk(t.Context(), nil, 4); err != nil || !bytes.Equal(got, small(4)) {
		t.Error(err)
	}
}
