package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/goblosc/blosc2/frame/internal/blocktable"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/paths"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/internal/tune"
	"github.com/goblosc/blosc2/meta"
)

// Create creates an empty frame and opens it for editing. The frame is in a new file, or with o.Sparse in a new
// directory. If name is empty, it is in o.Storage, or in memory if o.Storage is nil. With o.Overwrite, Create replaces
// an existing file or frame directory, or the content of the Storage. The new file or directory gets the permissions of
// the old one, and its owner and group as after [Frame.Compact]. A file in place of a directory gets the permissions of
// the index file, but none for users who could not enter the directory. Create returns fs.ErrExist for an existing name
// without o.Overwrite, and for a directory with other files than those of a frame. Of several calls for the same name
// at the same time one succeeds; without hard links in the file system, a later call may replace the file. ctx bounds
// waiting for a lock file; the frame does not retain it. Other errors are ErrParam, errors.ErrUnsupported, ErrTooLarge
// for metalayers, ErrChanged if another process has overwritten the new directory at once, and those of ctx, of the
// Storage and of the operating system. After an error the name has no new frame, with two exceptions: the system cannot
// sync its folder, or cannot open a new directory or the lock file in it, for instance because too many files are open.
// The new frame then remains.
//
// The name may begin with "file://". That of a file must not end in a separator, and its last element must not be "."
// or "..": the error is then ErrParam. A new file or directory first has the temporary name NAME.XXXXXXXX.tmp, with
// eight hexadecimal digits. A killed process can leave a file or directory with such a name; it may be removed.
//
// With o.Overwrite, the name has the old frame or the new one at every moment, if a file replaces a file or if two
// names can be exchanged: Linux and macOS can do that on most file systems. Elsewhere, if the old or the new frame is a
// directory, Create first renames the old frame to NAME.XXXXXXXX.tmp.old, and for a moment there is no frame with the
// name NAME. A process that is killed then leaves the old frame under the other name: rename it to NAME. Only if NAME
// exists, NAME.XXXXXXXX.tmp.old may be removed.
func Create(ctx context.Context, name string, o *CreateOptions) (*Frame, error) {
	return CreateFunc(ctx, name, nil, o)
}

