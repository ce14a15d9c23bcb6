package zstd

import (
	"encoding/binary"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// run is the state of the loops over the sequences of a block. The fast loops stop where the careful loop must
// continue: it executes one sequence and returns to the fast loops.
type run struct {
	dst    []byte
	start  int    // start of the frame in dst
	window uint32 // the largest offset within the frame
	out    int    // offset of the next byte in dst
	end    int    // where the fast loops must stop
	room   int    // where the block must end at the latest

	literals    []byte
	literal     int // the next literal
	literalsEnd int
	longRuns    bool // for the kernel of amd64: the sequences have eight literals or more on average

	count   int // number of sequences left
	bits    bitReader
	tables  [3]*table
	entries [3]entry  // of the current states
	repeats [4]uint32 // the last three offsets, and the first of these less 1

	// The current sequence.
	literalLength, matchLength, offset uint32
}

// Reasons why a fast loop stopped.
const (
	stopDecode  = iota // before a sequence: it is the last one, or the bits may not suffice
	stopExecute        // the current sequence is decoded but not executed: it needs care, or is invalid
)

// sequences reads and executes count sequences, with count > 0, from src[start:end], or those that begin before d.stop.
// It returns where the block ends in dst, or an offset after d.stop.
func (d *Decoder) sequences(src []byte, start, end, count int) (int, error) {
	r := &d.run
	if !r.bits.init(src, start, end) {
		return 0, errSequences
	}
	r.count, r.tables = count, d.tables
	r.longRuns = (r.literalsEnd-r.literal)/8 >= count
	r.repeats = [4]uint32{d.repeats[0], d.repeats[1], d.repeats[2], d.repeats[0] - 1}
	for _, i := range [3]int{literalLengths, matchOffsets, matchLengths} {
		state, ok := r.bits.read(r.tables[i].log)
		if !ok {
			return 0, errSequences
		}
		r.entries[i] = r.tables[i].entries[state%maxStates]
	}
	for r.count > 0 && r.out < d.stop {
		why := r.fast()
		if r.out >= d.stop {
			break
		}
		if why == stopDecode && !r.decode() {
			return 0, errSequences
		}
		if err := r.execute(d.dict); err != nil {
			return 0, err
		}
	}
	// fastGeneric may take bits from before the stream for its last sequence; the kernels stop before such a sequence.
	if left := r.bits.remaining(); left < 0 || left > 0 && r.out < d.stop {
		return 0, errSequences
	}
	if r.out >= d.stop {
		return r.out, nil
	}
	d.repeats = [3]uint32(r.repeats[:])
	rest := r.literals[r.literal:r.literalsEnd]
	if len(rest) > r.room-r.out {
		return 0, errLonger
	}
	return r.out + copy(r.dst[r.out:], rest), nil
}

// decode decodes one sequence. It reports whether there are enough bits for it.
func (r *run) decode() bool {
	lengths, offsets, matches := r.entries[literalLengths], r.entries[matchOffsets], r.entries[matchLengths]
	offset, ok1 := r.bits.read(offsets.valueBits())
	match, ok2 := r.bits.read(matches.valueBits())
	literal, ok3 := r.bits.read(lengths.valueBits())
	if !ok1 || !ok2 || !ok3 {
		return false
	}
	r.literalLength = lengths.value() + uint32(literal)
	r.matchLength = matches.value() + uint32(match)
	r.setOffset(offsets.value() + uint32(offset))
	r.count--
	if r.count == 0 {
		return true
	}
	for _, i := range [3]int{literalLengths, matchLengths, matchOffsets} {
		more, ok := r.bits.read(r.entries[i].stateBits())
		if !ok {
			return false
		}
		r.entries[i] = r.tables[i].entries[(r.entries[i].state()+more)%maxStates]
	}
	return true
}

// setOffset sets the offset of the current sequence. Values above 3 are an offset plus 3. The other values represent
// one of the last three offsets. Without literals, repeating the last offset would be pointless, so they represent the
// next one in the list, and the one after the third is the first less 1. The offset moves to the front of the list.
func (r *run) setOffset(value uint32) {
	p := &r.repeats
	i := uint32(3)
	r.offset = value - 3
	if value <= 3 {
		i = value - 1
		if r.literalLength == 0 {
			i++
		}
		r.offset = p[i]
	}
	if i > 1 {
		p[2] = p[1]
	}
	if i > 0 {
		p[1] = p[0]
	}
	p[0], p[3] = r.offset, r.offset-1
}

// execute executes the current sequence.
func (r *run) execute(dict *dictionary) error {
	n, m, offset := uint(r.literalLength), uint(r.matchLength), uint(r.offset)
	if n > uint(r.literalsEnd-r.literal) {
		return errSequences
	}
	if room := uint(r.room - r.out); n > room || m > room-n {
		return errLonger
	}
	r.out += copy(r.dst[r.out:], r.literals[r.literal:r.literal+int(n)])
	r.literal += int(n)
	if offset == 0 {
		return errZero
	}
	if before := uint(r.out - r.start); offset > before {
		if dict == nil || offset-before > uint(len(dict.content)) {
			return errOffset
		}
		part := dict.content[uint(len(dict.content))-(offset-before):]
		k := copy(r.dst[r.out:r.out+int(m)], part)
		r.out += k
		m -= uint(k)
		if m == 0 {
			return nil
		}
		// The dictionary is followed by the start of the frame, at the same distance.
	} else if offset > uint(r.window) {
		return errOffset
	}
	copyMatch(r.dst[:r.out+int(m)], r.out, int(offset))
	r.out += int(m)
	return nil
}

// copyMatch fills dst[out:] with the bytes at offset before it. They repeat if the offset is shorter.
func copyMatch(dst []byte, out, offset int) {
	// The source doubles in each iteration, up to a size that stays in the nearest cache.
	const near = 8 << 10
	from := out - offset
	for out < len(dst) {
		out += copy(dst[out:], dst[from:out])
		if out-from >= 2*near && offset <= near {
			from = out - near/offset*offset
		}
	}
}

// fast executes sequences as long as bits, literals and space cannot end, and sequences are common and valid.
func (r *run) fast() int {
	if !cpu.Has(kernelLevel) {
		return r.fastGeneric()
	}
	if r.count <= 1 || len(r.literals) < margin || len(r.dst) < margin {
		return stopDecode
	}
	race.Read(r.bits.src)
	race.Read(r.literals)
	race.Write(r.dst[r.out:r.end])
	return sequencesKernel(r, spans)
}

// fastGeneric executes sequences as long as bits, literals and space cannot end, and sequences are common and valid. It
// is one function, because its code runs for every short sequence.
func (r *run) fastGeneric() int {
	lengths, offsets, matches := r.tables[literalLengths], r.tables[matchOffsets], r.tables[matchLengths]
	le, oe, me := r.entries[literalLengths], r.entries[matchOffsets], r.entries[matchLengths]
	src, pos, word, left := r.bits.src, r.bits.pos, r.bits.word, r.bits.left
	dst, out, literals, literal := r.dst, r.out, r.literals, r.literal
	count := r.count
	stop := stopDecode
	for count > 1 && pos >= r.bits.start {
		used := (64 - left) >> 3
		pos -= int(used)
		left += used << 3
		word = binary.LittleEndian.Uint64(src[pos:])

		lb, ob, mb := le.valueBits(), oe.valueBits(), me.valueBits()
		if lb+ob+mb > 57-26 { // rare: the bits do not fit into a word, with at most 26 bits for the states
			if pos < r.bits.start+8 {
				break
			}
			left -= ob
			offset := uint32(word >> (left & 63) & (1<<(ob&63) - 1))
			used := (64 - left) >> 3
			pos -= int(used)
			left += used << 3
			word = binary.LittleEndian.Uint64(src[pos:])
			left -= mb
			r.matchLength = me.value() + uint32(word>>(left&63)&(1<<(mb&63)-1))
			left -= lb
			r.literalLength = le.value() + uint32(word>>(left&63)&(1<<(lb&63)-1))
			r.setOffset(oe.value() + offset)
			used = (64 - left) >> 3
			pos -= int(used)
			left += used << 3
			word = binary.LittleEndian.Uint64(src[pos:])
		} else {
			left -= ob
			offset := oe.value() + uint32(word>>(left&63)&(1<<(ob&63)-1))
			left -= mb
			r.matchLength = me.value() + uint32(word>>(left&63)&(1<<(mb&63)-1))
			left -= lb
			r.literalLength = le.value() + uint32(word>>(left&63)&(1<<(lb&63)-1))
			r.setOffset(offset)
		}
		n := le.stateBits()
		left -= n
		le = lengths.entries[(le.state()+word>>(left&63)&(1<<(n&63)-1))%maxStates]
		n = me.stateBits()
		left -= n
		me = matches.entries[(me.state()+word>>(left&63)&(1<<(n&63)-1))%maxStates]
		n = oe.stateBits()
		left -= n
		oe = offsets.entries[(oe.state()+word>>(left&63)&(1<<(n&63)-1))%maxStates]
		count--

		ll, ml, offset := uint(r.literalLength), uint(r.matchLength), uint(r.offset)
		at := uint(out) + ll // offset of the match
		if at+ml > uint(r.end) || at+ml+margin > uint(len(dst)) ||
			ll > uint(r.literalsEnd-literal) || uint(literal)+ll+margin > uint(len(literals)) ||
			offset-1 >= min(at-uint(r.start), uint(r.window)) {
			stop = stopExecute
			break
		}
		copy16(dst[out:], literals[literal:])
		if ll > 16 {
			copy16(dst[out+16:], literals[literal+16:])
			if ll > 32 {
				copy(dst[out+32:at], literals[literal+32:])
			}
		}
		literal += int(ll)
		out = int(at + ml)
		from := at - offset
		switch {
		case offset >= 16:
			copy16(dst[at:], dst[from:])
			if ml <= 16 {
				break
			}
			if ml > 64 {
				copyMatch(dst[:out], int(at), int(offset))
				break
			}
			for i := uint(16); i < ml; i += 16 {
				copy16(dst[at+i:], dst[from+i:])
			}
		case ml > 64:
			copyMatch(dst[:out], int(at), int(offset))
		case offset >= 8:
			for i := uint(0); i < ml; i += 8 {
				copy8(dst[at+i:], dst[from+i:])
			}
		default:
			// A word with repetitions of the bytes, of which each store keeps complete repetitions.
			p := &patterns[offset&7]
			v := binary.LittleEndian.Uint64(dst[from:]) & p.mask * p.repeat
			for i := uint(0); i < ml; i += p.step {
				binary.LittleEndian.PutUint64(dst[at+i:], v)
			}
		}
	}
	r.entries[literalLengths], r.entries[matchOffsets], r.entries[matchLengths] = le, oe, me
	r.bits.pos, r.bits.word, r.bits.left = pos, word, left
	r.out, r.literal, r.count = out, literal, count
	return stop
}

func copy16(dst, src []byte) { copy(dst[:16], src[:16]) }
func copy8(dst, src []byte)  { copy(dst[:8], src[:8]) }

// patterns are for offsets below 8. mask selects offset bytes of a word, repeat is the factor that repeats them over
// the word, and step is the largest multiple of the offset in a word.
var patterns = [8]struct {
	mask, repeat uint64
	step         uint
}{
	1: {1<<8 - 1, 0x0101010101010101, 8},
	2: {1<<16 - 1, 0x0001000100010001, 8},
	3: {1<<24 - 1, 0x0001000001000001, 6},
	4: {1<<32 - 1, 0x0000000100000001, 8},
	5: {1<<40 - 1, 0x0000010000000001, 5},
	6: {1<<48 - 1, 0x0001000000000001, 6},
	7: {1<<56 - 1, 0x0100000000000001, 7},
}

// spans has, for offsets below 16, a shuffle mask that repeats the first offset bytes over 32, and the number of the 32
// bytes in complete repetitions. They never change.
var spans = makeSpans()

// span is an entry of spans.
type span struct {
	places [32]byte
	step   uint64
	_      [24]byte // entries of 64 bytes
}

func makeSpans() *[16]span {
	var s [16]span
	for n := 1; n < len(s); n++ {
		for i := range s[n].places {
			s[n].places[i] = byte(i % n)
		}
		s[n].step = uint64(32 / n * n)
	}
	return &s
}
