package frame

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
)

// maxOffset is the entry of a chunk that was not found: a position after the end of every frame.
const maxOffset entry = 1 << 60

// fromIndex looks for the last index in the file that a trailer follows, and returns its entries, and the checksums if
// they belong to it. It accepts the index of the newest state, or one that references all chunks, because dead space
// holds indexes of older states. If no index references only candidates, it accepts one that references mostly
// candidates.
func (sv *salvager) fromIndex(candidates []candidate, newest bool) ([]entry, []uint32) {
	if sv.s.sparse {
		return sv.order, sv.orderChecksums
	}
	for _, most := range []bool{false, true} {
		for i, p := range slices.Backward(candidates) {
			if !isIndex(&p.h) || newest != sv.newest(&p) || !newest && !sv.marked(&p) {
				continue
			}
			list := sv.referencedBy(&p, candidates[:i], most)
			if list == nil || !newest && !sv.referencesAll(list, candidates) {
				continue
			}
			sv.fill(list, candidates)
			if !newest {
				sv.report(sv.f.wrap("index", p.at, corrupt("taken from here, perhaps of an older state")))
			}
			return list, sv.checksumsOf(p.sum, list, candidates)
		}
	}
	return nil, nil
}

// newest reports whether an index certainly belongs to the newest state: it ends at the trailer, or is where the header
// says, or the checksums belong to it.
func (sv *salvager) newest(p *candidate) bool {
	switch {
	case sv.trailerAt > 0 && p.at+int64(p.h.CBytes) == sv.trailerAt:
		return true
	case sv.headed && sv.s.nbytes > 0 && p.at == sv.s.indexPos():
		return true
	}
	return sv.checksums != nil && p.sum == sv.indexChecksum
}

// referencesAll reports whether the number of entries is that of the header, or the entries reference all chunks.
func (sv *salvager) referencesAll(list []entry, candidates []candidate) bool {
	if sv.headed && sv.s.chunkSize > 0 {
		return sv.s.countChunks() == int64(len(list))
	}
	return len(sv.unreferenced(list, candidates)) == 0
}

// unreferenced returns the chunks that no entry references.
func (sv *salvager) unreferenced(list []entry, candidates []candidate) []candidate {
	referenced := make(map[entry]bool, len(list))
	for _, e := range list {
		referenced[e] = true
	}
	return slices.DeleteFunc(sv.chunks(candidates), func(p candidate) bool { return referenced[entry(p.at-sv.base())] })
}

// fill replaces wrong entries by the unreferenced chunks, in order, unless there are more chunks. If some entries are
// certainly wrong, fill may replace every entry that references no intact chunk.
func (sv *salvager) fill(list []entry, candidates []candidate) {
	count := make(map[entry]int, len(list))
	for _, e := range list {
		count[e]++
	}
	chunks := sv.chunks(candidates)
	var wrong, doubtful []int
	for i, e := range list {
		_, err := e.special()
		if e < 0 && err == nil || e < maxOffset && sv.find(e, chunks) {
			continue
		}
		doubtful = append(doubtful, i)
		if e < 0 || count[e] > 1 || sv.find(e, candidates) || !sv.exists(e, candidates) {
			wrong = append(wrong, i)
		}
	}
	free := sv.unreferenced(list, candidates)
	if len(wrong) == 0 {
		return
	}
	if len(free) > len(wrong) {
		wrong = doubtful
	}
	if len(free) > len(wrong) {
		sv.report(sv.f.wrap("index", -1, corrupt("%d wrong entries, %d chunks that no entry references: left out", len(wrong), len(free))))
		return
	}
	for k := range free {
		list[wrong[k]] = sv.entryFor(wrong[k], &free[k])
	}
}

// find reports whether an entry references a candidate.
func (sv *salvager) find(e entry, candidates []candidate) bool {
	_, ok := searchCandidate(candidates, int64(e)+sv.base())
	return ok
}

// checksumsOf returns the checksums if they belong to an index with these entries, and otherwise nil. They belong to it
// if they include its checksum, sum. They also do if at least half of the chunks match: then the index is damaged.
func (sv *salvager) checksumsOf(sum uint32, list []entry, candidates []candidate) []uint32 {
	if len(sv.checksums) != len(list) {
		return nil
	}
	if sv.indexChecksum == sum {
		return sv.checksums
	}
	sums, same := sv.sumsOf(candidates), 0
	for i, e := range list {
		if sum, ok := sums[e]; ok && sum == sv.checksums[i] || e < 0 && sv.checksums[i] == 0 {
			same++
		}
	}
	if 2*same < len(list) {
		return nil
	}
	return sv.checksums
}

