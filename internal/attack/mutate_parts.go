package attack

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// mutateParts changes fields of a frame that is put together: the lengths that build sets, and positions and counts of
// the sections of metalayers. Where the length of the frame changes, so does mostly the length of the file.
func mutateParts(rng *rand.Rand, p *parts) string {
	head, tail := p.head, p.tail
	trailer := 0 // where it starts in tail
	if n := len(tail); n >= 23 {
		if size := int(binary.BigEndian.Uint32(tail[n-22:])); size <= n {
			trailer = n - size
		}
	}
	switch rng.IntN(8) {
	case 0:
		v := extreme(rng, p.size())
		binary.BigEndian.PutUint64(head[posFrameLen:], uint64(v))
		if grow := v - p.size(); grow > 0 && grow < 1<<16 {
			p.tail = append(tail, make([]byte, grow)...)
		} else if cut := int64(len(tail)) + grow; grow < 0 && cut >= 0 {
			p.tail = tail[:cut]
		}
		return fmt.Sprintf("frame length %d", v)
	case 1:
		v := extreme(rng, be(head[posHeaderLen:][:4]))
		binary.BigEndian.PutUint32(head[posHeaderLen:], uint32(v))
		return fmt.Sprintf("header length %d", int32(v))
	case 2:
		now := be(head[posCBytes:][:8])
		v := extreme(rng, now)
		binary.BigEndian.PutUint64(head[posCBytes:], uint64(v))
		if v > now && (v < 1<<21 || rng.IntN(8) == 0) && v < 1<<40 {
			p.hole += v - now
			binary.BigEndian.PutUint64(head[posFrameLen:], uint64(p.size()))
		}
		return fmt.Sprintf("cbytes %d", v)
	case 3:
		n := len(tail)
		if n < 23 {
			return "no trailer"
		}
		v := extreme(rng, int64(binary.BigEndian.Uint32(tail[n-22:])))
		binary.BigEndian.PutUint32(tail[n-22:], uint32(v))
		return fmt.Sprintf("trailer length %d", uint32(v))
	case 4:
		return mutateSection(rng, head, fixedLen, "header")
	case 5:
		return mutateSection(rng, tail, trailer+2, "trailer")
	case 6:
		flip(rng, head[:min(len(head), 200)])
		return "bytes of the header"
	}
	flip(rng, tail)
	return "bytes of index and trailer"
}

// mutateSection changes a field of the section of metalayers at a position of b.
func mutateSection(rng *rand.Rand, b []byte, at int, name string) string {
	if at+6 > len(b) {
		return "no section"
	}
	count := int(binary.BigEndian.Uint16(b[at+4:]))
	pos := at + 6
	for range rng.IntN(count + 1) {
		if pos < len(b) {
			pos += 6 + int(b[pos]&31)
		}
	}
	switch rng.IntN(4) {
	case 0:
		v := extreme(rng, int64(count))
		binary.BigEndian.PutUint16(b[at+4:], uint16(v))
		return fmt.Sprintf("%s: %d metalayers", name, uint16(v))
	case 1:
		v := extreme(rng, int64(binary.BigEndian.Uint16(b[at+2:])))
		binary.BigEndian.PutUint16(b[at+2:], uint16(v))
		return fmt.Sprintf("%s: map of %d bytes", name, uint16(v))
	case 2:
		if pos >= len(b) {
			return "no entry"
		}
		b[pos] = byte(rng.IntN(256))
		return fmt.Sprintf("%s: name marker %#x", name, b[pos])
	}
	if pos >= len(b) || pos+1+int(b[pos]&31)+5 > len(b) {
		return "no entry"
	}
	field := pos + 2 + int(b[pos]&31)
	off := int64(binary.BigEndian.Uint32(b[field:]))
	if content := int(off); rng.IntN(2) == 0 && content > 0 && content+5 <= len(b) && name == "header" {
		v := extreme(rng, int64(binary.BigEndian.Uint32(b[content+1:])))
		binary.BigEndian.PutUint32(b[content+1:], uint32(v))
		return fmt.Sprintf("%s: metalayer of %d bytes", name, uint32(v))
	}
	v := extreme(rng, off)
	binary.BigEndian.PutUint32(b[field:], uint32(v))
	return fmt.Sprintf("%s: metalayer at %d", name, int32(v))
}
