package shuffle

// byteDiff writes the differences of one stream.
func byteDiff(dst, src []byte) { byteDiffGeneric(dst, src) }

// byteSum undoes byteDiff.
func byteSum(dst, src []byte) { byteSumGeneric(dst, src) }
