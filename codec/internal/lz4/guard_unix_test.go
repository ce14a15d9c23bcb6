//go:build linux || darwin

package lz4

import (
	"bytes"
	"math/rand"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
)

// TestGuardPages compresses with the input and the output at pages that cannot be touched: a kernel that reads or writes
// outside of them faults.
func TestGuardPages(t *testing.T) {
	const size = 1 << 17
	srcMem, dstMem := trial.GuardPages(t, size), trial.GuardPages(t, size)
	rounds := int64(400)
	if testing.Short() {
		rounds = 50
	}
	forEachKernel(t, func(t *testing.T) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		var e Encoder
		for seed := range rounds {
			r := rand.New(rand.NewSource(seed))
			for name, content := range contents(r.Intn(1<<(1+r.Intn(17))), seed) {
				room := r.Intn(len(content) + 2)
				if seed%2 > 0 {
					room = len(oracle(content, len(content), 1)) + r.Intn(100) - 50 // near what the block takes
					room = max(0, min(room, len(dstMem)))
				}
				src, dst := srcMem[:len(content)], dstMem[:room]
				if seed&2 > 0 {
					src = srcMem[len(srcMem)-len(content):]
				}
				if seed&4 > 0 {
					dst = dstMem[len(dstMem)-room:]
				}
				copy(src, content)
				n := e.Encode(dst, src, 1)
				if want := oracle(content, room, 1); len(content) > 0 && !bytes.Equal(dst[:n], want) {
					t.Fatalf("seed %d, %s: %d bytes into %d: %d bytes, want %d", seed, name, len(src), room, n, len(want))
				}
			}
		}
	})
}

// TestGuardPagesDecode is TestGuardPages for blocks that are expanded, sound ones and mutants.
func TestGuardPagesDecode(t *testing.T) {
	const size = 1 << 20
	srcMem, dstMem := trial.GuardPages(t, size), trial.GuardPages(t, size)
	rounds := int64(4000)
	if testing.Short() {
		rounds = 500
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for seed := range rounds {
		r := rand.New(rand.NewSource(seed))
		block, n := randomBlock(r, 0)
		if len(block) > size || n > size {
			continue
		}
		want, sound := oracleDecode(block, nil, n)
		for i := range 24 {
			src, dst := srcMem[:len(block)], dstMem[:n]
			if i%2 > 0 {
				src, dst = srcMem[len(srcMem)-len(block):], dstMem[len(dstMem)-n:]
			}
			copy(src, block)
			if i >= 8 {
				src[r.Intn(len(src))] = byte(r.Intn(256))
			}
			ok := decoders[i/2%4](dst, src, nil)
			if i < 8 && (ok != sound || ok && !bytes.Equal(dst, want)) {
				t.Fatalf("seed %d: %v, want %v, or wrong bytes", seed, ok, sound)
			}
			if n > 1 {
				DecodePrefix(dst, src, nil, 1+r.Intn(n-1))
			}
		}
	}
}
