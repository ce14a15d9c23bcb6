package lz4

import (
	"testing"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
)

// forEachKernel runs f with the Go code and with the kernels of this machine.
func forEachKernel(t *testing.T, f func(t *testing.T)) { cputest.Each(t, f, cpu.Baseline) }
