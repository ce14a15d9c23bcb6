package filters

import "encoding/binary"

// bitTileMax is the largest number of elements whose bytes are shuffled before their bits. Eight columns of a tile fit
// in a buffer on the stack.
const bitTileMax = 512

func bitTileElements(size int) int {
	return min(tileElements(size)&^63, bitTileMax)
}

// bitShuffleGeneric is the reference for all kernels that shuffle bits. It processes a tile at a time in two steps. It
// gathers byte columns to planes (a plane holds the bytes of one position of all elements). Then it splits each plane
// into eight rows.
func bitShuffleGeneric(dst, src []byte, size, n int) {
	rowLen := n / 8
	if size == 1 {
		splitPlane(dst, rowLen, src)
		return
	}
	var planes [8 * bitTileMax]byte
	tile := bitTileElements(size)
	for i := 0; i < n; i += tile {
		m := min(tile, n-i)
		for c := 0; c < size; {
			k := gather(planes[:], tile, src[i*size+c:], size, m, size-c)
			for j := range k {
				splitPlane(dst[8*(c+j)*rowLen+i/8:], rowLen, planes[j*tile:][:m])
			}
			c += k
		}
	}
}

// bitUnshuffleGeneric undoes bitShuffleGeneric.
func bitUnshuffleGeneric(dst, src []byte, size, n int) {
	rowLen := n / 8
	if size == 1 {
		joinPlane(dst, src, rowLen)
		return
	}
	var planes [8 * bitTileMax]byte
	tile := bitTileElements(size)
	for i := 0; i < n; i += tile {
		m := min(tile, n-i)
		for c := 0; c < size; {
			k := columns(size - c)
			for j := range k {
				joinPlane(planes[j*tile:][:m], src[8*(c+j)*rowLen+i/8:], rowLen)
			}
			scatter(dst[i*size+c:], size, planes[:], tile, m, size-c)
			c += k
		}
	}
}

// splitPlane writes bit k of all bytes of plane to the row that begins k*rowLen bytes into rows. The length of plane is
// a multiple of 8.
//
// Of 64 bytes, word w holds the bytes 8*w to 8*w+7: number the bytes 8*w+i. The first transposition exchanges w and i:
// byte w of word i is byte 8*w+i. The second exchanges the word with the bit: bit i of byte w of word k is bit k of
// byte 8*w+i, and word k is 64 bits of row k.
func splitPlane(rows []byte, rowLen int, plane []byte) {
	m := len(plane) / 8
	r0, r1, r2, r3 := rows[:m], rows[rowLen:][:m], rows[2*rowLen:][:m], rows[3*rowLen:][:m]
	r4, r5, r6, r7 := rows[4*rowLen:][:m], rows[5*rowLen:][:m], rows[6*rowLen:][:m], rows[7*rowLen:][:m]
	le := binary.LittleEndian
	i := 0
	for ; i <= m-8; i += 8 {
		p := plane[8*i:][:64]
		a, b, c, d, e, f, g, h := transposeBits(transposeBytes(
			le.Uint64(p), le.Uint64(p[8:]), le.Uint64(p[16:]), le.Uint64(p[24:]),
			le.Uint64(p[32:]), le.Uint64(p[40:]), le.Uint64(p[48:]), le.Uint64(p[56:])))
		le.PutUint64(r0[i:i+8], a)
		le.PutUint64(r1[i:i+8], b)
		le.PutUint64(r2[i:i+8], c)
		le.PutUint64(r3[i:i+8], d)
		le.PutUint64(r4[i:i+8], e)
		le.PutUint64(r5[i:i+8], f)
		le.PutUint64(r6[i:i+8], g)
		le.PutUint64(r7[i:i+8], h)
	}
	for ; i < m; i++ {
		x := transposeWordBits(le.Uint64(plane[8*i:]))
		r0[i], r1[i], r2[i], r3[i] = byte(x), byte(x>>8), byte(x>>16), byte(x>>24)
		r4[i], r5[i], r6[i], r7[i] = byte(x>>32), byte(x>>40), byte(x>>48), byte(x>>56)
	}
}

// joinPlane undoes splitPlane.
func joinPlane(plane, rows []byte, rowLen int) {
	m := len(plane) / 8
	r0, r1, r2, r3 := rows[:m], rows[rowLen:][:m], rows[2*rowLen:][:m], rows[3*rowLen:][:m]
	r4, r5, r6, r7 := rows[4*rowLen:][:m], rows[5*rowLen:][:m], rows[6*rowLen:][:m], rows[7*rowLen:][:m]
	le := binary.LittleEndian
	i := 0
	for ; i <= m-8; i += 8 {
		a, b, c, d, e, f, g, h := transposeBytes(transposeBits(
			le.Uint64(r0[i:i+8]), le.Uint64(r1[i:i+8]), le.Uint64(r2[i:i+8]), le.Uint64(r3[i:i+8]),
			le.Uint64(r4[i:i+8]), le.Uint64(r5[i:i+8]), le.Uint64(r6[i:i+8]), le.Uint64(r7[i:i+8])))
		p := plane[8*i:][:64]
		le.PutUint64(p, a)
		le.PutUint64(p[8:], b)
		le.PutUint64(p[16:], c)
		le.PutUint64(p[24:], d)
		le.PutUint64(p[32:], e)
		le.PutUint64(p[40:], f)
		le.PutUint64(p[48:], g)
		le.PutUint64(p[56:], h)
	}
	for ; i < m; i++ {
		x := uint64(r0[i]) | uint64(r1[i])<<8 | uint64(r2[i])<<16 | uint64(r3[i])<<24 |
			uint64(r4[i])<<32 | uint64(r5[i])<<40 | uint64(r6[i])<<48 | uint64(r7[i])<<56
		le.PutUint64(plane[8*i:], transposeWordBits(x))
	}
}
