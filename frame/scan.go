package frame

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
)

// candidate is an intact chunk that was found in a damaged frame.
type candidate struct {
	at     int64 // position in the file, or number of the chunk file
	h      coder.Header
	sum    uint32
	marked bool // a trailer starts after it
}

// isOldIndex reports whether the candidate is an index with a trailer after it.
func (p *candidate) isOldIndex() bool { return isIndex(&p.h) && p.marked }

// scan looks for chunks in the whole file. It stops early, with a report, if decoding false chunk headers costs too
// much.
func (sv *salvager) scan(ctx context.Context) ([]candidate, error) {
	sv.resetBudget()
	defer sv.resetBudget() // later steps have a budget of their own
	const sector, most = 512, 1 << 20
	step := int64(most)
	var candidates []candidate
	buf := []byte(nil)
	start := int64(0) // of buf in the file
	end := int64(0)   // of the intact chunks
	for at := int64(0); sv.size-at >= coder.HeaderSize; {
		if at < start || at+coder.HeaderSize > start+int64(len(buf)) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			n := step
			if rest := sector - at%sector; n == sector && rest >= coder.HeaderSize {
				n = rest // the next sector may be a bad one
			}
			b, err := storage.ReadAll(sv.src, at, min(n, sv.size-at))
			switch {
			case sv.failed != nil:
				return nil, sv.failed
			case err != nil && step > sector: // perhaps a bad sector: read what is before it
				step /= 2
				continue
			case err != nil:
				sv.report(sv.f.wrap("chunks", at, err))
				at, buf = at-at%sector+sector, nil
				continue
			}
			buf, start, step = b, at, min(2*step, most)
		}
		here := buf[at-start:]
		if n := noHeaders(here); n > 0 {
			at += int64(n)
			continue
		}
		h, ok := sv.parse(here[:coder.HeaderSize], at)
		if !ok {
			at++
			continue
		}
		p := candidate{at: at, h: h}
		cost, intact := sv.decode(ctx, &p)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !intact || at < end { // a chunk in a chunk is probably false, too
			if cost > sv.budget {
				sv.report(sv.f.wrap("chunks", at, fmt.Errorf("too many false chunk headers; search stopped here: %w", ErrTooLarge)))
				return candidates, nil
			}
			sv.budget -= cost
		}
		if !intact {
			at++
			continue
		}
		end = max(end, at+int64(h.CBytes))
		at = sv.after(&p)
		candidates = append(candidates, p)
	}
	return candidates, nil
}

// noHeaders returns how many of the first positions in b cannot begin a chunk header, by its first four bytes. It looks
// at the positions with space for a header.
func noHeaders(b []byte) int {
	last := len(b) - coder.HeaderSize
	for i := range last + 1 {
		if x := b[i : i+4 : i+4]; x[0]-1 < 6 && x[1] <= 1 && x[2]&5 == 5 && x[3] != 0 {
			return i
		}
	}
	return last + 1
}

// parse parses a chunk header at a position in the file, and reports whether it may be one of this frame.
func (sv *salvager) parse(b []byte, at int64) (coder.Header, bool) {
	if noHeaders(b) > 0 {
		return coder.Header{}, false
	}
	h, err := coder.ParseHeader(b, sv.size-at)
	return h, err == nil && sv.plausible(&h)
}

// after looks at the bytes after an intact chunk. It returns the offset of the search for the next one: usually the end
// of the chunk. If no known part starts there, the size of the chunk may be wrong, so that it seems to overlap others.
func (sv *salvager) after(p *candidate) int64 {
	end := p.at + int64(p.h.CBytes)
	b, err := storage.ReadAll(sv.src, end, min(coder.HeaderSize, sv.size-end))
	p.marked = err == nil && strings.HasPrefix(string(b), trailerStart)
	if p.marked || err != nil || len(b) == 0 || p.h.Stored || p.h.Special != chunk.Regular {
		return end
	}
	if len(b) == coder.HeaderSize {
		if _, ok := sv.parse(b, end); ok {
			return end
		}
	}
	return p.at + coder.HeaderSize
}

