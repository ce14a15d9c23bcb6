//go:build arm64 && !purego

package lz4

import (
	"github.com/goblosc/blosc2/codec/internal/spans"
	"github.com/goblosc/blosc2/internal/cpu"
)

// kernelLevel is the level that the decoding kernel needs.
const kernelLevel = cpu.Baseline

// BatchIsFaster reports whether DecodeAll takes less time than a Decode of each block.
func BatchIsFaster() bool { return false }

// DecodeAll decodes each src[i] to dst[i] and reports whether all blocks are valid.
func DecodeAll(dst, src [][]byte, dict []byte) bool { return decodeEach(dst, src, dict) }

// decodeKernel decodes sequences until one is near an end of src or dst, has a very long part, is invalid, or refers to
// bytes before dst. d must be roomy.
func decodeKernel(d *decoder) { decodeArm64(d, spans.Pairs()) }

//go:noescape
func decodeArm64(d *decoder, pairs *[16]spans.Pair)
