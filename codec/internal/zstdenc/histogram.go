package zstdenc

import "encoding/binary"

// histogram counts the bytes of b.
func histogram(count *[256]uint32, b []byte, parts *[3][256]uint32) {
	*count = [256]uint32{}
	if len(b) >= 1024 {
		*parts = [3][256]uint32{} // separate, because increments for equal adjacent bytes wait for each other
		n := len(b) &^ 15
		countParts(count, parts, b[:n])
		b = b[n:]
	}
	for _, c := range b {
		count[c]++
	}
}

// countPartsGeneric counts bytes, whose number must be a multiple of 16, with the help of parts, which must be zeros.
func countPartsGeneric(count *[256]uint32, parts *[3][256]uint32, b []byte) {
	for len(b) >= 8 {
		v := binary.LittleEndian.Uint64(b)
		count[uint8(v)]++
		parts[0][uint8(v>>8)]++
		parts[1][uint8(v>>16)]++
		parts[2][uint8(v>>24)]++
		count[uint8(v>>32)]++
		parts[0][uint8(v>>40)]++
		parts[1][uint8(v>>48)]++
		parts[2][uint8(v>>56)]++
		b = b[8:]
	}
	for i := range count {
		count[i] += parts[0][i] + parts[1][i] + parts[2][i]
	}
}
