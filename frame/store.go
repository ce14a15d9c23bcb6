package frame

import (
	"context"
	"io"
	"iter"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// store keeps the chunks, index and trailer of a frame: in one contiguous storage, or in the files of a directory. It
// knows snapshots, which are values, and not the frame: it returns what it has done. Methods other than open, stored
// and size are called by one goroutine at a time.
type store interface {
	// open returns the location of the chunk of an entry that is not special. from reads the bytes of s, with the
	// context of the call; only contiguous frames use it. next is the entry of the following chunk, a hint for the
	// size, or negative.
	open(s *snapshot, from io.ReaderAt, e, next entry) (source, error)
	// stored returns how many of the bytes of a state are evidence (see coder.Evidence), or that enough are. Any
	// goroutine may call it.
	stored(s *snapshot, enough int64) int64
	// size returns how many bytes are stored, those that no state uses included. Any goroutine may call it.
	size(s *snapshot) (int64, error)

	// headerFits returns an error if a header of n bytes would cover chunks of older states that are in use.
	headerFits(n int64) error
	// put writes a chunk that no commit references yet.
	put(tx *transaction, c []byte) (entry, error)
	// free records that the chunk of an entry will not be referenced after the commit.
	free(tx *transaction, e entry, size int64)
	// share records that a chunk is referenced more than once from now on: then space that one entry frees may be in
	// use.
	share()
	// makeRoom returns the transaction that must be committed before this one, or nil.
	makeRoom(tx *transaction) *transaction
	// commit stores tx.next: after it, the stored bytes are those of the new state, and before it, whatever happens,
	// those of the old one. If it is not known which of them they are, tx.unknown is set.
	commit(tx *transaction) error
	// rollback frees what put wrote.
	rollback(tx *transaction)
	// reclaim frees the space of older states that have no readers any more. It may return a transaction that is to be
	// committed so that more can be given back. now is nil when the frame is closed.
	reclaim(now *snapshot) *transaction
	// trim gives free space at the end back to the system. now is nil when the frame is closed.
	trim(now *snapshot)

	// reopen opens what has the name of the frame now: what the store has, or what another process has put in its
	// place.
	reopen(ctx context.Context, write bool) (reopened, error)
	// adopt makes s, which was read from r, the newest state in place of old. What the store knows of free space and
	// older states counts no more then.
	adopt(r reopened, old, s *snapshot)
	close() error
}

// transaction is what a store knows of a batch.
type transaction struct {
	cur  *snapshot // what readers see; nil before the first commit
	next *snapshot // what the commit makes

	written []storage.Extent // where chunks were written; of files, the numbers
	freed   []storage.Extent // chunks of cur that next does not have
	end     int64            // contiguous frames: where the newest bytes end
	size    sizeEstimate     // of the chunks that are still to come

	tail    []byte // index, checksums and trailer, as they will be stored
	tailAt  int64  // where the tail must go; 0 = where there is room
	unknown error  // why it is not known whether cur or next is stored, or that a journal is left
}

// encodeTail makes the tail of tx.next.
func (tx *transaction) encodeTail(p *coder.Pool) (err error) {
	s := tx.next
	var index []byte
	if tx.tailAt == 0 { // else the tail of an empty frame only moves, and its checksums stay
		s.keepTable()
		if index, err = s.index.append(nil, p); err == nil {
			err = s.seal(index, p)
		}
		if err != nil {
			return err
		}
	}
	tx.tail, err = meta.AppendTrailer(index, s.vlmeta)
	return err
}

// keepTable removes the block table if the state has other chunks than those that it was made for.
func (s *snapshot) keepTable() {
	if i := findLayer(s.vlmeta, blockLayer); i >= 0 && !s.index.same(&s.tabled) {
		s.vlmeta = append(s.vlmeta[:i:i], s.vlmeta[i+1:]...)
		s.forgetVLMeta(blockLayer)
	}
}

// source is where the bytes of a chunk are.
type source struct {
	mem    []byte // when they are in memory
	at     io.ReaderAt
	off    int64 // of the chunk
	size   int64 // upper bound of the size in bytes
	guess  int64 // an estimate of the size, or 0
	exact  bool  // guess is not less than the size
	likely int64 // the mean size of chunks, if guess is much more
	close  io.Closer
}

// closeSource closes what openChunk returned.
func closeSource(c io.Closer) {
	if c != nil {
		c.Close()
	}
}

// reopened is what has the name of a frame now.
type reopened struct {
	same    bool            // it is what the store has
	src     io.ReaderAt     // of header, index and trailer
	size    int64           // of src
	segment storage.Segment // contiguous frames
	root    storage.Root    // sparse frames
	file    io.Closer       // sparse frames: src
}

// close closes what is not used any more. adopted reports whether the store has the rest now.
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

// sizeEstimate estimates how many bytes the chunks of an Encode will take.
type sizeEstimate struct {
	all             int64 // size of their content; 0 = unknown
	stored, content int64 // of the chunks so far
}

// add counts a chunk.
func (l *sizeEstimate) add(stored, content int) {
	l.stored += int64(stored)
	l.content += int64(content)
}

// left returns how many bytes will probably follow the chunks so far.
func (l *sizeEstimate) left() int64 {
	if l.content == 0 || l.content >= l.all {
		return 0
	}
	return int64(float64(l.stored) / float64(l.content) * float64(l.all-l.content) * 17 / 16)
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

// regionFiles is what Regions needs of a directory or of Objects, besides writing.
type regionFiles interface {
	Get(ctx context.Context, name string, n int64) (data []byte, size int64, err error)
	List(ctx context.Context) iter.Seq2[string, error]
	Remove(ctx context.Context, name string) error
}
