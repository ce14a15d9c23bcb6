// Package zstd decodes Zstandard frames (RFC 8878) into a buffer of known size. It is for blocks of Blosc: the whole
// input and the whole output are in memory, so the output is the window.
//
//	input   frame | frame | ...                a frame may be skippable: a number, a length and any bytes
//	frame   header | block | block | ... | checksum, if there is one
//	block   raw bytes, or one byte that repeats, or
//	        literals | number of sequences | tables | sequences
//
// A sequence consists of a number of literals to copy, and the length and offset of a match to copy after them. The
// literals of a block are stored uncompressed, as one byte that repeats, or with a Huffman code in one or four streams.
// The lengths and offsets of sequences are codes of three finite state machines, with extra bits after each code, all
// in one stream of bits. Streams of bits are read from their end.
//
//	huffman.go     description and table of a Huffman code
//	streams.go     the streams of a Huffman code
//	batch.go       frames whose streams are decoded in one loop
//	fse.go         description and table of a finite state machine
//	sequences.go   the header of the sequences of a block, and their tables
//	execute.go     the loops over sequences: a fast one for use far from the ends, and a careful one
//
// The two loops that take most of the time, for four Huffman streams and for sequences, have kernels in assembly for
// amd64 (BMI2 and AVX2) and arm64. These do the same as the Go code, and leave to it everything that is near a limit or
// invalid. On amd64 a third kernel decodes eight streams of two frames.
//
// Where the format leaves a choice, the decoder accepts what the C library accepts: a dictionary is also used for
// frames without dictionary identifier, and windows may be as large as 3.75 GiB, because they take no memory. It is
// stricter in one respect: Huffman streams must end exactly at their end. It also accepts some frames that no encoder
// writes and the C library refuses, such as a number of sequences that is 0 in two bytes.
package zstd
