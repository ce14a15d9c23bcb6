package frame

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/meta"
)

// store keeps the chunks, index and trailer of a frame: in one contiguous storage, or in the files of a directory. It
// knows snapshots, which are values, and not the frame: methods return their results. One goroutine at a time calls
// methods other than open, evidence and size.
type store interface {
	// open returns the location of the chunk of an entry that is not special. from reads the bytes of s, with the
	// context of the call; only contiguous frames use it. next is the entry of the following chunk, a hint for the
	// size, or negative.
	open(s *snapshot, from io.ReaderAt, e, next entry) (chunkSource, error)
	// evidence returns the number of stored bytes of a state that are evidence (see coder.Evidence), or at least
	// enough. After an error of reading, there may be more. Any goroutine may call it.
	evidence(ctx context.Context, s *snapshot, enough int64) (int64, error)
	// size returns the number of stored bytes, dead bytes included. Any goroutine may call it.
	size(s *snapshot) (int64, error)

	// headerFits returns an error if a header of n bytes would cover chunks of older states that are in use.
	headerFits(n int64) error
	// put writes a chunk that no commit references yet.
	put(tx *transaction, c []byte) (entry, error)
	// free records that the chunk of an entry will not be referenced after the commit.
	free(tx *transaction, e entry, size int64)
	// share records that a chunk is referenced more than once from now on: space that one entry frees may then still be
	// in use.
	share()
	// makeRoom returns the transaction that must be committed before this one, or nil.
	makeRoom(tx *transaction) *transaction
	// commit stores tx.next. After success the stored frame is in the new state, and after an error in the old one. If
	// it is unknown in which of the two it is, commit sets tx.unknown.
	commit(tx *transaction) error
	// rollback frees the space of the chunks that put wrote.
	rollback(tx *transaction)
	// release forgets older states that have no readers any more, and closes files and directories that were replaced.
	// It writes nothing.
	release()
	// reclaim frees the space of older states that have no readers any more. It may return a transaction, which the
	// caller commits so that more space can be freed. now is nil if the frame is closed. If another state is stored,
	// reclaim changes nothing that is stored.
	reclaim(now *snapshot) *transaction
	// trim forgets free space at the end, and truncates it if now is stored and no older state has readers. now is nil
	// if the frame is closed.
	trim(now *snapshot)

	// reopen opens the file or directory that has the name of the frame now: that of the store, or one that has
	// replaced it.
	reopen(ctx context.Context, write bool) (reopened, error)
	// hasName reports whether the file or directory of the store has the name of the frame.
	hasName() (bool, error)
	// adopt makes s, which was read from r, the newest state in place of old. The store then forgets its free space and
	// its older states.
	adopt(r reopened, old, s *snapshot)
	close() error
}

// transaction is a batch as a store sees it.
type transaction struct {
	cur  *snapshot // the state that readers see; nil before the first commit
	next *snapshot // the state after the commit

	written map[int64]int64  // offset and end of each chunk that the batch wrote; in a sparse frame, numbers of files
	unused  []storage.Extent // of chunks that the batch wrote and freed
	freed   []storage.Extent // of the chunks of cur that next does not reference
	end     int64            // contiguous frames: offset of the end of the newest bytes
	size    sizeEstimate     // of the chunks that will follow

	tail    []byte // index, checksums and trailer
	tailAt  int64  // required offset of the tail; 0 = anywhere
	unknown error  // why cur or next may be stored, or why a journal is left
}

// write records that the batch has written a chunk to x.
func (tx *transaction) write(x storage.Extent) {
	if tx.written == nil {
		tx.written = map[int64]int64{}
	}
	tx.written[x.Off] = x.End
}

// unwrite reports whether the batch has written a chunk to x, and forgets that.
func (tx *transaction) unwrite(x storage.Extent) bool {
	end, ok := tx.written[x.Off]
	if ok = ok && end == x.End; ok {
		delete(tx.written, x.Off)
	}
	return ok
}

// extents returns the extents that write has recorded, sorted by offset.
func (tx *transaction) extents() []storage.Extent {
	list := make([]storage.Extent, 0, len(tx.written))
	for _, off := range slices.Sorted(maps.Keys(tx.written)) {
		list = append(list, storage.Extent{Off: off, End: tx.written[off]})
	}
	return list
}

// encodeTail encodes the tail of tx.next.
func (tx *transaction) encodeTail(p *coder.Pool) (err error) {
	s := tx.next
	var index []byte
	if tx.tailAt == 0 { // otherwise the tail of an empty frame only moves
		// A block table of other chunks is dropped.
		if i := findLayer(s.vlmeta, blockLayer); i >= 0 && !s.index.same(&s.tabled) {
			s.vlmeta = append(s.vlmeta[:i:i], s.vlmeta[i+1:]...)
			s.forgetVLMeta(blockLayer)
		}
		if index, err = s.index.append(nil, p); err == nil && s.checksums != nil {
			err = s.addChecksums(index, p)
		}
		if err != nil {
			return err
		}
	}
	tx.tail, err = meta.AppendTrailer(index, s.vlmeta)
	return err
}

