package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// Regions is a sparse frame that several writers fill: goroutines, processes, or machines that share a file system. Its
// number of chunks is fixed. [CreateRegions] lays it out, [OpenRegions] opens it for a writer, and Finish makes it a
// frame. Until then, [Open] and [Edit] return ErrUnfinished, and other libraries find no frame.
//
// A chunk is written to a temporary file, which is then renamed, so the order of writes does not matter and a crash
// loses only chunks whose writing has not returned. The stored bytes follow from the items and the layout alone:
// writing a chunk again does no harm. If writers store different items in the same chunk, the last one wins.
//
// When a write returns, the chunk survives a power failure, unless NoSync is set. With NoSync, a power failure during
// the writing may leave chunk files without content. Finish finds those whose header or length is wrong; Verify finds
// all.
//
// # Objects
//
// With Objects in the options, an object store holds the frame, with an object for each file of the directory. Until
// Finish has written the object chunks.b2frame, a reader finds no frame. Writing a chunk again leaves an object with
// the same bytes as it is. So a late duplicate changes nothing, and readers of the finished frame do not notice it.
// NoSync makes no difference.
//
// A store cannot keep a writer from replacing an object while Finish runs. If the chunk then has other items, the
// finished frame may have them or not, and only the writer gets an error. So call Finish when no writer changes items.
// A writer that ends while it writes a chunk of zeros or another repeated item after Finish can leave an object that
// the finished frame does not use.
//
// A Regions is safe for concurrent use.
type Regions struct {
	f       *Frame
	root    storage.Root // the directory, or nil
	objects Objects      // in place of a directory
	files   regionFiles  // those of root or objects
	mu      sync.Mutex
	final   *snapshot // the finished frame, if it is known to be finished
}

// CreateRegions lays out a frame of nbytes in chunks of o.ChunkSize, in a new directory. If an unfinished frame with
// the same layout exists, CreateRegions opens it: any number of writers may call it at the same time. Otherwise it
// returns fs.ErrExist for an existing name. With o.Overwrite, CreateRegions replaces an existing frame, even an
// unfinished one with chunks of other writers, so only one writer may set it. For the files that a killed process can
// leave, see [Create]. With o.Objects, the name must be empty. The error wraps ErrParam for BlockTable, Goal, Locking,
// Postfilter and Storage, which do not apply, and for a ChunkSize of 0, or is an error of Create or of o.Objects.
func CreateRegions(ctx context.Context, name string, nbytes int64, o *CreateOptions) (*Regions, error) {
	ctx = task.Context(ctx)
	if o == nil {
		o = &CreateOptions{}
	}
	if err := firstBad([]fieldCheck{
		{"ChunkSize", o.ChunkSize == 0, "must be set for Regions"},
		{"BlockTable", o.BlockTable, "needs all chunks, and does not apply to Regions"},
		{"Locking", o.Locking, "does not apply to Regions"},
		{"Goal", o.Goal != 0, "does not apply to Regions: writers of the same data must write the same bytes"},
		{"Storage", o.Storage != nil, "does not apply to Regions"},
		{"Postfilter", o.Postfilter != nil, "does not apply to Regions"},
	}); err != nil {
		return nil, err
	}
	to := *o
	to.Sparse, to.regions = true, true
	f, err := prepareNew(ctx, name, &to)
	if err == nil && o.Objects != nil {
		return f.createObjects(ctx, nbytes, &to)
	}
	if err == nil {
		err = f.trimName()
	}
	if err == nil && o.Overwrite {
		err = f.checkFree()
	}
	if err != nil {
		return nil, err
	}
	d, err := f.newDir(layoutFile)
	if err != nil {
		return nil, errs.SeeURL(name, err)
	}
	f.store = d
	var layout *snapshot
	err = f.fillAndCommit(ctx, func(b *Batch) error {
		layout = b.next
		if err := d.root.Mkdir(tempDir, 0o777); err != nil {
			return err
		}
		return b.fillSpecial(nbytes, chunk.Uninit)
	})
	if errors.Is(err, fs.ErrExist) && layout != nil {
		return openSame(ctx, name, &to, layout, err)
	}
	if err != nil {
		return nil, err
	}
	f.writable, f.fixed = false, true
	return &Regions{f: f, root: d.root, files: storage.Files{Root: d.root}}, nil
}

