package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
)

// mend gives the wrong entries of an index that can be read the chunks that no entry names: those with their checksums,
// or, in their order, all if they are not too many. An entry is wrong if its chunk is not sound and no chunk can start
// there, or where another entry lies; else it is the chunk that is damaged. An index without one sound chunk is as good
// as none.
func (w *wreck) mend(ctx context.Context) error {
	s := w.s
	w.readSums()
	foreign := s.index.sums == nil // or the index is damaged, which the checksums are of
	if foreign && len(w.sums) == s.index.n {
		s.index.sums = w.sums
	}
	bad, err := w.badEntries(ctx)
	if foreign && len(bad) > s.index.n/2 && err == nil {
		s.index.sums = nil
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
	if s.sparse && s.index.sums == nil && !slices.ContainsFunc(bad, func(i int) bool { return !damaged(i) }) {
		return nil // the index is right
	}
	pieces, err := w.pieces(ctx)
	if err != nil {
		return err
	}
	list := slices.Clone(s.index.list)
	if s.index.sums != nil {
		bad = w.bySums(list, bad, pieces)
	} else if len(bad) == stored && !s.sparse && len(w.unnamed(list, pieces)) > 0 {
		w.tell(w.f.wrap("index", s.indexPos(), corrupt("it names no sound chunk")))
		return w.arrange(pieces)
	}
	for _, i := range bad {
		if named[list[i]] > 1 || list[i] < 0 {
			list[i] = maxOffset
		}
	}
	if free := w.unnamed(list, pieces); s.index.sums == nil && len(free) > 0 {
		w.fill(list, pieces)
	} else if s.index.sums == nil {
		for _, i := range bad {
			list[i] = s.index.list[i] // a chunk may stand for several
		}
	}
	s.index = newIndex(list, s.index.sums)
	return nil
}

// badEntries returns the entries whose chunks are not sound or are named before.
func (w *wreck) badEntries(ctx context.Context) ([]int, error) {
	s := w.s
	var bad []int
	named := map[entry]bool{}
	chunks := w.f.once(s)
	chunks.left = salvageLimit(w.size)
	for i, e := range s.index.list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if e < 0 {
			if _, err := e.special(); err != nil || s.index.sums != nil && s.index.sums[i] != 0 {
				bad = append(bad, i)
			}
			continue
		}
		if named[e] && s.index.sums == nil {
			bad = append(bad, i)
		} else if err := chunks.usableOnce(i); err != nil && !(errors.Is(err, ErrChecksum) && !named[e] && w.wrongSum(i)) {
			bad = append(bad, i)
		}
		named[e] = true
	}
	return bad, nil
}

// wrongSum tells whether it is the checksum of chunk i that is damaged, not the chunk: one bit of it, or all, which are
// zeros. The right one then takes its place.
func (w *wreck) wrongSum(i int) bool {
	s := w.s
	raw, err := w.f.rawChunk(nil, s, i)
	was, is := s.index.sums[i], crc32c.Checksum(raw)
	if err != nil || was != 0 && bits.OnesCount32(was^is) != 1 {
		return false
	}
	sums := slices.Clone(s.index.sums)
	sums[i] = is
	s.index.sums = sums
	if w.f.usable(s, i) != nil {
		return false
	}
	w.tell(w.f.chunkError(s, i, fmt.Errorf("kept, as its checksum seems to be damaged: %w", ErrChecksum)))
	return true
}

// hidden tells whether a frame that is empty as its header has it has an index all the same.
func (w *wreck) hidden(ctx context.Context) (bool, error) {
	in, name := storage.Directory(w.f.opts.system()), w.f.path
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
	pieces, err := w.scan(ctx)
	return slices.ContainsFunc(pieces, func(p piece) bool { return isIndex(&p.h) && p.at+int64(p.h.CBytes) == w.trailerAt }), err
}

// pieces returns the sound chunks in the file or the directory.
func (w *wreck) pieces(ctx context.Context) ([]piece, error) {
	if w.s.sparse {
		return w.chunkFiles(ctx, func(error) {}) // of those that are named there are errors already
	}
	return w.scan(ctx)
}

