package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"slices"

	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// salvager rebuilds the index of a damaged frame.
type salvager struct {
	ctx    context.Context // of the call
	f      *Frame
	report func(error)
	found  *Salvaged

	src           io.ReaderAt
	size          int64
	s             *snapshot
	pool          *coder.Pool
	headed        bool     // the header could be read
	layered       bool     // the metalayers could be read
	budget        int64    // bytes of invalid candidates that may still be decoded; see also entryCost
	checksums     []uint32 // of the chunks, in their order, if the trailer could be read
	indexChecksum uint32   // of the index of these chunks

	doubtful bool // the header is lost, and several lengths of it fit the index that orders the chunks

	trailerAt      int64   // offset of the trailer, if it could be read
	order          []entry // of a directory: the entries of its index
	orderChecksums []uint32

	failed error // the first error that shows no damage
}

// failsToRead reports whether err is an error of the operating system that does not show damage, such as a missing
// permission: the bytes may be intact.
func failsToRead(err error) bool {
	var at *fs.PathError
	return errors.As(err, &at) && !errors.Is(err, ErrCorrupt) && !errors.Is(err, fs.ErrNotExist) &&
		!errors.Is(err, storage.ErrNotFile) && !storage.IsBadSector(err)
}

// note keeps an error that shows no damage.
func (sv *salvager) note(err error) {
	if sv.failed == nil && failsToRead(err) {
		sv.failed = err
	}
}

// result returns the noted error, or else err.
func (sv *salvager) result(err error) error { return cmp.Or(sv.failed, err) }

// notedSource is a source whose errors a salvager notes.
type notedSource struct {
	io.ReaderAt
	sv *salvager
}

func (s notedSource) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.ReaderAt.ReadAt(p, off)
	s.sv.note(err)
	return n, err
}

// resetBudget sets the budget for candidates that are not chunks. Without it, a file that looks like chunks everywhere
// would take very long.
func (sv *salvager) resetBudget() { sv.budget = 256<<20 + 64*min(sv.size, 1<<40) }

// base returns the offset to which the positions in an index are relative.
func (sv *salvager) base() int64 {
	if sv.s.sparse {
		return 0
	}
	return int64(sv.s.headerLen)
}

// openFile makes an index for the frame in a file.
func (sv *salvager) openFile(ctx context.Context, name string) error {
	st, err := storage.OpenFile(sv.f.sys, name, false)
	if err != nil {
		return err
	}
	sv.f.store = &contiguous{Segment: storage.Segment{Bytes: st}, sys: sv.f.sys}
	sv.src = notedSource{st, sv}
	if sv.size, err = st.Size(); err != nil {
		return err
	}
	sv.s = &snapshot{inherited: inherited{f: sv.f}}
	sv.s.setSource(st)
	sv.readHead()
	sv.s.sparse = false
	sv.readTrailer()
	candidates, err := sv.scan(ctx)
	fit := func(p candidate) bool { return sv.fits(&p.h) && !sv.inTrailer(&p) && !p.marked }
	if err == nil && sv.headed && (sv.s.nbytes > 0 || len(candidates) > 0) && !slices.ContainsFunc(candidates, fit) {
		sv.report(sv.f.wrap("header", 0, corrupt("it fits no chunk")))
		sv.s.header, sv.headed = header{}, false
		sv.setPool()
		candidates, err = sv.scan(ctx)
	}
	if err != nil {
		return err
	}
	sv.s.area = sv.size
	return sv.arrange(candidates)
}

// readHead reads the header and the metalayers, if they are intact.
func (sv *salvager) readHead() {
	const first = 1 << 20 // more metalayers than frames have
	n := min(first, sv.size)
	head, err := storage.ReadAll(sv.src, 0, n)
	for storage.IsBadSector(err) && n > fixedLen { // read what is before the sector
		n = max(n/2, fixedLen)
		head, err = storage.ReadAll(sv.src, 0, n)
	}
	if err == nil {
		sv.s.header, err = parseHeader(head, 1<<62) // the end of the file may be lost
	}
	if err == nil && sv.s.headerLen > len(head) {
		var all []byte
		all, err = sv.f.readStored(sv.src, 0, min(int64(sv.s.headerLen), sv.size))
		if err == nil {
			head = all
		} else if storage.IsBadSector(err) {
			err = nil // only metalayers are lost
		}
	}
	if sv.headed = err == nil; sv.headed {
		head = head[:min(sv.s.headerLen, len(head))]
	} else {
		sv.report(sv.f.wrap("header", 0, err))
		sv.s.header = header{}
	}
	sv.s.meta, err = meta.ParseHeader(head, fixedLen)
	if sv.layered = err == nil; !sv.layered {
		sv.report(sv.f.wrap("metalayers", fixedLen, err))
	}
	sv.setPool()
}

