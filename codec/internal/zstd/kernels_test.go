package zstd

import (
	"testing"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
)

// with runs f with the kernels of a level.
func with(l cpu.Level, f func()) {
	defer cpu.Limit(l)()
	f()
}

// forEachKernel runs f with the Go code and with the kernels of this machine.
func forEachKernel(t *testing.T, f func(t *testing.T)) { cputest.Each(t, f, kernelLevel) }
