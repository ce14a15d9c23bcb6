package tune

// work counts what a decoder does for streams. The time for decoding depends on it much more than on the sizes:
// literals without a Huffman code are only copied, and a few sequences can produce many bytes.
type work struct {
	blocks    int // compressed blocks of Zstd
	literals  int // literals with a Huffman code
	sequences int // of literals and a match
}

// addLZ4 counts the sequences of a stream of LZ4.
func (w *work) addLZ4(b []byte) {
	length := func(n int) int { // reads the rest of a length that begins in 4 bits of a token
		for more := n == 15; more && len(b) > 0; b = b[1:] {
			n += int(b[0])
			more = b[0] == 255
		}
		return n
	}
	for len(b) > 0 {
		w.sequences++
		token := int(b[0])
		b = b[1:]
		const offset = 2
		b = b[min(length(token>>4)+offset, len(b)):]
		length(token & 15)
	}
}

// addZstd counts the work for a Zstd frame without a checksum, by RFC 8878.
func (w *work) addZstd(frame []byte) {
	for b, last := frame[zstdHeader(frame):], false; len(b) >= 3 && !last; {
		head := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		const run, compressed = 1, 2
		stored, kind := head>>3, head>>1&3
		last = head&1 != 0
		if kind == run {
			stored = 1
		}
		b = b[3:]
		stored = min(stored, len(b))
		if kind == compressed {
			w.addBlock(b[:stored])
		}
		b = b[stored:]
	}
}

// zstdHeader returns the length of the header of a frame.
func zstdHeader(frame []byte) int {
	const magic = 4
	if len(frame) <= magic {
		return len(frame)
	}
	flags := frame[magic]
	n := magic + 1 + [4]int{0, 1, 2, 4}[flags&3] + [4]int{0, 2, 4, 8}[flags>>6]
	switch single := flags&32 != 0; {
	case !single:
		n++ // size of the window
	case flags>>6 == 0:
		n++ // size of the content
	}
	return min(n, len(frame))
}

// addBlock counts the work for a compressed block of a Zstd frame.
func (w *work) addBlock(b []byte) {
	w.blocks++
	var v uint64
	for i, c := range b[:min(len(b), 5)] {
		v |= uint64(c) << (8 * i)
	}
	format := v >> 2 & 3
	var n uint64 // length of the literals with their header
	switch kind := v & 3; kind {
	case 0, 1: // as they are, or a run of one byte
		header := [4]uint64{1, 2, 1, 3}[format]
		n = header + 1
		if kind == 0 {
			n = header + v&(1<<(8*header)-1)>>[4]int{3, 4, 3, 4}[format]
		}
	default:
		bits := [4]int{10, 10, 14, 18}[format]
		w.literals += int(v >> 4 & (1<<bits - 1))
		n = [4]uint64{3, 3, 4, 5}[format] + v>>(4+bits)&(1<<bits-1)
	}
	b = b[min(n, uint64(len(b))):]
	switch {
	case len(b) > 0 && b[0] < 128:
		w.sequences += int(b[0])
	case len(b) > 1 && b[0] < 255:
		w.sequences += int(b[0]-128)<<8 + int(b[1])
	case len(b) > 2:
		w.sequences += int(b[1]) + int(b[2])<<8 + 0x7f00
	}
}
