// Package codec compresses and expands single streams, the pieces that a Blosc2 block consists of: one stream for
// a block, or one for each byte of its items.
//
// A stream has neither a length nor the length of what it expands to; chunks record both:
//
//	chunk   header | block | block | ...
//	block   length of stream 0 | stream 0 | length of stream 1 | stream 1 | ...
//	                             ^^^^^^^^ this package
//
// Set finds a codec by ID or by Format; a Codec makes encoders and decoders, which keep their tables and belong to
// one goroutine each. Encoding stops at the end of the room given and says ErrIncompressible when there is nothing
// to gain, and then the caller stores the bytes as they are. Decoding takes any bytes and gives exactly as many as
// were asked for, or ErrCorrupt; it allocates no more than a stream and its output justify. Most decoders are a
// PrefixDecoder, too, and give the beginning of a stream in less time than all of it; some are a BatchDecoder, and
// expand several streams faster together than alone.
//
// # Numbers
//
// The format counts codecs in two ways. Frame headers and the interface of C-Blosc2 use the compcode, chunk
// headers a format number of three bits. ID is the compcode in a form whose zero value means "not set".
//
//	          compcode   format
//	blosclz       0         0
//	lz4           1         1
//	lz4hc         2         1      the streams of lz4
//	snappy        3         2      chunks of Blosc1 only
//	zlib          4         3
//	zstd          5         4
//	ndlz         32         6      and the compcode in another byte of the chunk header
//	zfp       33 to 35      6      the same
//	others    36 and up     6      the same; codecs of the user from 160 on
//
// # Codecs and levels
//
// Levels are 1 to 9, from fast to small.
//
//	blosclz   the streams of C-Blosc2, byte for byte. It gives up where a probe of the input promises less than a
//	          ratio that depends on the level, and takes no stream below 16 bytes nor room below 66.
//	lz4       the streams of LZ4_compress_fast (lz4 1.10) with acceleration 10-level, as C-Blosc2 calls it
//	lz4hc     the streams of LZ4_compress_HC (lz4 1.10) with the level, as C-Blosc2 calls it
//	zlib      the streams of compress2 (zlib 1.2.12 to 1.3) with the level, as C-Blosc2 calls it. Builds of C-Blosc2 with
//	          zlib-ng make others.
//	zstd      an encoder of our own, whose levels take the time and make the size of those that C-Blosc2 calls the C
//	          library with: 1, 3, 5, ... 15 and 22. Streams are not the C library's byte for byte.
//
// Two more work on the shape of blocks and so only in arrays, which hand it on in Params.BlockShape. Levels mean nothing
// to them; Params.Meta is their parameter. Snappy is for reading alone.
//
//	ndlz      the streams of C-Blosc2, for items of one byte in two dimensions. The parameter is the edge of its cells,
//	          4 or 8. Blocks of other dimensions are stored.
//	zfp       the streams of libzfp, for floats in one to four dimensions, padded to 8 bytes. It loses data: zfp_acc
//	          keeps to an absolute error of 10 to the power of the parameter, an int8; zfp_prec keeps a number of bits
//	          of items; zfp_rate makes streams of so many percent of a block. Infinities and NaNs are lost.
//
// Zstd and zlib streams are read by decoders of our own, which know that the output is of known size and is its own
// window.
//
// Zstd frames have a content size, one segment, and no checksum, like those of C-Blosc2. Zstd and zlib streams of
// other writers may use whatever their formats allow, except for preset dictionaries in zlib.
//
// Encoders of zstd are large. For streams of 64 KiB they take about 1.5 MB, and 13 MB at levels 8 and 9; for streams of
// 2 MiB 7 MB, and 48 MB at level 9. The others stay near 1 MB or below.
//
// # Dictionaries
//
// Encoders and decoders of lz4, lz4hc and zstd take a dictionary, the same for all streams of a chunk, which stores it.
// TrainDict makes one from samples of a chunk's filtered blocks. Any bytes will do for a dictionary, though: streams
// refer to them as if they stood before their own content. With one, lz4 and lz4hc make streams of their own and not
// those of the C library, lz4hc working at level 3 at least, and zstd goes no further than at level 5.
package codec
