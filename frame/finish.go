package frame

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/internal/task"
)

// Finish makes the frame readable. It checks the header and the length of each chunk file, and writes the index. It
// reads all chunks only if the frame has checksums. Finish then removes the temporary files of writers that were
// killed. After that, a late second write of a chunk changes nothing.
//
// If chunks are missing, Finish returns ErrUnfinished with their number, and ErrCorrupt for a chunk whose file is
// damaged; write them, and call Finish again. After a crash, call it again. It returns nil if the frame is finished.
// Two processes may call it at the same time. Other errors wrap fs.ErrClosed, or are those of ctx and of the operating
// system.
func (r *Regions) Finish(ctx context.Context) error {
	ctx = task.Context(ctx)
	s, err := r.f.acquire(ctx)
	if err != nil {
		return err
	}
	defer r.f.unuse(s)
	if err := r.f.mu.lock(ctx, r.f, "another call of Finish"); err != nil { // one call at a time
		return err
	}
	defer r.f.unlock()
	return r.f.orClosed(r.finish(ctx, s))
}

func (r *Regions) finish(ctx context.Context, s *snapshot) error {
	final, err := r.finished(ctx)
	switch {
	case err != nil:
		return err
	case final != nil:
		return r.cleanUp(ctx, final)
	}
	err = r.tryFinish(ctx, s)
	// Another process may have finished the frame during the call. If not, let writers continue.
	after := ctx
	if r.objects == nil {
		after = context.WithoutCancel(ctx)
	}
	final, e := r.finished(after)
	switch {
	case e == nil && final != nil:
		return r.cleanUp(ctx, final)
	case err == nil:
		return e
	}
	if r.objects != nil {
		return err
	}
	// Remove finishDir, so that a call of another process at the same time fails: writers may change chunks that it has
	// examined.
	e = storage.RemoveDir(context.WithoutCancel(ctx), r.root, finishDir)
	if e == nil {
		e = r.makeDir(tempDir)
	}
	if e != nil {
		err = errors.Join(err, e)
	}
	return err
}

