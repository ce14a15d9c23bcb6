package frame

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
)

// DeadBytes returns the number of stored bytes that the newest state does not use, which is about what Compact
// releases. It reads the headers of all chunks. Bytes after a frame at the start of a file count, and so do chunk files
// that the index of a sparse frame does not reference. Errors are ErrCorrupt, fs.ErrClosed or those of reading.
func (f *Frame) DeadBytes(ctx context.Context) (_ int64, err error) {
	ctx = task.Context(ctx)
	s, err := f.acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer f.release(s, &err)
	dead, err := f.store.size(s)
	if err != nil {
		return 0, err
	}
	if s.sparse {
		dead -= s.frameLen
	} else {
		n, err := measureHeader(s.meta)
		if err != nil {
			return 0, err
		}
		dead -= int64(n) + s.tail().Len()
	}
	chunks := f.chunkReader(ctx, s)
	chunks.readAhead(readHeaders)
	defer chunks.stop()
	for i := range s.index.distinct() {
		h, err := chunks.header(i)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		dead -= int64(h.CBytes)
	}
	return max(0, dead), nil
}

// Compact releases dead bytes. It writes the newest state, with the stored bytes of the chunks in the order of the
// index, to a new file in the same directory, syncs it, and renames it to the name of the old file. The disk needs
// space for both. A crash leaves the old file or the new one. It may also leave a temporary file, which may be removed:
// see [Create].
//
// The new file has the permissions of the old one, and from the start no more than these. It has the same owner and
// group where the system permits. Otherwise the user of the process becomes the owner, and if the group is another one,
// the group and all other users keep only the permissions that both had.
//
// The Frame continues with the new file. Readers of older states, also in other processes, keep the old file as long as
// they need it. Other hard links keep referring to the old file. On systems where an open file cannot be replaced,
// Compact fails and changes nothing.
//
// In a sparse frame, Compact removes the chunk files that no state references. Interrupted edits leave such files.
//
// Errors are ErrParam for a frame that is not in a file of its own (use Copy or Save), ErrCorrupt for a chunk that
// cannot be copied, ErrChanged if another file has replaced that of the frame, ErrReadOnly, fs.ErrClosed, and those of
// ctx and of the operating system.
func (f *Frame) Compact(ctx context.Context) error {
	ctx = task.Context(ctx)
	b, err := f.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Rollback()                                    // the batch is empty
	defer func() { f.setBroken(b.transaction.unknown) }() // before Rollback
	switch c := f.store.(type) {
	case *contiguous:
		return f.compactFile(ctx, &b.transaction, c)
	default:
		return c.(*sparse).removeUnreferenced(ctx, b.cur)
	}
}

// compactFile writes the current state of a frame to a new file, which then replaces the file of c.
func (f *Frame) compactFile(ctx context.Context, tx *transaction, c *contiguous) error {
	if c.name == "" {
		return f.wrap("file", -1, fmt.Errorf("cannot compact what is not a file of its own: %w", ErrParam))
	}
	name, err := c.sys.Resolve(c.name)
	if err != nil {
		return err
	}
	old := c.Bytes.(storage.WritableFile)
	access, err := old.Stat()
	if err != nil {
		return f.wrap("file", -1, err)
	}
	n, err := newFile(c.sys, name, access, c.NoSync)
	if err != nil {
		return err
	}
	temp := n.temp.TempName
	n.temp = storage.Temp{} // its commit does not publish it
	replaced := false
	defer func() {
		if !replaced {
			n.close()
			c.sys.Remove(temp)
		}
	}()
	s, err := f.writeCompact(ctx, n, tx.cur)
	if access, err2 := old.Stat(); err == nil { // it may have changed since
		if err = err2; err == nil {
			err = storage.KeepAccess(n.Bytes.(storage.WritableFile), access, 0)
		}
	}
	if err == nil {
		err = f.checkNotReplaced()
	}
	var names *storage.Names
	if err == nil {
		names, err = storage.OpenNames(c.sys, name, c.NoSync)
		defer func() { names.Close() }()
	}
	if err == nil {
		err = c.sys.Rename(temp, name)
	}
	if err != nil {
		return f.wrap("commit", -1, err)
	}
	replaced = true
	if err = names.Sync(); err != nil { // a crash may leave either file
		tx.unknown = err
		err = f.wrap("commit", -1, err)
	}
	c.replaceBy(n, tx.cur)
	f.publish(tx.cur, s)
	return err
}

