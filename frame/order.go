package frame

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// maxOffset is the entry of a chunk that was not found: a position after the end of every frame.
const maxOffset entry = 1 << 60

// fromIndex looks for the last index in the file that a trailer follows, and returns its entries, and the checksums if
// they belong to it. It accepts the index of the newest state, or one that references all chunks, because dead space
// holds indexes of older states. If no index references only candidates, it accepts one that references mostly
// candidates.
func (w *salvager) fromIndex(candidates []candidate, newest bool) ([]entry, []uint32) {
	if w.s.sparse {
		return w.order, w.orderChecksums
	}
	for _, most := range []bool{false, true} {
		for i, p := range slices.Backward(candidates) {
			if !isIndex(&p.h) || newest != w.newest(&p) || !newest && !w.marked(&p) {
				continue
			}
			list := w.names(&p, candidates[:i], most)
			if list == nil || !newest && !w.namesAll(list, candidates) {
				continue
			}
			w.fill(list, candidates)
			if !newest {
				w.report(w.f.wrap("index", p.at, corrupt("taken from here, perhaps of an older state")))
			}
			return list, w.checksumsOf(p.sum, list, candidates)
		}
	}
	return nil, nil
}

// newest reports whether an index certainly belongs to the newest state: it ends at the trailer, or is where the header
// says, or the checksums belong to it.
func (w *salvager) newest(p *candidate) bool {
	switch {
	case w.trailerAt > 0 && p.at+int64(p.h.CBytes) == w.trailerAt:
		return true
	case w.headed && w.s.nbytes > 0 && p.at == w.s.indexPos():
		return true
	}
	return w.checksums != nil && p.sum == w.indexChecksum
}

// namesAll reports whether the number of entries is that of the header, or the entries reference all chunks.
func (w *salvager) namesAll(list []entry, candidates []candidate) bool {
	if w.headed && w.s.chunkSize > 0 {
		return w.s.countChunks() == int64(len(list))
	}
	return len(w.unnamed(list, candidates)) == 0
}

// unnamed returns the chunks that no entry references.
func (w *salvager) unnamed(list []entry, candidates []candidate) []candidate {
	named := make(map[entry]bool, len(list))
	for _, e := range list {
		named[e] = true
	}
	return slices.DeleteFunc(w.chunks(candidates), func(p candidate) bool { return named[entry(p.at-w.base())] })
}

// fill replaces wrong entries by the unreferenced chunks, in order, unless there are more chunks. If some entries are
// certainly wrong, fill may replace every entry that references no intact chunk.
func (w *salvager) fill(list []entry, candidates []candidate) {
	count := make(map[entry]int, len(list))
	for _, e := range list {
		count[e]++
	}
	chunks := w.chunks(candidates)
	var wrong, doubtful []int
	for i, e := range list {
		_, err := e.special()
		if e < 0 && err == nil || e < maxOffset && w.find(e, chunks) {
			continue
		}
		doubtful = append(doubtful, i)
		if e < 0 || count[e] > 1 || w.find(e, candidates) || !w.exists(e, candidates) {
			wrong = append(wrong, i)
		}
	}
	free := w.unnamed(list, candidates)
	if len(wrong) == 0 {
		return
	}
	if len(free) > len(wrong) {
		wrong = doubtful
	}
	if len(free) > len(wrong) {
		w.report(w.f.wrap("index", -1, corrupt("%d wrong entries, %d chunks that no entry references: left out", len(wrong), len(free))))
		return
	}
	for k := range free {
		list[wrong[k]] = w.entryFor(wrong[k], &free[k])
	}
}

// find reports whether an entry references a candidate.
func (w *salvager) find(e entry, candidates []candidate) bool {
	_, ok := slices.BinarySearchFunc(candidates, int64(e)+w.base(), func(p candidate, at int64) int { return cmp.Compare(p.at, at) })
	return ok
}

// checksumsOf returns the checksums if they belong to an index with these entries, and otherwise nil. They belong to it
// if they include its checksum, sum. They also do if at least half of the chunks match: then the index is damaged.
func (w *salvager) checksumsOf(sum uint32, list []entry, candidates []candidate) []uint32 {
	if len(w.checksums) != len(list) {
		return nil
	}
	if w.indexChecksum == sum {
		return w.checksums
	}
	sums, same := w.sumsOf(candidates), 0
	for i, e := range list {
		if sum, ok := sums[e]; ok && sum == w.checksums[i] || e < 0 && w.checksums[i] == 0 {
			same++
		}
	}
	if 2*same < len(list) {
		return nil
	}
	return w.checksums
}

