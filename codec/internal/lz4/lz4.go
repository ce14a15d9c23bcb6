// Package lz4 compresses LZ4 blocks with the fast search of the C library's LZ4_compress_fast.
//
// An LZ4 block is a sequence of
//
//	token, more literal length, literals, distance (2 bytes, little-endian), more match length
//
// where the high half of the token is the number of literals and the low half the match length less 4; 15 in
// either says that bytes follow which add up to the rest, the first one below 255 being the last. The block ends
// after the literals of its last sequence, of which there are 5 at least; no match starts in its last 12 bytes.
//
// The search looks up one candidate for each position by a hash, of 4 bytes in inputs below 64 KiB and of 5 bytes in
// larger ones. The steps grow by one with each 64 positions looked up in vain, from the acceleration on. The choices
// are those of lz4 1.10 on 64-bit little-endian machines, so that the same input, room and acceleration give the same
// bytes everywhere. On amd64 the search is assembly, elsewhere it is that of github.com/pierrec/lz4.
package lz4

// Encode writes the block for src into dst, never past len(dst), and returns its length in bytes, or 0 when it
// does not fit or src is too long. acceleration is 1 for the best compression; greater ones are faster. dst and src
// do not overlap.
func (e *Encoder) Encode(dst, src []byte, acceleration int) int {
	return e.encode(dst, src, acceleration)
}
