//go:build amd64 && !purego

package shuffle

// planeBytes is the number of bytes of a plane that the AVX2 kernels take in one turn.
const planeBytes = 256

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

// bitShuffleVector does bitShuffleElements, or returns false where there is nothing to gain.
func bitShuffleVector(dst, src []byte, size, n int) bool {
	if !use.avx2 || n < planeBytes {
		return false
	}
	raceRead(src)
	raceWrite(dst)
	bitShuffleAVX2(dst, src, size, n)
	return true
}

// bitUnshuffleVector does bitUnshuffleElements, or returns false where there is nothing to gain.
func bitUnshuffleVector(dst, src []byte, size, n int) bool {
	if !use.avx2 || n < planeBytes {
		return false
	}
	raceRead(src)
	raceWrite(dst)
	bitUnshuffleAVX2(dst, src, size, n)
	return true
}

// bitTile is the number of elements whose bytes are gathered to planes, up to 16 of them, before their bits are taken
// apart.
const bitTile = 4 * planeBytes

// bitShuffleAVX2 does what bitShuffleGeneric does, in the same two steps. Elements of more than 16 bytes go by groups of
// 16 columns; the last group overlaps the one before and does some rows again.
func bitShuffleAVX2(dst, src []byte, size, n int) {
	rowLen := n / 8
	if size == 1 {
		splitPlaneVector(dst, rowLen, src)
		return
	}
	var planes [16 * bitTile]byte
	for i := 0; i < n; i += bitTile {
		m := min(bitTile, n-i)
		for c := 0; c < size; c += 16 {
			at, cols := columns16(size, c)
			from := src[i*size+at:]
			done := 0
			if size <= 16 {
				done = gatherAVX2(planes[:], bitTile, from, size, m)
			} else if done = m &^ (vectorElements - 1); done > 0 {
				_ = from[(done-1)*size+15]
				gather16AVX2(&planes[0], bitTile, &from[0], size, 16, done)
			}
			if done < m {
				gatherAll(planes[done:], bitTile, from[done*size:], size, cols, m-done)
			}
			for j := range cols {
				splitPlaneVector(dst[8*(at+j)*rowLen+i/8:], rowLen, planes[j*bitTile:][:m])
			}
		}
	}
}

// bitUnshuffleAVX2 undoes bitShuffleAVX2.
func bitUnshuffleAVX2(dst, src []byte, size, n int) {
	rowLen := n / 8
	if size == 1 {
		joinPlaneVector(dst, src, rowLen)
		return
	}
	var planes [16 * bitTile]byte
	for i := 0; i < n; i += bitTile {
		m := min(bitTile, n-i)
		for c := 0; c < size; c += 16 {
			at, cols := columns16(size, c)
			for j := range cols {
				joinPlaneVector(planes[j*bitTile:][:m], src[8*(at+j)*rowLen+i/8:], rowLen)
			}
			to := dst[i*size+at:]
			done := 0
			if size <= 16 {
				done = scatterAVX2(to, size, planes[:], bitTile, m)
			} else if done = m &^ (vectorElements - 1); done > 0 {
				_ = to[(done-1)*size+15]
				scatter16AVX2(&to[0], size, &planes[0], bitTile, 16, done)
			}
			if done < m {
				scatterAll(to[done*size:], size, planes[done:], bitTile, cols, m-done)
			}
		}
	}
}

// columns16 returns the group of at most 16 columns of elements of size bytes that holds column c, a multiple of 16.
func columns16(size, c int) (at, cols int) {
	if size <= 16 {
		return 0, size
	}
	return min(c, size-16), 16
}

// splitPlaneVector is splitPlane with as much as possible done by the AVX2 kernel.
func splitPlaneVector(rows []byte, rowLen int, plane []byte) {
	m := len(plane) &^ (planeBytes - 1)
	if m > 0 {
		_ = rows[7*rowLen+m/8-1]
		splitPlaneAVX2(&rows[0], rowLen, &plane[0], &gatherMasks[8], m)
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
		joinPlaneAVX2(&plane[0], &rows[0], rowLen, m)
	}
	if m < len(plane) {
		joinPlane(plane[m:], rows[m/8:], rowLen)
	}
}

// The kernels below need AVX2. n is a multiple of 256 and not zero.

// splitPlaneAVX2 is splitPlane(rows, rowLen, plane[:n]). mask is gatherMasks[8].
//
//go:noescape
func splitPlaneAVX2(rows *byte, rowLen int, plane *byte, mask *[32]byte, n int)

// joinPlaneAVX2 is joinPlane(plane[:n], rows, rowLen).
//
//go:noescape
func joinPlaneAVX2(plane, rows *byte, rowLen, n int)