// sumsOf returns the checksums of candidates by their entries.
func (sv *salvager) sumsOf(candidates []candidate) map[entry]uint32 {
	sums := make(map[entry]uint32, len(candidates))
	for _, p := range candidates {
		sums[entry(p.at-sv.base())] = p.sum
	}
	return sums
}

// referencedBy returns the entries of a candidate if it is an index that references only other candidates, or with most
// if it references mostly other candidates. Otherwise it returns nil.
func (sv *salvager) referencedBy(p *candidate, all []candidate, most bool) []entry {
	x := sv.entries(p)
	if x == nil || len(all) == 0 {
		return nil
	}
	if sv.headed {
		return sv.resolve(x, sv.base(), all, most)
	}
	if n, err := headerLen(sv.s.meta); err == nil && sv.layered {
		return sv.resolve(x, int64(n), all, most)
	}
	for _, least := range []int64{fixedLen, -p.at} { // perhaps the file has lost its beginning
		if n, fits := sv.guessBase(x, p, all, least); fits > 0 {
			if fits > 1 {
				return nil
			}
			return sv.resolve(x, n, all, most)
		}
	}
	return nil
}

// guessBase returns the base of the entries of an index p, at least least, if the header is lost. It assumes that one
// of the first candidates is one of the first chunks. Chunks are after the base and before the index. guessBase also
// returns how many bases fit, at most 2: several may if chunks have one size and the first is lost.
func (sv *salvager) guessBase(x []entry, p *candidate, all []candidate, least int64) (base int64, fits int) {
	last := p.at - coder.HeaderSize // start of the last chunk
	var positions []entry
	for _, e := range x {
		if e >= 0 && int64(e) <= last-least { // others are wrong with any base
			positions = append(positions, e)
		}
	}
	slices.Sort(positions)
	var bases []int64
	for _, e := range positions[:min(len(positions), 4)] {
		for _, first := range all[:min(len(all), 16)] {
			from := first.at - int64(e)
			outside := from < least || from > all[0].at || from+int64(positions[len(positions)-1]) > last
			if outside || slices.Contains(bases, from) || sv.resolve(x, from, all, true) == nil {
				continue
			}
			if !sv.atIndex(positions, from, all) {
				bases = append(bases, from)
			}
		}
	}
	return sv.chooseBase(bases, x, positions, p, all)
}

// chooseBase returns the most probable of the bases that fit an index p, which is the largest, because smaller ones
// need chunks in the header. It also returns 2 if there are several and the chunks of a smaller one may be lost.
func (sv *salvager) chooseBase(bases []int64, x, positions []entry, p *candidate, all []candidate) (base int64, fits int) {
	before := func(from int64) bool { return from+int64(positions[0]) < 0 } // a chunk starts before the file
	if fitting := slices.DeleteFunc(slices.Clone(bases), before); len(fitting) > 0 {
		bases = fitting
	}
	if len(bases) == 0 {
		return 0, 0
	}
	base = slices.Max(bases)
	if len(bases) > 1 && !sv.complete(x, positions, base, p, all) {
		return 0, 2
	}
	for _, from := range bases {
		if from < base && (sv.allLost(positions, from, all) || sv.deniedBase(base, from, all)) {
			return 0, 2
		}
	}
	return base, 1
}

// atIndex reports whether a chunk would start where an older index does.
func (sv *salvager) atIndex(positions []entry, from int64, all []candidate) bool {
	return slices.ContainsFunc(positions, func(e entry) bool {
		i, found := searchCandidate(all, from+int64(e))
		return found && isIndex(&all[i].h) && sv.marked(&all[i])
	})
}

// complete reports whether all entries of an index p reference candidates, relative to a position in the file, or the
// last chunk ends at an index.
func (sv *salvager) complete(x, positions []entry, from int64, p *candidate, all []candidate) bool {
	i, found := searchCandidate(all, from+int64(positions[len(positions)-1]))
	if found {
		end := all[i].at + int64(all[i].h.CBytes)
		if next, ok := searchCandidate(all, end); end == p.at || ok && isIndex(&all[next].h) {
			return true
		}
	}
	return sv.resolve(x, from, all, false) != nil
}

