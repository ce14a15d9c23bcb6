package frame

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// DeadBytes returns how many stored bytes belong to no part of the newest state: about what Compact gives back. It
// reads the headers of all chunks. What stands behind a frame at the start of a file counts; in a sparse frame
// it is chunk files that the index does not name. Errors are ErrCorrupt, ErrClosed or those of reading.
func (f *Frame) DeadBytes() (_ int64, err error) {
	s, err := f.acquire(context.Background())
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
		n, err := headerLen(s.meta)
		if err != nil {
			return 0, err
		}
		dead -= int64(n) + tail(s).end - tail(s).off
	}
	_, shared := s.index.storedEntries()
	seen := map[entry]bool{}
	for i := 0; i < s.index.n && s.index.list != nil; i++ {
		e := s.index.at(i)
		if e < 0 || seen[e] {
			continue
		}
		seen[e] = shared // else no entry comes again
		h, err := f.chunkHeader(s, i)
		if err != nil {
			return 0, err
		}
		dead -= int64(h.CBytes)
	}
	return max(0, dead), nil
}

// Compact gives dead bytes back: it writes a frame without them beside the old one, with the chunks as they are
// stored, in the order of the index, syncs it, and gives it the name of the old one. A crash leaves the one or the
// other, and perhaps the new one under a name with a number and ".tmp" behind, which nothing opens. The Frame goes on
// with the new file; readers of older states, also in other processes, keep the old one as long as they need it. It
// needs room for both. What links to the file by other names keeps the old one. On systems where an open file cannot
// be replaced it fails, and nothing changes.
//
// In a sparse frame, Compact removes the chunk files that no state names, which edits that were cut short leave.
//
// Errors are ErrParam for a frame that is not in a file of its own, for which Copy and AppendTo are, ErrCorrupt for a
// chunk that cannot be copied, ErrReadOnly, ErrClosed, or those of the context and the system.
func (f *Frame) Compact(ctx context.Context) error {
	ctx = task.Context(ctx)
	b, err := f.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Rollback() // there is nothing in the batch
	return f.store.compact(ctx, b)
}

func (c *contiguous) size(s *snapshot) (int64, error) {
	if st, ok := s.src.(Storage); ok && c.base == 0 {
		return st.Size()
	}
	return s.frameLen, nil
}

func (c *contiguous) compact(ctx context.Context, b *Batch) error {
	f, old := b.f, b.cur
	if c.name == "" || c.base != 0 {
		return f.wrap("file", -1, fmt.Errorf("cannot compact what is not a file of its own: %w", ErrParam))
	}
	name, err := c.sys.resolve(c.name)
	if err != nil {
		return err
	}
	made, err := createStore(name, &Options{NoSync: c.noSync, sys: c.sys})
	if err != nil {
		return err
	}
	n := made.(*contiguous)
	installed := false
	defer func() {
		if !installed {
			n.close()
		}
	}()
	s, err := n.fill(ctx, f, old)
	if err == nil {
		err = sameMode(c.sys, name, n.st)
	}
	if err == nil {
		err = c.sys.rename(n.temp, name)
	}
	if err != nil {
		return f.wrap("commit", -1, err)
	}
	installed = true
	if err = syncDir(c.sys, name, c.noSync); err != nil { // either file may be there after a crash
		f.broken = err
		err = f.wrap("commit", -1, err)
	}
	for i := range c.retired {
		c.retired[i].exts = nil // in the old file
	}
	c.retired = append(c.retired, retired{s: old, st: c.st})
	c.st, c.free, c.head, c.surveyed, c.shared, c.doubt = n.st, nil, n.head, true, n.shared, false
	f.snap.CompareAndSwap(old, s) // it stays nil when the frame was closed meanwhile
	return err
}

// fill writes the state old of another file to this one, which is empty, and syncs it.
func (c *contiguous) fill(ctx context.Context, f *Frame, old *snapshot) (*snapshot, error) {
	s := old.successor()
	n, err := headerLen(s.meta)
	if err != nil {
		return nil, err
	}
	s.headerLen, s.src, s.draft = n, c.st, false
	w := &gather{w: c.st, at: int64(n)}
	if old.index.list != nil {
		list := slices.Clone(old.index.list)
		var place map[entry]entry // of chunks that the index names twice
		if _, c.shared = old.index.storedEntries(); c.shared {
			place = make(map[entry]entry, len(list))
		}
		chunks := f.once(old)
		var buf []byte
		for i, e := range list {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if e < 0 {
				continue
			}
			if to, ok := place[e]; ok {
				list[i] = to
				continue
			}
			list[i] = entry(w.end() - int64(n))
			if c.shared {
				place[e] = list[i]
			}
			if buf, err = chunks.read(buf[:0], i); err == nil {
				err = w.add(buf)
			}
			if err != nil {
				return nil, err
			}
		}
		s.index = newIndex(list, old.index.sums)
	}
	if err := w.flush(); err != nil {
		return nil, err
	}
	s.area = w.at
	out, err := s.index.append(nil, f.plain)
	if err == nil {
		err = s.seal(out, f.plain)
	}
	if err == nil {
		out, err = meta.AppendTrailer(out, s.vlmeta)
	}
	if err == nil {
		err = c.install(f, nil, s, out, s.area)
	}
	return s, err
}

// sameMode gives a new file the permissions of the one that it replaces.
func sameMode(sys system, name string, st Storage) error {
	fi, err := sys.stat(name)
	if err != nil {
		return err
	}
	return st.(file).Chmod(fi.Mode().Perm())
}

// gather writes many small pieces one behind the other as few large ones.
type gather struct {
	w   io.WriterAt
	at  int64 // where buf goes
	buf []byte
}

func (g *gather) end() int64 { return g.at + int64(len(g.buf)) }

func (g *gather) add(b []byte) error {
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

func (g *gather) flush() error {
	_, err := g.w.WriteAt(g.buf, g.at)
	g.at += int64(len(g.buf))
	g.buf = g.buf[:0]
	return err
}

func (d *sparse) compact(ctx context.Context, b *Batch) error {
	named := map[string]bool{}
	states := []*snapshot{b.cur}
	for _, r := range d.retired {
		states = append(states, r.s)
	}
	for _, s := range states {
		for _, e := range s.index.list {
			if e >= 0 {
				named[chunkFile(int64(e))] = true
			}
		}
	}
	files, err := d.root.readDir()
	if err != nil {
		return err
	}
	for _, x := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		var id int64
		n, _ := fmt.Sscanf(x.Name(), "%X.chunk", &id)
		ours := n == 1 && x.Name() == chunkFile(id) && !named[x.Name()] || x.Name() == indexFile+".tmp"
		if !ours || !x.Type().IsRegular() {
			continue
		}
		if err := d.root.remove(x.Name()); err != nil {
			return err
		}
	}
	return nil
}
