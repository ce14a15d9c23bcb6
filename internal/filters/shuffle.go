package filters

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// Shuffle is documented in package shuffle.
func Shuffle(dst, src []byte, width int) {
	dst = checked(dst, src, width)
	n := len(src) / width
	if width == 1 || n < 2 {
		copy(dst, src)
		return
	}
	m := n * width
	done := shuffleVector(dst[:m], src[:m], width, n)
	shuffleGeneric(dst[:m], src[:m], width, n, done)
	copy(dst[m:], src[m:])
}

// Unshuffle is documented in package shuffle.
func Unshuffle(dst, src []byte, width int) {
	dst = checked(dst, src, width)
	n := len(src) / width
	if width == 1 || n < 2 {
		copy(dst, src)
		return
	}
	m := n * width
	done := unshuffleVector(dst[:m], src[:m], width, n)
	unshuffleGeneric(dst[:m], src[:m], width, n, done)
	copy(dst[m:], src[m:])
}

// shuffleVector and unshuffleVector process as many elements as the vector kernels can, and generic kernels the rest.
// Each architecture defines vectorLevel; vectorElements, the number of elements that one iteration of its kernels
// moves; and gatherVector and scatterVector.

// shuffleVector transposes the first of n elements of width bytes, and returns their number. Both slices hold n*width
// bytes.
//
// It processes elements of more than 16 bytes by groups of 16 columns, and by tiles like the generic kernel. The last
// group overlaps the previous one.
func shuffleVector(dst, src []byte, width, n int) int {
	if !cpu.Has(vectorLevel) || n < vectorElements {
		return 0
	}
	race.Read(src)
	race.Write(dst)
	if width <= 16 {
		return gatherVector(dst, n, src, width, width, n)
	}
	tile := tileElements(width) &^ (vectorElements - 1)
	done := 0
	for i := 0; i < n; i += tile {
		m := min(tile, n-i)
		for c := 0; c < width; c += 16 {
			at := min(c, width-16)
			m = gatherVector(dst[at*n+i:], n, src[i*width+at:], width, 16, m)
		}
		done += m
	}
	return done
}

// unshuffleVector undoes shuffleVector for the first elements and returns their number. It may change elements after
// them.
func unshuffleVector(dst, src []byte, width, n int) int {
	if !cpu.Has(vectorLevel) || n < vectorElements {
		return 0
	}
	race.Read(src)
	race.Write(dst)
	if width <= 16 {
		return scatterVector(dst, width, src, n, width, n)
	}
	tile := tileElements(width) &^ (vectorElements - 1)
	done := 0
	for i := 0; i < n; i += tile {
		m := min(tile, n-i)
		for c := 0; c < width; c += 16 {
			at := min(c, width-16)
			m = scatterVector(dst[i*width+at:], width, src[at*n+i:], n, 16, m)
		}
		done += m
	}
	return done
}

// checked returns dst[:len(src)]. It panics if the arguments violate the rules that all filters share.
func checked(dst, src []byte, size int) []byte {
	if size < 1 {
		panic("shuffle: type size or stream count less than 1")
	}
	if len(dst) < len(src) {
		panic("shuffle: dst is shorter than src")
	}
	return dst[:len(src)]
}
