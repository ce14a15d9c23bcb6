package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
)

// repair replaces wrong entries of a readable index by unreferenced chunks: by those that match their checksums, or
// without checksums by all in order, if there are not too many. An entry is wrong if its chunk is not intact, and no
// chunk can start there or another entry is the same. Otherwise the chunk is damaged. An index that references no
// intact chunk counts as missing.
func (w *salvager) repair(ctx context.Context) error {
	s := w.s
	w.readChecksums()
	foreign := s.index.checksums == nil // or the index of the checksums is damaged
	if foreign && len(w.checksums) == s.index.n {
		s.index.checksums = w.checksums
	}
	bad, err := w.badEntries(ctx)
	if foreign && len(bad) > s.index.n/2 && err == nil {
		s.index.checksums = nil
		bad, err = w.badEntries(ctx)
	}
	if err != nil || len(bad) == 0 {
		return err
	}
	named, stored := map[entry]int{}, 0
	for _, e := range s.index.list {
		if e >= 0 {
			named[e]++
			stored++
		}
	}
	damaged := func(i int) bool { return named[s.index.list[i]] == 1 && w.exists(s.index.list[i], nil) }
	if s.sparse && s.index.checksums == nil && !slices.ContainsFunc(bad, func(i int) bool { return !damaged(i) }) {
		return nil // the index is right
	}
	candidates, err := w.candidates(ctx)
	if err != nil {
		return err
	}
	list := slices.Clone(s.index.list)
	if s.index.checksums != nil {
		bad = w.matchChecksums(list, bad, candidates)
	} else if len(bad) == stored && !s.sparse && len(w.unnamed(list, candidates)) > 0 {
		w.report(w.f.wrap("index", s.indexPos(), corrupt("it references no intact chunk")))
		return w.arrange(candidates)
	}
	for _, i := range bad {
		if named[list[i]] > 1 || list[i] < 0 {
			list[i] = maxOffset
		}
	}
	if free := w.unnamed(list, candidates); s.index.checksums == nil && len(free) > 0 {
		w.fill(list, candidates)
	} else if s.index.checksums == nil {
		for _, i := range bad {
			list[i] = s.index.list[i] // several entries may reference one chunk
		}
	}
	s.index = newIndex(list, s.index.checksums)
	return nil
}

// badEntries returns the numbers of the entries whose chunks are not intact, or are referenced by an earlier entry.
func (w *salvager) badEntries(ctx context.Context) ([]int, error) {
	s := w.s
	var bad []int
	named := map[entry]bool{}
	chunks := w.f.distinctChunks(ctx, s)
	chunks.left = salvageLimit(w.size)
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
		if named[e] && s.index.checksums == nil {
			bad = append(bad, i)
		} else if err := chunks.usableOnce(i); err != nil && !(errors.Is(err, ErrChecksum) && !named[e] && w.wrongChecksum(ctx, i)) {
			bad = append(bad, i)
		}
		named[e] = true
	}
	return bad, nil
}

// wrongChecksum reports whether chunk i is intact and its checksum is damaged: one bit differs, or all bits are zero.
// It then replaces the checksum.
func (w *salvager) wrongChecksum(ctx context.Context, i int) bool {
	s := w.s
	raw, err := w.f.rawChunk(storage.Bind(ctx, s.src), nil, s, i)
	was, is := s.index.checksums[i], crc32c.Checksum(raw)
	if err != nil || was != 0 && bits.OnesCount32(was^is) != 1 {
		return false
	}
	checksums := slices.Clone(s.index.checksums)
	checksums[i] = is
	s.index.checksums = checksums
	if w.f.usable(ctx, s, i) != nil {
		return false
	}
	w.report(w.f.chunkError(s, i, fmt.Errorf("kept, as its checksum seems to be damaged: %w", ErrChecksum)))
	return true
}

// hidden reports whether a frame that is empty according to its header has an index.
func (w *salvager) hidden(ctx context.Context) (bool, error) {
	in, name := storage.Directory(w.f.sys), w.f.path
	if w.s.sparse {
		in, name = w.s.root, indexFile
	}
	st, err := storage.OpenFile(in, name, false)
	if err != nil {
		return false, err
	}
	defer st.Close()
	w.src = st
	if w.size, err = st.Size(); err != nil {
		return false, err
	}
	if w.readTrailer(); w.trailerAt <= int64(w.s.headerLen) {
		return false, nil
	}
	candidates, err := w.scan(ctx)
	return slices.ContainsFunc(candidates, func(p candidate) bool { return isIndex(&p.h) && p.at+int64(p.h.CBytes) == w.trailerAt }), err
}

// candidates returns the intact chunks in the file or the directory.
func (w *salvager) candidates(ctx context.Context) ([]candidate, error) {
	if w.s.sparse {
		return w.chunkFiles(ctx, func(error) {}) // errors of referenced files were reported
	}
	return w.scan(ctx)
}

