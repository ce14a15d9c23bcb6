// Package deflate encodes zlib streams (RFC 1950, RFC 1951). The streams are those of the C library's compress2 at
// levels 1 to 9 (zlib 1.2.12 to 1.3), byte for byte.
//
//	stream   2 bytes | block | block | ... | Adler-32 of the content, big-endian
//	block    last? 1 bit | kind, 2 bits | stored bytes, aligned to a byte, after their number, or
//	                                      symbols of two Huffman codes, which are preset or described before them
//
// Candidates for a match are positions with an equal hash of their first 3 bytes, from near to far. Levels differ in
// the number of candidates, and in the lengths of a match from which they try fewer candidates, or none. Levels 1 to 3
// take a match where they find it. The other levels take it only if there is no longer match at the next position. A
// block has 16383 symbols, each a literal or a match, and is stored in the kind that is the shortest.
//
//	deflate.go   the stream
//	match.go     the table of positions, and the search
//	long.go      a shorter search with the same result, for levels with many candidates
//	parse.go     the choice of matches
//	block.go     the end of a block: which kind, and its bits
//	tree.go      lengths of Huffman codes
//
// The C library's window is a buffer of 64 KiB, through which the input moves in steps of 32 KiB. Some of its choices
// depend on that, so this package makes them in the same way, without such a buffer.
package deflate
