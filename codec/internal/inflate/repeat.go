package inflate

// wide is the largest number of bytes that repeatWide writes in excess.
const wide = 32

// patterns holds, for distances below 8, the mask of the bytes to repeat, the factor that repeats them over 8 bytes,
// and the number of bytes in complete repetitions.
var patterns = [8]struct {
	mask, factor uint64
	step         int
}{
	1: {0xff, 0x0101010101010101, 8},
	2: {0xffff, 0x0001000100010001, 8},
	3: {0xffffff, 0x0001000001000001, 6},
	4: {0xffffffff, 0x0000000100000001, 8},
	5: {0xffffffffff, 1 | 1<<40, 5},
	6: {0xffffffffffff, 1 | 1<<48, 6},
	7: {0xffffffffffffff, 1 | 1<<56, 7},
}

// repeatWide copies n bytes at the given distance before out to out, and a few more. dst must have wide bytes after
// them. distance must not be 0.
func repeatWide(dst []byte, out, distance, n int) {
	end := out + n
	switch {
	case distance >= 16:
		if n > 64 && distance >= n {
			copy(dst[out:end], dst[out-distance:])
			return
		}
		for from := out - distance; out < end; from, out = from+16, out+16 {
			a := load64(dst, from)
			store64(dst, out, a)
			a = load64(dst, from+8)
			store64(dst, out+8, a)
		}
	case distance >= 8:
		for from := out - distance; out < end; from, out = from+8, out+8 {
			store64(dst, out, load64(dst, from))
		}
	default:
		p := &patterns[distance&7]
		v := load64(dst, out-distance) & p.mask * p.factor
		if n <= 64 {
			for ; out < end; out += p.step {
				store64(dst, out, v)
			}
			return
		}
		// Enough bytes for copies of large pieces.
		from := out
		for range 8 {
			store64(dst, out, v)
			out += p.step
		}
		for out < end {
			out += copy(dst[out:end], dst[from:out]) // the source doubles in each iteration
		}
	}
}

// repeat copies n bytes at the given distance before out to out. distance must not be 0.
func repeat(dst []byte, out, distance, n int) {
	end := out + n
	for from := out - distance; out < end; {
		out += copy(dst[out:end], dst[from:out])
	}
}
