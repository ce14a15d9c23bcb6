//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package frametest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/storage"
)

// inTime fails the test if do takes long, and continues if do waits for the other end of a pipe.
func inTime(t *testing.T, what string, pipe string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		if f, err := os.OpenFile(pipe, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
			defer f.Close()
		}
		t.Fatalf("%s waits", what)
	}
}

// TestNoFiles puts pipes and directories where an edit creates files and where the lock file is: a clear error at once,
// and the frame stays as it was.
func TestNoFiles(t *testing.T) {
	kinds := map[string]func(name string) error{
		"pipe":      func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"directory": func(name string) error { return os.Mkdir(name, 0o700) },
	}
	for kind, place := range kinds {
		for _, name := range []string{chunkFile(1), indexFile + ".tmp"} {
			dir := sparseOf(t, 1)
			at := filepath.Join(dir, name)
			must(t, place(at))
			f, err := frame.Edit(t.Context(), dir, &frame.OpenOptions{NoSync: true})
			must(t, err)
			inTime(t, kind+" "+name, at, func() { err = f.Append(t.Context(), small(1)) })
			if !errors.Is(err, storage.ErrNotFile) {
				t.Errorf("%s as %s: %v", name, kind, err)
			}
			must(t, os.Remove(at)) // the frame must not remove it
			must(t, f.Append(t.Context(), small(1)))
			must(t, f.Close())
			frameHolds(t, dir, 2)
		}
		for _, sparse := range []bool{false, true} {
			o := &frame.CreateOptions{Sparse: sparse, NoSync: true, Params: chunk.Params{TypeSize: 4}}
			name := filepath.Join(t.TempDir(), "x")
			f, err := frame.CreateFunc(t.Context(), name, func(b *frame.Batch) error { return b.Append(t.Context(), small(0)) }, o)
			must(t, err)
			must(t, f.Close())
			at := storage.LockName(name, sparse)
			must(t, place(at))
			for i, open := range []func(context.Context, string, *frame.OpenOptions) (*frame.Frame, error){frame.Open, frame.Edit} {
				inTime(t, kind+" as lock file", at, func() {
					f, err = open(t.Context(), name, []*frame.OpenOptions{{Locking: true}, {Locking: true, NoSync: true}}[i])
				})
				if !errors.Is(err, storage.ErrNotFile) {
					t.Errorf("a %s as lock file: %v", kind, err)
				}
				if err == nil {
					f.Close()
				}
			}
		}
	}
}

// TestPipeRace exchanges files for pipes while they are opened: between a look at the name and opening it there is
// time.
func TestPipeRace(t *testing.T) {
	dir := sparseOf(t, 1)
	single := filepath.Join(t.TempDir(), "single")
	must(t, os.WriteFile(single, []byte("no frame"), 0o600))
	for _, name := range []string{filepath.Join(dir, chunkFile(0)), filepath.Join(dir, indexFile), single} {
		file, pipe := name+".file", name+".pipe"
		must(t, os.Link(name, file))
		must(t, syscall.Mkfifo(pipe, 0o600))
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				from := [2]string{file, pipe}[i%2]
				os.Remove(name + ".next") // it stays where it is another name of the same file
				os.Link(from, name+".next")
				os.Rename(name+".next", name)
			}
		}()
		inTime(t, name, name, func() {
			for range 1500 {
				path := dir
				if name == single {
					path = single
				}
				if f, err := frame.Open(t.Context(), path, nil); err == nil {
					f.ReadChunk(t.Context(), nil, 0)
					f.Close()
				}
			}
		})
		close(stop)
		<-stopped
		os.Remove(name + ".next")
		must(t, os.Rename(file, name))
	}
	frameHolds(t, dir, 1)
}

// TestPipes replaces files by named pipes. Opening must return an error; a read would wait forever.
func TestPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	if f, err := frame.Open(t.Context(), pipe, nil); !errors.Is(err, storage.ErrNotFile) {
		t.Errorf("a pipe opened: %v, %v", f, err)
	}
	o := &frame.CreateOptions{Params: chunk.Params{TypeSize: 4, Codec: codec.FromCode(1)}, ChunkSize: 64, NoSync: true, Sparse: true, Concurrency: 2}
	f, err := frame.Create(t.Context(), filepath.Join(t.TempDir(), "x.b2frame"), o)
	must(t, err)
	for i := range byte(3) {
		must(t, f.Append(t.Context(), bytes.Repeat([]byte{0, 1, 2, i}, 16)))
	}
	must(t, f.Close())
	for _, name := range append(chunkFiles(t, f.Path()), "chunks.b2frame") {
		dir := filepath.Join(t.TempDir(), "copy")
		must(t, os.CopyFS(dir, os.DirFS(f.Path())))
		name = filepath.Join(dir, name)
		must(t, os.Remove(name))
		must(t, syscall.Mkfifo(name, 0o600))
		f, err := frame.Open(t.Context(), dir, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, f.Content(t.Context()))
			must(t, f.Close())
		}
		if !errors.Is(err, storage.ErrNotFile) {
			t.Errorf("%s as a pipe: %v", name, err)
		}
	}
}

