package zstd

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand"

	"github.com/goblosc/blosc2/codec/internal/trial"
)

// frameWriter writes random frames, with everything that the format allows, and their content.
type frameWriter struct {
	r    *rand.Rand
	dict *testDict // or nil

	frame   []byte
	want    []byte // content of the frame
	window  int
	largest int // size of the largest block so far
	huffman *huffman
	tables  [3]*machine // also nil for a single symbol
	same    [3]int      // that symbol, or -1
	repeats [3]int
}

// testDict is a dictionary in its encoded form b, and its parts.
type testDict struct {
	b       []byte
	id      uint32
	content []byte
	huffman *huffman
	tables  [3]*machine
	repeats [3]int
}

// randomDict makes a dictionary with tables.
func randomDict(r *rand.Rand) *testDict {
	d := &testDict{id: 1 + r.Uint32()>>r.Intn(32)}
	d.b = binary.LittleEndian.AppendUint32([]byte{0x37, 0xa4, 0x30, 0xec}, d.id)
	for {
		d.huffman = randomHuffman(r)
		if b := d.huffman.description(r); b != nil {
			d.b = append(d.b, b...)
			break
		}
	}
	for _, i := range [3]int{matchOffsets, matchLengths, literalLengths} {
		needed := make([]bool, [3]int{36, 30, 53}[i])
		d.tables[i] = randomMachine(r, needed, codings[i].maxLog)
		d.b = append(d.b, d.tables[i].description()...)
	}
	d.content = make([]byte, 8+r.Intn(1<<r.Intn(16)))
	trial.Kinds()[3].Fill(d.content, r)
	for i := range d.repeats {
		d.repeats[i] = 1 + r.Intn(len(d.content))
		d.b = binary.LittleEndian.AppendUint32(d.b, uint32(d.repeats[i]))
	}
	d.b = append(d.b, d.content...)
	return d
}

// randomFrame returns a frame and its content, of about limit bytes at most.
func randomFrame(r *rand.Rand, limit int, dict *testDict) (frame, want []byte) {
	w := &frameWriter{r: r, dict: dict, same: [3]int{-1, -1, -1}, repeats: [3]int{1, 4, 8}, window: 1 << (10 + r.Intn(12))}
	id := uint32(0)
	if dict != nil {
		w.huffman, w.tables, w.repeats, id = dict.huffman, dict.tables, dict.repeats, dict.id
	}
	for more := true; more; {
		more = r.Intn(5) > 0
		w.block(min(limit-len(w.want), w.window, maxBlock), !more)
	}
	// The window of a single-segment frame is as large as its content.
	head := w.header(r.Intn(2) == 0 && w.largest <= max(len(w.want), 1024), id)
	return append(head, w.frame...), w.want
}

// header returns the header. If the header has the flag for a checksum, it also appends the checksum to the frame.
func (w *frameWriter) header(single bool, id uint32) []byte {
	var h []byte
	n := len(w.want)
	flags := 0
	if single {
		flags |= 32
	} else {
		h = append(h, byte((bits.Len(uint(w.window))-11)<<3))
	}
	switch {
	case id == 0:
	case id < 1<<8:
		flags |= 1
		h = append(h, byte(id))
	case id < 1<<16:
		flags |= 2
		h = binary.LittleEndian.AppendUint16(h, uint16(id))
	default:
		flags |= 3
		h = binary.LittleEndian.AppendUint32(h, id)
	}
	switch size := w.r.Intn(4); {
	case size == 0 && !single: // without the content size
	case size <= 1 && single && n < 256:
		h = append(h, byte(n))
	case size <= 1 && n >= 256 && n < 256+1<<16:
		flags |= 1 << 6
		h = binary.LittleEndian.AppendUint16(h, uint16(n-256))
	case size <= 2:
		flags |= 2 << 6
		h = binary.LittleEndian.AppendUint32(h, uint32(n))
	default:
		flags |= 3 << 6
		h = binary.LittleEndian.AppendUint64(h, uint64(n))
	}
	if w.r.Intn(3) == 0 {
		flags |= 4
		w.frame = binary.LittleEndian.AppendUint32(w.frame, uint32(xxhash64(w.want)))
	}
	return append([]byte{0x28, 0xb5, 0x2f, 0xfd, byte(flags)}, h...)
}

// block writes a block of at most limit bytes.
func (w *frameWriter) block(limit int, last bool) {
	limit = w.r.Intn(limit + 1)
	limit >>= w.r.Intn(12)
	kind, size := w.r.Intn(5), 0
	var b []byte
	switch kind {
	case 0:
		b = make([]byte, limit)
		trial.Kinds()[w.r.Intn(len(trial.Kinds()))].Fill(b, w.r)
		w.want = append(w.want, b...)
		size = len(b)
	case 1:
		b = []byte{byte(w.r.Intn(256))}
		w.want = append(w.want, bytes.Repeat(b, limit)...)
		size = limit
	default:
		state := *w
		b = w.compressed(limit)
		if len(b) > min(w.window, maxBlock) {
			*w = state // too long: an empty block instead
			b, kind = nil, 0
			break
		}
		kind, size = 2, len(b)
	}
	w.largest = max(w.largest, size)
	head := size<<3 | kind<<1
	if last {
		head |= 1
	}
	w.frame = append(w.frame, byte(head), byte(head>>8), byte(head>>16))
	w.frame = append(w.frame, b...)
}

