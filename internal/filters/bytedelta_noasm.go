//go:build (!amd64 && !arm64) || purego

package filters

// byteDiff writes the differences of one stream.
func byteDiff(dst, src []byte) { byteDiffGeneric(dst, src, 0) }

// byteSum undoes byteDiff.
func byteSum(dst, src []byte) { byteSumGeneric(dst, src, 0) }
