package filters

import (
	"unsafe"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// This file divides the work between the vector kernels and the generic kernels, like shuffle.go. Each
// architecture defines planeBytes, splitPlaneKernel and joinPlaneKernel.

// bitShuffleElements transposes the bits of n elements of size bytes; n is a multiple of 8 and not zero, and both
// slices hold n*size bytes.
func bitShuffleElements(dst, src []byte, size, n int) {
	if !bitShuffleVector(dst, src, size, n) {
		bitShuffleGeneric(dst, src, size, n)
	}
}

// bitUnshuffleElements undoes bitShuffleElements.
func bitUnshuffleElements(dst, src []byte, size, n int) {
	if !bitUnshuffleVector(dst, src, size, n) {
		bitUnshuffleGeneric(dst, src, size, n)
	}
}

// bitShuffleVector does bitShuffleElements, or returns false if it would not be faster.
func bitShuffleVector(dst, src []byte, size, n int) bool {
	if !cpu.Has(vectorLevel) || n < planeBytes {
		return false
	}
	race.Read(src)
	race.Write(dst)
	bitShuffleTiles(dst, src, size, n)
	return true
}

// bitUnshuffleVector does bitUnshuffleElements, or returns false if it would not be faster.
func bitUnshuffleVector(dst, src []byte, size, n int) bool {
	if !cpu.Has(vectorLevel) || n < planeBytes {
		return false
	}
	race.Read(src)
	race.Write(dst)
	bitUnshuffleTiles(dst, src, size, n)
	return true
}

// bitTile is the number of elements whose bytes are gathered to 16 planes before their bits are split. For smaller
// elements, the number is larger and the memory the same.
const bitTile = 1024

func bitTileVector(size int) int { return 16 * bitTile / min(size, 16) &^ 511 }

// bitShuffleTiles is bitShuffleGeneric with vectors, in the same two steps. It processes elements of more than 16 bytes
// by groups of 16 columns. The last group overlaps the previous one and writes some rows again.
func bitShuffleTiles(dst, src []byte, size, n int) {
	rowLen := n / 8
	if size == 1 {
		splitPlaneVector(dst, rowLen, src)
		return
	}
	var memory [16*bitTile + lineBytes]byte
	planes, tile := aligned(memory[:]), bitTileVector(size)
	for i := 0; i < n; i += tile {
		m := min(tile, n-i)
		for c := 0; c < size; c += 16 {
			at, cols := columns16(size, c)
			from := src[i*size+at:]
			if done := gatherVector(planes, tile, from, size, cols, m); done < m {
				gatherAll(planes[done:], tile, from[done*size:], size, cols, m-done)
			}
			for j := range cols {
				splitPlaneVector(dst[8*(at+j)*rowLen+i/8:], rowLen, planes[j*tile:][:m])
			}
		}
	}
}

// bitUnshuffleTiles undoes bitShuffleTiles.
func bitUnshuffleTiles(dst, src []byte, size, n int) {
	rowLen := n / 8
	if size == 1 {
		joinPlaneVector(dst, src, rowLen)
		return
	}
	var memory [16*bitTile + lineBytes]byte
	planes, tile := aligned(memory[:]), bitTileVector(size)
	for i := 0; i < n; i += tile {
		m := min(tile, n-i)
		for c := 0; c < size; c += 16 {
			at, cols := columns16(size, c)
			for j := range cols {
				joinPlaneVector(planes[j*tile:][:m], src[8*(at+j)*rowLen+i/8:], rowLen)
			}
			to := dst[i*size+at:]
			if done := scatterVector(to, size, planes, tile, cols, m); done < m {
				scatterAll(to[done*size:], size, planes[done:], tile, cols, m-done)
			}
		}
	}
}

// lineBytes is the length of a cache line.
const lineBytes = 64

// aligned returns p from the start of a cache line: vectors that lie across lines take longer. p has at least lineBytes
// bytes.
//
// Safe: the address is only a number, and the slice expression checks the offset, which is below lineBytes.
func aligned(p []byte) []byte {
	return p[-uintptr(unsafe.Pointer(&p[0]))%lineBytes:]
}

// columns16 returns the group of at most 16 columns of elements of size bytes that holds column c, a multiple of 16.
func columns16(size, c int) (at, cols int) {
	if size <= 16 {
		return 0, size
	}
	return min(c, size-16), 16
}

// splitPlaneVector is splitPlane, with a vector kernel for as many bytes as possible.
func splitPlaneVector(rows []byte, rowLen int, plane []byte) {
	m := len(plane) &^ (planeBytes - 1)
	if m > 0 {
		_ = rows[7*rowLen+m/8-1]
		splitPlaneKernel(rows, rowLen, plane, m)
	}
	if m < len(plane) {
		splitPlane(rows[m/8:], rowLen, plane[m:])
	}
}

// joinPlaneVector undoes splitPlaneVector.
func joinPlaneVector(plane, rows []byte, rowLen int) {
	m := len(plane) &^ (planeBytes - 1)
	if m > 0 {
		_ = rows[7*rowLen+m/8-1]
		joinPlaneKernel(plane, rows, rowLen, m)
	}
	if m < len(plane) {
		joinPlane(plane[m:], rows[m/8:], rowLen)
	}
}