// sequence is a sequence, with its offset value, where 1 to 3 are repeated offsets.
type sequence struct{ literals, offset, match int }

// compressed returns a compressed block of at most limit bytes.
func (w *frameWriter) compressed(limit int) []byte {
	r := w.r
	var literals []byte
	alphabet := []byte{byte(r.Intn(256))}
	kind := r.Intn(4)
	fresh := (*huffman)(nil)
	var description []byte
	switch {
	case kind == treelessLiterals && w.huffman != nil:
		alphabet = w.huffman.symbols
	case kind >= huffmanLiterals:
		fresh = randomHuffman(r)
		if description = fresh.description(r); description == nil {
			kind = rawLiterals
			break
		}
		kind = huffmanLiterals
		alphabet = fresh.symbols
	case kind == rawLiterals:
		alphabet = []byte("abcdefghijklmnop")
	}
	start := len(w.want)
	literal := func(n int) {
		for range n {
			c := alphabet[r.Intn(len(alphabet))]
			literals = append(literals, c)
			w.want = append(w.want, c)
		}
	}
	var seqs []sequence
	many := r.Intn(2) * r.Intn(1<<r.Intn(11))
	for range many {
		left := limit - (len(w.want) - start)
		s, ok := w.sequence(left)
		if !ok {
			break
		}
		literal(s.literals)
		w.match(&s)
		seqs = append(seqs, s)
	}
	rest := limit - (len(w.want) - start)
	literal(min(rest, r.Intn(1+rest)))
	if len(literals) == 0 && kind >= huffmanLiterals || len(literals) >= 1<<10 && 3*((len(literals)+3)/4) > len(literals) {
		kind = rawLiterals
	}
	b := w.literals(kind, literals, fresh, description)
	return append(b, w.sequences(seqs)...)
}

// sequence returns a random sequence of at most left bytes.
func (w *frameWriter) sequence(left int) (s sequence, ok bool) {
	r := w.r
	if left < 3 {
		return s, false
	}
	s.match = min(left, 3+r.Intn(1<<r.Intn(1+r.Intn(17))))
	s.literals = min(left-s.match, r.Intn(1<<r.Intn(1+r.Intn(12))))
	if r.Intn(3) == 0 {
		s.literals = 0
	}
	before := len(w.want) + s.literals
	reach := min(before, w.window)
	if w.dict != nil && (before <= w.window || reach == 0) {
		reach = before + len(w.dict.content)
	}
	// A repeated offset must also be within reach.
	s.offset = 1 + r.Intn(3)
	i := s.offset - 1
	if s.literals == 0 {
		i++
	}
	offset := w.repeats[0] - 1
	if i < 3 {
		offset = w.repeats[i]
	}
	if offset >= 1 && offset <= reach && r.Intn(2) == 0 {
		return s, true
	}
	if reach == 0 {
		return s, false
	}
	s.offset = 3 + min(reach, 1+r.Intn(1<<r.Intn(1+bits.Len(uint(reach)))))
	return s, true
}

// match copies the match of a sequence byte by byte, and updates the repeated offsets.
func (w *frameWriter) match(s *sequence) {
	offset := s.offset - 3
	if s.offset <= 3 {
		i := s.offset - 1
		if s.literals == 0 {
			i++
		}
		if i == 3 {
			offset = w.repeats[0] - 1
			w.repeats = [3]int{offset, w.repeats[0], w.repeats[1]}
		} else {
			offset = w.repeats[i]
			list := append([]int{offset}, append(append([]int{}, w.repeats[:i]...), w.repeats[i+1:]...)...)
			w.repeats = [3]int(list)
		}
	} else {
		w.repeats = [3]int{offset, w.repeats[0], w.repeats[1]}
	}
	for range s.match {
		from := len(w.want) - offset
		if from < 0 {
			w.want = append(w.want, w.dict.content[len(w.dict.content)+from])
		} else {
			w.want = append(w.want, w.want[from])
		}
	}
}

