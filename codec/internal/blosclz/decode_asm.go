//go:build (amd64 || arm64) && !purego

package blosclz

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// run decodes tokens with a kernel, as long as they are valid and far from the ends of src and dst. Go decodes the
// rest.
func (d *decoder) run() {
	if !cpu.Has(kernelLevel) || len(d.src) < minKernel || len(d.dst) < minKernel {
		return
	}
	race.Read(d.src)
	race.Write(d.dst)
	decodeKernel(d)
}
