package frametest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/meta"
)

// TestSparseNumbersInBatch updates a chunk so often that a batch needs the numbers of chunk files that it has freed.
// The other chunks that it has added stay.
func TestSparseNumbersInBatch(t *testing.T) {
	ctx := t.Context()
	f, err := frame.CreateFunc(ctx, filepath.Join(t.TempDir(), "x"), func(b *frame.Batch) error {
		for _, s := range []string{"a0", "b0", "c0"} {
			if err := b.Append(ctx, []byte(s)); err != nil {
				return err
			}
		}
		for range 60 {
			if err := b.Update(ctx, 0, []byte("a1")); err != nil {
				return err
			}
		}
		return nil
	}, &frame.CreateOptions{Sparse: true, Checksums: true, NoSync: true})
	must(t, err)
	for i, want := range []string{"a1", "b0", "c0"} {
		if p, err := f.ReadChunk(ctx, nil, i); err != nil || string(p) != want {
			t.Errorf("chunk %d: %q, %v, want %q", i, p, err, want)
		}
	}
	must(t, f.Verify(ctx, nil))
	must(t, f.Close())
}

// TestMemoryRace reads and writes a Memory at the same time. A read sees all of a write or nothing of it. With -race,
// the test also fails if a read and a write use the memory at once but happen not to mix.
func TestMemoryRace(t *testing.T) {
	m := frame.NewMemory(make([]byte, 100))
	want := make([]byte, 100)
	copy(want[5:], "abc")
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 100 {
			m.WriteAt(want[5:8], 5)
		}
	})
	p := make([]byte, 50)
	for range 100 {
		m.ReadAt(p, 0)
		if s := string(p[5:8]); s != "abc" && s != "\x00\x00\x00" {
			t.Errorf("a part of a write was read: %q", s)
		}
	}
	wg.Wait()
	if !bytes.Equal(m.Bytes(), want) {
		t.Errorf("the Memory has % x after the writes, want % x", m.Bytes(), want)
	}
}

// TestBeginAfterReclaim fails the commit by which Begin moves the trailer of an empty frame, in the sync of the header.
func TestBeginAfterReclaim(t *testing.T) {
	ctx, failed := t.Context(), errors.New("sync failed")
	s := &failingSync{err: failed}
	f, err := frame.Create(ctx, "", &frame.CreateOptions{Storage: s})
	must(t, err)
	must(t, f.Append(ctx, noise(1000)))
	held, err := f.Engine().View(ctx)
	must(t, err)
	must(t, change(f, func(b *frame.Batch) error { return b.Delete(0) }))
	held.Release()
	s.left = 3 // after those of the trailer and the header journal
	for range 2 {
		if err := f.Append(ctx, noise(1000)); !errors.Is(err, failed) {
			t.Errorf("%v, want the error of the commit", err)
		}
	}
}

// killedDisk is a disk with a page cache, as a process sees it that may be killed.
type killedDisk struct {
	*frame.Memory        // the page cache
	synced        []byte // what a power failure leaves
	left          int    // the process is killed in this call of Sync
	killed        bool
}

var errKilled = errors.New("killed")

func (d *killedDisk) Sync() error {
	if d.left--; d.left == 0 {
		d.killed = true
	}
	if d.killed {
		return errKilled
	}
	d.synced = bytes.Clone(d.Memory.Bytes())
	return nil
}

func (d *killedDisk) WriteAt(p []byte, off int64) (int, error) {
	if d.killed {
		return 0, errKilled
	}
	return d.Memory.WriteAt(p, off)
}

func (d *killedDisk) Truncate(n int64) error {
	if d.killed {
		return errKilled
	}
	return d.Memory.Truncate(n)
}

// TestEditAfterKill kills a process before it has synced the header of a commit. The next process edits the frame,
// then the power fails, and of the header nothing is stored that was not synced.
func TestEditAfterKill(t *testing.T) {
	ctx := t.Context()
	page := func(c byte) []byte { return bytes.Repeat([]byte{c, c + 1}, 4096) }
	d := &killedDisk{Memory: frame.NewMemory(nil)}
	f, err := frame.Create(ctx, "", &frame.CreateOptions{Storage: d, Params: chunk.Params{TypeSize: 1, Level: codec.NoCompression}})
	must(t, err)
	must(t, errors.Join(f.Append(ctx, page('A')), f.Append(ctx, page('K'))))
	d.left = 3 // after those of the tail and the header journal
	if err := change(f, func(b *frame.Batch) error { return b.Update(ctx, 0, page('B')) }); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	f.Close()
	d = &killedDisk{Memory: d.Memory, synced: d.synced}
	f, err = frame.EditStorage(ctx, d, nil)
	must(t, err)
	b, err := f.Begin(ctx)
	must(t, err)
	must(t, b.Update(ctx, 0, page('C')))
	failed := bytes.Clone(d.Memory.Bytes())
	copy(failed[:128], d.synced)
	g, err := frame.EditStorage(ctx, frame.NewMemory(failed), nil)
	must(t, err)
	if p, err := g.ReadChunk(ctx, nil, 0); err != nil || p[0] != 'A' && p[0] != 'B' {
		t.Errorf("chunk 0: %.3q, %v, want A or B", p, err)
	}
	b.Rollback()
	must(t, f.Close())
}