// makeDir creates a directory if it does not exist.
func (r *Regions) makeDir(name string) error {
	if err := r.root.Mkdir(name, 0o777); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// tryFinish makes the chunks a frame. The temporary index is in a directory that every call removes after a frame was
// finished. So no index can replace a later one, even if the process was stopped for a long time.
func (r *Regions) tryFinish(ctx context.Context, s *snapshot) error {
	have, err := written(ctx, r.files, s)
	if err == nil && len(have) < s.index.n {
		err = r.f.errUnfinished(len(have), s)
	}
	if err == nil && r.objects != nil {
		return r.tryObjects(ctx, s)
	}
	if err == nil {
		err = r.makeDir(finishDir)
	}
	if err != nil {
		return err
	}
	if final, err := r.finished(ctx); err != nil || final != nil {
		return err
	}
	// Now no writer can change a chunk.
	if err := storage.RemoveDir(ctx, r.root, tempDir); err != nil {
		return err
	}
	next, err := r.collect(ctx, s)
	if err != nil {
		return err
	}
	if _, err := r.root.Lstat(tempDir); err == nil {
		return r.f.wrap("directory", -1, fmt.Errorf("another call of Finish has failed, and writers may go on; call it again: %w", ErrUnfinished))
	}
	err = r.publish(next)
	if errors.Is(err, fs.ErrNotExist) { // another call has removed finishDir
		err = r.f.wrap("directory", -1, fmt.Errorf("another call of Finish has ended; call it again: %w: %w", ErrUnfinished, err))
	}
	return err
}

// tryObjects is tryFinish for objects, all of which exist. The index is not replaced: if several calls write it, one
// succeeds, and the others find the frame finished.
func (r *Regions) tryObjects(ctx context.Context, s *snapshot) error {
	next, err := r.collect(ctx, s)
	if err != nil {
		return err
	}
	d := r.f.store.(*layoutObject)
	b, _, err := r.objects.Get(ctx, layoutFile, maxIndex)
	if err != nil {
		return err
	}
	if !bytes.Equal(b, d.bytes.Bytes()) { // CreateRegions has replaced the layout, and perhaps chunks
		return r.f.errReplaced()
	}
	tx := &transaction{next: next}
	if err := tx.encodeTail(r.f.plain); err != nil {
		return err
	}
	head, err := d.header(tx)
	if err != nil {
		return err
	}
	return r.objects.Put(ctx, indexFile, append(head, tx.tail...), false)
}

// workers returns an empty state for each goroutine that reads chunk files. Objects take longer to answer, so they have
// more goroutines.
func (r *Regions) workers(n int) []struct{} {
	const far = 16
	workers := task.Workers(r.f.opts.Concurrency, int64(n))
	if r.objects != nil {
		workers = max(workers, min(n, far))
	}
	return make([]struct{}, max(1, workers))
}

// collect returns the state of the finished frame. All chunks have a file.
func (r *Regions) collect(ctx context.Context, s *snapshot) (*snapshot, error) {
	n := s.index.n
	list, sizes := make([]entry, n), make([]int64, n)
	var sums []uint32
	if s.checksums.kept() {
		sums = make([]uint32, n)
	}
	err := sched.Each(ctx, &r.f.pool.Pool, r.workers(n), n, func(_ struct{}, i int) error {
		x, err := r.examine(ctx, s, i)
		if err == nil && sums != nil && x.e >= 0 {
			sums[i], err = r.checksum(ctx, i, x.size)
		}
		list[i], sizes[i] = x.e, x.size
		return err
	})
	if err != nil {
		return nil, err
	}
	next := s.successor()
	next.cbytes = 0
	for i, e := range list {
		if e >= 0 {
			next.cbytes += sizes[i]
		}
	}
	next.index = newIndex(list, sums)
	if n > 0 && list[0] < 0 && !slices.ContainsFunc(list, func(e entry) bool { return e != list[0] }) {
		next.index = index{n: n, uniform: list[0]}
	}
	return next, nil
}

// fault adds the chunk file to an error.
func (r *Regions) fault(i int, err error) error { return r.f.chunkFileError(i, int64(i), err) }

// examine reads the header in the file of chunk i. It returns the entry for the chunk and the size of the file, or
// ErrCorrupt if the file does not hold a chunk of the size of chunk i.
func (r *Regions) examine(ctx context.Context, s *snapshot, i int) (x sizedEntry, err error) {
	var b []byte
	b, x.size, err = r.files.Get(ctx, chunkFileName(int64(i)), coder.HeaderSize)
	if err != nil {
		return x, r.fault(i, err)
	}
	h, err := coder.ParseHeader(b, x.size)
	if err == nil {
		err = s.checkSize(i, &h)
	}
	e, special := specialEntry(h.Special)
	switch {
	case err != nil:
	case int64(h.CBytes) != x.size:
		err = corrupt("a chunk of %d bytes in a file of %d", h.CBytes, x.size)
	case special && !s.canIndex(&h):
		err = corrupt("a chunk of %v", h.Special)
	case h.VLBlocks || h.Special == chunk.Regular && h.NBytes == int(s.chunkSize) && h.BlockSize != int(s.blockSize):
		err = corrupt("blocks of %d bytes, want %d", h.BlockSize, s.blockSize)
	}
	if err != nil && !errors.Is(err, ErrCorrupt) { // no writer writes such a chunk
		err = corrupt("%w", err)
	}
	if err != nil {
		return x, r.fault(i, err)
	}
	if x.e = entry(i); special {
		x.e = e
	}
	return x, nil
}

// checksum returns the checksum of chunk i, whose file has size bytes.
func (r *Regions) checksum(ctx context.Context, i int, size int64) (uint32, error) {
	b, err := r.read(ctx, chunkFileName(int64(i)), size)
	if err != nil {
		return 0, r.fault(i, err)
	}
	return crc32c.Checksum(b), nil
}

// read returns the first n bytes of a file.
func (r *Regions) read(ctx context.Context, name string, n int64) ([]byte, error) {
	if r.objects != nil {
		b, _, err := r.objects.Get(ctx, name, n)
		return b, err
	}
	f, err := storage.OpenFile(r.root, name, false)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return r.f.readStored(f, 0, n)
}

// publish writes the index file of next, which finishes the frame.
func (r *Regions) publish(next *snapshot) error {
	tx := &transaction{next: next}
	if err := tx.encodeTail(r.f.plain); err != nil {
		return err
	}
	head, err := r.f.store.(*sparse).header(tx)
	if err != nil {
		return err
	}
	// The names of chunk files must be stored before the index that references them.
	if err := r.sync(); err != nil {
		return err
	}
	if err := storage.ReplaceFile(r.root, finishDir, indexFile, layoutFile, append(head, tx.tail...), r.f.opts.NoSync); err != nil {
		return err
	}
	return r.sync()
}

// cleanUp removes files that the finished frame does not use: temporary files, the files of chunks that the index
// represents, and at last the layout. Without a layout it removes no chunks: the frame may have been edited since.
func (r *Regions) cleanUp(ctx context.Context, final *snapshot) error {
	if r.objects == nil {
		for _, dir := range []string{tempDir, finishDir} {
			if err := storage.RemoveDir(ctx, r.root, dir); err != nil {
				return err
			}
		}
	}
	noLayout := r.hasLayout(ctx)
	if noLayout != nil && !errors.Is(noLayout, fs.ErrNotExist) {
		return noLayout
	}
	// The process that wrote the index may have been killed before it synced the name. Without the index, the chunks
	// are still needed.
	if noLayout == nil {
		if err := r.sync(); err != nil {
			return err
		}
	}
	var names []string
	for name, err := range r.files.List(ctx) {
		if err != nil {
			return err
		}
		if n, ok := chunkNumber(name); storage.IsTemp(name) || ok && noLayout == nil && final.isSpecial(n) {
			names = append(names, name)
		}
	}
	err := sched.Each(ctx, &r.f.pool.Pool, r.workers(len(names)), len(names), func(_ struct{}, i int) (err error) {
		remove := true
		if n, ok := chunkNumber(names[i]); ok {
			remove, err = r.represented(ctx, final, n)
		}
		if remove && err == nil {
			err = r.files.Remove(ctx, names[i])
		}
		if errors.Is(err, fs.ErrNotExist) { // another process cleans up
			err = nil
		}
		return err
	})
	if err != nil || noLayout != nil {
		return err
	}
	if err := r.sync(); err != nil {
		return err
	}
	if err := r.files.Remove(ctx, layoutFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return r.sync()
}

// hasLayout returns nil if the layout exists, and fs.ErrNotExist if not.
func (r *Regions) hasLayout(ctx context.Context) (err error) {
	if r.objects != nil {
		_, _, err = r.objects.Get(ctx, layoutFile, 0)
	} else {
		_, err = r.root.Lstat(layoutFile)
	}
	return err
}

// isSpecial reports whether the index of s represents a chunk by a special value, and not by its file.
func (s *snapshot) isSpecial(number int64) bool {
	return number < int64(s.index.n) && s.index.at(int(number)) < 0
}

// represented reports whether the file of a chunk holds a special value that the index of s represents. An edit never
// writes such a file, and while the layout exists no file in its place: see sparse.avoidFiles.
func (r *Regions) represented(ctx context.Context, s *snapshot, number int64) (bool, error) {
	if !s.isSpecial(number) {
		return false, nil
	}
	x, err := r.examine(ctx, s, int(number))
	if errors.Is(err, ErrCorrupt) {
		return false, nil
	}
	return x.e < 0, err
}

// layoutObject is the store of the layout of Regions in Objects. A commit keeps the layout in memory.
type layoutObject struct {
	sparse
	objects Objects
	bytes   *Memory // layoutFile, or indexFile if the frame is finished
}

func (d *layoutObject) commit(tx *transaction) error {
	head, err := d.header(tx)
	d.bytes = NewMemory(append(head, tx.tail...))
	return err
}

func (d *layoutObject) open(*snapshot, io.ReaderAt, entry, entry) (chunkSource, error) {
	return chunkSource{}, fmt.Errorf("the layout of Regions has no chunks; open the finished frame with OpenSource: %w", errors.ErrUnsupported)
}

func (d *layoutObject) evidence(context.Context, *snapshot, int64) (int64, error) { return 0, nil }

func (d *layoutObject) size(*snapshot) (int64, error) { return d.bytes.Size() }

func (d *layoutObject) reopen(ctx context.Context, _ bool) (r reopened, err error) {
	r.same = true
	b, size, err := d.objects.Get(ctx, d.index, maxIndex)
	r.src, r.size = NewMemory(b), size
	return r, err
}

// maxIndex is more than the size of an index file.
const maxIndex = 4 * int64(chunk.MaxBytes)

// loadObject reads an index file in Objects. It returns fs.ErrNotExist if there is none.
func (f *Frame) loadObject(ctx context.Context, o Objects, name string) (*snapshot, *Memory, error) {
	b, size, err := o.Get(ctx, name, maxIndex)
	if err != nil {
		return nil, nil, err
	}
	if size != int64(len(b)) {
		return nil, nil, f.wrap("index", -1, fmt.Errorf("%s has %d bytes: %w", name, size, ErrTooLarge))
	}
	m := NewMemory(b)
	s, err := f.loadIndex(ctx, m, size)
	return s, m, err
}

// createObjects is CreateRegions for a frame of prepareNew.
func (f *Frame) createObjects(ctx context.Context, nbytes int64, o *CreateOptions) (*Regions, error) {
	d := &layoutObject{sparse: sparse{sys: f.sys, index: layoutFile}, objects: o.Objects}
	f.store = d
	err := f.fillAndCommit(ctx, func(b *Batch) error { return b.fillSpecial(nbytes, chunk.Uninit) })
	if err != nil {
		return nil, err
	}
	f.writable, f.fixed = false, true
	r := &Regions{f: f, objects: o.Objects, files: o.Objects}
	err = r.layOut(ctx, d.bytes.Bytes(), o.Overwrite)
	if err == nil {
		return r, nil
	}
	layout := f.current()
	f.Close()
	if errors.Is(err, fs.ErrExist) && !o.Overwrite {
		return openSame(ctx, "", o, layout, err)
	}
	return nil, err
}

// layOut writes the layout. If the objects of a frame exist, it returns fs.ErrExist, or removes them.
func (r *Regions) layOut(ctx context.Context, layout []byte, overwrite bool) error {
	exists := r.f.wrap("objects", -1, errs.SetOverwrite(errs.ErrExist))
	var old []string
	for name, err := range r.objects.List(ctx) {
		if err != nil {
			return err
		}
		if _, ok := chunkNumber(name); !ok && name != layoutFile && name != indexFile {
			continue
		}
		if !overwrite {
			return exists
		}
		if old = append(old, name); name == indexFile { // removed first, because it references the others
			old[0], old[len(old)-1] = name, old[0]
		}
	}
	for _, name := range old {
		if err := r.objects.Remove(ctx, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := r.objects.Put(ctx, layoutFile, layout, overwrite); err != nil {
		return err
	}
	// Since List, other writers may have laid out and finished the frame, which removes their layout.
	final, err := r.finished(ctx)
	if final == nil || err != nil {
		return err
	}
	return cmp.Or(r.objects.Remove(ctx, layoutFile), exists)
}

// putObject writes a chunk to its object. Afterwards it looks for the finished frame: if that exists, Finish may not
// have examined the object. special reports whether Finish removes the object, so that it may be written again.
func (r *Regions) putObject(ctx context.Context, i int, c []byte, special bool) error {
	if s := r.known(); s != nil {
		return r.compare(ctx, s, i, c)
	}
	name, replaced := chunkFileName(int64(i)), false
	if failed := r.objects.Put(ctx, name, c, false); failed != nil {
		// Usually the object exists. If it has these bytes, its version must not change.
		same, err := r.holds(ctx, int64(i), c)
		if err != nil || same && !special {
			return err
		}
		s, err := r.finished(ctx)
		switch {
		case err != nil:
			return err
		case !same && s != nil:
			return r.compare(ctx, s, i, c)
		case !same && !errors.Is(failed, fs.ErrExist):
			return failed
		case !same:
			if err := r.objects.Put(ctx, name, c, true); err != nil {
				return err
			}
			replaced = true
		}
	}
	s, err := r.finished(ctx)
	switch {
	case err != nil || s == nil:
		return err
	case replaced:
		return fmt.Errorf("the frame was finished during the call, and the chunk may have other bytes: %w", errs.ErrExist)
	}
	if s.isSpecial(int64(i)) { // Finish has removed the object, or will
		if err := r.objects.Remove(ctx, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.final = nil // so that the next call removes it
			return err
		}
	}
	return r.compare(ctx, s, i, c)
}
