//go:build linux || darwin

package lz4

import (
	"bytes"
	"math/rand"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/guardpage"
)

// TestGuardPages encodes with the input and the output next to pages that cannot be accessed: a kernel that reads or
// writes outside of them faults.
func TestGuardPages(t *testing.T) {
	const size = 1 << 17
	srcMem, dstMem := guardpage.New(t, size), guardpage.New(t, size)
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
					room = len(oracle(content, len(content), 1)) + r.Intn(100) - 50 // near the size of the block
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

// TestGuardPagesEnds encodes inputs whose last match is at each distance from the end, to outputs of about the needed
// length. See TestGuardPages.
func TestGuardPagesEnds(t *testing.T) {
	const size = 1 << 12
	srcMem, dstMem := guardpage.New(t, size), guardpage.New(t, size)
	forEachKernel(t, func(t *testing.T) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		var e Encoder
		for literals := range 80 {
			for tail := range 80 {
				if testing.Short() && (literals+tail)%4 > 0 {
					continue
				}
				content := trial.Ending(literals, tail)
				src := srcMem[len(srcMem)-len(content):]
				copy(src, content)
				n := len(oracle(content, size, 1))
				for more := -1; more < 60; more += 1 + tail%7 {
					dst := dstMem[len(dstMem)-n-more:]
					if k, want := e.Encode(dst, src, 1), oracle(content, len(dst), 1); !bytes.Equal(dst[:k], want) {
						t.Fatalf("%d literals, a match, %d literals into %d bytes: %d bytes, want %d", literals, tail, len(dst), k, len(want))
					}
				}
			}
		}
	})
}

// TestGuardPagesDecode decodes valid blocks and mutants next to guard pages. See TestGuardPages.
func TestGuardPagesDecode(t *testing.T) {
	const size = 1 << 20
	srcMem, dstMem := guardpage.New(t, size), guardpage.New(t, size)
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
		want, valid := oracleDecode(block, nil, n)
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
			if i < 8 && (ok != valid || ok && !bytes.Equal(dst, want)) {
				t.Fatalf("seed %d: %v, want %v, or wrong bytes", seed, ok, valid)
			}
			if n > 1 {
				DecodePrefix(dst, src, nil, 1+r.Intn(n-1))
			}
		}
	}
}

// TestGuardPagesDecodeEnds decodes blocks whose second to last sequence has each length near the limits of the kernels,
// at each distance from the ends: kernels may copy too much only if there is room.
func TestGuardPagesDecodeEnds(t *testing.T) {
	const size = 1 << 12
	srcMem, dstMem := guardpage.New(t, size), guardpage.New(t, size)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var block, want []byte
	literals := func(n, match int) {
		token := min(n, 15) << 4
		if match > 0 {
			token |= min(match-4, 15)
		}
		if block = append(block, byte(token)); n >= 15 {
			block = append(block, byte(n-15))
		}
		for range n {
			b := byte(len(want) * 7)
			block, want = append(block, b), append(want, b)
		}
	}
	repeat := func(n, distance int) {
		if block = append(block, byte(distance), 0); n >= 19 {
			block = append(block, byte(n-19))
		}
		for range n {
			want = append(want, want[len(want)-distance])
		}
	}
	for n := range 71 {
		for _, match := range []int{4, 5, 8, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 32, 40} {
			for i, distance := range []int{24, 1, 15, 16, 40} {
				for tail := 5; tail < 80; tail += 1 + i {
					if testing.Short() && (n+match+tail)%3 > 0 {
						continue
					}
					block, want = block[:0], want[:0]
					literals(70, 4)
					repeat(4, 20)
					literals(n, match)
					repeat(match, distance)
					literals(tail, 0)
					src, dst := srcMem[len(srcMem)-len(block):], dstMem[len(dstMem)-len(want):]
					copy(src, block)
					clear(dst)
					if !Decode(dst, src, nil) || !bytes.Equal(dst, want) {
						t.Fatalf("%d literals, a match of %d at %d, %d literals: no, or wrong bytes", n, match, distance, tail)
					}
					clear(dst)
					other := make([]byte, len(want))
					if !DecodeAll([][]byte{dst, other}, [][]byte{src, bytes.Clone(block)}, nil) || !bytes.Equal(dst, want) || !bytes.Equal(other, want) {
						t.Fatalf("%d literals, a match of %d at %d, %d literals, twice: no, or wrong bytes", n, match, distance, tail)
					}

					// The same with an output that is too short for the input, so that kernels continue for longer.
					block, want = block[:len(block)-tail-1-min(1, tail/15)], want[:len(want)-tail]
					dst = dstMem[len(dstMem)-len(want)-tail+5:]
					literals(200, 0)
					src = srcMem[len(srcMem)-len(block):]
					copy(src, block)
					if Decode(dst, src, nil) || DecodeAll([][]byte{dst, dst}, [][]byte{src, src}, nil) {
						t.Fatalf("%d literals, a match of %d at %d, 200 literals to %d bytes: decoded", n, match, distance, len(dst))
					}
				}
			}
		}
	}
}
