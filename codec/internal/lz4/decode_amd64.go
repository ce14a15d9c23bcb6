//go:build amd64 && !purego

package lz4

import (
	"github.com/goblosc/blosc2/codec/internal/race"
	"github.com/goblosc/blosc2/codec/internal/spans"
	"golang.org/x/sys/cpu"
)

var hasSSSE3 = cpu.X86.HasSSSE3

// Decode expands src, which may be anything, to dst and reports whether the block is sound and gives exactly len(dst)
// bytes. It never writes past len(dst). Matches may reach into dict, as if it stood before dst. None of the three
// overlap.
//
// A kernel does what is common and far from the ends, sequence by sequence. What it does not want is for Go.
func Decode(dst, src, dict []byte) bool {
	if generic || !hasSSSE3 {
		return decodeGeneric(dst, src, dict)
	}
	race.Read(src)
	race.Write(dst)
	d := decoder{src: src, dst: dst}
	for d.in < len(src) {
		if len(src)-d.in >= minKernel && len(dst)-d.out >= 2*minKernel {
			decodeSSSE3(&d, spans.Table())
			if d.in == len(src) {
				break
			}
		}
		if !d.sequence(dict) {
			return false
		}
	}
	return d.out == len(dst)
}

// decodeSSSE3 does sequences until one is near an end of src or dst, or has a very long part, or is not sound or reaches
// before dst. src and dst have minKernel bytes left, at least.
//
//go:noescape
func decodeSSSE3(d *decoder, spans *[16]spans.Span)