// literals returns the literals of a block.
func (w *frameWriter) literals(kind int, literals []byte, fresh *huffman, description []byte) []byte {
	r := w.r
	n := len(literals)
	if kind < huffmanLiterals {
		var b []byte
		switch {
		case n < 32 && r.Intn(2) == 0:
			b = []byte{byte(kind | n<<3)}
		case n < 1<<12 && r.Intn(2) == 0:
			b = binary.LittleEndian.AppendUint16(nil, uint16(kind|1<<2|n<<4))
		default:
			b = binary.LittleEndian.AppendUint32(nil, uint32(kind|3<<2|n<<4))[:3]
		}
		if kind == rawLiterals {
			return append(b, literals...)
		}
		if n > 0 {
			return append(b, literals[0])
		}
		return append(b, 7)
	}
	code := w.huffman
	if kind == huffmanLiterals {
		code = fresh
	}
	four := n >= 6 && (n >= 1<<10 || r.Intn(2) == 0) && 3*((n+3)/4) <= n
	body := append(bytes.Clone(description), code.streams(literals, four)...)
	size := max(n, len(body))
	var head uint64
	var length int
	switch {
	case !four && size < 1<<10:
		head, length = uint64(kind)|uint64(n)<<4|uint64(len(body))<<14, 3
	case !four: // one stream is too long
		return append(binary.LittleEndian.AppendUint32(nil, uint32(3<<2|n<<4))[:3], literals...)
	case size < 1<<10 && r.Intn(2) == 0:
		head, length = uint64(kind)|1<<2|uint64(n)<<4|uint64(len(body))<<14, 3
	case size < 1<<14 && r.Intn(2) == 0:
		head, length = uint64(kind)|2<<2|uint64(n)<<4|uint64(len(body))<<18, 4
	default:
		head, length = uint64(kind)|3<<2|uint64(n)<<4|uint64(len(body))<<22, 5
	}
	w.huffman = code
	return append(binary.LittleEndian.AppendUint64(nil, head)[:length], body...)
}

// code returns the code of a value of a table and its bits.
func code(which, v int) (symbol int, more uint64, n int) {
	if which == matchOffsets {
		n = bits.Len(uint(v)) - 1
		return n, uint64(v) - 1<<n, n
	}
	codes := codings[which].codes
	for symbol+1 < len(codes) && int(codes[symbol+1].value()) <= v {
		symbol++
	}
	return symbol, uint64(v - int(codes[symbol].value())), int(codes[symbol].valueBits())
}

// presets are the machines that need no description.
var presets = func() (m [3]*machine) {
	for i, p := range presetProbs {
		probs := make([]int, len(p))
		for j, v := range p {
			probs[j] = int(v)
		}
		m[i] = newMachine([3]int{6, 5, 6}[i], probs)
	}
	return m
}()

// sequences returns what follows the literals of a block.
func (w *frameWriter) sequences(seqs []sequence) []byte {
	r := w.r
	n := len(seqs)
	var b []byte
	switch {
	case n < 128 && (n > 0 || r.Intn(2) == 0):
		b = []byte{byte(n)}
	case n < 0x7f00:
		b = []byte{byte(n>>8 | 128), byte(n)}
	default:
		b = []byte{255, byte(n - 0x7f00), byte((n - 0x7f00) >> 8)}
	}
	if n == 0 {
		return b
	}
	values := func(s sequence) [3]int { return [3]int{s.literals, s.offset, s.match} }
	modes := byte(0)
	var descriptions []byte
	for i := range 3 {
		needed := make([]bool, [3]int{36, 31, 53}[i])
		kinds, symbol := 0, 0
		for _, s := range seqs {
			symbol, _, _ = code(i, values(s)[i])
			if !needed[symbol] {
				kinds++
			}
			needed[symbol] = true
		}
		repeat := w.same[i] < 0 && w.tables[i] != nil && w.tables[i].has(needed) ||
			kinds == 1 && w.same[i] == symbol
		mode := r.Intn(4)
		switch {
		case mode == repeatMode && repeat:
		case mode == sameMode && kinds == 1:
			w.tables[i], w.same[i] = nil, symbol
			descriptions = append(descriptions, byte(symbol))
		case mode == presetMode && presets[i].has(needed):
			w.tables[i], w.same[i] = presets[i], -1
		default:
			mode = describedMode
			w.tables[i], w.same[i] = randomMachine(r, needed, codings[i].maxLog), -1
			descriptions = append(descriptions, w.tables[i].description()...)
		}
		modes |= byte(mode << (6 - 2*i))
	}
	b = append(append(b, modes), descriptions...)

	var bw bitWriter
	var states [3]int
	for k := n - 1; k >= 0; k-- {
		v := values(seqs[k])
		for _, i := range [3]int{matchOffsets, matchLengths, literalLengths} {
			symbol, _, _ := code(i, v[i])
			if m := w.tables[i]; m != nil && k == n-1 {
				states[i] = m.last(r, symbol, false)
			} else if m != nil {
				states[i] = m.before(&bw, symbol, states[i])
			}
		}
		for _, i := range [3]int{literalLengths, matchLengths, matchOffsets} {
			_, more, bits := code(i, v[i])
			bw.add(more, bits)
		}
	}
	for _, i := range [3]int{matchLengths, matchOffsets, literalLengths} {
		if m := w.tables[i]; m != nil {
			bw.add(uint64(states[i]), m.log)
		}
	}
	return append(b, bw.end()...)
}
