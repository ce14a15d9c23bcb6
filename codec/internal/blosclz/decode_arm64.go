//go:build arm64 && !purego

package blosclz

import (
	"github.com/goblosc/blosc2/codec/internal/spans"
	"github.com/goblosc/blosc2/internal/cpu"
)

// kernelLevel is the level that the decoding kernel needs.
const kernelLevel = cpu.Baseline

// decodeKernel decodes tokens until one is near the end of src or dst, or is invalid. src and dst must have at least
// minKernel bytes.
func decodeKernel(d *decoder) { decodeArm64(d, spans.Pairs()) }

//go:noescape
func decodeArm64(d *decoder, pairs *[16]spans.Pair)
