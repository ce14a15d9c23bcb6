package frame

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestMemoryModel writes and cuts a Memory at random, beside a slice that is made anew each time.
func TestMemoryModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var m Memory
	var want []byte
	for range 5000 {
		if r.IntN(8) == 0 {
			want = want[:r.IntN(len(want)+1)]
			if err := m.Truncate(int64(len(want))); err != nil {
				t.Fatal(err)
			}
			continue
		}
		p, off := make([]byte, r.IntN(100)), r.IntN(len(want)+60)
		for i := range p {
			p[i] = byte(1 + r.IntN(255))
		}
		if _, err := m.WriteAt(p, int64(off)); err != nil {
			t.Fatal(err)
		}
		next := make([]byte, max(len(want), off+len(p)))
		copy(next, want)
		copy(next[off:], p)
		want = next
		if !bytes.Equal(m.Bytes(), want) {
			t.Fatalf("%d bytes at %d: wrong content", len(p), off)
		}
	}
}
