//go:build amd64 && !purego

package lz4

import (
	"github.com/goblosc/blosc2/codec/internal/spans"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// Decode decodes src, which is untrusted, to dst. It reports whether src is a valid block of exactly len(dst) bytes. It
// never writes past len(dst). Matches may reach into dict, as if it preceded dst. The three must not overlap.
//
// A kernel decodes common sequences that are far from the ends. It leaves the others to Go.
func Decode(dst, src, dict []byte) bool {
	if !cpu.Has(cpu.SSSE3) {
		return decodeGeneric(dst, src, dict)
	}
	race.Read(src)
	race.Write(dst)
	d := decoder{src: src, dst: dst}
	return d.rest(dict)
}

// rest decodes the remaining sequences and reports whether the block is valid.
func (d *decoder) rest(dict []byte) bool {
	for d.in < len(d.src) {
		if d.roomy() {
			decodeSSSE3(d, spans.Table())
			if d.in == len(d.src) {
				break
			}
		}
		if !d.sequence(dict) {
			return false
		}
	}
	return d.out == len(d.dst)
}

// prefixIsFaster reports whether decoding n of size bytes is faster than decoding all of them.
func prefixIsFaster(n, size int) bool { return n < size }

// hurry decodes sequences with a kernel until one goes far beyond the first n bytes.
func (d *decoder) hurry(n int) {
	near := decoder{src: d.src, dst: d.dst[:min(len(d.dst), n+2*minKernel)], in: d.in, out: d.out}
	if !cpu.Has(cpu.SSSE3) || !near.roomy() {
		return
	}
	race.Read(near.src)
	race.Write(near.dst)
	decodeSSSE3(&near, spans.Table())
	d.in, d.out = near.in, near.out
}

// roomy reports whether enough is left of the block for the kernels.
func (d *decoder) roomy() bool {
	return len(d.src)-d.in >= minKernel && len(d.dst)-d.out >= 2*minKernel
}

// BatchIsFaster reports whether DecodeAll takes less time than a Decode of each block.
func BatchIsFaster() bool { return cpu.Has(cpu.SSSE3) }

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

// decodeSSSE3 decodes sequences until one is near an end of src or dst, has a very long part, is invalid, or refers to
// bytes before dst. d must be roomy.
//
//go:noescape
func decodeSSSE3(d *decoder, spans *[17]spans.Span)

// decodeTwoSSSE3 does decodeSSSE3 for two blocks, until it stops for one of them. It returns the number of that block,
// 0 or 1.
//
//go:noescape
func decodeTwoSSSE3(a, b *decoder, spans *[17]spans.Span) (lane int)
