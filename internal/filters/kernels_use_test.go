package filters

import (
	"testing"

	"github.com/goblosc/blosc2/internal/cpu"
)

// TestKernelsInUse fails if, with nothing set by a test, the kernels that this machine can run leave their work to the
// generic ones.
func TestKernelsInUse(t *testing.T) {
	if !cpu.Has(vectorLevel) {
		t.Skip("this machine has only the generic kernels")
	}
	for _, width := range vectorWidths {
		for _, n := range []int{33 + 16, 64 + 16, 1000} {
			src, dst := make([]byte, n*width), make([]byte, n*width)
			if done := shuffleVector(dst, src, width, n); done < (n-16)&^31 || done > n {
				t.Errorf("width %d: %d of %d elements shuffled by vectors", width, done, n)
			}
			if done := unshuffleVector(dst, src, width, n); done < (n-16)&^31 || done > n {
				t.Errorf("width %d: %d of %d elements unshuffled by vectors", width, done, n)
			}
		}
		src, dst := make([]byte, 256*width), make([]byte, 256*width)
		if !bitShuffleVector(dst, src, width, 256) || !bitUnshuffleVector(dst, src, width, 256) {
			t.Errorf("type size %d: bits not shuffled by vectors", width)
		}
	}
	for n := 33; n < 200; n++ {
		src, dst := make([]byte, n), make([]byte, n)
		if done := byteDiffVector(dst, src); done < n-32 || done > n {
			t.Errorf("%d of %d differences by vectors", done, n)
		}
		if done := byteSumVector(dst, src); done < n-31 || done > n {
			t.Errorf("%d of %d sums by vectors", done, n)
		}
	}
}
