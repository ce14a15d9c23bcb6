// Package zstd expands Zstandard frames (RFC 8878) into a buffer of known size. It serves blocks of Blosc: the
// whole input and the whole output are in memory, so the output is the window, and nothing is streamed.
//
//	input   frame | frame | ...                a frame may be skippable: a number, a length and any bytes
//	frame   header | block | block | ... | checksum, if there is one
//	block   raw bytes, or one byte that repeats, or
//	        literals | number of sequences | tables | sequences
//
// A sequence says: copy so many literals, then so many bytes from so far back. The literals of a block are stored as
// they are, or as one byte that repeats, or with a Huffman code in one or four streams. The lengths and offsets of
// sequences are codes of three finite state machines with more bits behind each code, all in one stream of bits.
// Streams of bits are read from their end.
//
//	huffman.go     description and table of a Huffman code
//	streams.go     the streams of one
//	batch.go       frames whose streams are expanded side by side
//	fse.go         description and table of a finite state machine
//	sequences.go   what stands before the sequences of a block, and their order
//	execute.go     the loops over sequences: one that is fast, where there is room, and a careful one
//
// The two loops that take the time, that of four Huffman streams and that of sequences, have kernels in assembly for
// amd64 (BMI2 and AVX2) and arm64, which do the same as the Go code beside them and leave to it all that is near a
// limit or wrong. On amd64 a third one takes eight streams, of two frames.
//
// Where it is free to, the decoder takes what the C library takes: dictionaries serve frames that do not name one,
// too, and windows may be as large as 3.75 GiB, as they cost nothing. It is strict where that decoder looks away:
// Huffman streams must end where they should.
package zstd
