package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
)

// indexFile is the file of a sparse frame that holds header, index and trailer.
const indexFile = "chunks.b2frame"

// A directory with layoutFile and without indexFile is an unfinished frame: no library opens it. The layout is an index
// file in which all chunks are uninitialized. Chunk i is in the chunk file with number i, also a special chunk, which
// the index takes over when the frame is finished. Temporary files are in tempDir.
const (
	layoutFile = "unfinished.layout"
	tempDir    = "unfinished"
	finishDir  = "finishing" // of temporary index files
)

// sparse is a store in a directory: each chunk is a file of its own.
//
// A commit writes new chunks to files with new numbers, then a new index file, which it renames over the old one. Chunk
// files that only older states reference are removed when these states have no readers.
//
// Every file of the directory is opened through its root. Files are never written in place: a file or link with the
// name of a new file is removed first. So no link in the directory, symbolic or hard, can direct a write to a file
// outside.
type sparse struct {
	sys     storage.System
	root    storage.Root // that of new states
	dir     string
	index   string // the name of the index file
	temp    storage.Temp
	noSync  bool
	pending storage.Pending[*snapshot] // the extents' positions are file numbers
	unused  []storage.Extent           // files to remove
	scanned bool                       // shared is known
	shared  bool                       // the index references files twice: no file is removed
	takenBy *transaction               // the transaction of taken and low
	taken   map[int64]bool             // file numbers in use; see number
	low     int64                      // all smaller numbers are in use

	accessBy *transaction // the transaction of access
	access   fs.FileInfo  // of the index file, for new files; see accessOf

	avoidedBy *transaction // the transaction of avoided
	avoided   []int64      // numbers of files that exist; see avoidFiles
}

// maxChunkFile is the largest number of a chunk file.
const maxChunkFile = 1<<32 - 1

// fileExtent is the extent of a chunk file: its number.
func fileExtent(id int64) storage.Extent { return storage.Extent{Off: id, End: id} }

// chunkNumber returns the number of a chunk file. Other names have no number.
func chunkNumber(name string) (int64, bool) {
	digits, ok := strings.CutSuffix(name, ".chunk")
	n, err := strconv.ParseUint(digits, 16, 32)
	return int64(n), ok && err == nil && name == chunkFileName(int64(n))
}

// isPart reports whether a file of this name in a directory may be a part of a sparse frame.
func isPart(name string) bool {
	switch name {
	case indexFile, indexFile + ".tmp", layoutFile, layoutFile + ".tmp", storage.LockName("", true):
		return true
	}
	_, isChunk := chunkNumber(name)
	return isChunk || storage.IsTemp(name) || strings.HasPrefix(name, ".nfs") // of a removed file that is open, on NFS
}

