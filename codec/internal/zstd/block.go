package zstd

import "errors"

var (
	errLiterals = errors.New("invalid literals")
	errTreeless = errors.New("no Huffman code to repeat")
)

// margin is the number of bytes that the fast loops may read after literals and write after a sequence.
const margin = 64

// block decodes the compressed block src[in:end] to at most limit bytes at dst[out:]. It returns where the block ends
// in dst, or an offset after d.stop.
func (d *Decoder) block(dst []byte, out, limit int, src []byte, in, end int) (int, error) {
	h, ok := readLiteralsHeader(src[in:end])
	in += h.length
	if !ok || h.size > limit || h.stored > end-in {
		return 0, errLiterals
	}
	literals := in
	in += h.stored
	// Each literal is a byte of the content, so no more literals are needed than bytes of content.
	wanted := min(h.size, d.stop-out)
	sequences, n, ok := readCount(src[in:end])
	in += n
	if !ok {
		return 0, errSequences
	}
	if sequences == 0 {
		if in < end {
			return 0, errSequences
		}
		// Only literals: they need no buffer.
		return out + h.size, d.expandLiterals(dst[out:out+h.size], src, literals, h, wanted)
	}
	r := &d.run
	if h.kind == rawLiterals {
		// They stay in the input, which has a margin after them.
		r.literals, r.literal, r.literalsEnd = src, literals, literals+h.size
	} else {
		if len(d.literals) < h.size+margin {
			d.literals = make([]byte, min(2*h.size, maxBlock)+margin)
		}
		if err := d.expandLiterals(d.literals[:h.size], src, literals, h, wanted); err != nil {
			return 0, err
		}
		r.literals, r.literal, r.literalsEnd = d.literals, 0, h.size
	}
	n, err := d.readTables(src[in:end])
	if err != nil {
		return 0, err
	}
	r.out, r.room = out, out+limit
	r.end = min(r.room, d.stop)
	return d.sequences(src, in+n, end, sequences)
}

// The kinds of literals.
const (
	rawLiterals = iota
	sameLiterals
	huffmanLiterals
	treelessLiterals // with the code of the previous block
)

// literalsHeader is the header of the literals of a block.
type literalsHeader struct {
	kind    int
	length  int // length of the header in bytes
	stored  int // bytes after the header
	size    int // number of decoded literals
	streams int // 1 or 4
}

func readLiteralsHeader(src []byte) (h literalsHeader, ok bool) {
	if len(src) == 0 {
		return h, false
	}
	h.kind = int(src[0] & 3)
	format := src[0] >> 2 & 3
	if h.kind == rawLiterals || h.kind == sameLiterals {
		h.length = [4]int{1, 2, 1, 3}[format]
		if len(src) < h.length {
			return h, false
		}
		v := littleEndian(src[:h.length])
		if h.length == 1 {
			h.size = int(v >> 3)
		} else {
			h.size = int(v >> 4)
		}
		h.stored = h.size
		if h.kind == sameLiterals {
			h.stored = 1
		}
		return h, true
	}
	h.length = [4]int{3, 3, 4, 5}[format]
	if len(src) < h.length {
		return h, false
	}
	v := littleEndian(src[:h.length]) >> 4
	bits := [4]int{10, 10, 14, 18}[format]
	h.size, h.stored = int(v&(1<<bits-1)), int(v>>bits)
	h.streams = 4
	if format == 0 {
		h.streams = 1
	}
	return h, true
}

// expandLiterals decodes literals, which begin at src[start], to dst: at least the first n.
func (d *Decoder) expandLiterals(dst, src []byte, start int, h literalsHeader, n int) error {
	end := start + h.stored
	switch h.kind {
	case rawLiterals:
		copy(dst[:n], src[start:end])
		return nil
	case sameLiterals:
		fill(dst[:n], src[start])
		return nil
	case huffmanLiterals:
		var err error
		if start, err = d.readHuffman(&d.ownHuffman, src, start, end); err != nil {
			return err
		}
		d.huffman, d.paired = &d.ownHuffman, false
	case treelessLiterals:
		if d.huffman == nil {
			return errTreeless
		}
	}
	if h.streams == 4 {
		return d.expand4(dst, src, start, end, n)
	}
	return d.huffman.expand1(dst, src, start, end, n)
}

// expand4 decodes the four streams in src[start:end], to at least the first n bytes of dst.
func (d *Decoder) expand4(dst, src []byte, start, end, n int) error {
	s := &d.streams
	if !s.init(dst, src, start, end, n, d.huffman) {
		return errStream
	}
	// If there are many literals in short codes, most look-ups in a table of pairs find two. Four streams with that
	// table then take less time than eight streams of two frames without one.
	stored := end - start
	if s.left() < 8*d.minPairs || stored > len(dst)/5*3 {
		d.beside(s)
	}
	s.pairs = d.pairsFor(s.left(), len(dst), stored)
	s.run()
	return s.finish()
}

// pairsFor returns the table of pairs, or nil if constructing it takes longer than it saves. It depends on the number
// of literals to decode, and on the size of all of them, which determines whether most are in pairs that fit.
func (d *Decoder) pairsFor(wanted, literals, stored int) *pairTable {
	if wanted < d.minPairs || stored > literals/4*3 {
		return nil
	}
	if !d.paired {
		d.pairs.fill(d.huffman)
		d.paired = true
	}
	return &d.pairs
}

// fill sets all bytes of dst to c.
func fill(dst []byte, c byte) {
	const first = 64
	n := min(len(dst), first)
	for i := range dst[:n] {
		dst[i] = c
	}
	for n < len(dst) {
		n += copy(dst[n:], dst[:min(n, 4096)])
	}
}