// TestJournalAfterKill kills a process before it has synced a header of several sectors. The next one opens the frame
// for editing, then the power fails, and one sector of the header is lost.
func TestJournalAfterKill(t *testing.T) {
	ctx := t.Context()
	d := &killedDisk{Memory: frame.NewMemory(nil)}
	was, is := strings.Repeat("o", 1000), strings.Repeat("n", 1000)
	f, err := frame.Create(ctx, "", &frame.CreateOptions{Storage: d, Meta: []meta.Layer{{Name: "user", Content: []byte(was)}}})
	must(t, err)
	must(t, f.Append(ctx, make([]byte, 100)))
	d.left = 3
	if err := change(f, func(b *frame.Batch) error { return b.SetMeta("user", []byte(is)) }); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	f.Close()
	d = &killedDisk{Memory: d.Memory, synced: d.synced}
	f, err = frame.EditStorage(ctx, d, nil)
	must(t, err)
	must(t, f.Close())
	failed := bytes.Clone(d.Memory.Bytes())
	copy(failed[:512], d.synced)
	g, err := frame.OpenBytes(failed, nil)
	must(t, err)
	if got := string(g.Meta()[0].Content); got != was && got != is {
		t.Errorf("a mixture of two commits: %q", got)
	}
}

// TestReadErrorBeforeHeader fails the first read of a commit, before anything of the header is written.
func TestReadErrorBeforeHeader(t *testing.T) {
	ctx, failed := t.Context(), errors.New("read failed")
	s := &failingRead{err: failed}
	f, err := frame.Create(ctx, "", &frame.CreateOptions{Storage: s})
	must(t, err)
	must(t, f.Append(ctx, noise(100)))
	set := func() error { return change(f, func(b *frame.Batch) error { return b.SetVLMeta("x", []byte("1")) }) }
	s.left = 1
	if err := set(); !errors.Is(err, failed) {
		t.Errorf("%v, want %v", err, failed)
	}
	must(t, set())
	must(t, f.Verify(ctx, nil))
}

// failingRead is a Memory whose call of ReadAt number left fails.
type failingRead struct {
	frame.Memory
	left int
	err  error
}

func (s *failingRead) ReadAt(p []byte, off int64) (int, error) {
	if s.left--; s.left == 0 {
		return 0, s.err
	}
	return s.Memory.ReadAt(p, off)
}

// failingSync is a Memory whose call of Sync number left fails.
type failingSync struct {
	frame.Memory
	left int
	err  error
}

func (s *failingSync) Sync() error {
	if s.left--; s.left == 0 {
		return s.err
	}
	return nil
}

// TestRawNaNs adds a chunk of NaNs whose items have another size than those of the frame: the index cannot represent
// it.
func TestRawNaNs(t *testing.T) {
	f, err := frame.Create(t.Context(), "", &frame.CreateOptions{Params: chunk.Params{TypeSize: 4}})
	must(t, err)
	c, err := chunk.EncodeSpecial(nil, chunk.NaNs, 64, nil, chunk.Params{TypeSize: 8})
	must(t, err)
	want, err := chunk.Decode(nil, c)
	must(t, err)
	must(t, change(f, func(b *frame.Batch) error { return b.AppendRaw(t.Context(), c) }))
	if got, err := f.ReadChunk(t.Context(), nil, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, %v, want %x", got, err, want)
	}
}

