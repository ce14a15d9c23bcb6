package frame

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// indexFile is the file of a sparse frame that holds header, index and trailer.
const indexFile = "chunks.b2frame"

// sparse is a store in a directory: each chunk is a file of its own.
//
// A commit writes new chunks to files with new numbers, then a new index file aside, which takes the place of the
// old one by renaming. Chunk files that only older states name are removed when their last reader is gone.
//
// Every file of the directory is reached through its root. Files are written only when they are new, never in place: what
// has the name of a new file is removed before. So a link in the directory, symbolic or not, cannot direct a write to a
// file outside.
type sparse struct {
	sys      system
	root     root // that of new states
	dir      string
	temp     string // the directory has this name until the first commit
	noSync   bool
	retired  []retired      // the extents' positions are file numbers
	surveyed bool           // shared is known
	shared   bool           // the index names files twice: then none is removed
	takenBy  *Batch         // the batch that taken and low belong to
	taken    map[int64]bool // file numbers in use; see number
	low      int64          // no free number is below
}

func newSparse(sys system, r root, dir, temp string, noSync bool) *sparse {
	return &sparse{sys: sys, root: r, dir: dir, temp: temp, noSync: noSync, surveyed: temp != ""}
}

func chunkFile(n int64) string { return fmt.Sprintf("%08X.chunk", n) }

func (d *sparse) open(s *snapshot, e, _ entry) (source, error) {
	if e > 1<<32-1 {
		return source{}, corrupt("chunk file number %d", e)
	}
	f, err := s.root.open(chunkFile(int64(e)), os.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w: %w", err, ErrCorrupt)
	case errors.Is(err, fs.ErrClosed):
		err = fmt.Errorf("%w: %w", err, ErrClosed)
	}
	if err != nil {
		return source{}, err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return source{}, err
	}
	guess := fi.Size()
	if s.chunkSize > 0 {
		guess = min(guess, int64(s.chunkSize)+chunk.MaxOverhead)
	}
	return source{at: f, size: fi.Size(), guess: guess, close: f}, nil
}

func (d *sparse) put(b *Batch, data []byte) (entry, error) {
	if b.next.fileID > 1<<32-1 {
		return 0, fmt.Errorf("chunk file number %d: %w", b.next.fileID, ErrTooLarge)
	}
	id := d.number(b, int64(len(data)))
	if err := d.writeFile(chunkFile(id), data); err != nil {
		return 0, err
	}
	b.put = append(b.put, extent{id, id})
	b.next.cbytes += int64(len(data))
	return entry(id), nil
}

// number returns the number of a new chunk file of n bytes: one more than the last. C-Blosc2 does not open a sparse
// frame with a number above the size of all chunks less a header, as if it were a position; where that may come near,
// it is the smallest that neither the batch nor a state in use names.
func (d *sparse) number(b *Batch, n int64) int64 {
	id := b.next.fileID
	if id <= (b.next.cbytes+n)/2-coder.HeaderSize || d.shared {
		b.next.fileID++
		return id
	}
	if d.takenBy != b {
		d.takenBy, d.taken, d.low = b, map[int64]bool{}, 0
		for _, s := range []*snapshot{b.cur, b.next} {
			for i := 0; s != nil && i < len(s.index.list); i++ {
				d.taken[int64(s.index.list[i])] = true
			}
		}
		for _, r := range d.retired {
			for _, x := range r.exts {
				d.taken[x.off] = true
			}
		}
		for _, x := range slices.Concat(b.put, b.dropped) {
			d.taken[x.off] = true
		}
	}
	for d.taken[d.low] {
		d.low++
	}
	id = d.low
	d.taken[id] = true
	b.next.fileID = max(b.next.fileID, id+1)
	return id
}

// writeFile writes a file that no commit names, and leaves none when that fails.
func (d *sparse) writeFile(name string, data []byte) error {
	f, err := createNew(d.root, name)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err == nil && !d.noSync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		d.root.remove(name)
	}
	return err
}

// createNew creates a file. A file or link of that name, which a crash may have left, is removed, not opened.
func createNew(r root, name string) (systemFile, error) {
	const flag = os.O_RDWR | os.O_CREATE | os.O_EXCL
	f, err := r.open(name, flag, 0o666)
	if !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	fi, err := r.lstat(name)
	if err != nil {
		return nil, err
	}
	if t := fi.Mode().Type(); t != 0 && t != fs.ModeSymlink {
		return nil, &fs.PathError{Op: "create", Path: name, Err: corrupt("in its place is what is %w", errNotFile)}
	}
	if err := r.remove(name); err != nil {
		return nil, err
	}
	return r.open(name, flag, 0o666)
}

