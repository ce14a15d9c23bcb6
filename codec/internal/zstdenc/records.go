package zstdenc

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