// TestUpdateDamaged replaces a chunk whose header is damaged, or whose file is missing, and edits more in the same
// batch.
func TestUpdateDamaged(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		ctx, name := t.Context(), filepath.Join(t.TempDir(), "x.b2frame")
		f, err := frame.Create(ctx, name, &frame.CreateOptions{Sparse: sparse, ChunkSize: 1000, NoSync: true})
		must(t, err)
		for range 3 {
			must(t, f.Append(ctx, noise(1000)))
		}
		c, err := f.ChunkInfo(ctx, 1)
		must(t, err)
		must(t, f.Close())
		if sparse {
			must(t, os.Remove(filepath.Join(name, chunkFile(c.Off))))
		} else {
			b, err := os.ReadFile(name)
			must(t, err)
			b[c.Off] = 0xff // the version
			must(t, os.WriteFile(name, b, 0o666))
		}
		f, err = frame.Edit(ctx, name, nil)
		must(t, err)
		want := [][]byte{noise(1000), small(1000), noise(1000)}
		must(t, change(f, func(b *frame.Batch) error {
			if err := b.Update(ctx, 1, want[1]); err != nil {
				return err
			}
			return b.Append(ctx, want[1])
		}))
		must(t, f.Append(ctx, want[0]))
		for i, want := range append(want, want[1], want[0]) {
			if got, err := f.ReadChunk(ctx, nil, i); err != nil || !bytes.Equal(got, want) {
				t.Errorf("sparse %v, chunk %d: %v", sparse, i, err)
			}
		}
		must(t, f.Verify(ctx, nil))
		must(t, change(f, func(b *frame.Batch) error { return b.Delete(1) }))
		must(t, f.Compact(ctx))
		must(t, f.Verify(ctx, nil))
		must(t, f.Close())
	}
}

// noise returns n bytes that do not compress.
func noise(n int) []byte {
	b, r := make([]byte, n), rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestChdir changes the working directory while frames with a relative name are open, or are created.
func TestChdir(t *testing.T) {
	const name = "x.b2frame"
	for _, o := range []frame.CreateOptions{{}, {Sparse: true}, {Locking: true}, {Locking: true, Sparse: true}} {
		if o.Locking && !storage.CanLock {
			continue
		}
		dir, other := t.TempDir(), t.TempDir()
		o.ChunkSize, o.NoSync, o.Overwrite = 64, true, true
		for i, d := range []string{other, dir} {
			f, err := frame.Create(t.Context(), filepath.Join(d, name), &o)
			must(t, err)
			must(t, f.Append(t.Context(), small(i)))
			must(t, f.Close())
		}
		t.Chdir(dir)
		opts := &frame.OpenOptions{Locking: o.Locking}
		f, err := frame.Edit(t.Context(), name, opts)
		must(t, err)
		r, err := frame.Open(t.Context(), name, opts)
		must(t, err)
		t.Chdir(other)
		must(t, f.Append(t.Context(), small(2)))
		must(t, f.Compact(t.Context()))
		must(t, f.Append(t.Context(), small(3)))
		_, err = r.Refresh(t.Context())
		must(t, err)
		want := slices.Concat(small(1), small(2), small(3))
		if got := content(t, r); !bytes.Equal(got, want) || f.Path() != name {
			t.Errorf("%+v: other content, path %s", o, f.Path())
		}
		must(t, f.Close())
		must(t, r.Close())
		t.Chdir(dir)
		f, err = frame.CreateFunc(t.Context(), name, func(b *frame.Batch) error {
			t.Chdir(other)
			return b.Append(t.Context(), small(4))
		}, &o)
		must(t, err)
		must(t, f.Close())
		t.Chdir(dir)
		r, err = frame.Open(t.Context(), name, opts)
		must(t, err)
		t.Chdir(other)
		if got := content(t, r); !bytes.Equal(got, small(4)) {
			t.Errorf("%+v: other content after Create", o)
		}
		must(t, os.RemoveAll(filepath.Join(dir, name)))
		if _, err := r.Refresh(t.Context()); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), dir) {
			t.Errorf("%+v: Refresh of a frame that was removed: %v", o, err)
		}
		must(t, r.Close())
		f, err = frame.Open(t.Context(), name, nil)
		must(t, err)
		if got := content(t, f); !bytes.Equal(got, small(0)) {
			t.Errorf("%+v: the other frame was changed", o)
		}
		must(t, f.Close())
	}
}

// TestWorkingDirectory renames the working directory while a frame with a relative name is open, and exchanges a
// symbolic link by which the process has entered it.
func TestWorkingDirectory(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "wasip1" || runtime.GOOS == "js" || runtime.GOOS == "plan9" {
		t.Skip("this system cannot rename the working directory, or has no symbolic links")
	}
	for _, o := range []frame.CreateOptions{{}, {Sparse: true}, {Locking: true}, {Locking: true, Sparse: true}} {
		if o.Locking && !storage.CanLock {
			continue
		}
		t.Run(fmt.Sprintf("sparse %v, locking %v", o.Sparse, o.Locking), func(t *testing.T) {
			o.ChunkSize, o.NoSync = 64, true
			workingDirectory(t, &o)
		})
	}
}

