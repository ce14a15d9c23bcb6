//go:build amd64 && !purego

package lz4

import (
	"github.com/goblosc/blosc2/codec/internal/spans"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// kernelLevel is the level that the decoding kernels need.
const kernelLevel = cpu.SSSE3

// BatchIsFaster reports whether DecodeAll takes less time than a Decode of each block.
func BatchIsFaster() bool { return cpu.Has(kernelLevel) }

// DecodeAll decodes each src[i] to dst[i], two at a time, and reports whether all blocks are valid.
func DecodeAll(dst, src [][]byte, dict []byte) bool {
	if !BatchIsFaster() {
		return decodeEach(dst, src, dict)
	}
	for i := range dst {
		race.Read(src[i])
		race.Write(dst[i])
	}
	var lanes [2]decoder
	a, b := &lanes[0], &lanes[1]
	i := 0
	for {
		for l := range lanes {
			for !lanes[l].roomy() && i < len(dst) {
				if !lanes[l].rest(dict) {
					return false
				}
				lanes[l] = decoder{src: src[i], dst: dst[i]}
				i++
			}
		}
		if !a.roomy() || !b.roomy() {
			return a.rest(dict) && b.rest(dict)
		}
		stopped := &lanes[decodeTwoSSSE3(a, b, spans.Table())]
		if stopped.roomy() && !stopped.sequence(dict) {
			return false
		}
	}
}

// decodeKernel decodes sequences until one is near an end of src or dst, has a very long part, is invalid, or refers to
// bytes before dst. d must be roomy.
func decodeKernel(d *decoder) { decodeSSSE3(d, spans.Table()) }

//go:noescape
func decodeSSSE3(d *decoder, spans *[17]spans.Span)

// decodeTwoSSSE3 does decodeKernel for two blocks, until it stops for one of them. It returns the number of that block,
// 0 or 1.
//
//go:noescape
func decodeTwoSSSE3(a, b *decoder, spans *[17]spans.Span) (lane int)
