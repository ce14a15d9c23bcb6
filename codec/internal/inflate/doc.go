// Package inflate expands zlib streams (RFC 1950, RFC 1951) into a buffer of known size. It serves blocks of Blosc: the
// whole input and the whole output are in memory, so the output is the window, and nothing is streamed.
//
//	stream   2 bytes | block | block | ... | Adler-32 of the content, big-endian
//	block    last? 1 bit | kind, 2 bits | bytes, stored from the next byte on, with their number in front, or
//	                                      symbols of two Huffman codes, preset or described in front
//
// A symbol of the first code is a literal byte, the end of the block, or, with more bits behind it, a length; then a
// symbol of the second code with its bits says how far back the bytes are that repeat. Bits are taken from the low end
// of each byte.
//
//	inflate.go   the stream and its blocks
//	code.go      the description of Huffman codes
//	table.go     tables for them
//	symbols.go   the loops over symbols: one that is fast, where there is room, and a careful one
//	repeat.go    copies of what repeats
//
// Any bytes give the verdict of Go's compress/zlib, and its content.
package inflate
