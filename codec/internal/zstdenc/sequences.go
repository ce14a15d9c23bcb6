package zstdenc

import (
	"encoding/binary"
	"math/bits"
)

// sequence is a number of literals, followed by a match of length bytes.
type sequence struct {
	literals uint32
	length   uint32
	offset   uint32 // 1 to 3 are previous offsets (RFC 8878, section 3.1.1.5); others are the offset plus 3
}

// The three tables of sequences.
const (
	literalLengths = iota
	matchOffsets
	matchLengths
)

// minMatch is the length of the shortest match.
const minMatch = 3

// The codes of lengths (RFC 8878, section 3.1.1.3.2.1.1), 36 and 53: the number of extra bits of each code, and the
// codes of small lengths.
var (
	literalBits = [64]uint8{
		16: 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	}
	matchBits = [64]uint8{
		32: 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	}
	literalCodes = makeCodes[[64]uint8](literalBits[:36])
	matchCodes   = makeCodes[[128]uint8](matchBits[:maxCodes])
)

// makeCodes returns the codes of the numbers from 0 up.
func makeCodes[T [64]uint8 | [128]uint8](width []uint8) (t T) {
	at := 0
	for code, n := range width {
		for range 1 << n {
			if at < len(t) {
				t[at] = uint8(code)
				at++
			}
		}
	}
	return t
}

// literalCode returns the code of a number of literals.
func literalCode(n uint32) uint8 {
	if n < 64 {
		return literalCodes[n]
	}
	return uint8(bits.Len32(n)) + 18
}

// matchCode returns the code of the length of a match less minMatch.
func matchCode(n uint32) uint8 {
	if n < 128 {
		return matchCodes[n]
	}
	return uint8(bits.Len32(n)) + 35
}

// presetProbs are the distributions that need no description (RFC 8878, section 3.1.1.3.2.2).
var presetProbs = [3][]int16{
	{
		4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1,
	},
	{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1},
	{
		1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
	},
}

// coder is a machine and its distribution.
type coder struct {
	machine
	distribution
}

// presets never change.
var presets = makePresets()

func makePresets() *[3]coder {
	t := new([3]coder)
	for i, log := range [3]uint{6, 5, 6} {
		c := &t[i]
		c.distribution.log, c.n = log, len(presetProbs[i])
		copy(c.probs[:], presetProbs[i])
		c.build(&c.distribution)
	}
	return t
}

// cost returns the cost of symbols with these counts, and false if some have no state.
func (c *coder) cost(count []uint32) (sum uint64, ok bool) {
	for s, k := range count {
		if k == 0 {
			continue
		}
		if s >= c.n || c.probs[s] == 0 {
			return 0, false
		}
		p := max(c.probs[s], -c.probs[s])
		sum += uint64(k) * uint64(uint32(c.distribution.log)<<costLog-log2(uint32(p)))
	}
	return sum, true
}

// The modes of a table.
const (
	presetMode = iota
	sameMode
	describedMode
	repeatMode
)

// sequenceWriter writes the sequences of blocks. It keeps the tables of the previous block.
type sequenceWriter struct {
	run   sequenceRun
	count [3][64]uint32
	// Tables, by kind: the table of the last block and a new one.
	tables [3][2]coder
	last   [3]int8 // index of the table of the last block, or none
	used   [3]int8 // index of the table of this block
}

// none means that the next block cannot repeat a table.
const none = -1

// maxLog is the logarithm of the largest number of states of a table.
var maxLog = [3]int{9, 8, 9}

// write writes the section of sequences to dst and returns its length. dst must have 12 bytes of space for each
// sequence, and 400 more.
func (w *sequenceWriter) write(dst []byte, sequences []sequence) int {
	n := len(sequences)
	at := 1
	switch {
	case n < 128:
		dst[0] = byte(n)
	case n < 0x7f00:
		dst[0], dst[1] = byte(n>>8+128), byte(n)
		at = 2
	default:
		dst[0] = 255
		binary.LittleEndian.PutUint16(dst[1:], uint16(n-0x7f00))
		at = 3
	}
	w.used = w.last
	if n == 0 {
		return at
	}
	w.encode(sequences)
	modes := at
	dst[modes] = 0
	at++
	var use [3]*coder
	for i := range use {
		mode, c, used := w.choose(i, n, dst[at:])
		dst[modes] |= byte(mode << (6 - 2*i))
		use[i] = c
		at += used
	}
	return w.run.write(dst, at, use)
}

// encode builds the records of the sequences, and counts their codes.
func (w *sequenceWriter) encode(sequences []sequence) {
	n := len(sequences)
	if cap(w.run.records) < n {
		w.run.records = make([]record, n, max(2*n, 1<<10))
	}
	records := w.run.records[:n]
	w.run.records = records
	w.count = [3][64]uint32{}
	count := &w.count
	for i := range records {
		s := &sequences[i]
		l, o, m := literalCode(s.literals), uint8(bits.Len32(s.offset)-1)&31, matchCode(s.length-minMatch)
		count[literalLengths][l&63]++
		count[matchOffsets][o]++
		count[matchLengths][m&63]++
		ln, mn := literalBits[l&63]&31, matchBits[m&63]&31
		rest := uint64(s.offset)&(1<<o-1)<<mn | uint64(s.length-minMatch)&(1<<mn-1)
		r := &records[i]
		r.rest = rest<<ln | uint64(s.literals)&(1<<ln-1)
		r.bits, r.literals, r.offset, r.length = ln+mn+o, l, o, m
	}
}

