//go:build amd64 && !purego

package lz4

import "golang.org/x/sys/cpu"

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
	raceRead(src)
	raceWrite(dst)
	d := decoder{src: src, dst: dst}
	for d.in < len(src) {
		if len(src)-d.in >= minKernel && len(dst)-d.out >= 2*minKernel {
			decodeSSSE3(&d, spans)
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
func decodeSSSE3(d *decoder, spans *[16]span)

// spans has, for distances below 16, a mask of PSHUFB that repeats the first so many bytes over 16, and how many of the
// 16 are whole repetitions. They never change.
var spans = makeSpans()

// span is an entry of spans.
type span struct {
	mask [16]byte
	step uint64
	_    [8]byte // entries of 32 bytes
}

func makeSpans() *[16]span {
	var s [16]span
	for n := 1; n < len(s); n++ {
		for i := range s[n].mask {
			s[n].mask[i] = byte(i % n)
		}
		s[n].step = uint64(16 / n * n)
	}
	return &s
}