// CreateFunc is Create with a function that adds the first content. A file or directory gets its name only after fill
// has returned, so that it is complete from the start. If fill returns an error or panics, CreateFunc does the same and
// creates no frame; the content of a Storage is then undefined. fill must not commit or retain b. A nil fill adds
// nothing. A process that is killed during fill can leave the file or directory under its temporary name.
func CreateFunc(ctx context.Context, name string, fill func(b *Batch) error, o *CreateOptions) (*Frame, error) {
	ctx = task.Context(ctx)
	f, err := prepareNew(ctx, name, o)
	switch {
	case err != nil:
	case o != nil && o.Storage != nil:
		err = f.createIn(ctx, o.Storage, fill)
	case f.path == "":
		f.store = &contiguous{Segment: storage.Segment{Bytes: NewMemory(nil), NoSync: true}, sys: f.sys, scanned: true}
		err = f.fillAndCommit(ctx, fill)
	default:
		err = f.createNamed(ctx, fill)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// prepareNew returns a frame that is not stored yet, and has no store.
func prepareNew(ctx context.Context, name string, o *CreateOptions) (*Frame, error) {
	opts, sys, err := o.settings(name)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return newFrame(strings.TrimPrefix(name, "file://"), opts, sys)
}

// createNamed is CreateFunc for a file or directory.
func (f *Frame) createNamed(ctx context.Context, fill func(b *Batch) error) error {
	err := f.trimName()
	if err == nil {
		err = f.checkFree()
	}
	if err != nil {
		return err
	}
	if f.opts.Locking && f.opts.Overwrite {
		if err := f.lockOld(ctx); err != nil {
			return err
		}
		defer f.unlockOld()
	}
	if f.opts.Locking && !f.opts.Sparse {
		if f.lock, err = storage.OpenLock(f.sys, f.path, nil, lockUser{f}, true); errors.Is(err, fs.ErrNotExist) {
			return &fs.PathError{Op: "create", Path: f.path, Err: errs.NoDirectory(f.path, err)}
		} else if err != nil {
			return err
		}
	}
	if f.store, err = f.newStore(); err != nil {
		f.lock.Close()
		return errs.SeeURL(f.path, err)
	}
	if err = f.fillAndCommit(ctx, fill); err != nil || !f.opts.Locking || !f.opts.Sparse {
		return err
	}
	// No other process can use the directory before it has its name.
	if f.lock, err = storage.OpenLock(f.sys, f.path, f.store.(*sparse).root, lockUser{f}, true); err != nil {
		f.Close()
		return err
	}
	return nil
}

// trimName removes separators at the end of the name of a new directory, with which a link would be its target. It
// returns an error if the name ends in "..". That of a file must not end in a separator or "." either, as only a
// directory can have such a name.
func (f *Frame) trimName() error {
	_, last := filepath.Split(f.path)
	if !f.opts.Sparse && (last == "" || last == "." || last == "..") {
		return fmt.Errorf("frame: create %s: only a directory can have this name: %w", f.path, ErrParam)
	}
	f.path = paths.Trim(f.path)
	if _, last = filepath.Split(f.path); last == ".." {
		return fmt.Errorf("frame: create %s: no new directory can have this name: %w", f.path, ErrParam)
	}
	return nil
}

// lockOld keeps other processes from editing the frame that f will replace: a commit to it would be lost. The lock is a
// shared one, because reads may go on. The lock is not in use if there is no lock file, or if it is no regular file. If
// both frames are contiguous, f takes the same lock for editing instead. The target of a symbolic link remains.
func (f *Frame) lockOld(ctx context.Context) error {
	for try := 1; ; try++ {
		was, err := f.sys.Lstat(f.path)
		if err != nil || !was.IsDir() && (!f.opts.Sparse || !was.Mode().IsRegular()) {
			return nil // checkFree has found no other error
		}
		fi, err := f.sys.Lstat(storage.LockName(f.path, was.IsDir()))
		if err != nil || !fi.Mode().IsRegular() {
			return nil
		}
		if was.IsDir() {
			f.old.root, err = f.sys.OpenRoot(f.path)
		}
		if err == nil {
			f.old.lock, err = storage.OpenLock(f.sys, f.path, f.old.root, lockUser{f}, false)
		}
		if err == nil {
			err = f.old.lock.Begin(ctx, false)
		}
		now, e := f.sys.Lstat(f.path)
		if err == nil && e == nil && f.sys.Same(was, now) {
			return nil
		}
		f.unlockOld()
		if canceled := ctx.Err(); canceled != nil || try == maxTries || e == nil && f.sys.Same(was, now) {
			return cmp.Or(err, canceled, f.errReplaced())
		}
	}
}

// unlockOld undoes lockOld.
func (f *Frame) unlockOld() {
	f.old.lock.Close()
	if f.old.root != nil {
		f.old.root.Close()
	}
	f.old = oldFrame{}
}

// mayReplace returns an error if the directory that has the name of f may not be replaced.
func (f *Frame) mayReplace() error {
	if runtime.GOOS == "windows" { // it cannot rename a directory with open files
		f.unlockOld()
	}
	return f.checkFree()
}

// createIn is CreateFunc for a Storage.
func (f *Frame) createIn(ctx context.Context, st Storage, fill func(b *Batch) error) error {
	switch size, err := st.Size(); {
	case err != nil:
		return err
	case size > 0 && !f.opts.Overwrite:
		return f.wrap("storage", -1, fmt.Errorf("it has %d bytes: %w", size, errs.SetOverwrite(errs.ErrExist)))
	case size > 0:
		if err := st.Truncate(0); err != nil {
			return err
		}
	}
	f.store = &contiguous{Segment: storage.Segment{Bytes: st, NoSync: f.opts.NoSync}, sys: f.sys, scanned: true}
	return f.fillAndCommit(ctx, fill)
}

// checkFree returns an error if a file or directory that may not be replaced has the name of a new frame.
func (f *Frame) checkFree() error {
	fi, err := f.sys.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !f.opts.Overwrite:
		taken := errs.ErrExist
		if is, _ := f.isDirFrame(); is || !fi.IsDir() {
			taken = errs.EditOrOverwrite(taken)
		}
		return f.wrap("file", -1, taken)
	case fi.IsDir():
		return f.checkReplace(fi)
	}
	return nil
}

// checkReplace returns an error unless the directory with the name of a new frame is a frame without other files, which
// may be replaced.
func (f *Frame) checkReplace(dir fs.FileInfo) error {
	what := "that is no frame"
	is, err := f.isDirFrame()
	if is {
		var other string
		if other, err = f.otherFile(); err == nil && other == "" {
			return nil
		}
		what = fmt.Sprintf("with %s, which is no part of the frame", other)
	}
	if now, e := f.sys.Lstat(f.path); e != nil || !f.sys.Same(dir, now) {
		return f.checkFree() // another process has replaced the directory
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return f.wrap("directory", -1, fmt.Errorf("will not replace a directory %s: %w", what, errs.ErrExist))
}

// isDirFrame reports whether the directory with the name of f is a sparse frame.
func (f *Frame) isDirFrame() (bool, error) {
	var fault error
	for _, name := range []string{layoutFile, indexFile} { // Regions.Finish writes the second, then removes the first
		fi, err := f.sys.Lstat(paths.Join(f.path, name))
		if err == nil && fi.Mode().IsRegular() {
			return true, nil
		}
		if fault == nil || errors.Is(fault, fs.ErrNotExist) {
			fault = err
		}
	}
	return false, fault
}

// otherFile returns the name of a file or directory that is no part of the frame in the directory with the name of f,
// or "" if there is none.
func (f *Frame) otherFile() (string, error) {
	r, err := f.sys.OpenRoot(f.path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	files, err := r.ReadDir(".")
	for _, x := range files {
		name := x.Name()
		if !x.IsDir() && isPart(name) {
			continue
		}
		if !x.IsDir() || name != tempDir && name != finishDir {
			return name, nil
		}
		inside, err := r.ReadDir(name)
		for _, y := range inside {
			if y.IsDir() || !storage.IsTemp(y.Name()) {
				return paths.Join(name, y.Name()), nil
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // Regions.Finish removes the directory
			return "", err
		}
	}
	return "", err
}

// newStore creates a file or directory under a temporary name beside the final one.
func (f *Frame) newStore() (store, error) {
	if !f.opts.Sparse {
		dir, access, err := f.replacing()
		if err != nil {
			return nil, err
		}
		if dir != nil && access != nil {
			access = reachable{access, dir}
		}
		c, err := newFile(f.sys, f.path, access, f.opts.NoSync)
		if err != nil {
			return nil, err
		}
		c.temp.New, c.temp.MayReplace = !f.opts.Overwrite, f.mayReplace
		return c, nil
	}
	return f.newDir(indexFile)
}

// newDir is newStore for a sparse frame with this name of the index file.
func (f *Frame) newDir(index string) (*sparse, error) {
	dir, access, err := f.replacing()
	if err != nil {
		return nil, err
	}
	r, temp, err := storage.CreateTempDir(f.sys, f.path, dir, f.opts.NoSync)
	if err != nil {
		return nil, err
	}
	temp.New, temp.MayReplace = !f.opts.Overwrite, f.mayReplace
	return &sparse{sys: f.sys, root: r, dir: f.path, index: index, temp: temp, noSync: f.opts.NoSync, scanned: true, access: access}, nil
}

// replacing returns the descriptions of the directory that a new frame replaces, and of the file or the index file.
// Each is nil if there is none.
func (f *Frame) replacing() (dir, file fs.FileInfo, err error) {
	if !f.opts.Overwrite {
		return nil, nil, nil
	}
	fi, err := f.sys.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case fi.Mode().IsRegular():
		return nil, fi, nil
	case !fi.IsDir(): // a link, whose file remains
		return nil, nil, nil
	}
	for _, name := range []string{layoutFile, indexFile} {
		if file, err = storage.Existing(f.sys, paths.Join(f.path, name)); file != nil || err != nil {
			break
		}
	}
	return fi, file, err
}

// reachable describes a file without the permissions of users who cannot enter its directory.
type reachable struct {
	fs.FileInfo
	dir fs.FileInfo
}

func (r reachable) Mode() fs.FileMode {
	mode := r.FileInfo.Mode()
	for _, class := range []fs.FileMode{0o070, 0o007} { // the group, others
		if r.dir.Mode()&class&0o111 == 0 {
			mode &^= class
		}
	}
	return mode
}

// newFile is newStore for a contiguous frame, with the access of the file old.
func newFile(sys storage.System, name string, old fs.FileInfo, noSync bool) (*contiguous, error) {
	file, temp, err := storage.CreateTemp(sys, name, noSync, func(temp string) (storage.File, error) {
		return storage.CreateLike(sys, temp, old)
	})
	if err != nil {
		return nil, err
	}
	return &contiguous{Segment: storage.Segment{Bytes: file, NoSync: noSync, Aligned: true}, sys: sys, temp: temp, name: name, scanned: true}, nil
}

// fillAndCommit commits the first state.
func (f *Frame) fillAndCommit(ctx context.Context, fill func(b *Batch) error) error {
	f.writable, f.atClose = true, f.reclaim
	f.trusted.Store(true)
	var b *Batch
	made := false
	defer func() {
		if made {
			return
		}
		defer f.Close()
		if b != nil {
			b.Rollback()
		}
	}()
	b, err := f.first(ctx)
	for i := 0; err == nil && i < len(f.opts.VLMeta); i++ {
		err = b.SetVLMeta(f.opts.VLMeta[i].Name, f.opts.VLMeta[i].Content)
	}
	if err == nil && fill != nil {
		err = fill(b)
	}
	if err == nil && !b.copied { // to copy chunks, codec and filters need not be available
		if err = f.plugins.CheckEncoding(coder.Params(f.opts.Params)); err != nil {
			err = f.wrap("header", -1, err)
		}
	}
	if err == nil && f.opts.BlockTable {
		err = b.addTable(ctx)
	}
	if err == nil {
		err = b.Commit()
	}
	if err != nil {
		return err
	}
	made = true
	f.encoders = sync.Pool{} // few new frames are written again soon, and pools keep buffers over a garbage collection
	return nil
}

// first begins the batch of the first state.
func (f *Frame) first(ctx context.Context) (*Batch, error) {
	s := &snapshot{inherited: inherited{f: f, header: header{
		version: versionFixed, sparse: f.opts.Sparse, chunkSize: -1, threads: [2]int16{1, 1},
	}}}
	if err := s.setCParams(f.opts.Params, f.plugins); err != nil {
		return nil, f.wrap("header", -1, err)
	}
	if g := f.opts.Goal; g != tune.NoGoal {
		f.tuner = &tuner{Tuner: tune.New(g, int(s.typeSize))}
	}
	if f.opts.ChunkSize > 0 {
		s.chunkSize = int32(f.opts.ChunkSize)
	}
	if f.opts.Checksums {
		s.checksums, s.vlmeta = &checksumSet{}, []meta.Layer{{Name: checksumLayer}}
	}
	b := &Batch{f: f, mu: newGate(), transaction: transaction{next: s}}
	if f.opts.BlockTable {
		b.notes = blocktable.Notes[entry]{}
	}
	f.mu <- struct{}{} // does not wait: no other goroutine uses the frame
	f.beginBatch()
	if err := f.lock.Edit(ctx); err != nil {
		f.endBatch()
		return nil, err
	}
	if err := b.setLayers(f.opts.Meta); err != nil {
		b.Rollback()
		return nil, err
	}
	if s.checksums != nil {
		for _, l := range s.meta {
			s.noteLayer(false, l.Name, l.Content)
		}
	}
	s.area, s.draft = int64(s.headerLen), true
	switch st := f.store.(type) {
	case *contiguous:
		s.setSource(st.Bytes)
	case *sparse:
		s.root = st.root
	}
	f.prepare(s)
	return b, nil
}

// addTable adds the block table of the chunks that the batch wrote, unless it would be too long.
func (b *Batch) addTable(ctx context.Context) error {
	s := b.next
	if s.index.list == nil {
		return nil
	}
	stored, err := b.notes.Encode(ctx, s.index.list, b.f.plain)
	if err != nil || stored == nil {
		return err
	}
	s.vlmeta = withLayer(s.vlmeta, blockLayer, stored)
	s.noteLayer(true, blockLayer, stored)
	s.tabled = s.index
	return nil
}
