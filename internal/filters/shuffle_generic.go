package filters

import "encoding/binary"

// A tile is a run of elements whose columns are all shuffled before the next tile. Its bytes stay in the first-level
// cache while every group of columns reads (or writes) them again. It is large enough for long runs in each of the
// width rows on the other side.
const (
	tileBytes = 16 << 10
	tileMin   = 64
)

func tileElements(width int) int {
	return max(tileBytes/width&^7, tileMin)
}

// shuffleGeneric is the reference for all kernels that shuffle: it transposes n elements of width bytes in src to width
// rows of n bytes in dst, from element from up. Another kernel has processed the elements before.
func shuffleGeneric(dst, src []byte, width, n, from int) {
	tile := tileElements(width)
	for i := from; i < n; i += tile {
		m := min(tile, n-i)
		gatherAll(dst[i:], n, src[i*width:], width, width, m)
	}
}

// unshuffleGeneric undoes shuffleGeneric.
func unshuffleGeneric(dst, src []byte, width, n, from int) {
	tile := tileElements(width)
	for i := from; i < n; i += tile {
		m := min(tile, n-i)
		scatterAll(dst[i*width:], width, src[i:], n, width, m)
	}
}

// gatherAll moves the first cols byte columns of m elements, which are stride bytes apart in src, to rows of m bytes,
// which begin rowLen bytes apart in dst.
func gatherAll(dst []byte, rowLen int, src []byte, stride, cols, m int) {
	for c := 0; c < cols; {
		c += gather(dst[c*rowLen:], rowLen, src[c:], stride, m, cols-c)
	}
}

// scatterAll undoes gatherAll.
func scatterAll(dst []byte, stride int, src []byte, rowLen, cols, m int) {
	for c := 0; c < cols; {
		c += scatter(dst[c:], stride, src[c*rowLen:], rowLen, m, cols-c)
	}
}

// columns returns the number of byte columns that gather and scatter move at once if rest columns are left.
func columns(rest int) int {
	switch {
	case rest >= 8:
		return 8
	case rest >= 4:
		return 4
	case rest >= 2:
		return 2
	}
	return 1
}

// gather moves the first columns(rest) byte columns of m elements, which are stride bytes apart in src, to rows of m
// bytes, which begin rowLen bytes apart in dst. It returns the number of columns it moved.
func gather(dst []byte, rowLen int, src []byte, stride, m, rest int) int {
	i, k := 0, columns(rest)
	switch k {
	case 8:
		i = gather8(dst, rowLen, src, stride, m)
	case 4:
		i = gather4(dst, rowLen, src, stride, m)
	case 2:
		if stride == 2 {
			i = gather2(dst, rowLen, src, m)
		}
	}
	for c := range k {
		row := dst[c*rowLen:][:m]
		for j := i; j < m; j++ {
			row[j] = src[j*stride+c]
		}
	}
	return k
}

// scatter undoes gather: it moves rows of m bytes, which begin rowLen bytes apart in src, to the first columns(rest)
// byte columns of m elements, which are stride bytes apart in dst. It returns the number of columns it moved.
func scatter(dst []byte, stride int, src []byte, rowLen, m, rest int) int {
	i, k := 0, columns(rest)
	switch k {
	case 8:
		i = scatter8(dst, stride, src, rowLen, m)
	case 4:
		i = scatter4(dst, stride, src, rowLen, m)
	case 2:
		if stride == 2 {
			i = scatter2(dst, src, rowLen, m)
		}
	}
	for c := range k {
		row := src[c*rowLen:][:m]
		for j := i; j < m; j++ {
			dst[j*stride+c] = row[j]
		}
	}
	return k
}

// gather8 does gather for eight columns and the elements up to the last multiple of 8. It returns their number.
func gather8(dst []byte, rowLen int, src []byte, stride, m int) int {
	m &^= 7
	r0, r1, r2, r3 := dst[:m], dst[rowLen:][:m], dst[2*rowLen:][:m], dst[3*rowLen:][:m]
	r4, r5, r6, r7 := dst[4*rowLen:][:m], dst[5*rowLen:][:m], dst[6*rowLen:][:m], dst[7*rowLen:][:m]
	le := binary.LittleEndian
	for i := 0; i <= m-8; i += 8 {
		p := src[i*stride:]
		p = p[: 7*stride+8 : 7*stride+8]
		a, b, c, d, e, f, g, h := transposeBytes(
			le.Uint64(p), le.Uint64(p[stride:]), le.Uint64(p[2*stride:]), le.Uint64(p[3*stride:]),
			le.Uint64(p[4*stride:]), le.Uint64(p[5*stride:]), le.Uint64(p[6*stride:]), le.Uint64(p[7*stride:]))
		le.PutUint64(r0[i:i+8], a)
		le.PutUint64(r1[i:i+8], b)
		le.PutUint64(r2[i:i+8], c)
		le.PutUint64(r3[i:i+8], d)
		le.PutUint64(r4[i:i+8], e)
		le.PutUint64(r5[i:i+8], f)
		le.PutUint64(r6[i:i+8], g)
		le.PutUint64(r7[i:i+8], h)
	}
	return m
}