// sumsOf returns the checksums of candidates by their entries.
func (w *salvager) sumsOf(candidates []candidate) map[entry]uint32 {
	sums := make(map[entry]uint32, len(candidates))
	for _, p := range candidates {
		sums[entry(p.at-w.base())] = p.sum
	}
	return sums
}

// names returns the entries of a candidate if it is an index that references only other candidates, or with most if it
// references mostly other candidates. Otherwise it returns nil.
func (w *salvager) names(p *candidate, all []candidate, most bool) []entry {
	x := w.entries(p)
	if x == nil || len(all) == 0 {
		return nil
	}
	if w.headed {
		list, _ := w.resolve(x, w.base(), all, most)
		return list
	}
	if n, err := headerLen(w.s.meta); err == nil && w.layered {
		list, _ := w.resolve(x, int64(n), all, most)
		return list
	}
	// The length of the header is lost. Assume that one of the first candidates is one of the first chunks.
	var positions []entry
	for _, e := range x {
		if e >= 0 && e < maxOffset {
			positions = append(positions, e)
		}
	}
	slices.Sort(positions)
	var best []entry
	hits := 0
	for _, e := range positions[:min(len(positions), 4)] {
		for _, p := range all[:min(len(all), 16)] {
			if list, n := w.resolve(x, p.at-int64(e), all, most); n > hits {
				best, hits = list, n
			}
		}
	}
	return best
}

// entries returns the entries of a candidate that may be an index, or nil.
func (w *salvager) entries(p *candidate) []entry {
	if w.budget < 0 {
		return nil
	}
	b, err := w.f.readStored(w.src, p.at, int64(p.h.CBytes))
	if err != nil {
		return nil
	}
	x, err := parseIndex(b, -1, w.f.opts.MaxChunks, w.f.plain)
	if w.budget -= int64(8 * x.n); err != nil {
		return nil
	}
	return x.list
}

// resolve converts entries that are relative to a position in the file to entries of w. It also returns the number of
// entries that reference candidates. The list is nil if not all of them do, or with most if too few do.
func (w *salvager) resolve(entries []entry, from int64, candidates []candidate, most bool) ([]entry, int) {
	list := slices.Clone(entries)
	good, bad := 0, 0
	named := make(map[entry]bool, len(list))
	for i, e := range list {
		if w.budget--; w.budget < 0 {
			return nil, 0
		}
		ok := e < maxOffset
		if e < 0 {
			_, err := e.special()
			ok = err == nil
		} else if ok {
			at := int64(e) + from
			_, ok = slices.BinarySearchFunc(candidates, at, func(p candidate, at int64) int { return cmp.Compare(p.at, at) })
			list[i] = entry(at - w.base())
			if ok = ok && !named[e]; ok {
				named[e] = true
				good++
			} else if named[e] {
				list[i] = maxOffset
			}
		}
		if ok {
			continue
		}
		if bad++; !most {
			return nil, 0
		}
		if list[i] < 0 || list[i] > maxOffset {
			list[i] = maxOffset
		}
	}
	if good <= bad {
		return nil, 0
	}
	return list, good
}

// orderByChecksums returns entries in the order of the checksums, with zeros for chunks that are not found. It returns
// nil if the candidates match no checksums.
func (w *salvager) orderByChecksums(candidates []candidate) []entry {
	if len(w.checksums) == 0 || w.headed && w.s.chunkSize > 0 && w.s.countChunks() != int64(len(w.checksums)) {
		return nil
	}
	where := make(map[uint32]int64, len(candidates))
	for _, p := range candidates {
		where[p.sum] = p.at
	}
	list := make([]entry, len(w.checksums))
	hits, specials := 0, 0
	for i, sum := range w.checksums {
		at, ok := where[sum]
		switch {
		case ok:
			list[i] = entry(at - w.base())
			hits++
		case sum == 0:
			list[i] = entryZeros
			specials++
		default:
			list[i] = maxOffset
		}
	}
	if hits == 0 {
		return nil
	}
	if specials > 0 {
		w.report(w.f.wrap("index", -1, corrupt("%d chunks of one repeated value, which is taken for zero", specials)))
	}
	return list
}

// unpackNumbers reads little-endian numbers of 4 bytes.
func unpackNumbers(b []byte) []uint32 {
	list := make([]uint32, len(b)/4)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return list
}