func workingDirectory(t *testing.T, o *frame.CreateOptions) {
	const name = "x.b2frame"
	dir := t.TempDir()
	link, first, second, third := filepath.Join(dir, "link"), filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "3")
	for _, d := range []string{first, second} {
		must(t, os.Mkdir(d, 0o777))
		f, err := frame.Create(t.Context(), filepath.Join(d, name), o)
		must(t, err)
		must(t, f.Append(t.Context(), small(0)))
		must(t, f.Close())
	}
	symlink(t, first, link)
	t.Chdir(link) // also sets PWD
	f, err := frame.Edit(t.Context(), name, &frame.OpenOptions{Locking: o.Locking, NoSync: true})
	must(t, err)
	edit := func(what string, i int) {
		t.Helper()
		changed, err := f.Refresh(t.Context())
		if err = errors.Join(err, f.Append(t.Context(), small(i)), f.Compact(t.Context())); changed || err != nil {
			t.Errorf("%s: %v, %v", what, changed, err)
		}
	}
	must(t, os.Remove(link))
	symlink(t, second, link)
	edit("another link", 1)
	must(t, os.Rename(first, third))
	edit("another name", 2)
	must(t, os.Rename(second, first))
	edit("another directory with the name", 3)
	must(t, os.RemoveAll(first))
	t.Chdir(dir) // now the frame cannot be found
	if err := f.Compact(t.Context()); !o.Sparse && !errors.Is(err, fs.ErrNotExist) || err != nil && strings.Contains(err.Error(), dir) {
		t.Errorf("Compact of a frame without a name: %v", err)
	}
	must(t, f.Close())
	f, err = frame.Open(t.Context(), filepath.Join(third, name), nil)
	must(t, err)
	if got := content(t, f); !bytes.Equal(got, slices.Concat(small(0), small(1), small(2), small(3))) {
		t.Error("other content")
	}
	must(t, f.Close())
}

// TestLinkBeforeParent uses names with ".." after a symbolic link: they lead to the directory above its target.
func TestLinkBeforeParent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system removes .. before it follows links")
	}
	here, there := t.TempDir(), t.TempDir()
	must(t, os.Mkdir(filepath.Join(there, "below"), 0o777))
	symlink(t, filepath.Join(there, "below"), filepath.Join(here, "link"))
	name := func(dir, base string) string { return dir + string(filepath.Separator) + base }
	above := name(name(here, "link"), "..")
	for _, sparse := range []bool{false, true} {
		base := "contiguous"
		if sparse {
			base = "sparse"
		}
		o := &frame.CreateOptions{Sparse: sparse, NoSync: true, Locking: storage.CanLock}
		for range 2 {
			f, err := frame.CreateFunc(t.Context(), name(above, base), func(b *frame.Batch) error { return b.Append(t.Context(), small(0)) }, o)
			must(t, err)
			must(t, f.Compact(t.Context()))
			must(t, f.Close())
			frameHolds(t, name(above, base), 1)
			frameHolds(t, name(there, base), 1)
			o.Overwrite = true
		}
	}
	for _, other := range []string{"missing", "contiguous"} { // neither is a directory
		_, err := frame.Create(t.Context(), name(name(name(there, other), ".."), "new"), &frame.CreateOptions{Sparse: true, Overwrite: true})
		if err == nil {
			t.Errorf("a frame was created at %s/../new", other)
		}
	}
	_, err := frame.Create(t.Context(), name(name(there, "sparse"), ".."), &frame.CreateOptions{Sparse: true, Overwrite: true})
	if !errors.Is(err, frame.ErrParam) {
		t.Errorf("a name that ends in ..: %v, want %v", err, frame.ErrParam)
	}
	if list, err := os.ReadDir(here); err != nil || len(list) != 1 {
		t.Errorf("%v beside the link, %v", list, err)
	}
	// A link is replaced also by a name with a separator at the end. Its target is not.
	must(t, os.Symlink(filepath.Join(there, "sparse"), filepath.Join(here, "old")))
	f, err := frame.Create(t.Context(), name(here, "old")+string(filepath.Separator), &frame.CreateOptions{Sparse: true, Overwrite: true})
	must(t, err)
	must(t, f.Close())
	frameHolds(t, filepath.Join(there, "sparse"), 1)
	if fi, err := os.Lstat(filepath.Join(here, "old")); err != nil || !fi.IsDir() {
		t.Errorf("the link was not replaced: %v, %v", fi, err)
	}
}