// exists reports whether an entry that is not special may be right: its chunk file exists, or the bytes before its
// position allow a chunk, intact or not, to start there.
func (w *salvager) exists(e entry, candidates []candidate) bool {
	if w.s.sparse {
		src, err := w.f.store.open(w.s, nil, e, -1)
		closeSource(src.close)
		return err == nil
	}
	at := int64(e) + w.base()
	if e >= maxOffset || at >= w.size {
		return false
	}
	if b, err := storage.ReadAll(w.src, at, min(int64(len(trailerStart)), w.size-at)); err == nil && string(b) == trailerStart {
		return false
	}
	i, found := slices.BinarySearchFunc(candidates, at, func(p candidate, at int64) int { return cmp.Compare(p.at, at) })
	return found || at == w.base() || w.ends(at) || i > 0 && at == candidates[i-1].at+int64(candidates[i-1].h.CBytes)
}

// matchChecksums replaces bad entries of an index by chunks that match their checksums, and returns the numbers of the
// others.
func (w *salvager) matchChecksums(list []entry, bad []int, candidates []candidate) (left []int) {
	where := make(map[uint32]*candidate, len(candidates))
	for i := range candidates {
		where[candidates[i].sum] = &candidates[i]
	}
	for _, i := range bad {
		if p := where[w.s.index.checksums[i]]; p != nil && entry(p.at-w.base()) != list[i] {
			list[i] = w.entryFor(i, p)
		} else {
			left = append(left, i)
		}
	}
	return left
}

// entryFor returns the entry of a candidate that becomes chunk i, and reports the change.
func (w *salvager) entryFor(i int, p *candidate) entry {
	w.report(w.f.chunkErrorAt(i, p.at, corrupt("a wrong index entry; the chunk here takes its place")))
	return entry(p.at - w.base())
}

// openDir makes an index for the chunk files of a directory.
func (w *salvager) openDir(ctx context.Context, dir string) error {
	r, err := w.f.sys.OpenRoot(dir)
	if err != nil {
		return err
	}
	w.f.store = &sparse{sys: w.f.sys, root: r, dir: dir, noSync: true}
	w.s = &snapshot{f: w.f, header: header{sparse: true}, root: r}
	w.pool = coder.NewPool(w.f.chunkOptions(0, nil))
	var order []entry
	var sum uint32
	if st, err := storage.OpenFile(r, indexFile, false); err == nil {
		w.src = st
		if w.size, err = st.Size(); err == nil {
			w.readHead()
			w.s.sparse = true
			w.readTrailer()
			order, sum, err = w.readOrder(ctx)
		}
		st.Close()
		if err != nil {
			return err
		}
	}
	candidates, err := w.chunkFiles(ctx, w.report)
	if err != nil {
		return err
	}
	w.begin()
	if w.order, _ = w.resolve(order, 0, candidates, true); w.order != nil {
		w.fill(w.order, candidates)
		w.orderChecksums = w.checksumsOf(sum, w.order, candidates)
	}
	return w.arrange(candidates)
}

// readOrder looks for the index in the index file of a directory. It also returns the checksum of the index.
func (w *salvager) readOrder(ctx context.Context) ([]entry, uint32, error) {
	candidates, err := w.scan(ctx)
	for _, p := range slices.Backward(candidates) {
		if isIndex(&p.h) && w.marked(&p) {
			if list := w.entries(&p); list != nil {
				return list, p.sum, nil
			}
		}
	}
	return nil, 0, err
}

// chunkFiles reads all chunk files of the directory, by their numbers.
func (w *salvager) chunkFiles(ctx context.Context, report func(error)) ([]candidate, error) {
	files, err := w.s.root.ReadDir(".")
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
		p, err := w.chunkFile(x.Name(), id)
		if err != nil {
			report(&Error{Path: w.f.path, Part: "chunk file", Chunk: -1, Off: id, Err: err, file: true})
			continue
		}
		candidates = append(candidates, p)
	}
	return candidates, nil
}

// chunkFile reads a chunk file.
func (w *salvager) chunkFile(name string, id int64) (candidate, error) {
	st, err := storage.OpenFile(w.s.root, name, false)
	if err != nil {
		return candidate{}, err
	}
	defer st.Close()
	p := candidate{}
	w.src = st
	if w.size, err = st.Size(); err != nil {
		return p, err
	}
	b, err := storage.ReadAll(st, 0, min(w.size, coder.HeaderSize))
	if err == nil {
		p.h, err = coder.ParseHeader(b, w.size)
	}
	if err == nil && !w.fits(&p.h) {
		err = corrupt("not like the others")
	}
	if err == nil {
		if _, intact := w.decode(&p); !intact {
			err = corrupt("not intact")
		}
	}
	p.at = id
	return p, err
}
