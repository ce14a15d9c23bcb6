package frame

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// Create creates a frame in a new file, or with o.Sparse in a new directory, and opens it for editing. fill, which may
// be nil, adds the first content. The file gets its name only after fill has returned, so that it is complete from the
// start. With o.Overwrite, an existing file or frame directory is replaced; otherwise Create returns fs.ErrExist. Other
// errors are ErrParam, errors.ErrUnsupported, ErrTooLarge, or those of fill or the operating system.
//
// If fill panics, no frame is created.
func Create(name string, o *Options, fill func(b *Batch) error) (*Frame, error) {
	return CreateContext(context.Background(), name, o, fill)
}

// CreateContext is Create with a context that bounds how long it waits for a lock file. See Options.
func CreateContext(ctx context.Context, name string, o *Options, fill func(b *Batch) error) (*Frame, error) {
	name = strings.TrimPrefix(name, "file://")
	f := newFrame(name, o)
	if f.opts.Offset != 0 {
		return nil, f.wrap("header", -1, fmt.Errorf("a new frame at an offset: %w", ErrParam))
	}
	if err := f.opts.checkLocking(); err != nil {
		return nil, err
	}
	fi, err := f.opts.sys.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !f.opts.Overwrite:
		return nil, f.wrap("file", -1, errs.ErrExist)
	case fi.IsDir():
		fi, err := f.opts.sys.Lstat(filepath.Join(name, indexFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !fi.Mode().IsRegular() {
			return nil, f.wrap("directory", -1, fmt.Errorf("will not replace a directory that is no frame: %w", errs.ErrExist))
		}
	}
	if f.opts.Locking && !f.opts.Sparse {
		if f.lock, err = storage.OpenLock(f.opts.sys, name, nil, true); err != nil {
			return nil, err
		}
	}
	if f.store, err = createStore(name, &f.opts); err != nil {
		f.lock.Close()
		return nil, err
	}
	if f, err = f.create(ctx, fill); err != nil || !f.opts.Locking || !f.opts.Sparse {
		return f, err
	}
	// No other process could know the directory before it had its name.
	if f.lock, err = storage.OpenLock(f.opts.sys, name, f.store.(*sparse).root, true); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// createStore makes a file or directory under a temporary name beside the final one.
func createStore(name string, o *Options) (store, error) {
	name = filepath.Clean(name)
	if !o.Sparse {
		return createFile(o.system(), name, o.NoSync)
	}
	r, temp, err := storage.CreateTempDir(o.system(), name, o.NoSync)
	if err != nil {
		return nil, err
	}
	return &sparse{sys: o.system(), root: r, dir: name, temp: temp, noSync: o.NoSync, scanned: true}, nil
}

// createFile is createStore for a contiguous frame.
func createFile(sys storage.System, name string, noSync bool) (*contiguous, error) {
	file, temp, err := storage.CreateTemp(sys, name, noSync)
	if err != nil {
		return nil, err
	}
	return &contiguous{Segment: storage.Segment{Bytes: file, NoSync: noSync}, sys: sys, temp: temp, name: name, scanned: true}, nil
}

// CreateMemory makes a contiguous frame in memory and opens it for editing. See Create; o.Sparse and o.Overwrite do
// not apply.
func CreateMemory(o *Options, fill func(b *Batch) error) (*Frame, error) {
	f := newFrame("", o)
	f.opts.Sparse = false
	f.store = &contiguous{Segment: storage.Segment{Bytes: NewMemory(nil), NoSync: true}, sys: f.opts.sys, scanned: true}
	return f.create(context.Background(), fill)
}

// create makes the first commit.
func (f *Frame) create(ctx context.Context, fill func(b *Batch) error) (*Frame, error) {
	f.writable = true
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
	b, err := f.first(task.Context(ctx))
	for i := 0; err == nil && i < len(f.opts.VLMeta); i++ {
		err = b.SetVLMeta(f.opts.VLMeta[i].Name, f.opts.VLMeta[i].Content)
	}
	if err == nil && fill != nil {
		err = fill(b)
	}
	if err == nil {
		err = b.Commit()
	}
	if err != nil {
		return nil, err
	}
	made = true
	return f, nil
}

// first begins the batch that makes the first state.
func (f *Frame) first(ctx context.Context) (*Batch, error) {
	s := &snapshot{header: header{
		version: versionFixed, sparse: f.opts.Sparse, chunkSize: -1, threads: [2]int16{1, 1},
	}}
	if err := s.setCParams(f.opts.Params); err != nil {
		return nil, f.wrap("header", -1, err)
	}
	size := f.opts.ChunkSize
	if size < 0 || size > chunk.MaxBytes {
		return nil, f.wrap("header", offChunkSize, fmt.Errorf("chunk size %d: %w", size, ErrParam))
	}
	if size > 0 {
		s.chunkSize = int32(size)
	}
	if f.opts.Checksums {
		s.checksums, s.vlmeta = &checksumSet{}, []meta.Layer{{Name: ChecksumLayer}}
	}
	b := &Batch{f: f, transaction: transaction{next: s}}
	if err := f.mu.lock(context.Background()); err != nil { // no other goroutine has it
		return nil, err
	}
	f.beginBatch()
	if err := f.lock.Edit(ctx, lockUser{f}); err != nil {
		f.endBatch()
		return nil, err
	}
	if err := b.setLayers(f.opts.Meta); err != nil {
		b.Rollback()
		return nil, err
	}
	for _, l := range s.meta {
		s.noteLayer(false, l.Name, l.Content)
	}
	s.area, s.draft = int64(s.headerLen), true
	switch st := f.store.(type) {
	case *contiguous:
		s.src = st.Bytes
	case *sparse:
		s.root = st.root
	}
	f.prepare(s)
	return b, nil
}
