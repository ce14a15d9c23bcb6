//go:build !amd64 || purego

package lz4

import "github.com/pierrec/lz4/v4"

// Decode expands src, which may be anything, to dst and reports whether the block is sound and gives exactly len(dst)
// bytes. It never writes past len(dst). Matches may reach into dict, as if it stood before dst. None of the three
// overlap.
func Decode(dst, src, dict []byte) bool {
	if len(src) == 0 {
		return len(dst) == 0
	}
	n, err := lz4.UncompressBlockWithDict(src, dst, dict)
	return err == nil && n == len(dst)
}

// prefixIsFaster tells whether it pays to expand n bytes of size only, in Go: the other library always expands all.
func prefixIsFaster(n, size int) bool { return n < size/2 }

func (d *decoder) hurry(int) {}

// BatchIsFaster tells whether DecodeAll takes less time than Decode for each.
func BatchIsFaster() bool { return false }

// DecodeAll does Decode for each of several blocks, of which there are as many in src as in dst.
func DecodeAll(dst, src [][]byte, dict []byte) bool { return decodeEach(dst, src, dict) }