// chunkSource is the location of the bytes of a chunk.
type chunkSource struct {
	mem   []byte // the bytes, if they are in memory
	at    io.ReaderAt
	off   int64 // of the chunk
	size  int64 // upper bound of the size in bytes
	usual int64 // an upper bound for most chunks, at most size; or 0
	guess int64 // an estimate of the size, or 0
	exact bool  // guess is not less than the size
	mean  int64 // the mean size of chunks, if guess is much larger
	close io.Closer
}

// header reads the header of the chunk.
func (src *chunkSource) header() (h coder.Header, err error) {
	b := src.mem
	if b == nil {
		if b, err = storage.ReadAll(src.at, src.off, min(src.size, coder.HeaderSize)); err != nil {
			return h, err
		}
	}
	return coder.ParseHeader(b, src.size)
}

// closeSource closes what openChunk returned.
func closeSource(c io.Closer) {
	if c != nil {
		c.Close()
	}
}

// errOtherKind is the error for a directory in the place of a file, or a file in the place of a directory.
var errOtherKind = fmt.Errorf("a frame of the other kind: %w", ErrChanged)

// reopened is the file or directory that has the name of a frame now.
type reopened struct {
	same    bool            // it is that of the store
	src     io.ReaderAt     // of header, index and trailer
	size    int64           // of src
	segment storage.Segment // contiguous frames
	root    storage.Root    // sparse frames
	file    io.Closer       // sparse frames: src
}

// close closes the parts that are no longer used. adopted reports whether the store uses the others.
func (r *reopened) close(adopted bool) {
	closeSource(r.file)
	switch {
	case r.same || adopted:
	case r.root != nil:
		r.root.Close()
	default:
		r.segment.Close()
	}
}

// sizeEstimate predicts the stored size of the chunks of an Encode, in bytes.
type sizeEstimate struct {
	all             int64 // size of their content; 0 = unknown
	stored, content int64 // of the chunks so far
}

// add counts a chunk.
func (e *sizeEstimate) add(stored, content int) {
	e.stored += int64(stored)
	e.content += int64(content)
}

// left returns the predicted size of the chunks that follow.
func (e *sizeEstimate) left() int64 {
	if e.content == 0 || e.content >= e.all {
		return 0
	}
	return int64(float64(e.stored) / float64(e.content) * float64(e.all-e.content) * 17 / 16)
}

// Objects is a place for the objects of a frame in an object store: see [Regions]. Names have no slashes. Usually they
// are keys below a prefix, as in package cloud. Several goroutines call its methods at the same time.
//
// An object appears completely or not at all, and Put replaces it in one step. Get and List see what was put and
// removed before, also by other processes.
type Objects interface {
	// Put writes an object. If the object exists and replace is not set, Put returns an error that wraps fs.ErrExist.
	// It does not retain data. If the store cannot compare and write in one step, Put may replace an object that
	// appears during the call.
	Put(ctx context.Context, name string, data []byte, replace bool) error
	// Get returns the first n bytes of an object, or all if it has fewer, and its size. The error wraps fs.ErrNotExist
	// if there is no object.
	Get(ctx context.Context, name string, n int64) (data []byte, size int64, err error)
	// List ranges over the names of all objects, in any order. The first error ends the loop.
	List(ctx context.Context) iter.Seq2[string, error]
	// Remove removes an object. The error wraps fs.ErrNotExist if there is no object.
	Remove(ctx context.Context, name string) error
}

// regionFiles are the files of Regions in a directory or in Objects, except for writing.
type regionFiles interface {
	Get(ctx context.Context, name string, n int64) (data []byte, size int64, err error)
	List(ctx context.Context) iter.Seq2[string, error]
	Remove(ctx context.Context, name string) error
}

// evidenceIn is coder.Evidence for ranges of a source that reads many at once.
func evidenceIn(ctx context.Context, far storage.RangeReader, list []ranges.Range, enough int64) (found int64, err error) {
	for size := enough; found < enough && err == nil && len(list) > 0; size *= 4 {
		n := 0
		for left := size; left > 0 && n < len(list); n++ {
			left -= list[n].Len
		}
		err = far.ReadRanges(ctx, list[:n], func(_ int, _ int64, b []byte) error {
			if found += coder.PageEvidence(b); found >= enough {
				return io.EOF // the rest is not needed
			}
			return nil
		})
		list = list[n:]
	}
	if found >= enough {
		err = nil
	}
	return found, err
}