// TestOverwriteOtherFiles replaces directories of frames. If one has a file that is no part of a frame, the call
// returns an error that names it, and changes nothing.
func TestOverwriteOtherFiles(t *testing.T) {
	ctx := t.Context()
	above := t.TempDir()
	name := filepath.Join(above, "x")
	src, err := frame.Create(ctx, "", nil)
	must(t, err)
	stored, err := appendTo(src, nil)
	must(t, err)
	contiguous := filepath.Join(above, "contiguous")
	must(t, os.WriteFile(contiguous, stored, 0o666))
	ways := map[string]func(o *frame.CreateOptions) (io.Closer, error){
		"Create":        func(o *frame.CreateOptions) (io.Closer, error) { return frame.Create(ctx, name, o) },
		"Create sparse": func(o *frame.CreateOptions) (io.Closer, error) { o.Sparse = true; return frame.Create(ctx, name, o) },
		"Copy":          func(o *frame.CreateOptions) (io.Closer, error) { return frame.Copy(ctx, name, src, o) },
		"Salvage": func(o *frame.CreateOptions) (io.Closer, error) {
			f, _, err := frame.Salvage(ctx, name, contiguous, nil, o)
			return f, err
		},
		"CreateRegions": func(o *frame.CreateOptions) (io.Closer, error) {
			o.ChunkSize = 160
			return frame.CreateRegions(ctx, name, 160, o)
		},
	}
	parts := []string{"00000001.chunk", "chunks.b2frame.tmp", "unfinished.layout.tmp", ".b2lock", "0123456789abcdef.tmp", "unfinished/0123456789abcdef.tmp"}
	for _, c := range []struct {
		file  string
		other bool
	}{
		{"notes.txt", true}, {"1.chunk", true}, {"b.tmp", true}, {"unfinished/notes.txt", true}, {"folder/", true},
		{"00000002.chunk/", true}, {"unfinished/", false}, {"finishing/", false}, {"", false},
	} {
		for _, unfinished := range []bool{false, true} {
			for way, create := range ways {
				must(t, os.RemoveAll(name))
				r, err := frame.CreateRegions(ctx, name, 160, &frame.CreateOptions{ChunkSize: 160})
				must(t, err)
				must(t, r.Write(ctx, 0, small(1)))
				if !unfinished {
					must(t, r.Finish(ctx))
				}
				must(t, r.Close())
				for _, file := range append(parts, c.file) {
					path := filepath.Join(name, filepath.FromSlash(file))
					must(t, os.MkdirAll(filepath.Dir(path), 0o777))
					if file == "" || strings.HasSuffix(file, "/") {
						must(t, os.MkdirAll(path, 0o777))
					} else {
						must(t, os.WriteFile(path, []byte(file), 0o666))
					}
				}
				before, err := os.ReadDir(name)
				must(t, err)
				f, err := create(&frame.CreateOptions{Overwrite: true})
				if err == nil {
					must(t, f.Close())
				}
				if !c.other {
					if err != nil {
						t.Errorf("%s, %q, unfinished %v: %v", way, c.file, unfinished, err)
					}
					continue
				}
				named := err != nil && strings.Contains(err.Error(), filepath.FromSlash(strings.TrimSuffix(c.file, "/")))
				if !errors.Is(err, fs.ErrExist) || !named {
					t.Errorf("%s, %q, unfinished %v: %v", way, c.file, unfinished, err)
				}
				if after, err := os.ReadDir(name); err != nil || len(after) != len(before) {
					t.Errorf("%s, %q, unfinished %v: %d of %d files remain, %v", way, c.file, unfinished, len(after), len(before), err)
				}
			}
		}
	}
	if list, err := os.ReadDir(above); err != nil || len(list) != 2 {
		t.Errorf("%v beside the frame, %v", list, err)
	}
}

// TestDirectoryNames creates frames with names that only directories may have, because of their ends.
func TestDirectoryNames(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	const sep = string(filepath.Separator)
	for range 2 { // also in place of a sparse frame
		for _, end := range []string{sep, sep + ".", sep + ".."} {
			if _, err := frame.Create(t.Context(), name+end, &frame.CreateOptions{Overwrite: true}); !errors.Is(err, frame.ErrParam) {
				t.Errorf("a file with the end %s: %v", end, err)
			}
		}
		for _, end := range []string{sep, sep + "."} {
			f, err := frame.Create(t.Context(), name+end, &frame.CreateOptions{Sparse: true, Overwrite: true})
			must(t, err)
			must(t, f.Close())
			f, err = frame.Open(t.Context(), name+end, nil)
			must(t, err)
			must(t, f.Close())
		}
	}
}
