package frame

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/blocktable"
	"github.com/goblosc/blosc2/frame/internal/evidence"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/meta"
)

// snapshot is one state of a frame, as a commit left it. It never changes, so readers need no lock.
type snapshot struct {
	inherited
	ends      ends // of frames with chunks of variable size
	evidence  evidence.Known
	heads     heads // beginnings of chunks, if the source is read ahead
	table     blockTable
	order     storedOrder                  // for reading ahead
	chunks    sched.Sequence[[]byte]       // stored bytes that are read ahead
	headers   sched.Sequence[coder.Header] // likewise
	headPrint fingerprint                  // of the stored header, which may be torn: see load
	tailPrint fingerprint                  // of index and trailer

	trailerLen int   // of a state that was read, in bytes
	hidden     error // of a state that was read: it is empty by its header, but has an index

	readers atomic.Int64                    // current readers
	nstored atomic.Int64                    // see storedChunks
	draft   bool                            // of a batch: it may change
	blocks  atomic.Pointer[blockSequence]   // of the last calls of ReadBlock, or nil
	checked atomic.Pointer[[]atomic.Uint32] // a bit for each chunk that was compared with its checksum

	overwritten atomic.Bool // readers get ErrChanged: see contiguous.mayOverwrite
}

// inherited is the part of a snapshot that a batch begins with.
type inherited struct {
	f *Frame
	header
	index     index
	meta      []meta.Layer        // metalayers
	vlmeta    []meta.Layer        // variable-length metalayers; the contents are chunks
	checksums *checksumSet        // nil if the frame keeps none
	origin    *origin             // nil if the chunks hold the data
	tabled    index               // the index of the block table in vlmeta
	src       io.ReaderAt         // the bytes of a contiguous frame, or of the index of a sparse one; see setSource
	mapped    *storage.Mapped     // src, if it is a mapped file, or nil
	far       storage.RangeReader // the Source of src, if it reads many ranges at once, or nil
	remote    bool                // src reads from a Source
	file      bool                // src is a file that is not mapped
	area      int64               // contiguous: upper bound of the end of the chunks, from the frame start
	root      storage.Root        // sparse frames: the directory with the chunk files
	fileID    int64               // sparse frames: the number of the next chunk file
	badEntry  bool                // sparse frames: the stored index has an entry above maxChunkFile
	epoch     uint64              // see storage.Lock
}

// blockSequence is a sequence of reads of the blocks of one chunk with blocks of variable size. Opening such a chunk
// reads all of it.
type blockSequence struct {
	chunk int
	next  int           // the block after the first one that was read
	r     *coder.Reader // the open chunk, all of which is in memory, or nil
}

// reader returns the open chunk i, or nil. q may be nil.
func (q *blockSequence) reader(i int) *coder.Reader {
	if q == nil || q.chunk != i {
		return nil
	}
	return q.r
}