// scatter8 undoes gather8.
func scatter8(dst []byte, stride int, src []byte, rowLen, m int) int {
	m &^= 7
	r0, r1, r2, r3 := src[:m], src[rowLen:][:m], src[2*rowLen:][:m], src[3*rowLen:][:m]
	r4, r5, r6, r7 := src[4*rowLen:][:m], src[5*rowLen:][:m], src[6*rowLen:][:m], src[7*rowLen:][:m]
	le := binary.LittleEndian
	for i := 0; i <= m-8; i += 8 {
		a, b, c, d, e, f, g, h := transposeBytes(
			le.Uint64(r0[i:i+8]), le.Uint64(r1[i:i+8]), le.Uint64(r2[i:i+8]), le.Uint64(r3[i:i+8]),
			le.Uint64(r4[i:i+8]), le.Uint64(r5[i:i+8]), le.Uint64(r6[i:i+8]), le.Uint64(r7[i:i+8]))
		p := dst[i*stride:]
		p = p[: 7*stride+8 : 7*stride+8]
		le.PutUint64(p, a)
		le.PutUint64(p[stride:], b)
		le.PutUint64(p[2*stride:], c)
		le.PutUint64(p[3*stride:], d)
		le.PutUint64(p[4*stride:], e)
		le.PutUint64(p[5*stride:], f)
		le.PutUint64(p[6*stride:], g)
		le.PutUint64(p[7*stride:], h)
	}
	return m
}

// gather4 is gather8 for four columns. A word holds four bytes of element k and four of element k+4, so that the 4x4
// transpositions of its two halves yield eight bytes of a row at once.
func gather4(dst []byte, rowLen int, src []byte, stride, m int) int {
	m &^= 7
	r0, r1, r2, r3 := dst[:m], dst[rowLen:][:m], dst[2*rowLen:][:m], dst[3*rowLen:][:m]
	le := binary.LittleEndian
	for i := 0; i <= m-8; i += 8 {
		p := src[i*stride:]
		p = p[: 7*stride+4 : 7*stride+4]
		a := uint64(le.Uint32(p)) | uint64(le.Uint32(p[4*stride:]))<<32
		b := uint64(le.Uint32(p[stride:])) | uint64(le.Uint32(p[5*stride:]))<<32
		c := uint64(le.Uint32(p[2*stride:])) | uint64(le.Uint32(p[6*stride:]))<<32
		d := uint64(le.Uint32(p[3*stride:])) | uint64(le.Uint32(p[7*stride:]))<<32
		a, c = swap(a, c, 16, bytes2)
		b, d = swap(b, d, 16, bytes2)
		a, b = swap(a, b, 8, bytes1)
		c, d = swap(c, d, 8, bytes1)
		le.PutUint64(r0[i:i+8], a)
		le.PutUint64(r1[i:i+8], b)
		le.PutUint64(r2[i:i+8], c)
		le.PutUint64(r3[i:i+8], d)
	}
	return m
}

// scatter4 undoes gather4.
func scatter4(dst []byte, stride int, src []byte, rowLen, m int) int {
	m &^= 7
	r0, r1, r2, r3 := src[:m], src[rowLen:][:m], src[2*rowLen:][:m], src[3*rowLen:][:m]
	le := binary.LittleEndian
	for i := 0; i <= m-8; i += 8 {
		a, b := le.Uint64(r0[i:i+8]), le.Uint64(r1[i:i+8])
		c, d := le.Uint64(r2[i:i+8]), le.Uint64(r3[i:i+8])
		a, c = swap(a, c, 16, bytes2)
		b, d = swap(b, d, 16, bytes2)
		a, b = swap(a, b, 8, bytes1)
		c, d = swap(c, d, 8, bytes1)
		p := dst[i*stride:]
		p = p[: 7*stride+4 : 7*stride+4]
		le.PutUint32(p, uint32(a))
		le.PutUint32(p[stride:], uint32(b))
		le.PutUint32(p[2*stride:], uint32(c))
		le.PutUint32(p[3*stride:], uint32(d))
		le.PutUint32(p[4*stride:], uint32(a>>32))
		le.PutUint32(p[5*stride:], uint32(b>>32))
		le.PutUint32(p[6*stride:], uint32(c>>32))
		le.PutUint32(p[7*stride:], uint32(d>>32))
	}
	return m
}

// gather2 is gather8 for two adjacent columns: elements of two bytes.
func gather2(dst []byte, rowLen int, src []byte, m int) int {
	m &^= 7
	r0, r1 := dst[:m], dst[rowLen:][:m]
	le := binary.LittleEndian
	for i := 0; i <= m-8; i += 8 {
		p := src[2*i:][:16]
		a, b := evenFirst(le.Uint64(p)), evenFirst(le.Uint64(p[8:]))
		le.PutUint64(r0[i:i+8], a&bytes4|b<<32)
		le.PutUint64(r1[i:i+8], a>>32|b&^bytes4)
	}
	return m
}

// scatter2 undoes gather2.
func scatter2(dst, src []byte, rowLen, m int) int {
	m &^= 7
	r0, r1 := src[:m], src[rowLen:][:m]
	le := binary.LittleEndian
	for i := 0; i <= m-8; i += 8 {
		a, b := le.Uint64(r0[i:i+8]), le.Uint64(r1[i:i+8])
		p := dst[2*i:][:16]
		le.PutUint64(p, interleave(a&bytes4|b<<32))
		le.PutUint64(p[8:], interleave(a>>32|b&^bytes4))
	}
	return m
}

// evenFirst moves the bytes 0, 2, 4, 6 of x to its lower half and the other bytes to its upper half, in order.
func evenFirst(x uint64) uint64 {
	t := (x ^ x>>8) & 0x0000ff000000ff00
	x ^= t ^ t<<8
	t = (x ^ x>>16) & 0x00000000ffff0000
	return x ^ t ^ t<<16
}

// interleave undoes evenFirst.
func interleave(x uint64) uint64 {
	t := (x ^ x>>16) & 0x00000000ffff0000
	x ^= t ^ t<<16
	t = (x ^ x>>8) & 0x0000ff000000ff00
	return x ^ t ^ t<<8
}
