package lz4hc

import "github.com/goblosc/blosc2/codec/internal/lz4block"

// shortMatch is the longest match whose length fits into the token.
const shortMatch = 18

// encode writes all sequences of a block except the last literals. It reports whether there was space.
//
// It writes a match m1 unchanged if no longer match m2 starts before its end. Otherwise m1 and m2 overlap or touch, and
// it looks for a still longer match m3 that starts before the end of m2. If there is one, it writes m1, truncated where
// m2 starts, and continues with m2 and m3. m3 may also make m2 superfluous.
func (s *search) encode() bool {
	lastStart := len(s.src) - lz4block.TailLength
	for pos := s.anchor; ; {
		m1 := s.first(pos)
		if m1.length < lz4block.MinMatch {
			return true
		}
		first := m1 // kept in case later matches skip too much
	second:
		for {
			m2 := match{}
			if m1.end() <= lastStart {
				m2 = s.find(m1.end()-2, m1.start, m1.length)
			}
			if m2.length <= m1.length {
				if !s.emit(m1) {
					return false
				}
				pos = m1.end()
				break
			}
			if first.start < m1.start && m2.start < m1.start+first.length {
				m1 = first
			}
			if m2.start-m1.start < 3 {
				m1 = m2
				continue
			}
			for {
				// m1 gets the part of its overlap with m2 that it can use cheaply.
				m2.moveUp(min(m1.length, shortMatch), m1.start)
				m3 := match{}
				if m2.end() <= lastStart {
					m3 = s.find(m2.end()-3, m2.start, m2.length)
				}
				if m3.length <= m2.length {
					m1.length = min(m1.length, m2.start-m1.start)
					if !s.emit(m1) || !s.emit(m2) {
						return false
					}
					pos = m2.end()
					break second
				}
				switch {
				case m3.start < m1.end():
					m2 = m3
				case m3.start < m1.end()+3: // no space for m2
					if overlap := m1.end() - m2.start; overlap > 0 {
						m2.start += overlap
						m2.length -= overlap
						if m2.length < lz4block.MinMatch {
							m2 = m3
						}
					}
					if !s.emit(m1) {
						return false
					}
					m1, first = m3, m2
					continue second
				default:
					if m2.start < m1.end() {
						if m2.start-m1.start < shortMatch {
							m1.length = m2.moveUp(min(m1.length, shortMatch), m1.start)
						} else {
							m1.length = m2.start - m1.start
						}
					}
					if !s.emit(m1) {
						return false
					}
					m1, m2 = m2, m3
				}
			}
		}
	}
}

// moveUp moves the start of m so that a match before it, which starts at start, can be length bytes long. m stays a
// valid match. It returns the possible length of the other match. Nothing moves if they are far enough apart.
func (m *match) moveUp(length, start int) int {
	apart := m.start - start
	if apart >= shortMatch {
		return length
	}
	length = min(length, apart+m.length-lz4block.MinMatch)
	if more := length - apart; more > 0 {
		m.start += more
		m.length -= more
	}
	return length
}