// private checks that other users can read no file of a directory.
func private(t *testing.T, what, dir string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		must(t, err)
		fi, err := e.Info()
		if e.IsDir() || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		must(t, err)
		owned := fi.Sys().(*syscall.Stat_t)
		if fi.Mode().Perm() != 0o600 || os.Geteuid() == 0 && (owned.Uid != 1 || owned.Gid != 2) {
			t.Errorf("%s: %s has %v, owner %d, group %d", what, filepath.Base(name), fi.Mode(), owned.Uid, owned.Gid)
		}
		return nil
	}))
}

// makePrivate gives the files of a directory the permissions 0600, and another owner if the system permits.
func makePrivate(t *testing.T, dir string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if os.Geteuid() == 0 {
			must(t, os.Chown(name, 1, 2))
		}
		return os.Chmod(name, 0o600)
	}))
}

// checking is a context that calls check often.
type checking struct {
	context.Context
	check func()
}

func (c checking) Err() error {
	c.check()
	return c.Context.Err()
}

// TestPrivate replaces and extends frames that only their owner may read: no file is ever for other users.
func TestPrivate(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		dir := t.TempDir()
		o := &frame.CreateOptions{ChunkSize: 64, NoSync: true, Sparse: sparse, Overwrite: true}
		f, err := frame.Create(t.Context(), filepath.Join(dir, "x.b2frame"), o)
		must(t, err)
		must(t, f.Append(t.Context(), small(1)))
		makePrivate(t, dir)
		must(t, f.Append(t.Context(), small(2)))
		private(t, "Append", dir)
		must(t, f.Compact(checking{t.Context(), func() { private(t, "during Compact", dir) }}))
		private(t, "Compact", dir)
		must(t, f.Append(t.Context(), small(3)))
		must(t, f.Close())
		f, err = frame.CreateFunc(t.Context(), f.Path(), func(b *frame.Batch) error {
			err := b.Append(t.Context(), small(4))
			private(t, "during Create", dir)
			return err
		}, o)
		must(t, err)
		private(t, "Create", dir)
		must(t, f.Close())
	}
	dir := t.TempDir()
	r := filledRegions(t, filepath.Join(dir, "r"))
	defer r.Close()
	makePrivate(t, dir)
	must(t, r.Write(t.Context(), 2, filledItems(2)))
	private(t, "Write", dir)
	must(t, r.Finish(t.Context()))
	private(t, "Finish", dir)
}

// TestOverwriteDirectory replaces a sparse frame whose directory gives its group to new files, and one in a directory
// that not all may enter, by a file.
func TestOverwriteDirectory(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	create := func(name string, sparse bool) fs.FileMode {
		t.Helper()
		f, err := frame.Create(t.Context(), name, &frame.CreateOptions{NoSync: true, Sparse: sparse, Overwrite: true})
		must(t, err)
		must(t, f.Close())
		fi, err := os.Stat(name)
		must(t, err)
		return fi.Mode()
	}
	create(name, true)
	must(t, os.Chmod(name, fs.ModeSetgid|fs.ModeSticky|0o750))
	was, err := os.Stat(name)
	must(t, err)
	if mode := create(name, true); mode != was.Mode() {
		t.Errorf("%v became %v", was.Mode(), mode)
	}
	for dir, want := range map[fs.FileMode]fs.FileMode{0o700: 0o600, 0o750: 0o640, 0o705: 0o604, 0o744: 0o600, 0o755: 0o644} {
		name := filepath.Join(t.TempDir(), "x")
		create(name, true)
		must(t, os.Chmod(filepath.Join(name, indexFile), 0o644))
		must(t, os.Chmod(name, dir))
		if mode := create(name, false); mode != want {
			t.Errorf("a directory with %v became a file with %v, want %v", dir, mode, want)
		}
	}
}

// TestScratchPrivate checks that other users cannot read the items in a temporary file.
func TestScratchPrivate(t *testing.T) {
	st, err := storage.CreateScratch(storage.OS(), filepath.Join(t.TempDir(), "x"))
	must(t, err)
	defer st.Close()
	if fi, err := st.(storage.File).Stat(); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
}

// other is the description of a file of another owner and group.
type other struct {
	fs.FileInfo
	mode fs.FileMode
}

func (o other) Mode() fs.FileMode { return o.mode }
func (o other) Sys() any          { return &syscall.Stat_t{Uid: 1, Gid: 1<<31 - 1} }

// noOwner is a file whose owner and group cannot be changed.
type noOwner struct{ *os.File }

func (noOwner) Chown(int, int) error { return syscall.EPERM }

// TestOtherGroup replaces a file whose group cannot be kept: another group must not get the permissions.
func TestOtherGroup(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	must(t, err)
	defer f.Close()
	for mode, want := range map[fs.FileMode]fs.FileMode{0o640: 0o600, 0o664: 0o644, 0o604: 0o600, fs.ModeSetgid | 0o755: 0o755} {
		must(t, storage.KeepAccess(noOwner{f}, other{mode: mode}, 0))
		if fi, err := f.Stat(); err != nil || fi.Mode() != want {
			t.Errorf("%v became %v, want %v, %v", mode, fi.Mode(), want, err)
		}
	}
}
