package zstdenc

// splitter finds good ends of blocks. It adds a piece of the input to the previous block if one Huffman code for the
// bytes of both is about as good as two codes, or if the piece has few literals, which a quick search estimates.
type splitter struct {
	block, piece, both [256]uint32
	parts              [3][256]uint32
	table              [1 << splitterLog]uint32 // positions by the hash of 6 bytes
}

const (
	splitterLog = 12
	pieceSize   = 4 << 10
	// blockCost is the cost of another block in bits: headers and tables.
	blockCost = 1600
)

// split returns the length of the block at the start of b.
func (s *splitter) split(b []byte) int {
	clear(s.table[:])
	s.block = [256]uint32{}
	at, repeat := 0, 1
	total, cost := uint32(0), uint64(0)
	for start := 0; start < len(b); start += pieceSize {
		end := min(start+pieceSize, len(b))
		if len(b)-end < pieceSize {
			return len(b)
		}
		var n uint32
		if at, n, repeat = s.literals(b, at, end, repeat); n < pieceSize/16 {
			continue // matches, mostly
		}
		n = uint32(end - start)
		histogram(&s.piece, b[start:end], &s.parts)
		for i, c := range s.piece {
			s.both[i] = s.block[i] + c
		}
		both := entropy(s.both[:], total+n)
		if total > 0 && cost+entropy(s.piece[:], n)+blockCost*oneBit < both {
			return start
		}
		s.block, total, cost = s.both, total+n, both
	}
	return len(b)
}

// literals counts the bytes of b[at:end] that are not in a match. A match may end after end. As long as it finds
// nothing, its steps grow.
func (s *splitter) literals(b []byte, at, end, repeat int) (next int, n uint32, offset int) {
	anchor := at
	for at < end && at+10 <= len(b) {
		v := load64(b, at)
		slot := &s.table[hash(v, 6, splitterLog)]
		from := int(*slot)
		*slot = uint32(at)
		if r := at - repeat; r >= 0 && load32(b, r) == uint32(v) {
			n += uint32(at - anchor)
			at += 4 + matchLength(b, r+4, at+4)
			anchor = at
		} else if from < at && load32(b, from) == uint32(v) && load32(b, from+2) == uint32(v>>16) {
			n += uint32(at - anchor)
			repeat = at - from
			at += 4 + matchLength(b, from+4, at+4)
			anchor = at
		} else {
			at += 1 + (at-anchor)>>5
		}
	}
	return at, n + uint32(at-anchor), repeat
}
