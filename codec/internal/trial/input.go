// Package trial holds helpers that the tests of several codecs share.
package trial

import (
	"encoding/binary"
	"math"
	"math/rand"
)

// Kind is a kind of content.
type Kind struct {
	Name string
	Fill func(b []byte, r *rand.Rand)
}

// Kinds returns contents of any length. Kinds of numbers are byte-shuffled as a whole.
func Kinds() []Kind { return kinds }

var kinds = []Kind{
	{"zeros", func(b []byte, r *rand.Rand) { clear(b) }},
	{"noise", func(b []byte, r *rand.Rand) { r.Read(b) }},
	{"skewed", func(b []byte, r *rand.Rand) {
		scale := 1 + r.Float64()*30
		for i := range b {
			b[i] = byte(min(255, r.ExpFloat64()*scale))
		}
	}},
	{"matches", func(b []byte, r *rand.Rand) {
		for i := range b {
			b[i] = byte(r.ExpFloat64() * 10)
			if i > 10 && r.Intn(20) == 0 {
				from := max(0, i-1-r.Intn(1<<r.Intn(18)))
				for n := r.Intn(1 << r.Intn(13)); n > 0 && i < len(b); n, from, i = n-1, from+1, i+1 {
					b[i] = b[from]
				}
			}
		}
	}},
	{"ramp", func(b []byte, r *rand.Rand) {
		first := r.Intn(1 << 20)
		shuffled(b, 4, func(i int) uint64 { return uint64(first + i) })
	}},
	{"sine", func(b []byte, r *rand.Rand) {
		shuffled(b, 8, func(i int) uint64 { return math.Float64bits(math.Sin(float64(i) / 1000)) })
	}},
	{"temperatures", func(b []byte, r *rand.Rand) {
		v := 15.0
		shuffled(b, 4, func(i int) uint64 {
			v += r.NormFloat64() / 50
			return uint64(math.Float32bits(float32(math.Round(v*100) / 100)))
		})
	}},
	{"image", func(b []byte, r *rand.Rand) {
		shuffled(b, 2, func(i int) uint64 { return uint64(1000 + 500*math.Sin(float64(i)/50) + 8*r.NormFloat64()) })
	}},
}

// shuffled fills b with numbers of size bytes: first the first bytes of all numbers, then all second bytes and so on.
func shuffled(b []byte, size int, number func(i int) uint64) {
	n := len(b) / size
	var word [8]byte
	for i := range n {
		binary.LittleEndian.PutUint64(word[:], number(i))
		for j := range size {
			b[j*n+i] = word[j]
		}
	}
}

// Input returns n bytes of a kind, by its position in Kinds.
func Input(kind, n int, seed int64) []byte {
	b := make([]byte, n)
	kinds[kind].Fill(b, rand.New(rand.NewSource(seed)))
	return b
}

// Ending returns an input of noise, in which 16 bytes repeat after the given number of literals, with a tail of noise.
// It detects encoders that copy or compare too much near the end.
func Ending(literals, tail int) []byte {
	b := make([]byte, 16+literals, 32+literals+tail)
	r := rand.New(rand.NewSource(int64(literals)))
	r.Read(b)
	b = append(b, b[:16]...)
	r.Read(b[len(b) : len(b)+tail])
	return b[:len(b)+tail]
}
