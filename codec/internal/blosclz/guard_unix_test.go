//go:build linux || darwin

package blosclz

import (
	"bytes"
	"math/rand"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/internal/guardpage"
)

// TestGuardPages decodes valid streams and mutants, with the input and the output next to pages that cannot be
// accessed: a kernel that reads or writes outside of them faults. It also encodes the decoded bytes.
func TestGuardPages(t *testing.T) {
	const size = 1 << 20
	srcMem, dstMem := guardpage.New(t, size), guardpage.New(t, size)
	rounds := int64(1500)
	if testing.Short() {
		rounds = 200
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var e Encoder
	for seed := range rounds {
		r := rand.New(rand.NewSource(seed))
		stream, n := randomTokens(r)
		if len(stream) > size || n > size {
			continue
		}
		want := reference(stream, n)
		for i := range 12 {
			src, dst := srcMem[:len(stream)], dstMem[:n]
			if i%2 > 0 {
				src = srcMem[len(srcMem)-len(stream):]
			}
			if i&2 > 0 {
				dst = dstMem[len(dstMem)-n:]
			}
			copy(src, stream)
			if i >= 4 {
				src[r.Intn(len(src))] = byte(r.Intn(256))
			}
			ok := Decode(dst, src)
			if i < 4 && (ok != (want != nil) || ok && !bytes.Equal(dst, want)) {
				t.Fatalf("seed %d: %v, or wrong bytes", seed, ok)
			}
			if n > 1 {
				DecodePrefix(dst, src, 1+r.Intn(n-1))
			}
		}
		if len(want) == 0 {
			continue
		}
		src := srcMem[len(srcMem)-n:]
		copy(src, want)
		dst := dstMem[len(dstMem)-n:]
		back := make([]byte, n)
		if k := e.Encode(dst, src, 9); k > 0 && (!Decode(back, dst[:k]) || !bytes.Equal(back, want)) {
			t.Fatalf("seed %d: %d bytes do not round-trip", seed, n)
		}
	}
}
