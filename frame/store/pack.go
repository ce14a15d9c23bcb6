package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"reflect"
	"slices"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/source"
	"github.com/goblosc/blosc2/frame/store/internal/zipdir"
	"github.com/goblosc/blosc2/internal/paths"
	"github.com/goblosc/blosc2/internal/task"
)

// Pack writes a directory or zip store to a zip file, in the layout of python-blosc2: the files of the leaves by
// decreasing size, then embed.b2e, without compression. Its options are Overwrite and Frames.NoSync; others return
// ErrParam. The file gets its name when it is complete, so a crash leaves the old file or the new one. Pack holds no
// leaf in memory. Edits of the store wait until it returns. The error wraps fs.ErrExist if the name exists, and
// ErrParam for a name in the directory of the store, where the file would become a part of it or replace one,
// and for a name that only a directory can have. It wraps frame.ErrChanged if another Store has edited embed.b2e since
// this one was opened.
func (s *Store) Pack(ctx context.Context, name string, o *CreateOptions) error {
	ctx = task.Context(ctx)
	if o == nil {
		o = &CreateOptions{}
	}
	if err := s.packFile(ctx, name, o); err != nil {
		return fmt.Errorf("store: packing %s: %w", name, err)
	}
	return nil
}

func (s *Store) packFile(ctx context.Context, name string, o *CreateOptions) error {
	if err := o.checkPack(); err != nil {
		return err
	}
	if s.edit != nil {
		s.edit.mu.Lock()
		defer s.edit.mu.Unlock()
		if s.edit.broken != nil {
			return s.edit.broken
		}
	}
	if s.layout == LayoutEmbed {
		return faults.Unsupportedf("an embed store has no files to pack")
	}
	if s.closed.Load() {
		return fs.ErrClosed
	}
	sys := s.opts.system()
	if d, ok := s.files.box.(*directory); ok && d.contains(name) {
		return fmt.Errorf("the name is in the directory of the store: %w", ErrParam)
	}
	if paths.Trim(name) != name {
		return fmt.Errorf("only a directory can have this name: %w", ErrParam)
	}
	if err := checkOverwrite(sys, name, o.Overwrite); err != nil {
		return err
	}
	err := createFile(sys, tempBeside(name), name, o.noSync(), renamer(sys, o.Overwrite), func(w io.Writer) error { return s.pack(ctx, w) })
	if err != nil {
		return err
	}
	return storage.SyncDir(sys, name, o.noSync())
}

// checkPack returns ErrParam for options that Pack does not use.
func (o *CreateOptions) checkPack() error {
	f := o.frames()
	if o.Layout != 0 || o.MaxLeaves != 0 || o.Threshold != 0 || !reflect.ValueOf(f).IsZero() {
		return fmt.Errorf("an option other than Overwrite and Frames.NoSync is set: %w", ErrParam)
	}
	return nil
}

// pack writes the zip file.
func (s *Store) pack(ctx context.Context, w io.Writer) error {
	var files []file
	for _, n := range s.index.sorted() {
		if n.leaf == nil || n.leaf.file == "" {
			continue
		}
		size, err := s.fileSize(ctx, n.leaf.file)
		if err != nil {
			return atKey(n.key, errors.Join(n.leaf.fault, err))
		}
		files = append(files, file{name: n.leaf.file, size: size})
	}
	slices.SortStableFunc(files, func(a, b file) int { return cmp.Compare(b.size, a.size) })
	files = append(files, file{name: embedFile})
	z, buf := zipdir.NewWriter(w), make([]byte, 1<<20)
	for _, f := range files {
		if err := s.packMember(ctx, z, f.name, buf); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if h := s.pool.Load().head; h != nil { // a leaf of embed.b2e may have got a file that is not in the list
		if err := h.check(ctx); err != nil {
			return err
		}
	}
	return z.Close()
}

// fileSize returns the size of a file of the store.
func (s *Store) fileSize(ctx context.Context, name string) (int64, error) {
	file, err := s.files.box.open(ctx, name)
	if err != nil {
		return 0, err
	}
	return file.src.Size(), file.Close()
}

// packMember writes a file of the store as a member. It reads the file twice, because the checksum is stored before the
// bytes. buf is for the bytes on their way.
func (s *Store) packMember(ctx context.Context, z *zipdir.Writer, name string, buf []byte) error {
	file, err := s.files.box.open(ctx, name)
	if err != nil {
		return err
	}
	defer file.Close()
	src, sum := file.src, crc32.NewIEEE()
	if err := copyWhole(ctx, sum, src, buf); err != nil {
		return err
	}
	if err := z.Add(name, src.Size(), sum.Sum32()); err != nil {
		return err
	}
	again := crc32.NewIEEE()
	if err := copyWhole(ctx, io.MultiWriter(z, again), src, buf); err != nil {
		return err
	}
	if again.Sum32() != sum.Sum32() {
		return faults.Corruptf("it changed while it was packed")
	}
	return nil
}

// copyWhole copies all bytes of src through buf, until ctx ends. It returns ErrCorrupt if src has fewer bytes than it
// had when it was opened.
func copyWhole(ctx context.Context, w io.Writer, src source.Source, buf []byte) error {
	r, copied := source.Reader(ctx, src), int64(0)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf)
		copied += int64(n)
		if _, writeErr := w.Write(buf[:n]); writeErr != nil {
			return writeErr
		}
		if err == io.EOF {
			if copied != src.Size() {
				return faults.Corruptf("%d bytes, but it had %d: it changed while it was packed", copied, src.Size())
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}
