//go:build (amd64 || arm64) && !purego

package lz4

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// Decode decodes src, which is untrusted, to dst. It reports whether src is a valid block of exactly len(dst) bytes. It
// never writes past len(dst). Matches may reach into dict, as if it preceded dst. The three must not overlap.
//
// A kernel decodes common sequences that are far from the ends. It leaves the others to Go.
func Decode(dst, src, dict []byte) bool {
	if !cpu.Has(kernelLevel) {
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
			decodeKernel(d)
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
	if !cpu.Has(kernelLevel) || !near.roomy() {
		return
	}
	race.Read(near.src)
	race.Write(near.dst)
	decodeKernel(&near)
	d.in, d.out = near.in, near.out
}

// roomy reports whether enough is left of the block for the kernels.
func (d *decoder) roomy() bool {
	return len(d.src)-d.in >= minKernel && len(d.dst)-d.out >= 2*minKernel
}

// minKernel is the least length of input and output for the kernels.
const minKernel = 64
