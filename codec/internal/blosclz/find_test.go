package blosclz

import (
	"bytes"
	"math/rand"
	"testing"
)

// checkFind goes through src with find and with findGeneric: results and tables must agree.
func checkFind(t *testing.T, a, b *Encoder, src []byte, hashBits uint, minFar int) (matches int) {
	t.Helper()
	if len(src) < minLength {
		return 0
	}
	src = src[:len(src):len(src)]
	clear(a.table[:])
	clear(b.table[:])
	limit := len(src) - tailLength
	for pos := 0; ; {
		at, ref, end := a.find(src, hashBits, pos, limit, minFar)
		wantAt, wantRef, wantEnd := b.findGeneric(src, hashBits, pos, limit, minFar)
		if at != wantAt || at < limit && (ref != wantRef || end != wantEnd) {
			t.Fatalf("%d bytes from %d on: match at %d with %d up to %d, want %d, %d, %d", len(src), pos, at, ref, end, wantAt, wantRef, wantEnd)
		}
		if at >= limit {
			break
		}
		matches++
		pos = end - 2
	}
	if a.table != b.table {
		t.Fatalf("%d bytes: the tables differ", len(src))
	}
	return matches
}

func TestFind(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	a, b, matches := new(Encoder), new(Encoder), 0
	words := make([][]byte, 100)
	for i := range words {
		words[i] = make([]byte, 1+r.Intn(100))
		r.Read(words[i])
	}
	for i := range 2000 {
		n, src := r.Intn(1<<r.Intn(18)), []byte{}
		for len(src) < n {
			switch k := r.Intn(8); {
			case k == 0:
				noise := make([]byte, r.Intn(1<<r.Intn(9)))
				r.Read(noise)
				src = append(src, noise...)
			case k == 1:
				src = append(src, bytes.Repeat([]byte{byte(r.Intn(256))}, r.Intn(1<<r.Intn(12)))...)
			default:
				src = append(src, words[r.Intn(len(words)>>(i%7))]...)
			}
		}
		matches += checkFind(t, a, b, src[:n], uint(12+i%3), 4+i%4)
	}
	if matches < 100_000 {
		t.Errorf("%d matches only", matches)
	}
}

func FuzzFind(f *testing.F) {
	f.Add(bytes.Repeat([]byte("0123456789abcdefghijklm"), 100), uint8(14), 6)
	f.Add(make([]byte, 100), uint8(12), 4)
	a, b := new(Encoder), new(Encoder)
	f.Fuzz(func(t *testing.T, src []byte, hashBits uint8, minFar int) {
		checkFind(t, a, b, src, 12+uint(hashBits)%3, max(4, minFar))
	})
}
