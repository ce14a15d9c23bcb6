// Package mutant changes the sequences of valid streams for tests of decoders. A stream with a changed byte mostly
// fails near its beginning. A stream that is written again from changed sequences is well formed, so that a decoder
// gets far.
package mutant

import "math/rand"

// A Sequence is a run of literals and a match. The last sequence of a stream has no match: its Length is 0.
type Sequence struct {
	Literals         []byte
	Length, Distance int // of the match
}

// Rules are the limits of a format.
type Rules struct {
	MinLength, MaxLength int  // of matches
	MaxDistance          int  // that can be written
	Zero                 bool // a distance of 0 can be written
}

// mutator changes sequences in place, in memory that it keeps.
type mutator struct {
	Rules
	r     *rand.Rand
	dict  int // bytes before the content
	seqs  []Sequence
	noise []byte
}

// mutate returns a copy of the sequences with one to four changes. The last sequence stays the last.
func (m *mutator) mutate(seqs []Sequence) []Sequence {
	m.seqs = append(m.seqs[:0], seqs...)
	for range 1 + m.r.Intn(4) {
		m.change()
	}
	return m.seqs
}

// change makes one change.
func (m *mutator) change() {
	r, last := m.r, len(m.seqs)-1
	if last == 0 {
		m.insert(0, Sequence{Literals: m.literals(), Length: m.length(), Distance: 1})
		return
	}
	i := r.Intn(last)
	if r.Intn(4) > 0 {
		i = max(i, r.Intn(last)) // rather late, so that most of the stream is decoded
	}
	s := &m.seqs[i]
	switch r.Intn(9) {
	case 0, 1:
		s.Length = m.length()
	case 2, 3:
		s.Distance = m.distance(i)
	case 4:
		s.Literals = m.literals()
	case 5:
		m.seqs[last].Literals = m.literals()
	case 6:
		k := r.Intn(last)
		m.seqs[i], m.seqs[k] = m.seqs[k], m.seqs[i]
	case 7:
		m.insert(i, m.seqs[i])
	case 8:
		m.seqs = append(m.seqs[:i], m.seqs[i+1:]...)
	}
}

func (m *mutator) insert(i int, s Sequence) {
	m.seqs = append(m.seqs, Sequence{})
	copy(m.seqs[i+1:], m.seqs[i:])
	m.seqs[i] = s
}

// edges are lengths at which formats and kernels change what they do.
var edges = [...]int{0, 8, 15, 16, 19, 32, 48, 64, 80, 128, 256, 270, 274, 525, 4096}

// near returns a number near an edge, or any that is not too large.
func (m *mutator) near() int {
	if m.r.Intn(4) > 0 {
		return max(0, edges[m.r.Intn(len(edges))]+m.r.Intn(7)-3)
	}
	return m.r.Intn(1 << m.r.Intn(12))
}

func (m *mutator) length() int {
	switch m.r.Intn(40) {
	case 0:
		return m.MaxLength
	case 1, 2, 3, 4:
		return m.MinLength
	}
	return min(max(m.near(), m.MinLength), m.MaxLength)
}

func (m *mutator) literals() []byte {
	if len(m.noise) == 0 {
		m.noise = make([]byte, 1<<13)
		m.r.Read(m.noise)
	}
	n := m.near()
	at := m.r.Intn(len(m.noise) - n)
	return m.noise[at : at+n : at+n]
}

// distance returns a distance for match i. A wrong one is mostly for a match in the second half of the content.
func (m *mutator) distance(i int) int {
	r, before := m.r, len(m.seqs[i].Literals)
	for _, s := range m.seqs[:i] {
		before += len(s.Literals) + s.Length
	}
	if r.Intn(3) == 0 && (2*before > Total(m.seqs) || r.Intn(8) == 0) {
		wrong := [...]int{0, before + m.dict + 1, before + m.dict + 1 + r.Intn(64), m.MaxDistance}
		if d := wrong[r.Intn(len(wrong))]; d <= m.MaxDistance && (d > 0 || m.Zero) {
			return d
		}
	}
	reach := min(before+m.dict, m.MaxDistance)
	if reach == 0 {
		return 1
	}
	switch r.Intn(4) {
	case 0:
		return reach
	case 1:
		return min(reach, max(1, before+r.Intn(9)-4)) // about the first byte
	case 2:
		return 1 + r.Intn(min(reach, 40))
	}
	return 1 + r.Intn(reach)
}

// Total returns the number of bytes that the sequences decode to.
func Total(seqs []Sequence) (n int) {
	for _, s := range seqs {
		n += len(s.Literals) + s.Length
	}
	return n
}

// Find returns sequences for content, with the last match of each hash of four bytes.
func Find(content []byte, rules Rules) []Sequence {
	const bits = 12
	var seqs []Sequence
	var last [1 << bits]int // position plus one
	anchor := 0
	for i := 0; i+4 <= len(content); {
		word := uint32(content[i]) | uint32(content[i+1])<<8 | uint32(content[i+2])<<16 | uint32(content[i+3])<<24
		h := word * 2_654_435_761 >> (32 - bits)
		from := last[h] - 1
		last[h] = i + 1
		n := 0
		if from >= 0 && i-from <= rules.MaxDistance {
			for i+n < len(content) && n < rules.MaxLength && content[from+n] == content[i+n] {
				n++
			}
		}
		if n < max(4, rules.MinLength) {
			i++
			continue
		}
		seqs = append(seqs, Sequence{content[anchor:i], n, i - from})
		i += n
		anchor = i
	}
	return append(seqs, Sequence{Literals: content[anchor:]})
}

// expand appends what the sequences decode to, limit bytes at most, to dst[:0]. It stops before a match with a distance
// of 0, before dict or, in the content, beyond window, and then reports false.
func expand(dst []byte, seqs []Sequence, dict []byte, window, limit int) ([]byte, bool) {
	dst = dst[:0]
	for _, s := range seqs {
		dst = append(dst, s.Literals[:min(len(s.Literals), limit-len(dst))]...)
		if s.Length == 0 || len(dst) == limit {
			continue
		}
		if s.Distance == 0 || s.Distance > len(dst)+len(dict) || s.Distance > window && s.Distance <= len(dst) {
			return dst, false
		}
		end := min(len(dst)+s.Length, limit)
		if before := s.Distance - len(dst); before > 0 {
			part := dict[len(dict)-before:]
			dst = append(dst, part[:min(len(part), end-len(dst))]...)
		}
		for from := len(dst) - s.Distance; len(dst) < end; { // the source doubles with each round
			dst = append(dst, dst[from:][:min(len(dst)-from, end-len(dst))]...)
		}
	}
	return dst, true
}
