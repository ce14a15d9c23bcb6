//go:build !((amd64 || arm64) && !purego)

package lz4

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/pierrec/lz4/v4"
)

// kernelLevel is a level that no machine has in a build without assembly.
const kernelLevel = cpu.Baseline

// Decode decodes src, which is untrusted, to dst. It reports whether src is a valid block of exactly len(dst) bytes. It
// never writes past len(dst). Matches may reach into dict, as if it preceded dst. The three must not overlap.
//
// It calls the library, which is faster than decodeGeneric: 1.2 to 5 times on blocks with many sequences. The tests
// compare it with decodeGeneric, the Go version of the kernels. The library refuses a match length in the last token,
// which has no match, so decodeGeneric decides about streams that the library refuses.
func Decode(dst, src, dict []byte) bool {
	if len(src) == 0 {
		return len(dst) == 0
	}
	n, err := lz4.UncompressBlockWithDict(src, dst, dict)
	return err == nil && n == len(dst) || decodeGeneric(dst, src, dict)
}

// prefixIsFaster reports whether decoding n of size bytes in Go is faster than decoding all of them with the library.
func prefixIsFaster(n, size int) bool { return n < size/2 }

func (d *decoder) hurry(int) {}

// BatchIsFaster reports whether DecodeAll takes less time than a Decode of each block.
func BatchIsFaster() bool { return false }

// DecodeAll decodes each src[i] to dst[i] and reports whether all blocks are valid.
func DecodeAll(dst, src [][]byte, dict []byte) bool { return decodeEach(dst, src, dict) }