// openSame opens an unfinished frame with this layout. If there is none, it returns the error exists, or for an
// unfinished frame with another layout an error that does not recommend Overwrite: that would remove the chunks of
// other writers.
func openSame(ctx context.Context, name string, o *CreateOptions, layout *snapshot, exists error) (*Regions, error) {
	open := &OpenOptions{
		Concurrency: o.Concurrency, NoSync: o.NoSync, Codecs: o.Codecs, UserFilters: o.UserFilters, Prefilter: o.Prefilter, MaxBytes: -1,
		Objects: o.Objects, sys: o.sys,
	}
	r, err := OpenRegions(ctx, name, open)
	// Some servers report that an object exists a moment before they return it.
	for try := 1; o.Objects != nil && errors.Is(err, ErrFormat) && try < maxTries; try++ {
		if err := pause(ctx); err != nil {
			return nil, err
		}
		r, err = OpenRegions(ctx, name, open)
	}
	if err != nil {
		return nil, exists
	}
	differs := r.f.current().layoutDiffers(layout)
	if r.final == nil && differs == "" {
		return r, nil
	}
	if err := r.Close(); err != nil || r.final != nil {
		return nil, exists
	}
	part := "directory"
	if o.Objects != nil {
		part = "objects"
	}
	return nil, r.f.wrap(part, -1, fmt.Errorf("an unfinished frame with %s %w", differs, errs.ErrExist))
}

// layoutDiffers returns the first difference between the layouts of two snapshots, such as "another level", or "".
func (s *snapshot) layoutDiffers(t *snapshot) string {
	g, h := s.header, t.header
	for _, x := range []*header{&g, &h} { // these are derived from other fields
		x.headerLen, x.frameLen, x.cbytes, x.hasVL, x.version = 0, 0, 0, false, 0
	}
	visible := func(layers []meta.Layer) []meta.Layer {
		return slices.DeleteFunc(slices.Clone(layers), func(l meta.Layer) bool { return l.Name == checksumLayer })
	}
	array := func(layers []meta.Layer) []meta.Layer {
		return slices.DeleteFunc(slices.Clone(layers), func(l meta.Layer) bool { return l.Name != "b2nd" })
	}
	for _, x := range []struct {
		same bool
		name string
	}{
		// An option comes before what is derived from it: the partition depends on item size, codec, level and filters.
		{g.typeSize == h.typeSize, "another item size"},
		{g.codec == h.codec && g.codecMeta == h.codecMeta, "another codec"},
		{g.level == h.level, "another level"},
		{g.pipeline == h.pipeline, "other filters"},
		{slices.EqualFunc(array(s.meta), array(t.meta), sameLayer), "another shape, dtype, chunk shape or block shape"},
		{g.nbytes == h.nbytes && g.chunkSize == h.chunkSize, "another size or chunk size"},
		{g.blockSize == h.blockSize, "another block size"},
		{(s.checksums == nil) == (t.checksums == nil), "another value of Checksums"},
		{g == h, "other options"},
		{slices.EqualFunc(s.meta, t.meta, sameLayer), "other metalayers"},
		{slices.EqualFunc(visible(s.vlmeta), visible(t.vlmeta), sameLayer), "other attributes"},
	} {
		if !x.same {
			return x.name
		}
	}
	return ""
}

func sameLayer(a, b meta.Layer) bool { return a.Name == b.Name && bytes.Equal(a.Content, b.Content) }

// OpenRegions opens a frame that CreateRegions has laid out, for a writer. If it is finished already, writing a chunk
// again succeeds if the chunk has the same bytes, and returns fs.ErrExist otherwise. The options must have the codecs,
// user filters and Prefilter of the frame. Mmap, Locking, Cache, Verify, RequireChecksums and Postfilter do not apply:
// they return ErrParam. With o.Objects, the name must be empty. The error wraps ErrFormat if the directory holds no
// frame, or is an error of Open or of o.Objects.
func OpenRegions(ctx context.Context, name string, o *OpenOptions) (*Regions, error) {
	ctx = task.Context(ctx)
	opts, sys, err := o.settings(modeRegions)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	f, err := newFrame(strings.TrimPrefix(name, "file://"), opts, sys)
	if err != nil {
		return nil, err
	}
	r := &Regions{f: f}
	if o != nil && o.Objects != nil {
		if name != "" {
			return nil, fmt.Errorf("frame: option Objects is in place of a name: %w", ErrParam)
		}
		r.objects, r.files = o.Objects, o.Objects
	} else {
		if r.root, err = f.sys.OpenRoot(f.path); err != nil {
			return nil, errs.SeeURL(name, err)
		}
		r.files = storage.Files{Root: r.root}
	}
	s, stored, err := r.load(ctx, layoutFile)
	index := layoutFile
	if errors.Is(err, fs.ErrNotExist) { // Finish has removed it
		index = indexFile
		if s, stored, err = r.load(ctx, indexFile); errors.Is(err, fs.ErrNotExist) {
			err = f.wrap("directory", -1, fmt.Errorf("no %s in it: %w", layoutFile, ErrFormat))
		}
		r.final = s
	}
	if err == nil && s.chunkSize <= 0 && s.index.n > 0 {
		err = f.wrap("header", offChunkSize, corrupt("chunk size %d of a layout", s.chunkSize))
	}
	if err != nil {
		if r.root != nil {
			r.root.Close()
		}
		return nil, err
	}
	if r.objects != nil {
		f.store = &layoutObject{sparse: sparse{sys: sys, index: index}, objects: r.objects, bytes: stored}
		f.start(s)
	} else {
		f.startSparse(s, index)
	}
	f.fixed = true
	return r, nil
}

