package frame

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/goblosc/blosc2/chunk"
)

// piece is a sound chunk that was found in a damaged frame.
type piece struct {
	at  int64 // position in the file, or number of the chunk file
	h   chunk.Header
	sum uint32
}

// scan looks for chunks in the whole file.
func (w *wreck) scan(ctx context.Context) ([]piece, error) {
	const step = 1 << 20
	var pieces []piece
	buf := []byte(nil)
	start := int64(0) // of buf in the file
	for at := int64(0); w.size-at >= chunk.HeaderSize; {
		if at < start || at+chunk.HeaderSize > start+int64(len(buf)) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			b, err := readAll(w.src, at, min(step, w.size-at))
			if err != nil { // a bad sector, perhaps
				w.tell(w.f.wrap("chunks", at, err))
				at, buf = at+512, nil
				continue
			}
			buf, start = b, at
		}
		h, err := chunk.ParseHeader(buf[at-start:at-start+chunk.HeaderSize], w.size-at)
		if err != nil || !w.plausible(&h) {
			at++
			continue
		}
		p := piece{at: at, h: h}
		cost, sound := w.decode(&p)
		if !sound {
			if w.patience -= cost; w.patience < 0 {
				return nil, w.f.wrap("chunks", at, fmt.Errorf("too much that looks like chunks and is none: %w", ErrTooLarge))
			}
			at++
			continue
		}
		pieces = append(pieces, p)
		at += int64(h.CBytes)
	}
	return pieces, nil
}

// plausible tells whether a chunk header may be one of this frame, or of its index.
func (w *wreck) plausible(h *chunk.Header) bool {
	if !h.Extended() || h.NBytes == 0 || h.VersionLZ > 1 {
		return false
	}
	return w.fits(h) || isIndex(h)
}

// fits tells whether a chunk goes with the header of the frame.
func (w *wreck) fits(h *chunk.Header) bool {
	s := w.s
	if !w.headed {
		return true
	}
	size := int(s.typeSize)
	if size > chunk.MaxTypeSize {
		size = 1
	}
	return h.TypeSize == size && (s.chunkSize <= 0 || h.NBytes <= int(s.chunkSize)) && h.VLBlocks() == s.vlBlocks
}

func isIndex(h *chunk.Header) bool { return h.TypeSize == 8 && h.NBytes%8 == 0 && !h.VLBlocks() }

// decode decodes a chunk and tells what that has cost and whether it is sound.
func (w *wreck) decode(p *piece) (cost int64, sound bool) {
	wk := w.pool.Get()
	defer w.pool.Put(wk)
	var r chunk.Reader
	cost = int64(p.h.CBytes) + 4096
	if err := wk.OpenAt(&r, w.src, p.at, w.size-p.at, int64(p.h.CBytes), 1); err != nil {
		return cost, false
	}
	var buf []byte
	for k := range r.NumBlocks() {
		if special, _ := r.Special(); special != chunk.Regular {
			break
		}
		n := r.BlockLen(k)
		cost += int64(n)
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		if err := wk.DecodeBlock(buf[:n], &r, k); err != nil {
			return cost, false
		}
	}
	p.sum = crc32c(r.Raw())
	return cost, true
}

// arrange makes the index of the pieces and what else a snapshot needs.
func (w *wreck) arrange(pieces []piece) error {
	s := w.s
	list := w.fromIndex(pieces)
	if list == nil {
		list = w.fromSums(pieces)
	}
	w.found.Index = list != nil
	if list == nil {
		for _, p := range w.chunks(pieces) {
			list = append(list, entry(p.at-w.base()))
		}
	}
	if !w.headed && len(list) == 0 {
		return w.f.wrap("chunks", -1, fmt.Errorf("no header and no sound chunk: %w", ErrFormat))
	}
	s.index = newIndex(list, nil)
	if err := w.measure(list, pieces); err != nil {
		return err
	}
	s.cbytes = 0 // the file may end before
	w.f.start(s)
	return nil
}

// chunks returns the pieces that are chunks of the frame, as far as one can tell.
func (w *wreck) chunks(pieces []piece) []piece {
	typeSize := 0
	if !w.headed { // that of the most bytes
		sum := map[int]int64{}
		for _, p := range pieces {
			if sum[p.h.TypeSize] += int64(p.h.CBytes); sum[p.h.TypeSize] > sum[typeSize] {
				typeSize = p.h.TypeSize
			}
		}
	}
	var out []piece
	for i, p := range pieces {
		if (w.headed || p.h.TypeSize == typeSize) && w.belongs(&p, pieces[:i]) {
			out = append(out, p)
		}
	}
	return out
}