func (d *sparse) open(s *snapshot, _ io.ReaderAt, e, _ entry) (chunkSource, error) {
	if e > maxChunkFile {
		return chunkSource{}, corrupt("chunk file number %d", e)
	}
	f, err := s.root.Open(chunkFileName(int64(e)), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	if err != nil {
		return chunkSource{}, err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return chunkSource{}, err
	}
	guess := fi.Size()
	if s.chunkSize > 0 && !s.vlBlocks {
		guess = min(guess, int64(s.chunkSize)+chunk.MaxOverhead)
	}
	return chunkSource{at: f, size: fi.Size(), guess: guess, close: f}, nil
}

func (d *sparse) put(tx *transaction, data []byte) (entry, error) {
	if tx.next.fileID > maxChunkFile && d.shared {
		return 0, fmt.Errorf("chunk file number %d: %w", tx.next.fileID, ErrTooLarge)
	}
	if err := d.avoidFiles(tx); err != nil {
		return 0, err
	}
	id := d.number(tx, int64(len(data)))
	if err := d.writeFile(tx, chunkFileName(id), data); err != nil {
		return 0, err
	}
	tx.write(fileExtent(id))
	tx.next.cbytes += int64(len(data))
	return entry(id), nil
}

// avoidFiles makes the batch use no number of an existing chunk file in two cases: if Regions.Finish may still be
// removing files that the index does not reference, because it might remove a new file with the same name; and if an
// entry of the index is damaged, because Salvage can find its chunk.
func (d *sparse) avoidFiles(tx *transaction) error {
	if tx.cur == nil || d.avoidedBy == tx {
		return nil
	}
	if _, err := d.root.Lstat(layoutFile); errors.Is(err, fs.ErrNotExist) && !tx.cur.badEntry {
		d.avoidedBy, d.avoided = tx, nil
		return nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files, err := d.root.ReadDir(".")
	if err != nil {
		return err
	}
	d.avoidedBy, d.avoided = tx, nil
	for _, x := range files {
		if n, ok := chunkNumber(x.Name()); ok {
			d.avoided = append(d.avoided, n)
			tx.next.fileID = max(tx.next.fileID, n+1)
		}
	}
	return nil
}

// number returns the number of a new chunk file of n bytes: usually one more than the last. C-Blosc2 takes the number
// for a position, and does not open a sparse frame with a number above the size of all chunks less a header. Near this
// limit, and after maxChunkFile, number returns the smallest number that neither the batch nor a state in use
// references.
func (d *sparse) number(tx *transaction, n int64) int64 {
	id := tx.next.fileID
	if id <= min((tx.next.cbytes+n)/2-coder.HeaderSize, maxChunkFile) || d.shared {
		tx.next.fileID++
		if d.takenBy == tx {
			d.taken[id] = true
		}
		return id
	}
	if d.takenBy != tx {
		d.takenBy, d.taken, d.low = tx, map[int64]bool{}, 0
		for _, s := range []*snapshot{tx.cur, tx.next} {
			for i := 0; s != nil && i < len(s.index.list); i++ {
				d.taken[int64(s.index.list[i])] = true
			}
		}
		for _, x := range d.pending.All() {
			d.taken[x.Off] = true
		}
		for _, x := range slices.Concat(d.unused, tx.extents(), tx.freed) {
			d.taken[x.Off] = true
		}
		for _, n := range d.avoided {
			d.taken[n] = true
		}
	}
	for d.taken[d.low] {
		d.low++
	}
	id = d.low
	d.taken[id] = true
	tx.next.fileID = max(tx.next.fileID, id+1)
	return id
}

// accessOf returns the description of the index file, whose permissions and owner the new files of a batch get. It is
// nil in a new frame that replaces none.
func (d *sparse) accessOf(tx *transaction) (fs.FileInfo, error) {
	if tx.cur == nil || d.accessBy == tx {
		return d.access, nil
	}
	fi, err := storage.Existing(d.root, d.index)
	if err == nil {
		d.accessBy, d.access = tx, fi
	}
	return fi, err
}

// writeFile writes a file that no commit references yet. After an error it removes the file.
func (d *sparse) writeFile(tx *transaction, name string, data []byte) error {
	access, err := d.accessOf(tx)
	if err != nil {
		return err
	}
	f, err := storage.CreateNew(d.root, name, access)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err = storage.CloseWritten(f, err, d.noSync); err != nil {
		d.root.Remove(name)
	}
	return err
}

func (d *sparse) free(tx *transaction, e entry, size int64) {
	tx.next.cbytes = max(0, tx.next.cbytes-size)
	if !d.scanned && tx.cur != nil {
		d.scanned = true
		_, shared := tx.cur.index.storedEntries()
		d.shared = d.shared || shared
	}
	if d.shared {
		return
	}
	if tx.unwrite(fileExtent(int64(e))) {
		d.root.Remove(chunkFileName(int64(e))) // no state references it
		if d.takenBy == tx {
			delete(d.taken, int64(e))
			d.low = min(d.low, int64(e))
		}
		return
	}
	tx.freed = append(tx.freed, fileExtent(int64(e)))
}

func (d *sparse) share() { d.shared = true }

func (d *sparse) makeRoom(*transaction) *transaction { return nil }

// commit follows the order in which a commit reaches the disk. New chunk files are already written, and synced.
func (d *sparse) commit(tx *transaction) error {
	// Open the directory for the syncs first: if too many files are open, nothing has changed.
	names, err := storage.OpenNamesIn(d.root, d.noSync)
	if err != nil {
		return err
	}
	defer names.Close()

	// Step 1: write the new index file beside the old one, and sync it.
	head, err := d.header(tx)
	if err != nil {
		return err
	}
	next := d.index + ".tmp"
	if err := d.writeFile(tx, next, append(head, tx.tail...)); err != nil {
		return err
	}

	// Step 2: sync the names of new chunk files, which must be stored before the index that references them.
	if len(tx.written) > 0 {
		if err := names.Sync(); err != nil {
			d.root.Remove(next)
			return err
		}
	}

	// Step 3: rename the new index file over the old one. Now the stored frame has the new state.
	if err := d.root.Rename(next, d.index); err != nil {
		d.root.Remove(next)
		return err
	}

	// Step 4: sync the directory. If that fails, a crash may leave either index file.
	if err := names.Sync(); err != nil {
		tx.unknown = err
		return err
	}

	// Step 5: rename a new directory to its final name.
	if d.temp.TempName != "" {
		if d.root, err = d.temp.PublishDir(d.root); err != nil {
			tx.unknown = err
			return err
		}
		tx.next.root = d.root
	}

	// Step 6: the chunk files that only old states reference are removed when these have no readers. Also record a
	// commit that frees nothing: later ones wait for its readers if they free files that it references.
	if tx.cur != nil {
		d.pending.Add(tx.cur, storage.Extent{}, tx.freed, tx.written, nil)
	}
	return nil
}

// header sets the sizes of tx.next and returns its header.
func (d *sparse) header(tx *transaction) (head []byte, err error) {
	s := tx.next
	d.takenBy, d.taken = nil, nil
	for _, e := range s.index.list { // if chunks were deleted: see number
		if e <= maxChunkFile {
			s.cbytes = max(s.cbytes, int64(e)+coder.HeaderSize)
		}
	}
	if s.headerLen, err = measureHeader(s.meta); err != nil {
		return nil, err
	}
	s.frameLen = int64(s.headerLen + len(tx.tail))
	head, err = appendHeader(s)
	s.headPrint, s.tailPrint = fingerprintOf(head), fingerprintOf(tx.tail)
	return head, err
}

// release also records which files reclaim may remove.
func (d *sparse) release() { d.unused = append(d.unused, d.pending.Release()...) }

func (d *sparse) reclaim(now *snapshot) *transaction {
	d.release()
	if len(d.unused) == 0 || now == nil { // a closed frame does not know the stored state
		return nil
	}
	stored, err := now.stored()
	if err != nil {
		return nil
	}
	if stored { // otherwise the stored state may use the names
		for _, x := range d.unused {
			d.root.Remove(chunkFileName(x.Off)) // a file that remains only takes space
		}
	}
	d.unused = nil
	return nil
}

func (d *sparse) trim(*snapshot) {}

func (d *sparse) headerFits(int64) error { return nil }

func (d *sparse) rollback(tx *transaction) {
	for _, x := range tx.extents() {
		d.root.Remove(chunkFileName(x.Off))
	}
}

// evidence reads at most 64 MiB, or four times enough if that is more.
func (d *sparse) evidence(ctx context.Context, s *snapshot, enough int64) (int64, error) {
	return filesEvidence(ctx, d, s, enough, max(coder.EvidenceLook, 4*enough), 1<<14)
}

// filesEvidence is the method evidence of a store with a file for each chunk. It reads the beginnings of the files,
// each once, up to left bytes in all. In a source, each file counts as fileEvidence bytes, because it takes a request.
// A file that cannot be read does not count. The search stops after errs errors. If it has not found enough, it returns
// the last one.
func filesEvidence(ctx context.Context, d opener, s *snapshot, enough, left int64, errs int) (sum int64, fault error) {
	from := storage.Bind(ctx, s.src)
	for _, e := range s.index.distinct() {
		src, err := d.open(s, from, e, -1)
		if err == nil {
			n := int64(0)
			size := min(src.guess, fileEvidence)
			n, err = coder.Evidence(src.at, src.off, size, enough-sum)
			closeSource(src.close)
			if left -= size; s.remote {
				left -= fileEvidence - size // each file takes a request
			}
			if sum += n; sum >= enough {
				return sum, nil
			}
		}
		if err != nil {
			fault = err
			errs--
		}
		if err = ctx.Err(); err != nil {
			return sum, err
		}
		if left <= 0 || errs == 0 {
			break
		}
	}
	return sum, fault
}

// opener is the method open of a store.
type opener interface {
	open(s *snapshot, from io.ReaderAt, e, next entry) (chunkSource, error)
}

// size measures the files of the directory, without the lock file.
func (d *sparse) size(s *snapshot) (int64, error) {
	sum := int64(0)
	files, err := s.root.ReadDir(".")
	for _, x := range files {
		if fi, err := x.Info(); err == nil && fi.Mode().IsRegular() && x.Name() != storage.LockName("", true) {
			sum += fi.Size()
		}
	}
	return sum, err
}

func (d *sparse) reopen(ctx context.Context, write bool) (r reopened, err error) {
	r.same, r.root = true, d.root
	if err := d.followName(&r); err != nil {
		return r, err
	}
	file, err := r.root.Open(d.index, os.O_RDONLY, 0)
	if err != nil {
		same, e := d.named(r.root)
		r.close(false)
		if e == nil && !same { // another process has replaced the directory since
			return d.reopen(ctx, write)
		}
		return r, cmp.Or(e, err)
	}
	r.src, r.file = file, file
	if r.size, err = (storage.WritableFile{File: file}).Size(); err != nil {
		r.close(false)
	}
	return r, err
}

// followName opens the directory that has the name of the frame, if it is not the directory of d.
func (d *sparse) followName(r *reopened) error {
	for try := 1; ; try++ {
		var err error
		if r.same, err = d.named(d.root); err != nil || r.same {
			return err
		}
		if r.root, err = d.sys.OpenRoot(d.dir); err == nil {
			return nil
		}
		fi, e := d.sys.Stat(d.dir)
		switch {
		case e != nil:
			return e
		case !fi.IsDir():
			return errOtherKind
		case try == maxTries:
			return err
		}
	}
}

func (d *sparse) hasName() (bool, error) { return d.named(d.root) }

// named reports whether a directory has the name of the frame.
func (d *sparse) named(r storage.Root) (bool, error) {
	was, err := r.Stat()
	if err != nil {
		return false, err
	}
	is, err := d.sys.Stat(d.dir)
	return err == nil && d.sys.Same(was, is), err
}

func (d *sparse) adopt(r reopened, old, s *snapshot) {
	d.scanned, d.shared, d.takenBy, d.taken = false, false, nil, nil
	d.pending.Forget()
	d.unused = nil
	if s.root = r.root; r.same {
		d.pending.Add(old, storage.Extent{}, nil, nil, nil) // its readers keep the directory open
	} else {
		d.pending.Add(old, storage.Extent{}, nil, nil, d.root)
		d.root = r.root
	}
}

func (d *sparse) close() error {
	var err error
	if d.root != nil {
		err = d.root.Close()
	}
	d.pending.Close()
	if d.temp.TempName != "" { // never committed
		err = errors.Join(err, d.sys.RemoveAll(d.temp.TempName))
	}
	return err
}
