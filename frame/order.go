package frame

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
)

// maxOffset is the entry of a chunk that was not found: a position after the end of every frame.
const maxOffset entry = 1 << 60

// entryCost is what looking up an index entry takes from the budget, which counts decoded bytes: about as many are
// decoded in that time.
const entryCost = 16

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
			if !isIndex(&p.h) || newest != sv.newest(&p) || !newest && !p.marked {
				continue
			}
			list, lengths := sv.referencedBy(&p, candidates[:i], most)
			if list == nil || !newest && !sv.referencesAll(list, candidates) {
				continue
			}
			sv.fill(list, candidates)
			sv.doubtful = lengths > 1
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
		if e < 0 && err == nil || e < maxOffset && sv.references(e, chunks) {
			continue
		}
		doubtful = append(doubtful, i)
		if e < 0 || count[e] > 1 || sv.references(e, candidates) || !sv.exists(e, candidates) {
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

// references reports whether an entry references a candidate.
func (sv *salvager) references(e entry, candidates []candidate) bool {
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
// if it references mostly other candidates. Otherwise it returns nil. It also returns how many lengths of the header
// fit the index.
func (sv *salvager) referencedBy(p *candidate, all []candidate, most bool) (list []entry, lengths int) {
	x := sv.entries(p)
	if x == nil || len(all) == 0 {
		return nil, 0
	}
	base, lengths := sv.base(), 1
	if !sv.headed {
		if n, err := measureHeader(sv.s.meta); err == nil && sv.layered {
			base = int64(n)
		} else if base, lengths = sv.guessBase(x, p, all); lengths == 0 {
			return nil, 0
		}
	}
	return sv.resolve(x, base, all, most), lengths
}

// guessBase returns the most probable base of the entries of an index p, if the header is lost: the one where a
// metalayer of the header ends, or the one with which most entries reference candidates. It also returns how many bases
// fit. There are several if chunks have one size.
//
// It assumes that one of the first candidates is one of the first chunks. Chunks are after the base, which is less than
// 0 if the file has lost its beginning, and before the index.
func (sv *salvager) guessBase(x []entry, p *candidate, all []candidate) (base int64, fits int) {
	last := p.at - coder.HeaderSize // start of the last chunk
	var positions []entry
	for _, e := range x {
		if e >= 0 && int64(e) <= last+p.at { // others are wrong with any base
			positions = append(positions, e)
		}
	}
	sv.budget -= int64(len(x)) + entryCost*int64(len(positions))
	slices.Sort(positions)
	bases := map[int64]int{} // and the entries that reference candidates
	tried := map[int64]bool{}
	least, most := -p.at, 32
	if !p.marked { // probably a chunk, of which there may be many
		least, most = fixedLen, 4
	}
	try := func(from int64) {
		outside := from < least || from > all[0].at || from+int64(positions[len(positions)-1]) > last
		if outside || tried[from] {
			return
		}
		tried[from] = true
		if sv.resolve(x, from, all, true) == nil || sv.atIndex(positions, from, all) {
			return
		}
		for _, e := range positions {
			if _, ok := searchCandidate(all, from+int64(e)); ok {
				bases[from]++
			}
		}
	}
	for k, e := range positions[:min(len(positions), most)] {
		try(all[0].at - int64(e))
		for _, first := range all[:min(len(all), 16)] {
			if k < 4 {
				try(first.at - int64(e))
			}
		}
	}
	return sv.chooseBase(bases, all)
}

// chooseBase is guessBase for bases with the numbers of entries that reference candidates.
func (sv *salvager) chooseBase(bases map[int64]int, all []candidate) (base int64, fits int) {
	sorted := slices.Sorted(maps.Keys(bases))
	for _, from := range slices.Backward(sorted) {
		if sv.endsLayer(from) {
			return from, 1
		}
	}
	var old []oldIndex
	if len(sorted) > 1 {
		old = sv.oldIndexes(all)
	}
	most := 0
	for _, from := range slices.Backward(sorted) {
		if slices.ContainsFunc(old, func(x oldIndex) bool { return sv.denies(&x, from, sorted, all) }) {
			continue
		}
		if fits++; bases[from] > most {
			base, most = from, bases[from]
		}
	}
	return base, fits
}

// endsLayer reports whether a metalayer of the header ends at a position: its content follows a marker and its length.
func (sv *salvager) endsLayer(end int64) bool {
	const most, before = 64 << 10, 5 // bytes to look at, and those before the content
	var b []byte
	for n := min(end, most); n >= before && b == nil; n /= 2 { // bytes before these may be in a bad sector
		b, _ = storage.ReadAll(sv.src, end-n, n)
	}
	for i := len(b) - before; i >= 0; i-- {
		if b[i] == 0xc6 && int64(binary.BigEndian.Uint32(b[i+1:])) == int64(len(b)-before-i) {
			return true
		}
	}
	return false
}

// atIndex reports whether a chunk would start where an older index does.
func (sv *salvager) atIndex(positions []entry, from int64, all []candidate) bool {
	return slices.ContainsFunc(positions, func(e entry) bool {
		i, found := searchCandidate(all, from+int64(e))
		return found && all[i].isOldIndex()
	})
}

// oldIndex is the index of an older state.
type oldIndex struct {
	last int64 // start of the last chunk before it, at most
	list []entry
}

// oldIndexes returns the last indexes of older states.
func (sv *salvager) oldIndexes(all []candidate) (old []oldIndex) {
	const most = 8
	for i := len(all) - 1; i >= 0 && len(old) < most; i-- {
		if all[i].isOldIndex() {
			old = append(old, oldIndex{all[i].at - coder.HeaderSize, sv.entries(&all[i])})
		}
	}
	return old
}

// denies reports whether an entry of an older index references a chunk before it with a smaller one of the bases, which
// are sorted, but not with base from.
func (sv *salvager) denies(x *oldIndex, from int64, bases []int64, all []candidate) bool {
	for i, e := range x.list {
		if sv.budget--; sv.budget < 0 || i%4096 == 0 && sv.ctx.Err() != nil {
			return false
		}
		if e < 0 || e >= maxOffset || int64(e)+from <= x.last {
			continue
		}
		for _, other := range bases {
			if other >= from || int64(e)+other > x.last {
				break
			}
			sv.budget -= entryCost
			if _, ok := searchCandidate(all, int64(e)+other); ok {
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
	if sv.budget < 0 || sv.ctx.Err() != nil {
		return nil
	}
	b, err := sv.f.readStored(sv.src, p.at, int64(p.h.CBytes))
	if err != nil {
		return nil
	}
	x, err := parseIndex(sv.ctx, b, &p.h, -1, sv.f.opts.MaxChunks, sv.f.plain)
	if sv.budget -= int64(8 * x.n); err != nil {
		return nil
	}
	return x.list
}

// resolve converts entries that are relative to a position in the file to entries of sv. It returns nil if not all of
// them reference candidates, or with most if too few do. It ends when the budget or the context does.
func (sv *salvager) resolve(entries []entry, from int64, candidates []candidate, most bool) []entry {
	list := slices.Clone(entries)
	good, bad, rest := 0, 0, 0 // entries that reference candidates, wrong ones, and those of chunks still to come
	for _, e := range list {
		if e >= 0 {
			rest++
		}
	}
	referenced := make(map[entry]bool, min(len(list), len(candidates)))
	for i, e := range list {
		if sv.budget--; sv.budget < 0 || i%4096 == 0 && sv.ctx.Err() != nil {
			return nil
		}
		ok := e < maxOffset
		if e < 0 {
			_, err := e.special()
			ok = err == nil
		} else if rest--; ok {
			sv.budget -= entryCost
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
		if bad++; !most || good+rest <= bad {
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
