package codec_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// encodeFunc returns the stream for src in at most room bytes, or nil.
type encodeFunc func(src []byte, level, room int) []byte

// digestSizes are the lengths of the inputs of a digest: around the limits of the encoders (12, 13, 16, 66 and 64 KiB),
// and some between them.
var digestSizes = []int{
	0, 1, 4, 12, 13, 15, 16, 17, 31, 32, 33, 64, 65, 66, 67, 68, 100, 127, 255, 256, 300, 511, 777, 1000, 2048, 4097,
	8192, 16383, 16384, 20011, 32768, 50000, 65535, 65536, 65546, 65547, 65548, 131072, 200003,
}

// digest runs an encoder over inputs of a kind with several amounts of space each. It returns the number of streams,
// the sum of their lengths and a hash of them all. It counts no stream, or a stream that is not shorter than its input,
// as a stream of length 0. A slow encoder gets every fourth input and fewer amounts of space.
func digest(encode encodeFunc, kind string, level int, slow bool) string {
	h := sha256.New()
	streams, total := 0, 0
	add := func(src []byte, room int) int {
		if room < 0 {
			return 0
		}
		out := encode(src, level, room)
		if len(out) >= len(src) {
			out = nil
		}
		var n [4]byte
		binary.LittleEndian.PutUint32(n[:], uint32(len(out)))
		h.Write(n[:])
		h.Write(out)
		if len(out) > 0 {
			streams++
			total += len(out)
		}
		return len(out)
	}
	for i, size := range digestSizes {
		if slow && i%4 != 3 {
			continue
		}
		src := input(kind, size, i+level)
		n := add(src, size)
		rooms := []int{n + 6, n - 1, size + size/200 + 20, size / 2, size / 8, 66, 65, n + 1, n, n * 3 / 4, size + 100}
		if slow {
			rooms = rooms[:3]
		}
		for _, room := range rooms {
			add(src, room)
		}
	}
	return fmt.Sprintf("%d %d %s", streams, total, hex.EncodeToString(h.Sum(nil)[:8]))
}