// setPool makes the pool for chunks of the item size in the header, or of the sizes in their own headers.
func (sv *salvager) setPool() {
	sv.pool = coder.NewPool(sv.f.chunkOptions(int(sv.s.typeSize), blockShape(sv.s)))
}

// readTrailer reads the variable-length metalayers at the end of the frame, or of the file.
func (sv *salvager) readTrailer() {
	var first error
	for _, end := range []int64{sv.s.frameLen, sv.size} {
		if end <= 0 || end > sv.size {
			continue
		}
		const most = 64 << 20
		last := min(end, minTrailerLen)
		trailer, err := storage.ReadAll(sv.src, end-last, last)
		if err == nil {
			last, err = storedTrailerLen(trailer, min(end, most))
		}
		if err == nil { // no more than the trailer, as other bytes may be unreadable
			trailer, err = storage.ReadAll(sv.src, end-last, last)
		}
		if err == nil {
			if sv.s.vlmeta, err = meta.ParseTrailer(trailer); err == nil {
				sv.trailerAt = end - int64(len(trailer))
				sv.readChecksums()
				return
			}
		}
		if first == nil {
			first = sv.f.wrap("trailer", end, err)
		}
	}
	if first == nil {
		first = sv.f.wrap("trailer", sv.s.frameLen, corrupt("the frame ends before it"))
	}
	sv.report(first)
}

// readChecksums reads the checksums of the chunks, which also record their order.
func (sv *salvager) readChecksums() {
	i := findLayer(sv.s.vlmeta, checksumLayer)
	if i < 0 {
		return
	}
	content, err := sv.f.vlContent(sv.s.vlmeta[i])
	var r checksumRecord
	if err == nil {
		err = meta.Unmarshal(content, &r)
	}
	if err == nil && r.Version == 1 && len(r.Chunks)%4 == 0 {
		sv.checksums, sv.indexChecksum = unpackNumbers(r.Chunks), r.Index
	}
}

// repair replaces wrong entries of a readable index by unreferenced chunks: by those that match their checksums, or
// without checksums by all in order, if there are not too many. An entry is wrong if its chunk is not intact, and no
// chunk can start there or another entry is the same. Otherwise the chunk is damaged. An index that references no
// intact chunk counts as missing.
func (sv *salvager) repair(ctx context.Context) error {
	s := sv.s
	sv.readChecksums()
	foreign := s.index.checksums == nil // or the index of the checksums is damaged
	if foreign && len(sv.checksums) == s.index.n {
		s.index.checksums = sv.checksums
	}
	s.index.checksums = slices.Clone(s.index.checksums) // wrongChecksum changes them
	bad, err := sv.badEntries(ctx)
	if foreign && len(bad) > s.index.n/2 && err == nil {
		s.index.checksums = nil
		bad, err = sv.badEntries(ctx)
	}
	if err != nil || len(bad) == 0 {
		return err
	}
	referenced, stored := map[entry]int{}, 0
	for _, e := range s.index.list {
		if e >= 0 {
			referenced[e]++
			stored++
		}
	}
	damaged := func(i int) bool { return referenced[s.index.list[i]] == 1 && sv.exists(s.index.list[i], nil) }
	if s.sparse && s.index.checksums == nil && !slices.ContainsFunc(bad, func(i int) bool { return !damaged(i) }) {
		return nil // the index is right
	}
	candidates, err := sv.candidates(ctx)
	if err != nil {
		return err
	}
	list := slices.Clone(s.index.list)
	if s.index.checksums != nil {
		bad = sv.matchChecksums(list, bad, candidates)
	} else if len(bad) == stored && !s.sparse && len(sv.unreferenced(list, candidates)) > 0 {
		sv.report(sv.f.wrap("index", s.indexPos(), corrupt("it references no intact chunk")))
		return sv.arrange(candidates)
	}
	for _, i := range bad {
		if referenced[list[i]] > 1 || list[i] < 0 {
			list[i] = maxOffset
		}
	}
	if free := sv.unreferenced(list, candidates); s.index.checksums == nil && len(free) > 0 {
		sv.fill(list, candidates)
	} else if s.index.checksums == nil {
		for _, i := range bad {
			list[i] = s.index.list[i] // several entries may reference one chunk
		}
	}
	s.index = newIndex(list, s.index.checksums)
	return ctx.Err()
}

