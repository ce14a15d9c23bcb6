// Package deflate makes zlib streams (RFC 1950, RFC 1951): the very streams of the C library's compress2 at levels 1 to 9
// (zlib 1.2.12 to 1.3), byte for byte.
//
//	stream   2 bytes | block | block | ... | Adler-32 of the content, big-endian
//	block    last? 1 bit | kind, 2 bits | bytes, stored from the next byte on, with their number in front, or
//	                                      symbols of two Huffman codes, preset or described in front
//
// Candidates for a match are positions of equal hash of their first 3 bytes, from near to far; levels differ in how many
// are looked at, and in what is long enough to look at fewer, or at none. Levels 1 to 3 take a match where they find one,
// the others only when there is no longer one at the next position. Blocks have 16383 symbols, of which each is a literal
// or a match, and the kind that is the shortest.
//
//	deflate.go   the stream
//	match.go     the table of positions, and the search
//	parse.go     the choice of matches
//	block.go     the end of a block: which kind, and its bits
//	tree.go      lengths of Huffman codes
//
// Where C's choices depend on its window, a buffer of 64 KiB through which the input goes in steps of 32 KiB, so do
// those made here, though there is no such buffer.
package deflate
