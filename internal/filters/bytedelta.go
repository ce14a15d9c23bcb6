package filters

// ByteDeltaEncode is documented in package shuffle.
func ByteDeltaEncode(dst, src []byte, streams int) {
	dst = checked(dst, src, streams)
	n := len(src) / streams
	m := n * streams
	for i := 0; i < m; i += n {
		byteDiff(dst[i:i+n], src[i:i+n])
	}
	copy(dst[m:], src[m:])
}

// ByteDeltaDecode is documented in package shuffle.
func ByteDeltaDecode(dst, src []byte, streams int) {
	dst = checked(dst, src, streams)
	n := len(src) / streams
	m := n * streams
	for i := 0; i < m; i += n {
		byteSum(dst[i:i+n], src[i:i+n])
	}
	copy(dst[m:], src[m:])
}

// ByteDeltaDecodeV1 undoes the filter with id 34, which C-Blosc2 2.6 and 2.7 wrote. In every stream of n bytes, the
// last n%16 bytes are a separate sequence of differences, which begins with its first byte. These releases did not
// write the bytes at the end of the block that do not fill a stream; they are copied. The arguments are those of
// [ByteDeltaDecode].
func ByteDeltaDecodeV1(dst, src []byte, streams int) {
	dst = checked(dst, src, streams)
	n := len(src) / streams
	m := n * streams
	for i := 0; i < m; i += n {
		k := i + n&^15
		byteSum(dst[i:k], src[i:k])
		byteSum(dst[k:i+n], src[k:i+n])
	}
	copy(dst[m:], src[m:])
}