// exists tells whether an entry that is not special may be right: there is a chunk file, or a chunk starts there, sound
// or not, as far as what stands before shows.
func (w *wreck) exists(e entry, pieces []piece) bool {
	if w.s.sparse {
		src, err := w.f.store.open(w.s, e, -1)
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
	i, found := slices.BinarySearchFunc(pieces, at, func(p piece, at int64) int { return cmp.Compare(p.at, at) })
	return found || at == w.base() || w.ends(at) || i > 0 && at == pieces[i-1].at+int64(pieces[i-1].h.CBytes)
}

// bySums gives the bad entries of an index chunks with their checksums, and returns those that are left.
func (w *wreck) bySums(list []entry, bad []int, pieces []piece) (left []int) {
	where := make(map[uint32]*piece, len(pieces))
	for i := range pieces {
		where[pieces[i].sum] = &pieces[i]
	}
	for _, i := range bad {
		if p := where[w.s.index.sums[i]]; p != nil && entry(p.at-w.base()) != list[i] {
			list[i] = w.rename(i, p)
		} else {
			left = append(left, i)
		}
	}
	return left
}

// rename returns the entry of a piece that is to be chunk i, and tells so.
func (w *wreck) rename(i int, p *piece) entry {
	w.tell(&Error{Path: w.f.path, Part: "chunk", Chunk: i, Off: p.at, Err: corrupt("a wrong index entry; the chunk that stands here takes its place")})
	return entry(p.at - w.base())
}

// openDir makes an index for the chunk files of a directory.
func (w *wreck) openDir(ctx context.Context, dir string) error {
	r, err := w.f.opts.sys.OpenRoot(dir)
	if err != nil {
		return err
	}
	w.f.store = &sparse{sys: w.f.opts.sys, root: r, dir: dir, noSync: true}
	w.s = &snapshot{header: header{sparse: true}, root: r}
	w.pool = coder.NewPool(w.f.opts.chunkOptions(0, nil))
	var order []entry
	var sums []uint32
	if st, err := storage.OpenFile(r, indexFile, false); err == nil {
		w.src = st
		if w.size, err = st.Size(); err == nil {
			w.readHead()
			w.s.sparse = true
			w.readTrailer()
			order, sums, err = w.readOrder(ctx)
		}
		st.Close()
		if err != nil {
			return err
		}
	}
	pieces, err := w.chunkFiles(ctx, w.tell)
	if err != nil {
		return err
	}
	w.begin()
	if w.order, _ = w.resolve(order, 0, pieces, true); w.order != nil {
		w.fill(w.order, pieces)
		w.orderSums = sums
	}
	return w.arrange(pieces)
}

// readOrder looks for the index in the index file of a directory.
func (w *wreck) readOrder(ctx context.Context) ([]entry, []uint32, error) {
	pieces, err := w.scan(ctx)
	for _, p := range slices.Backward(pieces) {
		if isIndex(&p.h) && w.marked(&p) {
			if list := w.entries(&p); list != nil {
				return list, w.sumsOf(&p, len(list)), nil
			}
		}
	}
	return nil, nil, err
}

// chunkFiles reads all chunk files of the directory, by their numbers.
func (w *wreck) chunkFiles(ctx context.Context, tell func(error)) ([]piece, error) {
	files, err := w.s.root.ReadDir()
	if err != nil {
		return nil, err
	}
	var pieces []piece
	for _, x := range files { // sorted by name, so by number
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var id int64
		if n, _ := fmt.Sscanf(x.Name(), "%X.chunk", &id); n != 1 || x.Name() != chunkFile(id) || id > 1<<32-1 {
			continue
		}
		p, err := w.chunkFile(x.Name(), id)
		if err != nil {
			tell(&Error{Path: w.f.path, Part: "chunk file", Chunk: -1, Off: id, Err: err})
			continue
		}
		pieces = append(pieces, p)
	}
	return pieces, nil
}

// chunkFile reads a chunk file.
func (w *wreck) chunkFile(name string, id int64) (piece, error) {
	st, err := storage.OpenFile(w.s.root, name, false)
	if err != nil {
		return piece{}, err
	}
	defer st.Close()
	p := piece{}
	w.src = st
	if w.size, err = st.Size(); err != nil {
		return p, err
	}
	b, err := storage.ReadAll(st, 0, min(w.size, coder.HeaderSize))
	if err == nil {
		p.h, err = chunk.ParseHeader(b, w.size)
	}
	if err == nil && !w.fits(&p.h) {
		err = corrupt("not like the others")
	}
	if err == nil {
		if _, sound := w.decode(&p); !sound {
			err = corrupt("not sound")
		}
	}
	p.at = id
	return p, err
}
