package frame

import (
	"fmt"
	"hash/maphash"
	"io"
	"sync"
	"sync/atomic"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// snapshot is one state of a frame, as a commit left it. It never changes, so readers need no lock.
type snapshot struct {
	header
	index     index
	meta      []meta.Layer // metalayers
	vlmeta    []meta.Layer // variable-length metalayers; the contents are chunks
	checksums *checksumSet // nil when the frame keeps none
	origin    *origin      // nil when the chunks hold the data
	ends      ends         // of frames with chunks of variable size
	stored    evidence
	heads     heads        // of chunks of a source that is read ahead
	src       io.ReaderAt  // contiguous frames: where the bytes are
	area      int64        // contiguous frames: where the chunks end at the latest, from the frame start
	root      storage.Root // sparse frames: the directory with the chunk files
	fileID    int64        // sparse frames: the number of the next chunk file
	print     fingerprint  // of index and trailer
	epoch     uint64       // see storage.Lock

	trailerLen int   // of a state that was read, in bytes
	hidden     error // of a state that was read: it is empty by its header, but has an index

	readers atomic.Int64                    // that use it now
	nstored atomic.Int64                    // see storedChunks
	draft   bool                            // of a batch: it may change
	checked atomic.Pointer[[]atomic.Uint32] // a bit for each chunk that was compared with its checksum
}

// pin keeps the memory of a mapped file until unpin, though the frame is closed. It returns false if it is gone.
func (s *snapshot) pin() bool {
	m, ok := s.src.(*storage.Mapped)
	return !ok || m.Pin()
}

// unpin ends what pin began.
func (s *snapshot) unpin() {
	if m, ok := s.src.(*storage.Mapped); ok {
		m.Unpin() // the error would be of no use to a reader
	}
}

// InUse reports whether the snapshot has readers.
func (s *snapshot) InUse() bool { return s.readers.Load() != 0 }

// marks returns the bits of the chunks that were compared with their checksums.
func (s *snapshot) marks() []atomic.Uint32 {
	m := s.checked.Load()
	if m == nil {
		bits := make([]atomic.Uint32, (s.index.n+31)/32)
		s.checked.CompareAndSwap(nil, &bits)
		m = s.checked.Load()
	}
	return *m
}

// ends holds the positions in the decoded bytes where chunks of variable size end. Only the chunks know
// their sizes, so it is filled when first asked for.
type ends struct {
	mu   sync.Mutex
	list []int64
}

// chunkLen returns the decoded size of chunk i as the frame knows it, or -1 when only the chunk does.
func (s *snapshot) chunkLen(i int) int64 {
	if s.chunkSize <= 0 {
		return -1
	}
	return min(int64(s.chunkSize), s.nbytes-int64(i)*int64(s.chunkSize))
}

// countChunks returns how many chunks the sizes in the header ask for, or -1 when only the index knows.
func (h *header) countChunks() int64 {
	switch {
	case h.nbytes == 0:
		return 0
	case h.chunkSize > 0:
		return (h.nbytes-1)/int64(h.chunkSize) + 1
	}
	return -1
}

// checkChunk compares an opened chunk with what the frame says of it.
func (s *snapshot) checkChunk(i int, h *coder.Header) error {
	if want := s.chunkLen(i); want >= 0 && int64(h.NBytes) != want {
		return corrupt("chunk of %d bytes decoded, the frame has %d", h.NBytes, want)
	}
	return nil
}

// successor returns a copy of s that a batch may change.
func (s *snapshot) successor() *snapshot {
	t := &snapshot{header: s.header, index: s.index, meta: s.meta, vlmeta: s.vlmeta, checksums: s.checksums, origin: s.origin, src: s.src, root: s.root, epoch: s.epoch, area: s.area, fileID: s.fileID, draft: true}
	if t.index.n == 0 {
		// No entry counts from the end of the header, so that the header can have the length that it needs.
		if n, err := headerLen(t.meta); err == nil {
			t.headerLen, t.area = n, int64(n)
		}
	}
	return t
}

// tail returns where index and trailer are.
func (s *snapshot) tail() storage.Extent {
	if s.index.n == 0 {
		return storage.Extent{Off: int64(s.headerLen), End: s.frameLen}
	}
	return storage.Extent{Off: s.indexPos(), End: s.frameLen}
}

// areaLen returns how many bytes the chunks of a state can have, or a number that is larger. The chunks of a sparse
// frame have a file each.
func (s *snapshot) areaLen() int64 {
	if s.sparse {
		return 1<<63 - 1
	}
	return max(s.cbytes, s.area-int64(s.headerLen))
}

// blockwise reports whether blocks are long enough for reading each when it is decoded: its bytes then come from the
// nearest cache. Only files of the system are that fast at giving them.
func (s *snapshot) blockwise() bool {
	return storage.IsFile(s.src) && s.nbytes > 0 && float64(s.blockSize)*float64(s.cbytes)/float64(s.nbytes) >= 16<<10
}

// chunkChecksums returns the checksums of all chunks, or nil when there are none. The caller may append to them but not
// change them.
func (s *snapshot) chunkChecksums() []uint32 {
	if s.index.checksums == nil && s.index.n > 0 && s.checksums.kept() {
		return make([]uint32, s.index.n) // of one special value
	}
	return s.index.checksums
}

// appendHeader returns the header of s, metalayers included. It may be shorter than s.headerLen says: the bytes after
// it have no meaning.
func appendHeader(s *snapshot) ([]byte, error) {
	h := s.header
	h.hasVL = len(s.vlmeta) > 0
	b, err := meta.AppendHeader(h.append(nil), s.meta)
	if err == nil && len(b) > s.headerLen {
		err = fmt.Errorf("header of %d bytes in place of %d: %w", len(b), s.headerLen, ErrParam)
	}
	return b, err
}

// fingerprint is a hash of bytes, to find out whether they have changed.
type fingerprint struct {
	seed maphash.Seed
	sum  uint64
}

func fingerprintOf(b []byte) fingerprint {
	seed := maphash.MakeSeed()
	return fingerprint{seed, maphash.Bytes(seed, b)}
}

// matches reports whether r has the same bytes, n of them.
func (p fingerprint) matches(r io.Reader, n int64) bool {
	var sum maphash.Hash
	sum.SetSeed(p.seed)
	_, err := io.CopyBuffer(&sum, r, make([]byte, min(n, 64<<10)))
	return err == nil && sum.Sum64() == p.sum
}

// origin describes a frame whose data is not, or not all, in its chunks. It never changes.
type origin struct {
	layer  string // the metalayer that marks the frame
	stored bool   // of a cache without a list: the chunks are those that the index does not call special
	bits   []byte // of a cache with a list: a bit for each part of a chunk that is in the cache
	parts  int    // bits for each chunk
}

// evidence is how much of a state is known to be stored.
type evidence struct {
	mu     sync.Mutex
	found  int64
	sought int64 // the search stopped there
}

// storedChunks returns how many chunks the index references, about: it counts an entry that is repeated each time. It
// counts them once for each committed state. Of a draft, it counts special chunks too.
func (s *snapshot) storedChunks() int64 {
	if s.index.list == nil {
		return 1
	}
	if s.draft {
		return int64(s.index.n)
	}
	n := s.nstored.Load()
	if n == 0 {
		for _, e := range s.index.list {
			if e >= 0 {
				n++
			}
		}
		s.nstored.Store(n)
	}
	return n
}

// maxHeads is the largest number of bytes in heads.
const maxHeads = 8 << 20

// heads holds the beginnings of chunks that were read ahead, which locate their blocks.
type heads struct {
	mu    sync.Mutex
	list  map[int64][]byte // by offset; they do not change
	bytes int64
}

func (h *heads) get(off int64) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.list[off]
}

// put keeps the beginning of a chunk, in place of those of any other chunks if there is no room.
func (h *heads) put(off int64, b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.list == nil {
		h.list = map[int64][]byte{}
	}
	h.bytes += int64(len(b) - len(h.list[off]))
	h.list[off] = b
	for k, b := range h.list {
		if h.bytes <= maxHeads {
			break
		}
		h.bytes -= int64(len(b))
		delete(h.list, k)
	}
}