// choose selects the best table for n codes, writes its description to dst, and returns the length of the description.
func (w *sequenceWriter) choose(which, n int, dst []byte) (mode int, c *coder, used int) {
	all := &w.count[which]
	highest, most := 0, uint32(0)
	for s, k := range all {
		if k > 0 {
			highest = s
		}
		most = max(most, k)
	}
	count := all[:highest+1]
	free := (w.last[which] + 1) & 1
	fresh := &w.tables[which][free]
	preset := &presets[which]
	best, ok := preset.cost(count)
	mode, c = presetMode, preset
	if !ok {
		mode = -1
	}
	if int(most) == n && (n > 2 || !ok) {
		fresh.buildSame()
		dst[0] = byte(highest)
		w.used[which] = none
		return sameMode, fresh, 1
	}
	if last := w.last[which]; last != none {
		old := &w.tables[which][last]
		if cost, ok := old.cost(count); ok && (mode < 0 || cost < best) {
			mode, c, best = repeatMode, old, cost
		}
	}
	if int(most) < n {
		// A description has at least 4 bytes.
		if least := entropy(count, uint32(n)); mode < 0 || least+4*8*oneBit < best {
			fresh.normalize(count, uint32(n), statesLog(uint32(n), highest, maxLog[which]))
			used = fresh.describe(dst)
			fresh.same = false
			cost, _ := fresh.cost(count)
			if cost += uint64(used) * 8 * oneBit; mode < 0 || cost < best {
				fresh.build(&fresh.distribution)
				w.used[which] = free
				return describedMode, fresh, used
			}
		}
	}
	if mode == presetMode {
		w.used[which] = none
	}
	return mode, c, 0
}

// record is a sequence as it is encoded: the codes of its lengths and offset, and the bits after the codes.
type record struct {
	rest                     uint64 // extra bits of the literals, the match and the offset, starting at the low end
	bits                     uint8  // number of bits in rest, at most 16+16+31
	literals, offset, length uint8  // codes
}

// sequenceRun writes records, the last one first (RFC 8878, section 3.1.1.3.2.1.2).
type sequenceRun struct {
	records  []record
	machines [3]*machine
	states   [3]uint32
	bits     bitWriter
}

// write writes the stream to dst[at:] and returns its end.
func (r *sequenceRun) write(dst []byte, at int, use [3]*coder) int {
	last := &r.records[len(r.records)-1]
	r.bits = bitWriter{dst: dst, at: at}
	for i, c := range [3]uint8{last.literals, last.offset, last.length} {
		r.machines[i] = &use[i].machine
		r.states[i] = use[i].start(c)
	}
	r.bits.addRest(last)
	r.records = r.records[:len(r.records)-1]
	r.run()
	w := &r.bits
	for _, i := range [3]int{matchLengths, matchOffsets, literalLengths} {
		log := r.machines[i].log
		w.add(uint64(r.states[i])&(1<<log-1), log)
	}
	w.flush()
	at = w.end()
	*w = bitWriter{}
	return at
}

// runGeneric writes all records except the last, which states and bits contain already.
//
// It is one loop with all its variables, because most of the time of the entropy coding is spent here.
func (r *sequenceRun) runGeneric() {
	lm, om, mm := r.machines[literalLengths], r.machines[matchOffsets], r.machines[matchLengths]
	ls, os, ms := r.states[literalLengths], r.states[matchOffsets], r.states[matchLengths]
	w := r.bits
	for i := len(r.records) - 1; i >= 0; i-- {
		s := &r.records[i]
		t := om.code[s.offset%maxCodes]
		k := (os + t.bits) >> 16
		w.add(uint64(os)&(1<<(k&63)-1), uint(k))
		os = uint32(om.next[int(os>>(k&31))+int(t.place)])
		t = mm.code[s.length%maxCodes]
		k = (ms + t.bits) >> 16
		w.add(uint64(ms)&(1<<(k&63)-1), uint(k))
		ms = uint32(mm.next[int(ms>>(k&31))+int(t.place)])
		t = lm.code[s.literals%maxCodes]
		k = (ls + t.bits) >> 16
		w.add(uint64(ls)&(1<<(k&63)-1), uint(k))
		ls = uint32(lm.next[int(ls>>(k&31))+int(t.place)])
		w.addRest(s)
	}
	r.states = [3]uint32{ls, os, ms}
	r.bits = w
}

// fewBits is the number of bits that can follow the bits of three codes without a flush.
const fewBits = 30

// addRest adds the rest of a record, after at most 33 bits, and flushes.
func (w *bitWriter) addRest(r *record) {
	v, n := r.rest, uint(r.bits)
	if n > fewBits {
		w.flush()
		if n > 56 {
			w.add(v&(1<<32-1), 32)
			w.flush()
			v, n = v>>32, n-32
		}
	}
	w.add(v, n)
	w.flush()
}
