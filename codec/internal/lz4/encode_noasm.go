//go:build !((amd64 || arm64) && !purego)

package lz4

func encodeSmall(b *block, table *[1 << smallBits]uint16) bool {
	return encodeGeneric(b, table, smallFactor, smallShift)
}

func encodeLarge(b *block, table *[1 << smallBits]uint32) bool {
	return encodeGeneric(b, table, largeFactor, largeShift)
}
