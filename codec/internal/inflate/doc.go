// Package inflate decodes zlib streams (RFC 1950, RFC 1951) into a buffer of known size. It is for blocks of Blosc: the
// whole input and the whole output are in memory, so the output is the window.
//
//	stream   2 bytes | block | block | ... | Adler-32 of the content, big-endian
//	block    last? 1 bit | kind, 2 bits | stored bytes, aligned to a byte, after their number, or
//	                                      symbols of two Huffman codes, which are preset or described before them
//
// A symbol of the first code is a literal byte, the end of the block, or a length, which may have more bits after it. A
// length is followed by a symbol of the second code and its bits. They are the distance back to the bytes that repeat.
// Bits are taken from the low end of each byte.
//
//	inflate.go   the stream and its blocks
//	code.go      the description of Huffman codes
//	table.go     tables for them
//	symbols.go   the loops over symbols: a fast one for use far from the ends, and a careful one. The fast one is a
//	             kernel on amd64
//	repeat.go    copies of repeated bytes
//
// The result for any bytes is that of Go's compress/zlib: the same content, or an error.
package inflate