// load reads an index file, and returns its bytes if it is an object. It returns fs.ErrNotExist if the file does not
// exist.
func (r *Regions) load(ctx context.Context, name string) (*snapshot, *Memory, error) {
	if r.objects != nil {
		return r.f.loadObject(ctx, r.objects, name)
	}
	s, err := r.f.loadIndexFile(ctx, r.root, name)
	return s, nil, err
}

// Layout returns the layout: a frame with the parameters and metalayers of the frame, in which all chunks are
// uninitialized. It is open for reading, and Close of the Regions closes it. The layout does not change: Refresh
// returns ErrChanged if another directory has taken its place, also if its layout is equal, or if the finished frame
// was edited. After Finish of an unfinished frame, Refresh returns fs.ErrNotExist.
func (r *Regions) Layout() *Frame { return r.f }

// Close closes the directory. It does not finish the frame. A second Close does nothing.
func (r *Regions) Close() error { return r.f.Close() }

// Engine is for package ndarray. See Frame.Engine.
func (r *Regions) Engine() engine.Regions { return (*engineRegions)(r) }

// engineRegions implements engine.Regions.
type engineRegions Regions

func (e *engineRegions) Encode(ctx context.Context, size int, p engine.WritePlan, all int64) error {
	r := (*Regions)(e)
	return r.write(task.Context(ctx), func(ctx context.Context, b *Batch) error { return b.encodePlan(ctx, size, p, all) })
}

// Write compresses p and writes it as chunk i. The length of p must be the chunk size, or that of the last chunk. Write
// does not retain p. The error wraps ErrBounds, ErrParam, fs.ErrClosed, or fs.ErrExist if the frame is finished and has
// other bytes, or is an error of ctx or of the operating system.
func (r *Regions) Write(ctx context.Context, i int, p []byte) error {
	return r.write(task.Context(ctx), func(ctx context.Context, b *Batch) error {
		if err := r.f.checkBounds(b.next, i); err != nil {
			return err
		}
		if want := b.next.chunkLen(i); int64(len(p)) != want {
			return r.f.chunkError(b.next, i, fmt.Errorf("%d bytes, want %d: %w", len(p), want, ErrParam))
		}
		c, err := b.encode(ctx, p, i)
		if err != nil {
			return err
		}
		h, err := coder.ParseHeader(c, int64(len(c)))
		if err != nil {
			return r.f.chunkError(b.next, i, err)
		}
		return b.sink(i, c, &h)
	})
}

// write calls encode with a batch that writes chunks to their files.
func (r *Regions) write(ctx context.Context, encode func(ctx context.Context, b *Batch) error) (err error) {
	s, err := r.f.acquire(ctx)
	if err != nil {
		return err
	}
	defer r.f.unuse(s)
	b := &Batch{f: r.f, mu: newGate(), transaction: transaction{next: s.successor()}}
	b.sink = func(i int, c []byte, h *coder.Header) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.put(ctx, b, i, c, h); err != nil {
			return r.f.chunkErrorAt(i, -1, err)
		}
		return nil
	}
	if err := encode(ctx, b); err != nil {
		return r.f.orClosed(err)
	}
	return r.f.orClosed(r.sync()) // of the names of the chunk files
}

// sync syncs the names in the directory.
func (r *Regions) sync() error {
	if d, ok := r.f.store.(*sparse); ok {
		return storage.SyncRoot(d.root, d.noSync)
	}
	return nil
}

