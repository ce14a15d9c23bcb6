//go:build !amd64 || purego

package lz4

import "github.com/pierrec/lz4/v4"

// Encoder compresses blocks. The zero value is ready. It belongs to one goroutine and keeps its tables, which are
// cleared for each block.
type Encoder struct {
	lz lz4.CompressorCCompat
}

func (e *Encoder) encode(dst, src []byte, acceleration int) int {
	e.lz.Acceleration = acceleration
	n, err := e.lz.CompressBlock(src, dst)
	if err != nil {
		return 0 // the library's only error here is lack of room
	}
	return n
}