// plausible reports whether a chunk header may be one of this frame, or of its index.
func (sv *salvager) plausible(h *coder.Header) bool {
	if h.Overhead < coder.HeaderSize || h.NBytes == 0 || h.VersionLZ > 1 {
		return false
	}
	return sv.fits(h) || isIndex(h)
}

// fits reports whether a chunk agrees with the header of the frame.
func (sv *salvager) fits(h *coder.Header) bool {
	s := sv.s
	if !sv.headed {
		return true
	}
	return h.TypeSize == coder.CappedTypeSize(int(s.typeSize)) && (s.chunkSize <= 0 || h.NBytes <= int(s.chunkSize)) && h.VLBlocks == s.vlBlocks
}

// decode decodes a chunk, unless ctx ends. It returns the cost in bytes, and reports whether the chunk is intact.
func (sv *salvager) decode(ctx context.Context, p *candidate) (cost int64, intact bool) {
	wk := sv.pool.Get()
	cost, intact = sv.decodeOn(ctx, wk, p)
	sv.pool.Put(wk) // not after a panic
	return cost, intact
}

// decodeOn is decode on the given worker.
func (sv *salvager) decodeOn(ctx context.Context, wk *coder.Worker, p *candidate) (cost int64, intact bool) {
	var r coder.Reader
	cost = int64(p.h.CBytes) + 4096
	if err := wk.OpenAt(&r, sv.src, p.at, sv.size-p.at, int64(p.h.CBytes), 1); err != nil {
		return cost, false
	}
	var buf []byte
	for k := range r.NumBlocks {
		if r.Special != chunk.Regular {
			break
		}
		n := r.BlockLen(k)
		if cost += int64(n); int64(n) > max(coder.FreeBytes, coder.MemoryRatio*int64(p.h.CBytes)) {
			return cost, false // too much for so few bytes
		}
		if ctx.Err() != nil {
			return cost, false
		}
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		if err := wk.DecodeBlock(buf[:n], &r, k); err != nil {
			return cost, false
		}
	}
	p.sum = crc32c.Checksum(r.Raw())
	return cost, true
}

// arrange makes a snapshot of the candidates, with their index.
func (sv *salvager) arrange(candidates []candidate) error {
	s := sv.s
	list, checksums := sv.fromIndex(candidates, true)
	if list == nil {
		list = sv.orderByChecksums(candidates)
	}
	if list == nil {
		list, checksums = sv.fromIndex(candidates, false)
	}
	if checksums != nil { // if the file was shifted, they are more reliable than entries
		sums := sv.sumsOf(candidates)
		var bad []int
		for i, e := range list {
			if e >= 0 && sums[e] != checksums[i] {
				bad = append(bad, i)
			}
		}
		s.index.checksums = checksums
		sv.matchChecksums(list, bad, candidates)
	}
	if err := sv.ctx.Err(); err != nil { // the search may have ended early
		return err
	}
	if sv.budget < 0 {
		sv.report(sv.f.wrap("index", -1, fmt.Errorf("too many entries to compare with the chunks; search stopped here: %w", ErrTooLarge)))
	}
	sv.found.Index, sv.found.Doubt = list != nil, list != nil && checksums == nil && sv.doubtful
	if sv.found.Doubt {
		sv.report(sv.f.wrap("header", 0, corrupt("several lengths of it fit the index: chunks may have other numbers")))
	}
	if list == nil {
		for _, p := range sv.chunks(candidates) {
			list = append(list, entry(p.at-sv.base()))
		}
	}
	if !sv.headed && len(list) == 0 {
		return sv.f.wrap("chunks", -1, fmt.Errorf("no header and no intact chunk: %w", ErrFormat))
	}
	s.index = newIndex(list, checksums)
	if err := sv.measure(list, candidates); err != nil {
		return err
	}
	s.cbytes = 0 // the file may end before
	sv.f.start(s)
	return nil
}

