package shuffle

// ByteDeltaEncode writes to dst[:len(src)] the differences of the bytes of src, modulo 256. src is seen as that many
// streams of len(src)/streams bytes, one after the other, as [Shuffle] leaves them; each stream starts afresh with its
// first byte as it is. The len(src)%streams bytes at the end are copied.
//
// dst must not overlap src. ByteDeltaEncode panics if dst is shorter than src or streams is less than 1.
func ByteDeltaEncode(dst, src []byte, streams int) {
	dst = checked(dst, src, streams)
	n := len(src) / streams
	m := n * streams
	for i := 0; i < m; i += n {
		byteDiff(dst[i:i+n], src[i:i+n])
	}
	copy(dst[m:], src[m:])
}

// ByteDeltaDecode undoes [ByteDeltaEncode]: it writes the running sums of each stream.
//
// dst may be src; else they must not overlap. ByteDeltaDecode panics if dst is shorter than src or streams is less
// than 1.
func ByteDeltaDecode(dst, src []byte, streams int) {
	dst = checked(dst, src, streams)
	n := len(src) / streams
	m := n * streams
	for i := 0; i < m; i += n {
		byteSum(dst[i:i+n], src[i:i+n])
	}
	copy(dst[m:], src[m:])
}

// ByteDeltaDecodeV1 undoes the filter with id 34, as C-Blosc2 2.6 and 2.7 wrote it: in every stream the last n%16 of n
// bytes are a sequence of differences of their own, which starts afresh. Bytes at the end of the block that fill no
// stream were not written by these releases; they are copied. The arguments are those of [ByteDeltaDecode].
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
