//go:build amd64 && !purego

package filters

import (
	"testing"

	"github.com/goblosc/blosc2/internal/cpu"
)

var levels = []cpu.Level{cpu.AVX2, cpu.AVX512}

// vectorWidths are the widths that have vector kernels.
var vectorWidths = func() (widths []int) {
	for w := 2; w <= 300; w++ {
		widths = append(widths, w)
	}
	return widths
}()

// TestAVX512InUse fails if the AVX-512 kernels leave their work to others.
func TestAVX512InUse(t *testing.T) {
	if !cpu.Has(cpu.AVX512) {
		t.Skip("this machine has no AVX-512 with VBMI and GFNI")
	}
	const n = 200
	for width := 2; width <= 40; width++ {
		a, b, cols := make([]byte, n*width), make([]byte, n*width), min(width, 16)
		if done := gather512(a, n, b, width, cols, n); done != 192 && done != 128 {
			t.Errorf("width %d: %d of %d elements gathered", width, done, n)
		}
		if done := scatter512(a, width, b, n, cols, n); done != 192 && done != 128 && width != 2 && width != 4 && width != 8 {
			t.Errorf("width %d: %d of %d elements scattered", width, done, n)
		}
	}
}

// TestMoveKernelsInUse fails if Copy and Fill leave long blocks to others.
func TestMoveKernelsInUse(t *testing.T) {
	dst, src := make([]byte, 1<<17), make([]byte, 1<<17)
	if cpu.Has(vectorLevel) && !(fillKernel(dst, 1, false) && fillKernel(dst, 1, true)) {
		t.Error("not filled by vectors")
	}
	if cpu.Has(cpu.AVX512) && !copyKernel(dst, src) && !copyKernel(dst[64:], src[:1<<16]) {
		t.Error("not copied by a string instruction")
	}
}