// after returns the sequence after a read of block k of chunk i, with the reader that was used. It keeps the open chunk
// from the second block in order on, or from the first one of a chunk that is far. q may be nil.
func (q *blockSequence) after(i, k int, r *coder.Reader, far bool) *blockSequence {
	switch {
	case k == r.NumBlocks-1:
		return nil
	case q.reader(i) != nil:
		return q
	case far || q != nil && q.chunk == i && k >= q.next:
		return &blockSequence{chunk: i, r: r}
	}
	return &blockSequence{chunk: i, next: k + 1}
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

// ends holds the end of each chunk of variable size in the decoded bytes. Only the chunks have their sizes, so ends is
// filled on first use.
type ends struct {
	known evidence.Known // 1 if list and err are set: calls share the search for them
	list  []int64
	err   error // if the chunks do not have the size of the frame
}

// setSource sets the bytes that s is read from.
func (s *snapshot) setSource(src io.ReaderAt) {
	s.src, s.far = src, storage.Ranges(src)
	s.mapped, _ = src.(*storage.Mapped)
	_, s.remote = src.(*storage.SourceBytes)
	s.file = storage.IsFile(src)
}

// ranges returns the Source of s, if it reads many ranges at once and chunks of s may be stored, or nil.
func (s *snapshot) ranges() storage.RangeReader {
	if s.index.list == nil && s.index.uniform < 0 {
		return nil
	}
	return s.far
}

// chunkLen returns the decoded size of chunk i, or -1 if only the chunk has it.
func (s *snapshot) chunkLen(i int) int64 {
	if s.chunkSize <= 0 {
		return -1
	}
	return min(int64(s.chunkSize), s.nbytes-int64(i)*int64(s.chunkSize))
}

// checkSize compares the decoded size of a chunk with that of the frame.
func (s *snapshot) checkSize(i int, h *coder.Header) error {
	if want := s.chunkLen(i); want >= 0 && int64(h.NBytes) != want {
		return corrupt("chunk of %d bytes decoded, the frame has %d", h.NBytes, want)
	}
	return nil
}

// successor returns a copy of s that a batch may change. If s has no chunks, the header of the copy is as long as its
// metalayers need; reclaim also calls successor to find that length.
func (s *snapshot) successor() *snapshot {
	t := &snapshot{inherited: s.inherited, draft: true}
	if o := t.origin; o != nil { // the batch may change the metalayers that describe it
		t.origin = &origin{layer: o.layer, byIndex: o.byIndex, bits: o.bits}
	}
	if t.index.n == 0 {
		// No entry is relative to the end of the header, so the header can have the length that it needs.
		if n, err := measureHeader(t.meta); err == nil {
			t.headerLen, t.area = n, int64(n)
		}
	}
	return t
}

// tail returns the extent of index and trailer.
func (s *snapshot) tail() storage.Extent {
	if s.index.n == 0 {
		return storage.Extent{Off: int64(s.headerLen), End: s.frameLen}
	}
	return storage.Extent{Off: s.indexPos(), End: s.frameLen}
}

// areaLen returns an upper bound of the bytes of the chunks of a state. The chunks of a sparse frame have a file each.
func (s *snapshot) areaLen() int64 {
	if s.sparse {
		return math.MaxInt64
	}
	return max(s.cbytes, s.area-int64(s.headerLen))
}

// assumedBlockSize returns the block size for estimates: automatic block sizes are about 64 KiB or more.
func (s *snapshot) assumedBlockSize() int64 {
	if s.blockSize == 0 {
		return 64 << 10
	}
	return int64(s.blockSize)
}

// chunkChecksums returns the checksums of all chunks, or nil if there are none. The caller may append to the slice but
// not change its elements.
func (s *snapshot) chunkChecksums() []uint32 {
	if s.index.checksums == nil && s.index.n > 0 && s.checksums.kept() {
		return make([]uint32, s.index.n) // one special value
	}
	return s.index.checksums
}

// appendHeader returns the header of s, including metalayers. It may be shorter than s.headerLen: the bytes after it
// have no meaning.
func appendHeader(s *snapshot) ([]byte, error) {
	h := s.header
	h.hasVL = len(s.vlmeta) > 0
	b, err := meta.AppendHeader(h.append(nil), s.meta)
	if err == nil && len(b) > s.headerLen {
		err = fmt.Errorf("header of %d bytes in place of %d: %w", len(b), s.headerLen, ErrParam)
	}
	return b, err
}

// fingerprint is a hash that shows whether n bytes have changed.
type fingerprint struct {
	seed maphash.Seed
	sum  uint64
	n    int
}

func fingerprintOf(b []byte) fingerprint {
	seed := maphash.MakeSeed()
	return fingerprint{seed, maphash.Bytes(seed, b), len(b)}
}

// matches reports whether src has the same bytes at off.
func (p fingerprint) matches(src io.ReaderAt, off int64) bool {
	var sum maphash.Hash
	sum.SetSeed(p.seed)
	buf := make([]byte, min(p.n, 1<<20)) // each read may be a request
	for left := p.n; left > 0; left -= len(buf) {
		buf = buf[:min(left, len(buf))]
		if n, _ := src.ReadAt(buf, off+int64(p.n-left)); n < len(buf) {
			return false
		}
		sum.Write(buf)
	}
	return sum.Sum64() == p.sum
}

// unchanged reports whether header, index and trailer in src are those of s.
func unchanged(ctx context.Context, src io.ReaderAt, s *snapshot) bool {
	src = storage.Bind(ctx, src)
	return s.headPrint.matches(src, 0) && s.tailPrint.matches(src, s.tail().Off)
}

// origin describes a frame whose chunks do not hold all of its data. It never changes.
type origin struct {
	layer   string // the metalayer that marks the frame
	byIndex bool   // of a cache without a list: it has the chunks that are not special in the index
	bits    []byte // of a cache with a list: a bit for each chunk that is in the cache

	load sync.Once // of the fields below, for errors: see checkOrigin
	text string    // what the frame is
	kind error     // errs.ErrElsewhere if the metalayer is a valid one of a known kind, or errs.ErrUnsupported
}

// fileEvidence is the number of bytes of a chunk file that may be evidence.
const fileEvidence = 1 << 20

// storedChunks returns about the number of stored chunks: it counts repeated entries, and in a draft special chunks,
// too. For a committed state it counts only once.
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

// entry is an element of the index: the position of a chunk relative to the end of the header, or in a sparse frame the
// number of its file, or, if negative, a special value.
type entry int64

// The special entries, as the format has them: the sign bit and the kind in the top byte.
const (
	entryZeros  entry = math.MinInt64 | 1<<56
	entryNaNs   entry = math.MinInt64 | 2<<56
	entryUninit entry = math.MinInt64 | 4<<56
)

// special returns the value that a negative entry represents, and chunk.Regular for other entries.
func (e entry) special() (chunk.Special, error) {
	if e >= 0 {
		return chunk.Regular, nil
	}
	// The order in which C-Blosc2 tests single bits.
	switch top := uint64(e) >> 56 & 0x7f; {
	case top&1 != 0:
		return chunk.Zeros, nil
	case top&4 != 0:
		return chunk.Uninit, nil
	case top&2 != 0:
		return chunk.NaNs, nil
	}
	return 0, corrupt("index entry %#x", uint64(e))
}

// specialEntry returns the entry of a special value that the index can hold.
func specialEntry(s chunk.Special) (entry, bool) {
	switch s {
	case chunk.Zeros:
		return entryZeros, true
	case chunk.NaNs:
		return entryNaNs, true
	case chunk.Uninit:
		return entryUninit, true
	}
	return 0, false
}

// index is the list of chunks. A frame that was filled with one special value has one entry for all chunks, so its
// memory does not depend on their number.
type index struct {
	n         int
	uniform   entry    // of all chunks, if list is nil
	list      []entry  // elements change only in a batch's own list; only the newest snapshot appends
	checksums []uint32 // CRC-32C of the stored chunks in list, 0 for special entries; nil = unknown
}

func (x *index) at(i int) entry {
	if x.list == nil {
		return x.uniform
	}
	return x.list[i]
}

// after returns the entry of the chunk that follows chunk i, or -1 if there is none.
func (x *index) after(i int) entry {
	if i < 0 || i >= x.n-1 {
		return -1
	}
	return x.at(i + 1)
}

// same reports whether x and y are one index. The first edit of entries in a batch makes another list.
func (x *index) same(y *index) bool {
	return x.n == y.n && x.uniform == y.uniform && len(x.list) == len(y.list) && (len(x.list) == 0 || &x.list[0] == &y.list[0])
}

// ascends reports whether each entry is larger than the one before it. Then no chunk is referenced twice.
func (x *index) ascends() bool {
	for i := 1; i < len(x.list); i++ {
		if x.list[i] <= x.list[i-1] {
			return false
		}
	}
	return x.list != nil || x.n < 2
}

// entries returns the list, which the caller may append to but not change.
func (x *index) entries() []entry {
	if x.list != nil || x.n == 0 {
		return x.list
	}
	list := make([]entry, x.n)
	for i := range list {
		list[i] = x.uniform
	}
	return list
}

// distinct ranges over the stored chunks of the list, each once: its first number, and its entry.
func (x *index) distinct() iter.Seq2[int, entry] {
	return func(yield func(int, entry) bool) {
		seen := map[entry]bool{}
		for i, e := range x.list {
			if e < 0 || seen[e] {
				continue
			}
			seen[e] = true
			if !yield(i, e) {
				return
			}
		}
	}
}

func newIndex(list []entry, checksums []uint32) index {
	return index{n: len(list), list: list, checksums: checksums}
}

// append appends the index chunk to dst. An empty index has none.
func (x *index) append(dst []byte, p *coder.Pool) ([]byte, error) {
	if x.n == 0 {
		return dst, nil
	}
	if x.n > chunk.MaxBytes/8 {
		return dst, fmt.Errorf("%d chunks: %w", x.n, ErrTooLarge)
	}
	if x.list == nil {
		value := binary.LittleEndian.AppendUint64(nil, uint64(x.uniform))
		return coder.EncodeSpecial(dst, chunk.Value, 8*x.n, value, coder.IndexParams())
	}
	plain := make([]byte, 0, 8*x.n)
	for _, e := range x.list {
		plain = binary.LittleEndian.AppendUint64(plain, uint64(e))
	}
	return p.Encode(dst, plain, coder.IndexParams())
}

// parseIndex reads the index chunk at the start of b, which has the header h. want is the number of chunks, or -1 if
// only the index has it. most is the largest number allowed, or 0.
func parseIndex(ctx context.Context, b []byte, h *coder.Header, want int64, most int, p *coder.Pool) (index, error) {
	if want >= 0 && int64(h.NBytes) != 8*want || h.NBytes%8 != 0 || h.NBytes == 0 {
		return index{}, corrupt("index of %d bytes for %d chunks", h.NBytes, want)
	}
	n := h.NBytes / 8
	if most > 0 && n > most {
		return index{}, fmt.Errorf("%d chunks, option MaxChunks allows %d: %w", n, most, ErrTooLarge)
	}
	if h.Special == chunk.Value && h.CBytes == coder.HeaderSize+8 {
		if e := entry(binary.LittleEndian.Uint64(b[coder.HeaderSize:])); e < 0 {
			return index{n: n, uniform: e}, nil
		}
	}
	// Chunks have different positions, which limits the compression of an index. A few bytes must not require much
	// memory.
	if most := max(1<<20, 4096*int64(h.CBytes)); int64(h.NBytes) > most && p.Options().MaxBytes >= 0 {
		return index{}, fmt.Errorf("index of %d bytes in %d: %w", h.NBytes, h.CBytes, ErrTooLarge)
	}
	plain, err := p.DecodeNumber(ctx, nil, b, -1)
	if err != nil {
		return index{}, err
	}
	list := make([]entry, n)
	for i := range list {
		list[i] = entry(binary.LittleEndian.Uint64(plain[8*i:]))
	}
	return newIndex(list, nil), nil
}

// storedEntries returns the entries of stored chunks, in order, and whether one occurs twice.
func (x *index) storedEntries() (list []entry, shared bool) {
	if x.list == nil {
		if x.n > 0 && x.uniform >= 0 {
			return []entry{x.uniform}, x.n > 1
		}
		return nil, false
	}
	list = make([]entry, 0, x.n)
	for _, e := range x.list {
		if e >= 0 {
			list = append(list, e)
		}
	}
	slices.Sort(list)
	for i := 1; i < len(list); i++ {
		shared = shared || list[i] == list[i-1]
	}
	return list, shared
}

// storedOrder is the entries of stored chunks in ascending order.
type storedOrder struct {
	sort sync.Once
	list []entry
}

// nextStored returns the entry of the stored chunk that follows chunk i in a contiguous frame, or the end of the chunks
// area. In a sparse frame it is negative.
func (s *snapshot) nextStored(i int) entry {
	e := s.index.at(i)
	if s.sparse {
		return -1
	}
	if next := s.index.after(i); next > e {
		return next
	}
	s.order.sort.Do(func() { s.order.list, _ = s.index.storedEntries() })
	k, _ := slices.BinarySearch(s.order.list, e+1)
	if k < len(s.order.list) {
		return s.order.list[k]
	}
	return entry(s.areaLen())
}

// packed reports whether the header of a contiguous frame claims that its chunks have no dead bytes between them.
func (s *snapshot) packed() bool {
	if s.sparse || s.index.list == nil || s.cbytes != s.area-int64(s.headerLen) {
		return false
	}
	list, _ := s.index.storedEntries()
	return len(list) > 0 && list[0] == 0
}

// isIndex reports whether a chunk may be an index.
func isIndex(h *coder.Header) bool { return h.TypeSize == 8 && h.NBytes%8 == 0 && !h.VLBlocks }

const (
	maxHeads = 8 << 20 // largest number of bytes in heads
	headCost = 128     // memory for each of them besides its bytes
)

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

// put keeps the beginning of a chunk. It drops some beginnings, in any order, if they are too many bytes.
func (h *heads) put(off int64, b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.list == nil {
		h.list = map[int64][]byte{}
	}
	if old, ok := h.list[off]; ok {
		h.bytes -= int64(len(old) + headCost)
	}
	h.bytes += int64(len(b) + headCost)
	h.list[off] = b
	for k, b := range h.list {
		if h.bytes <= maxHeads {
			break
		}
		h.bytes -= int64(len(b) + headCost)
		delete(h.list, k)
	}
}

// blockLayer is the name of the variable-length metalayer that holds the block table of a frame.
const blockLayer = "b2blocks"

// blockTable is the block table of a state. It has the likely positions of blocks, so that they can be read at the same
// time as the beginning of their chunk. Decoding does not rely on it, because another library may have changed chunks.
type blockTable struct {
	load sync.Once
	blocktable.Table
}

// move sets the index of s to x, with the same chunks at other positions.
func (s *snapshot) move(x index) {
	if s.index.same(&s.tabled) {
		s.tabled = x
	}
	s.index = x
}