// allLost reports whether the first entries that reference no candidate, relative to a position in the file, may all be
// those of damaged chunks.
func (sv *salvager) allLost(positions []entry, from int64, all []candidate) bool {
	const most = 4
	missing := 0
	for _, e := range positions {
		at, end := from+int64(e), sv.size
		i, found := searchCandidate(all, at)
		if found {
			continue
		}
		if i < len(all) {
			end = all[i].at
		}
		if !sv.mayBeLost(at, end) {
			return false
		}
		if missing++; missing == most {
			break
		}
	}
	return true
}

// mayBeLost reports whether the bytes of a range may be a damaged chunk: they cannot be read, or have a chunk header or
// zeros instead of it. A range of zeros, or one that starts before the file, is more probably the frame header.
func (sv *salvager) mayBeLost(at, end int64) bool {
	const most = 4096
	if at < 0 {
		return false
	}
	b, err := storage.ReadAll(sv.src, at, min(end-at, most))
	if err != nil || len(b) < coder.HeaderSize {
		return true
	}
	nonzero := func(c byte) bool { return c != 0 }
	if slices.ContainsFunc(b[:coder.HeaderSize], nonzero) {
		return noHeaders(b[:coder.HeaderSize]) == 0
	}
	return slices.ContainsFunc(b, nonzero)
}

// deniedBase reports whether an older index has an entry that references a chunk before this index with the base other,
// but not with the larger base from.
func (sv *salvager) deniedBase(from, other int64, all []candidate) bool {
	for i := range all {
		if !isIndex(&all[i].h) {
			continue
		}
		last := all[i].at - coder.HeaderSize
		for _, e := range sv.entries(&all[i]) {
			if e < 0 || e >= maxOffset || int64(e)+from <= last || int64(e)+other > last {
				continue
			}
			if _, ok := searchCandidate(all[:i], int64(e)+other); ok {
				return true
			}
		}
	}
	return false
}

// searchCandidate returns the index of the first candidate at a position or after it, and reports whether it is there.
func searchCandidate(candidates []candidate, at int64) (int, bool) {
	return slices.BinarySearchFunc(candidates, at, func(p candidate, at int64) int { return cmp.Compare(p.at, at) })
}

// entries returns the entries of a candidate that may be an index, or nil.
func (sv *salvager) entries(p *candidate) []entry {
	if sv.budget < 0 {
		return nil
	}
	b, err := sv.f.readStored(sv.src, p.at, int64(p.h.CBytes))
	if err != nil {
		return nil
	}
	x, err := parseIndex(b, &p.h, -1, sv.f.opts.MaxChunks, sv.f.plain)
	if sv.budget -= int64(8 * x.n); err != nil {
		return nil
	}
	return x.list
}

// resolve converts entries that are relative to a position in the file to entries of sv. It returns nil if not all of
// them reference candidates, or with most if too few do.
func (sv *salvager) resolve(entries []entry, from int64, candidates []candidate, most bool) []entry {
	list := slices.Clone(entries)
	good, bad := 0, 0
	referenced := make(map[entry]bool, len(list))
	for i, e := range list {
		if sv.budget--; sv.budget < 0 {
			return nil
		}
		ok := e < maxOffset
		if e < 0 {
			_, err := e.special()
			ok = err == nil
		} else if ok {
			at := int64(e) + from
			_, ok = searchCandidate(candidates, at)
			list[i] = entry(at - sv.base())
			if ok = ok && !referenced[e]; ok {
				referenced[e] = true
				good++
			} else if referenced[e] {
				list[i] = maxOffset
			}
		}
		if ok {
			continue
		}
		if bad++; !most {
			return nil
		}
		if list[i] < 0 || list[i] > maxOffset {
			list[i] = maxOffset
		}
	}
	if good <= bad {
		return nil
	}
	return list
}

// orderByChecksums returns entries in the order of the checksums, with zeros for chunks that are not found. It returns
// nil if the candidates match no checksums.
func (sv *salvager) orderByChecksums(candidates []candidate) []entry {
	if len(sv.checksums) == 0 || sv.headed && sv.s.chunkSize > 0 && sv.s.countChunks() != int64(len(sv.checksums)) {
		return nil
	}
	where := make(map[uint32]int64, len(candidates))
	for _, p := range candidates {
		where[p.sum] = p.at
	}
	list := make([]entry, len(sv.checksums))
	hits, specials := 0, 0
	for i, sum := range sv.checksums {
		at, ok := where[sum]
		switch {
		case ok:
			list[i] = entry(at - sv.base())
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
		sv.report(sv.f.wrap("index", -1, corrupt("%d chunks of one repeated value, which is taken for zero", specials)))
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