// badEntries returns the numbers of the entries whose chunks are not intact, or are referenced by an earlier entry.
func (sv *salvager) badEntries(ctx context.Context) ([]int, error) {
	s := sv.s
	var bad []int
	referenced := map[entry]bool{}
	chunks := sv.f.distinctChunks(ctx, s)
	chunks.left = salvageLimit(sv.size)
	for i, e := range s.index.list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if e < 0 {
			if _, err := e.special(); err != nil || s.index.checksums != nil && s.index.checksums[i] != 0 {
				bad = append(bad, i)
			}
			continue
		}
		if referenced[e] && s.index.checksums == nil {
			bad = append(bad, i)
		} else if err := chunks.usableOnce(i); failsToRead(err) {
			return nil, err
		} else if err != nil && !(errors.Is(err, ErrChecksum) && !referenced[e] && sv.wrongChecksum(ctx, i)) {
			bad = append(bad, i)
		}
		referenced[e] = true
	}
	return bad, ctx.Err()
}

// wrongChecksum reports whether chunk i is intact and its checksum is damaged: one bit differs, or all bits are zero.
// It then replaces the checksum.
func (sv *salvager) wrongChecksum(ctx context.Context, i int) bool {
	s := sv.s
	raw, err := sv.f.rawChunk(storage.Bind(ctx, s.src), nil, s, i)
	sv.note(err)
	was, is := s.index.checksums[i], crc32c.Checksum(raw)
	if err != nil || was != 0 && bits.OnesCount32(was^is) != 1 {
		return false
	}
	s.index.checksums[i] = is
	if sv.f.checkUsable(ctx, s, i) != nil {
		return false
	}
	sv.report(sv.f.chunkError(s, i, fmt.Errorf("kept, as its checksum seems to be damaged: %w", ErrChecksum)))
	return true
}

// hidden reports whether a frame that is empty according to its header has an index.
func (sv *salvager) hidden(ctx context.Context) (bool, error) {
	in, name := storage.Directory(sv.f.sys), sv.f.path
	if sv.s.sparse {
		in, name = sv.s.root, indexFile
	}
	st, err := storage.OpenFile(in, name, false)
	if err != nil {
		return false, err
	}
	defer st.Close()
	sv.src = notedSource{st, sv}
	if sv.size, err = st.Size(); err != nil {
		return false, err
	}
	if sv.readTrailer(); sv.trailerAt <= int64(sv.s.headerLen) {
		return false, nil
	}
	candidates, err := sv.scan(ctx)
	return slices.ContainsFunc(candidates, func(p candidate) bool { return isIndex(&p.h) && p.at+int64(p.h.CBytes) == sv.trailerAt }), err
}

// candidates returns the intact chunks in the file or the directory.
func (sv *salvager) candidates(ctx context.Context) ([]candidate, error) {
	if sv.s.sparse {
		return sv.chunkFiles(ctx, func(error) {}) // errors of referenced files were reported
	}
	return sv.scan(ctx)
}

// exists reports whether an entry that is not special may be right: its chunk file exists, or the bytes before its
// position allow a chunk, intact or not, to start there.
func (sv *salvager) exists(e entry, candidates []candidate) bool {
	if sv.s.sparse {
		src, err := sv.f.store.open(sv.s, nil, e, -1)
		sv.note(err)
		closeSource(src.close)
		return err == nil
	}
	at := int64(e) + sv.base()
	if e >= maxOffset || at >= sv.size {
		return false
	}
	if b, err := storage.ReadAll(sv.src, at, min(int64(len(trailerStart)), sv.size-at)); err == nil && string(b) == trailerStart {
		return false
	}
	i, found := searchCandidate(candidates, at)
	return found || at == sv.base() || sv.trailerEndsAt(at) || i > 0 && at == candidates[i-1].at+int64(candidates[i-1].h.CBytes)
}

