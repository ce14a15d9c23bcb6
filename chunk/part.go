package chunk

// part is what is wanted of a block whose items are still apart: the first bytes of each of its planes, which stand one
// after the other. A block without filters is one plane; Shuffle makes one of each byte of the items. Bytes behind the
// planes are wanted only with the whole block.
type part struct {
	planes, size int // of a plane, in bytes
	n            int // wanted of each
}

// wanted returns what is wanted of a block of size bytes, so that the first n can be decoded.
func (s *steps) wanted(size, n int) part {
	if n == 0 || n < size && s.n == 0 {
		return part{1, size, n}
	}
	if s.planes > 0 && n <= size/s.planes*s.planes && n < size {
		return part{s.planes, size / s.planes, (n + s.planes - 1) / s.planes}
	}
	return whole(size)
}

// whole is all of a block of size bytes.
func whole(size int) part { return part{1, size, size} }

// of returns how many bytes are wanted of a stream that holds those from one byte of the block to another: from its first
// to the last that is in the part.
func (p part) of(from, to int) int {
	to = min(to, p.planes*p.size)
	if to <= from {
		return 0
	}
	last := (to - 1) / p.size * p.size // the plane that is in the stream to its end
	return max(0, min(last+p.n, to)-from)
}
