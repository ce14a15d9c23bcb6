//go:build amd64 && !purego

package blosclz

import (
	"github.com/goblosc/blosc2/codec/internal/spans"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// run decodes tokens with a kernel, as long as they are valid and far from the ends of src and dst. Go decodes the
// rest.
func (d *decoder) run() {
	if !cpu.Has(cpu.SSSE3) || len(d.src) < minKernel || len(d.dst) < minKernel {
		return
	}
	race.Read(d.src)
	race.Write(d.dst)
	decodeSSSE3(d, spans.Table())
}

// decodeSSSE3 decodes tokens until one is near the end of src or dst, or is invalid. src and dst must have at least
// minKernel bytes.
//
//go:noescape
func decodeSSSE3(d *decoder, spans *[17]spans.Span)