// writeCompact writes the state old of another file to c, which is empty, and syncs it.
func (f *Frame) writeCompact(ctx context.Context, c *contiguous, old *snapshot) (*snapshot, error) {
	s := old.successor()
	n, err := measureHeader(s.meta)
	if err != nil {
		return nil, err
	}
	s.headerLen, s.draft = n, false
	s.setSource(c.Bytes)
	w := &gatherer{w: c, at: int64(n)}
	if old.index.list != nil {
		list := slices.Clone(old.index.list)
		var moved map[entry]entry // new entries of chunks that the index references twice
		if _, c.shared = old.index.storedEntries(); c.shared {
			moved = make(map[entry]entry, len(list))
		}
		chunks := f.distinctChunks(ctx, old)
		var buf []byte
		for i, e := range list {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if e < 0 {
				continue
			}
			if to, ok := moved[e]; ok {
				list[i] = to
				continue
			}
			list[i] = entry(w.end() - int64(n))
			if c.shared {
				moved[e] = list[i]
			}
			if buf, err = chunks.read(buf[:0], i); err == nil {
				err = w.add(buf)
			}
			if err != nil {
				return nil, err
			}
		}
		s.move(newIndex(list, old.index.checksums))
	}
	if err := w.flush(); err != nil {
		return nil, err
	}
	s.area = w.at
	tx := &transaction{next: s}
	if err := tx.encodeTail(f.plain); err != nil {
		return nil, err
	}
	return s, c.commit(tx)
}

// replaceBy sets the storage of c to that of n, which has the current state old without dead bytes.
func (c *contiguous) replaceBy(n *contiguous, old *snapshot) {
	c.pending.Forget() // its extents are those of the old file
	c.pending.Add(old, storage.Extent{}, nil, nil, c.Bytes)
	c.Bytes, c.space, c.headLen, c.scanned, c.shared, c.doubt = n.Bytes, storage.FreeList{}, n.headLen, true, n.shared, false
}

// gatherer writes consecutive bytes in few large writes.
type gatherer struct {
	w   io.WriterAt
	at  int64 // offset of buf
	buf []byte
}

func (g *gatherer) end() int64 { return g.at + int64(len(g.buf)) }

func (g *gatherer) add(b []byte) error {
	const most = 1 << 20
	if len(g.buf) > 0 && len(g.buf)+len(b) > most {
		if err := g.flush(); err != nil {
			return err
		}
	}
	if len(b) < most {
		g.buf = append(g.buf, b...)
		return nil
	}
	_, err := g.w.WriteAt(b, g.at)
	g.at += int64(len(b))
	return err
}

func (g *gatherer) flush() error {
	_, err := g.w.WriteAt(g.buf, g.at)
	g.at += int64(len(g.buf))
	g.buf = g.buf[:0]
	return err
}

// removeUnreferenced removes the chunk files that no state references.
func (d *sparse) removeUnreferenced(ctx context.Context, cur *snapshot) error {
	referenced := map[string]bool{}
	for _, s := range append(slices.Collect(d.pending.Owners()), cur) {
		for _, e := range s.index.list {
			if e >= 0 {
				referenced[chunkFileName(int64(e))] = true
			}
		}
	}
	files, err := d.root.ReadDir(".")
	if err != nil {
		return err
	}
	for _, x := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, isChunk := chunkNumber(x.Name())
		ours := isChunk && !referenced[x.Name()] || x.Name() == indexFile+".tmp"
		if !ours || !x.Type().IsRegular() {
			continue
		}
		if err := d.root.Remove(x.Name()); err != nil {
			return err
		}
	}
	return nil
}

// Save writes the frame in its contiguous form, without dead bytes, to w, and returns the number of bytes written. It
// is to_cframe of python-blosc2. Save reads one committed state, regardless of concurrent commits, and does not change
// the frame.
//
// Save finds the sizes of all chunks first, usually in their headers, and then copies the stored chunks one after the
// other. So it uses memory only for the index and the largest stored chunk, or up to 64 MiB for a frame from a
// [Source], which it reads ahead.
// Errors are those of w, of ctx and of reading, and ErrChecksum for a chunk that does not match its checksum.
func (f *Frame) Save(ctx context.Context, w io.Writer) (n int64, err error) {
	ctx = task.Context(ctx)
	s, err := f.acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer f.release(s, &err)
	c, err := f.contiguousForm(ctx, s)
	if err != nil {
		return 0, err
	}
	out := &counter{w: w}
	err = c.write(ctx, out)
	return out.n, err
}

// contiguousForm is a state of a frame with the layout of its parts in a contiguous frame without dead bytes.
type contiguousForm struct {
	f     *Frame
	s     *snapshot
	head  []byte
	tail  []byte
	order []int    // numbers of the stored chunks, each chunk once
	sizes []int    // of the chunks of order, in bytes
	kept  [][]byte // the stored bytes of the chunks of order, or nil
	known bool     // the sizes were computed from the index of a packed frame, not read
}

