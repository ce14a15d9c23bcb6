package frame

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

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
type sparse struct {
	sys      system
	dir      string
	temp     string // the directory has this name until the first commit
	noSync   bool
	retired  []retired      // the extents' positions are file numbers
	surveyed bool           // shared is known
	shared   bool           // the index names files twice: then none is removed
	takenBy  *Batch         // the batch that taken and low belong to
	taken    map[int64]bool // file numbers in use; see number
	low      int64          // no free number is below
	bytes    atomic.Int64   // of the files when they were measured, and of those written since; -1 = not measured
}

func newSparse(sys system, dir, temp string, noSync bool) *sparse {
	d := &sparse{sys: sys, dir: dir, temp: temp, noSync: noSync, surveyed: temp != ""}
	d.bytes.Store(-1)
	return d
}

func chunkFile(n int64) string { return fmt.Sprintf("%08X.chunk", n) }

// at returns where the directory is now.
func (d *sparse) at() string {
	if d.temp != "" {
		return d.temp
	}
	return d.dir
}

func (d *sparse) open(_ *snapshot, e, _ entry) (source, error) {
	if e > 1<<32-1 {
		return source{}, corrupt("chunk file number %d", e)
	}
	f, err := d.sys.open(filepath.Join(d.at(), chunkFile(int64(e))), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	if err != nil {
		return source{}, err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return source{}, err
	}
	return source{at: f, size: fi.Size(), guess: min(fi.Size(), chunk.MaxBytes), close: f}, nil
}

func (d *sparse) put(b *Batch, data []byte) (entry, error) {
	if b.next.fileID > 1<<32-1 {
		return 0, fmt.Errorf("chunk file number %d: %w", b.next.fileID, ErrTooLarge)
	}
	id := d.number(b, int64(len(data)))
	b.put = append(b.put, extent{id, id})
	if err := d.writeFile(chunkFile(id), data); err != nil {
		return 0, err
	}
	b.next.cbytes += int64(len(data))
	if d.bytes.Load() >= 0 {
		d.bytes.Add(int64(len(data)))
	}
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

// writeFile writes a file that no commit names.
func (d *sparse) writeFile(name string, data []byte) error {
	f, err := d.sys.open(filepath.Join(d.at(), name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err == nil && !d.noSync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (d *sparse) drop(b *Batch, e entry, size int64) {
	b.next.cbytes = max(0, b.next.cbytes-size)
	if i := slices.Index(b.put, extent{int64(e), int64(e)}); i >= 0 {
		b.put = slices.Delete(b.put, i, i+1)
		d.sys.remove(filepath.Join(d.at(), chunkFile(int64(e)))) // no state names it
		if d.takenBy == b {
			delete(d.taken, int64(e))
			d.low = min(d.low, int64(e))
		}
		return
	}
	if !d.surveyed && b.cur != nil {
		d.surveyed = true
		_, d.shared = b.cur.index.storedEntries()
	}
	if d.shared {
		return
	}
	b.dropped = append(b.dropped, extent{int64(e), int64(e)})
}

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
	next := filepath.Join(d.at(), indexFile+".tmp")
	if err := d.writeFile(indexFile+".tmp", append(out, rest...)); err != nil {
		d.sys.remove(next)
		return err
	}
	if len(b.put) > 0 {
		// The new chunk files must be there before the index that names them.
		if err := syncDir(d.sys, next, d.noSync); err != nil {
			d.sys.remove(next)
			return err
		}
	}
	if err := d.sys.rename(next, filepath.Join(d.at(), indexFile)); err != nil {
		d.sys.remove(next)
		return err
	}
	if err := syncDir(d.sys, filepath.Join(d.at(), indexFile), d.noSync); err != nil {
		b.f.broken = err
		return err
	}
	if d.temp != "" {
		if err := replace(d.sys, d.temp, d.dir, d.noSync); err != nil {
			b.f.broken = err
			return err
		}
		d.temp = ""
	}
	if b.cur != nil { // also when it drops nothing: states before it may wait for its readers
		d.retired = append(d.retired, retired{s: b.cur, exts: b.dropped})
	}
	return nil
}

func (d *sparse) reclaim(f *Frame) {
	if f.broken != nil {
		return // who knows which state is stored
	}
	for len(d.retired) > 0 && d.retired[0].s.readers.Load() == 0 {
		for _, x := range d.retired[0].exts {
			d.sys.remove(filepath.Join(d.dir, chunkFile(x.off))) // a file that stays is only waste
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
		d.sys.remove(filepath.Join(d.at(), chunkFile(x.off)))
	}
}

// stored measures the files of the directory when it is first asked.
func (d *sparse) stored(*snapshot) int64 {
	if d.bytes.Load() < 0 {
		sum, _ := d.size(nil) // what cannot be read does not count
		d.bytes.CompareAndSwap(-1, sum)
	}
	return max(0, d.bytes.Load())
}

// size measures the files of the directory.
func (d *sparse) size(*snapshot) (int64, error) {
	sum := int64(0)
	files, err := d.sys.readDir(d.at())
	for _, x := range files {
		if fi, err := x.Info(); err == nil && fi.Mode().IsRegular() {
			sum += fi.Size()
		}
	}
	return sum, err
}

func (d *sparse) close() error {
	if d.temp != "" {
		return d.sys.removeAll(d.temp) // never committed
	}
	return nil
}
