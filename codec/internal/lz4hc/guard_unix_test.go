//go:build linux || darwin

package lz4hc

import (
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
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for level := 1; level <= 9; level += 4 {
		r := rand.New(rand.NewSource(int64(level)))
		kernel, plain := NewEncoder(level), NewEncoder(level)
		for i := range rounds {
			content := pieces(r, r.Intn(1<<r.Intn(18)))
			room := r.Intn(len(content) + 1)
			src, dst := srcMem[:len(content)], dstMem[:room]
			if i%2 > 0 {
				src = srcMem[len(srcMem)-len(content):]
			}
			if i&2 > 0 {
				dst = dstMem[len(dstMem)-room:]
			}
			copy(src, content)
			encodeBoth(t, kernel, plain, dst, src)
		}
	}
}

// TestGuardPagesEnds encodes inputs whose last match is at each distance from the end, to outputs of about the needed
// length. See TestGuardPages.
func TestGuardPagesEnds(t *testing.T) {
	const size = 1 << 12
	srcMem, dstMem := guardpage.New(t, size), guardpage.New(t, size)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for _, level := range []int{1, 3, 9} {
		kernel, plain := NewEncoder(level), NewEncoder(level)
		for literals := range 80 {
			for tail := range 80 {
				if testing.Short() && (literals+tail)%4 > 0 {
					continue
				}
				content := trial.Ending(literals, tail)
				src := srcMem[len(srcMem)-len(content):]
				copy(src, content)
				n := encodeBoth(t, kernel, plain, make([]byte, size), src)
				for more := -1; more < 60; more += 1 + tail%7 {
					encodeBoth(t, kernel, plain, dstMem[len(dstMem)-n-more:], src)
				}
			}
		}
	}
}