// keptBytes is the largest size of the chunks of a frame from far away that Save keeps between its two passes, unless
// MaxBytes is less.
const keptBytes = maxWindows * windowBytes

// contiguousForm finds the sizes of all chunks of s, and encodes the parts of the frame that depend on them.
func (f *Frame) contiguousForm(ctx context.Context, s *snapshot) (*contiguousForm, error) {
	c := &contiguousForm{f: f, s: s}
	next := s.successor()
	n, err := measureHeader(s.meta)
	if err != nil {
		return nil, f.wrap("metalayers", -1, err)
	}
	next.sparse, next.headerLen, next.area, next.cbytes = false, n, int64(n), 0
	if s.index.list != nil {
		x, err := c.place(ctx, next)
		if err != nil {
			return nil, err
		}
		next.move(x)
	}
	tx := &transaction{next: next}
	if err := tx.encodeTail(f.plain); err != nil {
		return nil, f.wrap("index", -1, err)
	}
	c.tail = tx.tail
	next.cbytes = next.area - int64(n)
	next.frameLen = next.area + int64(len(c.tail))
	if c.head, err = appendHeader(next); err != nil {
		return nil, f.wrap("header", -1, err)
	}
	return c, nil
}

// place returns the index of next, whose chunks follow the header without gaps.
func (c *contiguousForm) place(ctx context.Context, next *snapshot) (index, error) {
	f, s := c.f, c.s
	list := slices.Clone(s.index.list)
	var moved map[entry]entry // new entries of chunks that the index references twice
	if _, shared := s.index.storedEntries(); shared {
		moved = make(map[entry]entry, len(list))
	}
	chunks := f.distinctChunks(ctx, s)
	most, kept := int64(keptBytes), int64(0)
	if limit := f.opts.MaxBytes; limit > 0 {
		most = min(most, limit)
	}
	keep := chunks.isFar() && s.cbytes <= most
	c.known = chunks.isFar() && !keep && s.packed()
	switch {
	case c.known: // nothing is read twice
	case keep:
		chunks.readAhead(readChunks)
	default:
		chunks.readAhead(readHeaders)
	}
	defer chunks.stop()
	for i, e := range list {
		if err := ctx.Err(); err != nil {
			return index{}, err
		}
		if e < 0 {
			continue
		}
		if to, ok := moved[e]; ok {
			list[i] = to
			continue
		}
		var size int
		var err error
		if c.known {
			size = int(s.nextStored(i) - e)
		} else {
			size, err = chunks.cbytes(i)
		}
		if err == nil {
			err = chunks.spend(i, size)
		}
		if err == nil && keep {
			var b []byte
			b, err = chunks.raw(nil, i)
			c.kept = append(c.kept, b)
			if kept += int64(len(b)); kept > most { // the header of the frame claims less
				keep, c.kept = false, nil
			}
		}
		if err != nil {
			return index{}, err
		}
		list[i] = entry(next.area - int64(next.headerLen))
		if moved != nil {
			moved[e] = list[i]
		}
		c.order, c.sizes = append(c.order, i), append(c.sizes, size)
		next.area += int64(size)
	}
	return newIndex(list, s.index.checksums), nil
}

// write writes the frame.
func (c *contiguousForm) write(ctx context.Context, w io.Writer) error {
	if _, err := w.Write(c.head); err != nil {
		return err
	}
	var buf []byte
	chunks := c.f.chunkReader(ctx, c.s)
	if c.kept == nil {
		chunks.readAhead(readChunks)
		defer chunks.stop()
	}
	for k, i := range c.order {
		err := ctx.Err()
		if err != nil {
			return err
		}
		if c.kept != nil {
			buf = c.kept[k]
		} else if buf, err = chunks.raw(buf[:0], i); err != nil {
			return err
		}
		if err := c.f.checkChecksum(c.s, i, buf); err != nil {
			return err
		}
		if len(buf) != c.sizes[k] {
			if c.known {
				return c.f.chunkError(c.s, i, corrupt("%d bytes, but %d in the frame", len(buf), c.sizes[k]))
			}
			return c.f.chunkError(c.s, i, fmt.Errorf("%d bytes, a moment ago %d: %w", len(buf), c.sizes[k], ErrChanged))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	_, err := w.Write(c.tail)
	return err
}

// counter counts the bytes that it passes on.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := errs.Write(c.w, p)
	c.n += int64(n)
	return n, err
}