// matchChecksums replaces bad entries of an index by chunks that match their checksums, and returns the numbers of the
// others.
func (sv *salvager) matchChecksums(list []entry, bad []int, candidates []candidate) (left []int) {
	where := make(map[uint32]*candidate, len(candidates))
	for i := range candidates {
		where[candidates[i].sum] = &candidates[i]
	}
	for _, i := range bad {
		if p := where[sv.s.index.checksums[i]]; p != nil && entry(p.at-sv.base()) != list[i] {
			list[i] = sv.entryFor(i, p)
		} else {
			left = append(left, i)
		}
	}
	return left
}

// entryFor returns the entry of a candidate that becomes chunk i, and reports the change.
func (sv *salvager) entryFor(i int, p *candidate) entry {
	at := sv.f.chunkErrorAt
	if sv.s.sparse {
		at = sv.f.chunkFileError
	}
	sv.report(at(i, p.at, corrupt("a wrong index entry; the chunk here takes its place")))
	return entry(p.at - sv.base())
}

// openDir makes an index for the chunk files of a directory.
func (sv *salvager) openDir(ctx context.Context, dir string) error {
	r, err := sv.f.sys.OpenRoot(dir)
	if err != nil {
		return err
	}
	sv.f.store = &sparse{sys: sv.f.sys, root: r, dir: dir, noSync: true}
	sv.s = &snapshot{inherited: inherited{f: sv.f, header: header{sparse: true}, root: r}}
	sv.setPool()
	var order []entry
	var sum uint32
	if st, err := storage.OpenFile(r, indexFile, false); failsToRead(err) {
		return err
	} else if err == nil {
		sv.src = notedSource{st, sv}
		if sv.size, err = st.Size(); err == nil {
			sv.readHead()
			sv.s.sparse = true
			sv.readTrailer()
			order, sum, err = sv.readOrder(ctx)
		}
		st.Close()
		if err != nil {
			return err
		}
	}
	candidates, err := sv.chunkFiles(ctx, sv.report)
	if err != nil {
		return err
	}
	sv.resetBudget()
	if sv.order = sv.resolve(order, 0, candidates, true); sv.order != nil {
		sv.fill(sv.order, candidates)
		sv.orderChecksums = sv.checksumsOf(sum, sv.order, candidates)
	}
	return sv.arrange(candidates)
}

// readOrder looks for the index in the index file of a directory. It also returns the checksum of the index.
func (sv *salvager) readOrder(ctx context.Context) ([]entry, uint32, error) {
	candidates, err := sv.scan(ctx)
	for _, p := range slices.Backward(candidates) {
		if p.isOldIndex() {
			if list := sv.entries(&p); list != nil {
				return list, p.sum, nil
			}
		}
	}
	return nil, 0, err
}

// chunkFiles reads all chunk files of the directory, by their numbers.
func (sv *salvager) chunkFiles(ctx context.Context, report func(error)) ([]candidate, error) {
	files, err := sv.s.root.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var candidates []candidate
	for _, x := range files { // sorted by name, and so by number
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		id, ok := chunkNumber(x.Name())
		if !ok {
			continue
		}
		p, err := sv.readChunkFile(ctx, x.Name(), id)
		if canceled := ctx.Err(); err != nil && canceled != nil {
			return nil, canceled
		}
		if sv.note(err); sv.failed != nil {
			return nil, sv.failed
		}
		if err != nil {
			report(&Error{Path: sv.f.name, Part: "chunk file", Chunk: -1, Off: id, Err: err, file: true})
			continue
		}
		candidates = append(candidates, p)
	}
	return candidates, nil
}

// readChunkFile reads a chunk file.
func (sv *salvager) readChunkFile(ctx context.Context, name string, id int64) (candidate, error) {
	st, err := storage.OpenFile(sv.s.root, name, false)
	if err != nil {
		return candidate{}, err
	}
	defer st.Close()
	p := candidate{}
	sv.src = notedSource{st, sv}
	if sv.size, err = st.Size(); err != nil {
		return p, err
	}
	b, err := storage.ReadAll(st, 0, min(sv.size, coder.HeaderSize))
	if err == nil {
		p.h, err = coder.ParseHeader(b, sv.size)
	}
	if err == nil && !sv.fits(&p.h) {
		err = corrupt("not like the others")
	}
	if err == nil {
		if _, intact := sv.decode(ctx, &p); !intact {
			err = corrupt("not intact")
		}
	}
	p.at = id
	return p, err
}