// belongs tells whether a piece behind others may be a chunk of the frame: neither behind the chunks area nor an index
// of the others.
func (w *wreck) belongs(p *piece, before []piece) bool {
	s := w.s
	switch {
	case !w.headed:
	case !w.fits(&p.h):
		return false
	case !s.sparse && s.nbytes > 0 && s.frameLen <= w.size && p.at >= s.indexPos():
		return false
	case s.chunkSize > 0:
		return p.h.NBytes == int(s.chunkSize) || int64(p.h.NBytes) == s.nbytes%int64(s.chunkSize)
	}
	return !isIndex(&p.h) || w.names(p, before) == nil
}

// fromIndex looks for an index with a trailer behind it, the last in the file, and returns its entries. With a header,
// it must be for as many chunks, or stand at the end of the frame: in dead space there are those of older states.
func (w *wreck) fromIndex(pieces []piece) []entry {
	for i, p := range slices.Backward(pieces) {
		if !isIndex(&p.h) || w.s.sparse {
			continue
		}
		mark, err := readAll(w.src, p.at+int64(p.h.CBytes), min(3, w.size-p.at-int64(p.h.CBytes)))
		if err != nil || string(mark) != "\x94\x01\x93" {
			continue
		}
		list := w.names(&p, pieces[:i])
		if list != nil && (!w.headed || w.s.chunkSize > 0 && w.s.countChunks() == int64(len(list)) || w.last(&p)) {
			return list
		}
	}
	return nil
}

// last tells whether from behind a piece to the end of the frame there is a trailer.
func (w *wreck) last(p *piece) bool {
	at := p.at + int64(p.h.CBytes)
	if w.s.frameLen > w.size || at > w.s.frameLen {
		return false
	}
	b, err := readAll(w.src, at, w.s.frameLen-at)
	if err != nil {
		return false
	}
	trailer, err := cutTrailer(b)
	return err == nil && len(trailer) == len(b)
}

// names returns the entries of a piece that is an index of some of the others before it, or nil.
func (w *wreck) names(p *piece, all []piece) []entry {
	if w.patience < 0 {
		return nil
	}
	b, err := readAll(w.src, p.at, int64(p.h.CBytes))
	if err != nil {
		return nil
	}
	x, err := parseIndex(b, -1, w.f.opts.MaxChunks, w.f.plain)
	if w.patience -= int64(8 * x.n); err != nil || x.list == nil || len(all) == 0 || w.patience < 0 {
		return nil
	}
	least := entry(-1)
	for _, e := range x.list {
		if e >= 0 && (least < 0 || e < least) {
			least = e
		}
	}
	if least < 0 {
		return nil
	}
	if w.headed {
		return w.resolve(x.list, w.base(), all)
	}
	// The length of the header is lost: one of the first pieces is the first chunk, behind dead bytes perhaps.
	for _, p := range all[:min(len(all), 64)] {
		if list := w.resolve(x.list, p.at-int64(least), all); list != nil {
			return list
		}
	}
	return nil
}

// resolve returns entries that count from a position in the file as those of w, or nil if they do not all name pieces.
func (w *wreck) resolve(entries []entry, from int64, pieces []piece) []entry {
	list := slices.Clone(entries)
	for i, e := range list {
		if e < 0 {
			if _, err := e.special(); err != nil {
				return nil
			}
			continue
		}
		at := int64(e) + from
		if _, ok := slices.BinarySearchFunc(pieces, at, func(p piece, at int64) int { return cmp.Compare(p.at, at) }); !ok {
			return nil
		}
		list[i] = entry(at - w.base())
	}
	return list
}

// fromSums puts pieces in the order of the checksums, with zeros where one is not found. It returns nil when there are
// no checksums of them.
func (w *wreck) fromSums(pieces []piece) []entry {
	if len(w.sums) == 0 || w.headed && (w.s.chunkSize <= 0 || w.s.countChunks() != int64(len(w.sums))) {
		return nil
	}
	where := make(map[uint32]int64, len(pieces))
	for _, p := range pieces {
		where[p.sum] = p.at
	}
	list := make([]entry, len(w.sums))
	hits := 0
	for i, sum := range w.sums {
		at, ok := where[sum]
		switch {
		case ok:
			list[i] = entry(at - w.base())
			hits++
		default:
			list[i] = entryZeros
			if sum != 0 {
				w.found.Lost++
				w.tell(&Error{Path: w.f.path, Part: "chunk", Chunk: i, Off: -1, Err: corrupt("not found, zeros take its place")})
			}
		}
	}
	if hits == 0 {
		return nil
	}
	w.found.Index = true
	return list
}