// chunks returns the candidates that seem to be chunks of the frame.
func (sv *salvager) chunks(candidates []candidate) []candidate {
	typeSize := 0
	if !sv.headed { // that of the most bytes
		sum := map[int]int64{}
		for _, p := range candidates {
			if sum[p.h.TypeSize] += int64(p.h.CBytes); sum[p.h.TypeSize] > sum[typeSize] {
				typeSize = p.h.TypeSize
			}
		}
	}
	var out []candidate
	for i, p := range candidates {
		if (sv.headed || p.h.TypeSize == typeSize) && sv.belongs(&p, candidates[:i]) {
			out = append(out, p)
		}
	}
	if had := sv.s.chunkSize; len(out) == 0 && sv.headed && had > 0 { // the size in the header may be wrong
		sv.s.chunkSize = 0
		out = sv.chunks(candidates)
		sv.s.chunkSize = had
	}
	return out
}

// belongs reports whether a candidate after others may be a chunk of the frame. It is not if it is after the frame, the
// content of a variable-length metalayer, or an index of the others.
func (sv *salvager) belongs(p *candidate, before []candidate) bool {
	s := sv.s
	switch {
	case s.sparse:
		return !sv.headed || sv.fits(&p.h)
	case sv.headed && !sv.fits(&p.h):
		return false
	case sv.headed && s.frameLen > 0 && s.frameLen <= sv.size && sv.trailerEndsAt(s.frameLen) && p.at >= s.frameLen:
		return false
	case sv.inTrailer(p):
		return false
	case sv.headed && s.chunkSize > 0:
		return p.h.NBytes == int(s.chunkSize) || int64(p.h.NBytes) == s.nbytes%int64(s.chunkSize)
	}
	if !isIndex(&p.h) {
		return true
	}
	if p.marked {
		return false
	}
	list, _ := sv.referencedBy(p, before, true)
	return list == nil
}

// trailerEndsAt reports whether a trailer ends at a position.
func (sv *salvager) trailerEndsAt(at int64) bool {
	b, err := storage.ReadAll(sv.src, at-min(at, minTrailerLen), min(at, minTrailerLen))
	return err == nil && len(b) == minTrailerLen && b[len(b)-trailerLenFromEnd] == 0xce
}

// inTrailer reports whether a candidate is the content of a variable-length metalayer, which its size precedes.
func (sv *salvager) inTrailer(p *candidate) bool {
	if p.at < 5 {
		return false
	}
	b, err := storage.ReadAll(sv.src, p.at-5, 5)
	return err == nil && b[0] == 0xc6 && int64(binary.BigEndian.Uint32(b[1:])) == int64(p.h.CBytes)
}

// trailerStart is the first bytes of a trailer.
const trailerStart = "\x94\x01\x93"

// measure computes the sizes of a frame of these chunks, and makes a header if there is none.
func (sv *salvager) measure(list []entry, candidates []candidate) error {
	s := sv.s
	sizes := make(map[entry]int64, len(candidates))
	headers := make(map[entry]*coder.Header, len(candidates))
	for i := range candidates {
		p := &candidates[i]
		sizes[entry(p.at-sv.base())], headers[entry(p.at-sv.base())] = int64(p.h.NBytes), &p.h
	}
	full := int64(s.chunkSize)
	if !sv.headed {
		s.version, s.threads = versionFixed, [2]int16{1, 1}
		for _, e := range list {
			full = max(full, sizes[e])
			if h := headers[e]; h != nil && s.typeSize == 0 {
				s.vlBlocks = h.VLBlocks
				if err := s.setCParams(chunk.Params{TypeSize: h.TypeSize}, coder.Plugins{}); err != nil {
					return err
				}
			}
		}
	}
	size := func(i int) int64 {
		n, ok := sizes[list[i]]
		if ok {
			return n
		}
		if i == len(list)-1 && s.nbytes > 0 && full > 0 && s.nbytes%full != 0 {
			return s.nbytes % full
		}
		return full
	}
	alike := func() bool {
		for i := range list {
			if n := size(i); n != full && (i < len(list)-1 || n > full) {
				return false
			}
		}
		return full > 0
	}
	common := alike()
	if !common && full > 0 && sv.headed { // the size in the header may be wrong
		had := full
		if full = sizes[list[0]]; !alike() {
			full = had
		}
		common = full != had
	}
	sum := int64(0)
	for i := range list {
		sum += size(i)
	}
	s.nbytes = sum
	switch {
	case common:
		s.chunkSize = int32(full)
	case len(list) > 0:
		s.chunkSize = 0
	}
	return nil
}
