package squeeze

const (
	minLength, maxLength = 3, 258
	window               = 32 << 10
	hashBits             = 16
	chain                = 512 // earlier positions to look at
)

// match is a length and the smallest distance of a match of that length.
type match struct{ length, distance uint16 }

// matches are those of all positions: those of position i are list[first[i]:first[i+1]], with increasing lengths.
type matches struct {
	list  []match
	first []uint32
}

// at returns the matches at position i.
func (m *matches) at(i int) []match { return m.list[m.first[i]:m.first[i+1]] }

// findMatches finds the matches at all positions of b, by chains of the positions with the same three bytes.
func findMatches(b []byte) *matches {
	m := &matches{first: make([]uint32, len(b)+1)}
	var head [1 << hashBits]int32 // last position with a hash, and 1
	before := make([]int32, window)
	for i := range b {
		m.first[i] = uint32(len(m.list))
		if i+minLength > len(b) {
			continue
		}
		h := (uint32(b[i]) | uint32(b[i+1])<<8 | uint32(b[i+2])<<16) * 0x9e3779b1 >> (32 - hashBits)
		most, best := min(maxLength, len(b)-i), minLength-1
		at := int(head[h]) - 1
		for range chain {
			if at < 0 || i-at > window || best == most {
				break
			}
			if b[at+best] == b[i+best] {
				n := 0
				for n < most && b[at+n] == b[i+n] {
					n++
				}
				if n > best {
					best = n
					m.list = append(m.list, match{uint16(n), uint16(i - at)}) // 32768 fits
				}
			}
			next := int(before[at%window]) - 1
			if next >= at {
				break
			}
			at = next
		}
		before[i%window] = head[h]
		head[h] = int32(i + 1)
	}
	m.first[len(b)] = uint32(len(m.list))
	return m
}
