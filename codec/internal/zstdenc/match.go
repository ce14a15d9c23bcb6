package zstdenc

import (
	"encoding/binary"
	"math/bits"
)

// tables are the tables in which the searches look up positions. All hold positions plus the encoder's base.
type tables struct {
	fast   *[1 << fastLog]uint32
	double *doubleTables
	rows   rows
	roots  []uint32 // roots of trees
}

// fit allocates the tables that a search needs.
func (t *tables) fit(p *params) {
	switch p.strategy {
	case fastMatch:
		if t.fast == nil {
			t.fast = new([1 << fastLog]uint32)
		}
	case doubleMatch:
		if t.double == nil {
			t.double = new(doubleTables)
		}
	case optimalParse:
		resize(&t.roots, 1<<p.hashLog)
	default:
		resize(&t.rows.positions, 1<<p.hashLog)
		resize(&t.rows.tags, 1<<p.hashLog)
	}
}

func (t *tables) clear() {
	if t.fast != nil {
		clear(t.fast[:])
	}
	if t.double != nil {
		*t.double = doubleTables{}
	}
	clear(t.rows.positions)
	clear(t.rows.tags)
	clear(t.roots)
}

// resize makes *s a slice of at least n items, which are zeros or old entries.
func resize[T any](s *[]T, n int) {
	if len(*s) < n {
		*s = make([]T, n)
	}
}

// prime mixes the hashed bits into the high bits.
const prime = 0x9e3779b185ebca87

// factor returns the factor of 8 bytes whose product has a hash of the n low bytes in its high bits. The other bytes
// are shifted out.
func factor(n uint8) uint64 { return prime << (64 - 8*n&63) }

// hashed returns the mask of the n low bytes.
func hashed(n uint8) uint64 { return 1<<(8*n) - 1 }

// load32 and load64 load from b[i:], which must be long enough. In this form, the compiler emits less code than for a
// slice.
func load32(b []byte, i int) uint32 {
	_, _ = b[i], b[i+3]
	return uint32(b[i]) | uint32(b[i+1])<<8 | uint32(b[i+2])<<16 | uint32(b[i+3])<<24
}

func load64(b []byte, i int) uint64 {
	_, _ = b[i], b[i+7]
	return uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | uint64(b[i+3])<<24 |
		uint64(b[i+4])<<32 | uint64(b[i+5])<<40 | uint64(b[i+6])<<48 | uint64(b[i+7])<<56
}

// position returns the position of an entry of a table. An empty entry becomes the first position, which may match too:
// a branch would often be mispredicted.
func position(entry, base uint32) int {
	d := int32(entry - base)
	return int(d &^ (d >> 31))
}

// hash hashes the low n bytes of v to log bits.
func hash(v uint64, n, log uint8) uint32 {
	return uint32(v << (64 - 8*n&63) * prime >> (64 - log&63))
}

// matchLength returns the number of equal bytes at the start of b[at:] and b[from:], for from < at.
func matchLength(b []byte, from, at int) int {
	p := b[at:]
	q := b[from:]
	q = q[:len(p)]
	n := 0
	for ; n <= len(p)-16; n += 16 {
		x, y := p[n:n+16], q[n:n+16]
		if d := binary.LittleEndian.Uint64(x) ^ binary.LittleEndian.Uint64(y); d != 0 {
			return n + bits.TrailingZeros64(d)>>3
		}
		if d := binary.LittleEndian.Uint64(x[8:]) ^ binary.LittleEndian.Uint64(y[8:]); d != 0 {
			return n + 8 + bits.TrailingZeros64(d)>>3
		}
	}
	for n < len(p) && p[n] == q[n] {
		n++
	}
	return n
}