// measure finds the sizes of a frame of these chunks, and makes a header if there is none.
func (w *wreck) measure(list []entry, pieces []piece) error {
	s := w.s
	sizes := make(map[entry]int64, len(pieces))
	headers := make(map[entry]*chunk.Header, len(pieces))
	for i := range pieces {
		p := &pieces[i]
		sizes[entry(p.at-w.base())], headers[entry(p.at-w.base())] = int64(p.h.NBytes), &p.h
	}
	full := int64(s.chunkSize)
	if !w.headed {
		s.version, s.threads = versionFixed, [2]int16{1, 1}
		for _, e := range list {
			full = max(full, sizes[e])
			if h := headers[e]; h != nil && s.typeSize == 0 {
				s.vlBlocks = h.VLBlocks()
				if err := s.setCParams(chunk.CParams{TypeSize: h.TypeSize}); err != nil {
					return err
				}
			}
		}
	}
	had := s.nbytes
	s.nbytes = 0
	common := full > 0
	for i, e := range list {
		n := sizes[e]
		if e < 0 {
			if n = full; i == len(list)-1 && had > 0 && full > 0 && had%full != 0 {
				n = had % full
			}
		}
		s.nbytes += n
		common = common && (n == full || i == len(list)-1 && n < full)
	}
	switch {
	case common:
		s.chunkSize = int32(full)
	case len(list) > 0:
		s.chunkSize = 0
	}
	return nil
}

// inside tells whether a position is inside a piece, not at its start.
func inside(pieces []piece, at int64) bool {
	i, found := slices.BinarySearchFunc(pieces, at, func(p piece, at int64) int { return cmp.Compare(p.at, at) })
	return !found && i > 0 && at < pieces[i-1].at+int64(pieces[i-1].h.CBytes)
}

// mend gives the wrong entries of an index that can be read the chunks that no entry names, if there are as many. An
// entry is wrong if its chunk is not sound and it lies outside the file, inside another chunk, or where another
// entry lies; else it is the chunk that is damaged. An index without one sound chunk is as good as none.
func (w *wreck) mend(ctx context.Context) error {
	s := w.s
	named, bad := map[entry]int{}, []int{}
	for i, e := range s.index.list {
		if e < 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if named[e] > 0 || w.f.usable(s, i) != nil {
			bad = append(bad, i)
		}
		named[e]++
	}
	if len(bad) == 0 {
		return nil
	}
	pieces, err := w.scan(ctx)
	if err != nil {
		return err
	}
	var free []piece
	for _, p := range w.chunks(pieces) {
		if named[entry(p.at-w.base())] == 0 {
			free = append(free, p)
		}
	}
	stored := 0
	for _, n := range named {
		stored += n
	}
	if len(bad) == stored && len(free) > 0 {
		w.tell(w.f.wrap("index", s.indexPos(), corrupt("it names no sound chunk")))
		return w.arrange(pieces)
	}
	for _, i := range bad {
		e := s.index.list[i]
		if at := int64(e) + w.base(); named[e] < 2 && at < w.size && !inside(pieces, at) {
			return nil // a damaged chunk
		}
	}
	if len(free) != len(bad) {
		return nil
	}
	list := slices.Clone(s.index.list)
	for k, i := range bad {
		w.tell(&Error{Path: w.f.path, Part: "chunk", Chunk: i, Off: free[k].at, Err: corrupt("a wrong index entry; the chunk that stands here takes its place")})
		list[i] = entry(free[k].at - w.base())
	}
	s.index = newIndex(list, nil)
	return nil
}

// openDir makes an index for the chunk files of a directory.
func (w *wreck) openDir(ctx context.Context, dir string) error {
	sys := w.f.opts.system()
	w.f.store = newSparse(w.f.opts.sys, dir, "", true)
	w.s = &snapshot{}
	w.pool = chunk.NewPool(w.f.opts.chunkOptions(0, nil))
	if st, err := openFile(sys, filepath.Join(dir, indexFile), false); err == nil {
		w.src = st
		if w.size, err = st.Size(); err == nil {
			w.readHead()
			w.readTrailer()
		}
		st.Close()
	}
	files, err := sys.readDir(dir)
	if err != nil {
		return err
	}
	w.s.sparse = true
	var pieces []piece
	for _, x := range files { // sorted by name, so by number
		if err := ctx.Err(); err != nil {
			return err
		}
		var id int64
		if n, _ := fmt.Sscanf(x.Name(), "%X.chunk", &id); n != 1 || x.Name() != chunkFile(id) {
			continue
		}
		p, err := w.chunkFile(filepath.Join(dir, x.Name()), id)
		if err != nil {
			w.tell(&Error{Path: w.f.path, Part: "chunk file", Chunk: -1, Off: id, Err: err})
			continue
		}
		pieces = append(pieces, p)
	}
	return w.arrange(pieces)
}

// chunkFile reads a chunk file.
func (w *wreck) chunkFile(name string, id int64) (piece, error) {
	st, err := openFile(w.f.opts.system(), name, false)
	if err != nil {
		return piece{}, err
	}
	defer st.Close()
	p := piece{}
	w.src = st
	if w.size, err = st.Size(); err != nil {
		return p, err
	}
	b, err := readAll(st, 0, min(w.size, chunk.HeaderSize))
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

// unpackNumbers reads little-endian numbers of 4 bytes.
func unpackNumbers(b []byte) []uint32 {
	list := make([]uint32, len(b)/4)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return list
}
