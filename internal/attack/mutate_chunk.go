package attack

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/goblosc/blosc2/chunk"
)

// mutateChunk returns a changed copy of a stored chunk, and what it did. The copy is as long as its header says, where
// that is not the field that was changed.
func mutateChunk(rng *rand.Rand, c []byte) ([]byte, string) {
	c = slices.Clone(c)
	h, err := chunk.ParseHeader(c, int64(len(c)))
	if err != nil || len(c) < 32 || c[2]&5 != 5 {
		flip(rng, c)
		return c, "bytes of a short chunk"
	}
	streams := h.Special == chunk.Regular && !h.Stored && len(c) >= 36
	switch n := rng.IntN(20); {
	case n < 4:
		return mutateHeaderByte(rng, c)
	case n < 9:
		return mutateSizes(rng, c)
	case n < 10:
		return makeSpecial(rng, c)
	case n < 11:
		c[2] |= 2
		if pick(rng, true, false) {
			putLE32(c, 4, int64(len(c)-32))
		}
		return c, "chunk: stored"
	case n < 12:
		at := 32 + rng.IntN(len(c)-31)
		c = c[:at]
		putLE32(c, 12, int64(at))
		return c, fmt.Sprintf("chunk: ends at %d", at)
	case n < 13 || !streams:
		flip(rng, c[32:])
		return c, "chunk: bytes of the streams"
	case n < 16:
		return mutateBlockStart(rng, c, &h)
	}
	return mutateStream(rng, c, &h)
}

// mutateHeaderByte changes a field of one byte.
func mutateHeaderByte(rng *rand.Rand, c []byte) ([]byte, string) {
	at := pick(rng, 0, 1, 2, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 29, 30, 31, 31)
	v := pick(rng, byte(rng.IntN(8)), c[at]^1<<rng.IntN(8), byte(rng.IntN(256)), 0xff, 32+byte(rng.IntN(5)))
	c[at] = v
	if at == 30 && v&1 != 0 && pick(rng, true, false) {
		c[0] = 6 // blocks of variable length need this version
	}
	return c, fmt.Sprintf("chunk: byte %d is %#x", at, v)
}

// mutateSizes changes the decoded size, the block size or the stored size.
func mutateSizes(rng *rand.Rand, c []byte) ([]byte, string) {
	at := pick(rng, 4, 8, 12)
	v := extreme(rng, le32(c, at))
	putLE32(c, at, v)
	if v = le32(c, at); at != 12 || v < 32 || v > 1<<16 {
		return c, fmt.Sprintf("chunk: field at %d is %d", at, v)
	}
	if int(v) < len(c) {
		c = c[:v]
	} else {
		c = append(c, make([]byte, int(v)-len(c))...)
	}
	return c, fmt.Sprintf("chunk: %d bytes long", v)
}

// makeSpecial makes a chunk one of a special value.
func makeSpecial(rng *rand.Rand, c []byte) ([]byte, string) {
	k, value := rng.IntN(8), 0
	if k == 3 {
		value = min(pick(rng, 0, 1, 4, 8, 255, 256, 1000), len(c)-32)
	}
	c = c[:32+value]
	putLE32(c, 12, int64(len(c)))
	c[31] = byte(k) << 4
	if pick(rng, true, false) {
		putLE32(c, 4, extreme(rng, le32(c, 4)))
	}
	return c, fmt.Sprintf("chunk: special value %d of %d bytes, decoded %d", k, value, le32(c, 4))
}

// blockStart returns where the offset of block k is stored, and the offset.
func blockStart(c []byte, k int) (at, off int) {
	at = 32 + 4*k
	if at+4 > len(c) {
		return 32, 32
	}
	return at, int(le32(c, at))
}

// mutateBlockStart changes the offset of a block, or all of them.
func mutateBlockStart(rng *rand.Rand, c []byte, h *chunk.Header) ([]byte, string) {
	n := max(1, h.NumBlocks)
	k := rng.IntN(n)
	at, off := blockStart(c, k)
	_, other := blockStart(c, rng.IntN(n))
	v := pick(rng, extreme(rng, int64(off)), int64(other), int64(other)+4, int64(other)-4, int64(at), int64(len(c)), int64(len(c)-4), int64(len(c)-5), 31, 32)
	if rng.IntN(3) > 0 {
		putLE32(c, at, v)
		return c, fmt.Sprintf("chunk: block %d at %d", k, v)
	}
	for k := range n {
		if at := 32 + 4*k; at+4 <= len(c) {
			putLE32(c, at, v)
		}
	}
	return c, fmt.Sprintf("chunk: all blocks at %d", v)
}

// mutateStream changes the length of a stream, of a dictionary, or the token of a run.
func mutateStream(rng *rand.Rand, c []byte, h *chunk.Header) ([]byte, string) {
	_, at := blockStart(c, rng.IntN(max(1, h.NumBlocks)))
	what := "stream"
	if h.Params.Dict && rng.IntN(3) == 0 {
		at, what = 32+4*h.NumBlocks, "dictionary"
	}
	for range rng.IntN(4) { // a later stream of the block
		if at >= 0 && at+4 <= len(c) {
			if n := int(le32(c, at)); n >= 0 && at+4+n+4 <= len(c) {
				at += 4 + n
			}
		}
	}
	if at < 32 || at+4 > len(c) {
		flip(rng, c[32:])
		return c, "chunk: bytes of the streams"
	}
	now, left := le32(c, at), int64(len(c)-at-4)
	whole := int64(h.Params.BlockSize)
	v := pick(rng, extreme(rng, now), 0, -1, -int64(rng.IntN(300)), left, left+1, left-1, whole, whole/int64(max(1, h.Params.TypeSize)), now-1, now+1)
	putLE32(c, at, v)
	if v < 0 && at+4 < len(c) && pick(rng, true, false) {
		c[at+4] = pick[byte](rng, 0, 1, 3, 0xff)
	}
	return c, fmt.Sprintf("chunk: %s at %d of %d bytes", what, at, v)
}
