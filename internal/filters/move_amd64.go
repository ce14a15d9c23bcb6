//go:build amd64 && !purego

package filters

import (
	"unsafe"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// copyLeast is the least length for which REP MOVSB is the fastest copy on CPUs with AVX-512: it copies whole cache
// lines and does not load the lines of dst that it overwrites.
const copyLeast = 16 << 10

// copyKernel does Copy, if it is faster than the built-in copy.
func copyKernel(dst, src []byte) bool {
	if !cpu.Has(cpu.AVX512) || len(src) < copyLeast {
		return false
	}
	// Some CPUs copy single bytes if dst begins up to 63 bytes after src, modulo the page size.
	//
	// Safe: src is not empty, as its length has been compared with copyLeast, and dst is as long (see Copy). The
	// addresses are only compared.
	after := (uintptr(unsafe.Pointer(&dst[0])) - uintptr(unsafe.Pointer(&src[0]))) % 4096
	if after > 0 && after < 64 {
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

// fillLeast is the length up to which the built-in clear uses vectors too.
const fillLeast = 2 << 10

// fillKernel does Fill or FillUncached with the bytes of word, if it is faster than other ways.
func fillKernel(dst []byte, word uint64, uncached bool) bool {
	if !cpu.Has(vectorLevel) || len(dst) < fillLeast {
		return false
	}
	race.Write(dst)
	fillAVX2(&dst[0], word, len(dst), uncached)
	return true
}

// fillAVX2 is the loop, for n of at least 32,
//
//	for i := range n { dst[i] = byte(word >> (i % 8 * 8)) }
//
// If uncached is set, it writes most bytes past the caches.
//
//go:noescape
func fillAVX2(dst *byte, word uint64, n int, uncached bool)