func (d *sparse) drop(b *Batch, e entry, size int64) {
	b.next.cbytes = max(0, b.next.cbytes-size)
	if !d.surveyed && b.cur != nil {
		d.surveyed = true
		_, shared := b.cur.index.storedEntries()
		d.shared = d.shared || shared
	}
	if d.shared {
		return
	}
	if i := slices.Index(b.put, extent{int64(e), int64(e)}); i >= 0 {
		b.put = slices.Delete(b.put, i, i+1)
		d.root.remove(chunkFile(int64(e))) // no state names it
		if d.takenBy == b {
			delete(d.taken, int64(e))
			d.low = min(d.low, int64(e))
		}
		return
	}
	b.dropped = append(b.dropped, extent{int64(e), int64(e)})
}

func (d *sparse) share() { d.shared = true }

func (d *sparse) commit(b *Batch) error {
	s := b.next
	d.takenBy, d.taken = nil, nil
	for _, e := range s.index.list { // when chunks were deleted: see number
		s.cbytes = max(s.cbytes, int64(e)+coder.HeaderSize)
	}
	index, err := s.index.append(nil, b.f.plain)
	if err != nil {
		return err
	}
	if err := s.seal(index, b.f.plain); err != nil {
		return err
	}
	if s.headerLen, err = headerLen(s.meta); err != nil {
		return err
	}
	s.frameLen = int64(s.headerLen) + int64(len(index))
	rest, err := meta.AppendTrailer(index, s.vlmeta)
	if err != nil {
		return err
	}
	s.frameLen += int64(len(rest) - len(index))
	s.sum = maphash.Bytes(b.f.seed, rest)
	out, err := appendHeader(s)
	if err != nil {
		return err
	}
	const next = indexFile + ".tmp"
	if err := d.writeFile(next, append(out, rest...)); err != nil {
		return err
	}
	if len(b.put) > 0 {
		// The new chunk files must be there before the index that names them.
		if err := d.sync(); err != nil {
			d.root.remove(next)
			return err
		}
	}
	if err := d.root.rename(next, indexFile); err != nil {
		d.root.remove(next)
		return err
	}
	if err := d.sync(); err != nil {
		b.f.broken = err
		return err
	}
	if d.temp != "" {
		if err := d.publish(); err != nil {
			b.f.broken = err
			return err
		}
		s.root = d.root
	}
	if b.cur != nil { // also when it drops nothing: states before it may wait for its readers
		d.retired = append(d.retired, retired{s: b.cur, exts: b.dropped})
	}
	return nil
}

// sync makes the names in the directory last.
func (d *sparse) sync() error {
	if d.noSync || runtime.GOOS == "windows" { // there a directory cannot be synced
		return nil
	}
	return d.root.sync()
}

// publish gives the directory its name. Not all systems rename an opened directory, so it is closed meanwhile.
func (d *sparse) publish() error {
	was, err := d.root.stat()
	err = errors.Join(err, d.root.Close())
	d.root = nil
	if err == nil {
		err = replace(d.sys, d.temp, d.dir, d.noSync)
	}
	if err != nil {
		return err
	}
	d.temp = ""
	if d.root, err = d.sys.openRoot(d.dir); err != nil {
		return err
	}
	is, err := d.root.stat()
	if err == nil && !d.sys.same(was, is) {
		err = fmt.Errorf("another directory has taken the place of the new one: %w", ErrChanged)
	}
	return err
}

func (d *sparse) reclaim(f *Frame) {
	if f.broken != nil {
		return // who knows which state is stored
	}
	for len(d.retired) > 0 && d.retired[0].s.readers.Load() == 0 {
		for _, x := range d.retired[0].exts {
			d.root.remove(chunkFile(x.off)) // a file that stays is only waste
		}
		if r := d.retired[0].root; r != nil {
			r.Close()
		}
		d.retired = d.retired[1:]
	}
}

func (d *sparse) grow(int64) error { return nil }

func (d *sparse) rollback(b *Batch) {
	if b.f.broken != nil {
		return // perhaps the stored index names them
	}
	for _, x := range b.put {
		d.root.remove(chunkFile(x.off))
	}
}

// stored looks at the beginnings of the chunk files, each once.
func (d *sparse) stored(s *snapshot, enough int64) int64 {
	const most = 1 << 20
	sum, seen := int64(0), map[entry]bool{}
	for _, e := range s.index.list {
		if sum >= enough {
			break
		}
		if e < 0 || seen[e] {
			continue
		}
		seen[e] = true
		if src, err := d.open(s, e, -1); err == nil { // what cannot be read does not count
			sum += coder.Evidence(src.at, src.off, min(src.size, most), enough-sum)
			closeSource(src.close)
		}
	}
	return sum
}

// size measures the files of the directory.
func (d *sparse) size(*snapshot) (int64, error) {
	sum := int64(0)
	files, err := d.root.readDir()
	for _, x := range files {
		if fi, err := x.Info(); err == nil && fi.Mode().IsRegular() {
			sum += fi.Size()
		}
	}
	return sum, err
}

func (d *sparse) close() error {
	var err error
	if d.root != nil {
		err = d.root.Close()
	}
	for _, r := range d.retired {
		if r.root != nil {
			r.root.Close()
		}
	}
	if d.temp != "" { // never committed
		err = errors.Join(err, d.sys.removeAll(d.temp))
	}
	return err
}
