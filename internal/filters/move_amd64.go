//go:build amd64 && !purego

package filters

import (
	"unsafe"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// copyLeast is the length from which REP MOVSB is the fastest copy on processors with AVX-512: it takes no line of dst
// into the cache that it overwrites, and goes by whole lines.
const copyLeast = 16 << 10

// copyKernel does Copy, if it is faster than the built-in copy.
func copyKernel(dst, src []byte) bool {
	if !cpu.Has(cpu.AVX512) || len(src) < copyLeast {
		return false
	}
	// Some processors go by single bytes where dst begins a few bytes behind src, in any two pages.
	behind := (uintptr(unsafe.Pointer(&dst[0])) - uintptr(unsafe.Pointer(&src[0]))) % 4096
	if behind > 0 && behind < 64 {
		return false
	}
	race.Read(src)
	race.Write(dst)
	for len(src) > 0 {
		n := min(len(src), movePiece)
		copyString(&dst[0], &src[0], n)
		dst, src = dst[n:], src[n:]
	}
	return true
}

// copyString is a copy with REP MOVSB.
//
//go:noescape
func copyString(dst, src *byte, n int)

// fillLeast is the length up to which the built-in clear uses vectors, too.
const fillLeast = 2 << 10

// fillKernel does Fill with the bytes of word, if it is faster than other ways.
func fillKernel(dst []byte, word uint64) bool {
	if !cpu.Has(vectorLevel) || len(dst) < fillLeast {
		return false
	}
	race.Write(dst)
	fillAVX2(&dst[0], word, len(dst))
	return true
}

// fillAVX2 is the loop, for n of at least 32,
//
//	for i := range n { dst[i] = byte(word >> (i % 8 * 8)) }
//
//go:noescape
func fillAVX2(dst *byte, word uint64, n int)
