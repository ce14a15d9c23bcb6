package frame

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
)

// snapshot is one state of a frame, as a commit left it. It never changes, so readers need no lock.
type snapshot struct {
	header
	index  index
	meta   []meta.Layer // metalayers
	vlmeta []meta.Layer // variable-length metalayers; the contents are chunks
	sums   *checksums   // nil when the frame keeps none
	origin *origin      // nil when the chunks hold the data
	ends   ends         // of frames with chunks of variable size
	stored evidence
	src    io.ReaderAt // contiguous frames: where the bytes are
	area   int64       // contiguous frames: where the chunks end at the latest, from the frame start
	root   root        // sparse frames: the directory with the chunk files
	fileID int64       // sparse frames: the number of the next chunk file
	sum    uint64      // of index and trailer; see unchanged
	epoch  uint64      // see lock

	trailerLen int   // of a state that was read, in bytes
	hidden     error // of a state that was read: it is empty by its header, but has an index

	readers atomic.Int64                    // that use it now
	draft   bool                            // of a batch: it may change
	checked atomic.Pointer[[]atomic.Uint32] // a bit for each chunk that was compared with its checksum
}

// acquire returns the newest snapshot for reading; release it afterwards.
func (f *Frame) acquire(ctx context.Context) (*snapshot, error) {
	if err := f.share(ctx); err != nil {
		return nil, err
	}
	for {
		s := f.snap.Load()
		if s == nil {
			f.unshare()
			return nil, f.errClosed()
		}
		s.readers.Add(1)
		// A commit may have come between: then space that s names may already be written over.
		if f.snap.Load() == s && s.hold() {
			return s, nil
		}
		s.readers.Add(-1)
	}
}

// release ends the use of a snapshot. It changes *err, of what was read, when another process may have written over the
// snapshot meanwhile, or the frame was closed.
func (f *Frame) release(s *snapshot, err *error) {
	if e := f.intact(s); e != nil {
		*err = e
	}
	*err = f.orClosed(*err)
	s.drop()
	s.readers.Add(-1)
	f.unshare()
}

// hold keeps what the snapshot is read from, if that is memory that closing the frame would take away, until drop. It
// returns false when it is away.
func (s *snapshot) hold() bool {
	m, ok := s.src.(*mapped)
	return !ok || m.hold()
}

func (s *snapshot) drop() {
	if m, ok := s.src.(*mapped); ok {
		m.drop() // the error would be of no use to a reader
	}
}

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

// ends tells where the chunks of a frame with chunks of variable size end in the decoded bytes. Only the chunks know
// their sizes, so it is filled when first asked for.
type ends struct {
	mu   sync.Mutex
	list []int64
}

// chunkEnds returns where each chunk ends in the decoded bytes. It reads the headers of all chunks, once.
func (f *Frame) chunkEnds(s *snapshot) ([]int64, error) {
	s.ends.mu.Lock()
	defer s.ends.mu.Unlock()
	if s.ends.list != nil || s.index.n == 0 {
		return s.ends.list, nil
	}
	var list []int64 // not made at once: special values without a size may be as many as one wishes
	end := int64(0)
	for i := range s.index.n {
		h, err := f.chunkHeader(s, i)
		if err != nil {
			return nil, err
		}
		end += int64(h.NBytes)
		list = append(list, end)
	}
	if end != s.nbytes {
		return nil, f.wrap("header", offNBytes, corrupt("%d bytes, the chunks have %d", s.nbytes, end))
	}
	s.ends.list = list
	return list, nil
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
func (s *snapshot) checkChunk(i int, h *chunk.Header) error {
	if want := s.chunkLen(i); want >= 0 && int64(h.NBytes) != want {
		return corrupt("chunk of %d bytes decoded, the frame has %d", h.NBytes, want)
	}
	return nil
}
