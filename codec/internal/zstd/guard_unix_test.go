//go:build linux || darwin

package zstd

import (
	"bytes"
	"math/rand"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/internal/guardpage"
)

// TestGuardPages decodes valid frames and mutants, with the input and the output next to pages that cannot be accessed:
// a kernel that reads or writes outside of them faults.
func TestGuardPages(t *testing.T) {
	const size = 1 << 17
	srcMem, dstMem := guardpage.New(t, size+size/2), guardpage.New(t, size)
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	forEachKernel(t, func(t *testing.T) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		for seed := range rounds {
			r := rand.New(rand.NewSource(int64(seed)))
			var dict *testDict
			d := newDecoder(t, nil)
			if seed%4 == 0 {
				dict = randomDict(r)
				d = newDecoder(t, dict.b)
			}
			if seed%3 > 0 {
				d.minPairs = 0
			}
			frame, want := randomFrame(r, r.Intn(1<<(1+r.Intn(16))), dict)
			for i := range 20 {
				m := frame
				if i >= 4 {
					m = mutate(r, frame)
				}
				src, dst := srcMem[:len(m)], dstMem[:len(want)]
				if i%2 > 0 {
					src = srcMem[len(srcMem)-len(m):]
				}
				if i&2 > 0 {
					dst = dstMem[len(dstMem)-len(want):]
				}
				copy(src, m)
				err := d.Decode(dst, src)
				if i < 4 && (err != nil || !bytes.Equal(dst, want)) {
					t.Fatalf("seed %d: %v, or wrong bytes", seed, err)
				}
				if n := len(dst); n > 1 {
					d.DecodePrefix(dst, src, 1+r.Intn(n-1))
				}
				p := partner()
				other := make([]byte, len(p.content))
				err = d.DecodeBatch([][]byte{other, dst, other}, [][]byte{p.frame, src, p.frame}, []int{len(other), len(dst), len(other)})
				if i < 4 && (err != nil || !bytes.Equal(dst, want)) {
					t.Fatalf("seed %d: in a batch: %v, or wrong bytes", seed, err)
				}
			}
		}
	})
}
