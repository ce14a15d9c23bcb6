package lz4hc

import "github.com/goblosc/blosc2/codec/internal/lz4block"

// shortMatch is the longest match whose length fits into the token.
const shortMatch = 18

// encode writes all sequences of a block but the last literals. It reports whether there was room.
//
// A match m1 is written as it is when no longer one, m2, starts before its end. Else the two overlap or touch, and
// a still longer m3 is looked for that starts before the end of m2. When there is one m1 can be written, cut to
// where m2 starts, and the others move up; m3 may as well make m2 superfluous.
func (s *search) encode() bool {
	lastStart := len(s.src) - lz4block.TailLength
	for pos := s.anchor; ; {
		m1 := s.first(pos)
		if m1.length < lz4block.MinMatch {
			return true
		}
		first := m1 // to come back to, where later ones skipped too much
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
				// m1 gets what it can use cheaply of what it shares with m2.
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
				case m3.start < m1.end()+3: // no room for m2
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

// moveUp moves the start of m so that a match before it, which starts at start, can be length bytes long, but
// leaves m a match. It returns the length that the other one can have. Nothing moves when they are far enough
// apart.
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
