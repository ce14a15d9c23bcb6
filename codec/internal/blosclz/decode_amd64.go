//go:build amd64 && !purego

package blosclz

import (
	"github.com/goblosc/blosc2/codec/internal/spans"
	"github.com/goblosc/blosc2/internal/cpu"
)

// kernelLevel is the level that the decoding kernel needs.
const kernelLevel = cpu.SSSE3

// decodeKernel decodes tokens until one is near the end of src or dst, or is invalid. src and dst must have at least
// minKernel bytes.
func decodeKernel(d *decoder) { decodeSSSE3(d, spans.Table()) }

//go:noescape
func decodeSSSE3(d *decoder, spans *[17]spans.Span)