// put writes a chunk to its file.
func (r *Regions) put(ctx context.Context, b *Batch, i int, c []byte, h *coder.Header) error {
	if _, special := specialEntry(h.Special); special && !b.next.canIndex(h) {
		var err error
		if c, err = b.plainSpecial(c, h); err != nil {
			return err
		}
	} else {
		c = c[:h.CBytes]
	}
	if r.objects != nil {
		return r.putObject(ctx, i, c, h.Special != chunk.Regular)
	}
	s, err := r.finished(ctx)
	switch {
	case err != nil:
		return err
	case s != nil:
		return r.compare(ctx, s, i, c)
	}
	err = storage.ReplaceFile(r.root, tempDir, chunkFileName(int64(i)), layoutFile, c, r.f.opts.NoSync)
	if err == nil {
		return nil
	}
	// Finish removes tempDir when it finds all chunks, so that late writers change nothing. The chunk may also be open
	// in another process, on a system that then does not rename. If Finish runs, it writes the index, then removes the
	// files that the index represents, then the layout. So look for them in the opposite order.
	_, layout := r.root.Lstat(layoutFile)
	same, e := r.holds(ctx, int64(i), c)
	if s, e := r.finished(ctx); e == nil && s != nil {
		return r.compare(ctx, s, i, c)
	}
	if same && e == nil {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) && layout == nil {
		err = r.f.wrap("directory", -1, fmt.Errorf("a call of Finish was interrupted or is running; call it again: %w: %w", ErrUnfinished, err))
	}
	return err
}

// known returns the state of the finished frame if it is known.
func (r *Regions) known() *snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.final
}

// finished returns the state of the finished frame, or nil if it is not finished.
func (r *Regions) finished(ctx context.Context) (*snapshot, error) {
	if s := r.known(); s != nil {
		return s, nil
	}
	s, _, err := r.load(ctx, indexFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.final = s
	return s, nil
}

// compare returns fs.ErrExist if chunk i of the finished frame does not have the bytes c.
func (r *Regions) compare(ctx context.Context, s *snapshot, i int, c []byte) error {
	if err := r.f.checkBounds(s, i); err != nil {
		return err
	}
	special, err := s.index.at(i).special()
	if err != nil {
		return err
	}
	same := false
	if special == chunk.Regular {
		same, err = r.holds(ctx, int64(s.index.at(i)), c)
	} else if h, err := coder.ParseHeader(c, int64(len(c))); err == nil {
		same = h.Special == special
	}
	if err == nil && !same {
		err = fmt.Errorf("the frame is finished, and the chunk has other bytes: %w", errs.ErrExist)
	}
	return err
}

// holds reports whether a chunk file exists and has the bytes c.
func (r *Regions) holds(ctx context.Context, number int64, c []byte) (bool, error) {
	b, size, err := r.files.Get(ctx, chunkFileName(number), int64(len(c)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return size == int64(len(c)) && bytes.Equal(b, c), err
}

// Missing ranges over the numbers of the chunks that are not written, in order, and over those whose file has a wrong
// header or length. It reads the header of each chunk. The first error ends the loop. It wraps fs.ErrClosed, or is an
// error of ctx or of the operating system. A finished frame misses no chunks.
func (r *Regions) Missing(ctx context.Context) iter.Seq2[int, error] {
	ctx = task.Context(ctx)
	return func(yield func(int, error) bool) {
		s, err := r.f.acquire(ctx)
		if err != nil {
			yield(0, err)
			return
		}
		defer r.f.unuse(s)
		final, err := r.finished(ctx)
		var have []int64
		if err == nil && final == nil {
			have, err = written(ctx, r.files, s)
		}
		if err != nil {
			yield(0, r.f.orClosed(err))
			return
		}
		for i := 0; i < s.index.n && final == nil; i++ {
			missing := len(have) == 0 || have[0] != int64(i)
			if !missing {
				have = have[1:]
				_, err = r.examine(ctx, s, i)
				missing = errors.Is(err, ErrCorrupt) || errors.Is(err, fs.ErrNotExist)
			}
			if err == nil || missing {
				err = ctx.Err()
			}
			if missing && err == nil { // or the frame was finished, and the index has the chunk
				if final, err = r.finished(ctx); final != nil {
					return
				}
			}
			if err != nil {
				yield(0, r.f.orClosed(err))
				return
			}
			if missing && !yield(i, nil) {
				return
			}
		}
	}
}
