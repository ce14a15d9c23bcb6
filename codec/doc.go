// Package codec compresses and decompresses single streams. A Blosc2 block consists of streams: one for the whole
// block, or one for each byte of its items.
//
//	c, err := codec.Set{}.ByID(codec.LZ4)
//	encoder, err := c.NewEncoder(codec.Params{Level: 5})
//	n, err := encoder.Encode(stream, block)
//	decoder, err := c.NewDecoder(codec.Params{})
//	err = decoder.Decode(block, stream[:n])
//
// A Set finds a codec by ID or by Format. A Codec makes encoders and decoders, which keep their tables between calls.
// Each belongs to one goroutine. Encode never writes past len(dst). It returns ErrIncompressible if the stream does not
// fit or is not shorter than src; the caller then stores src unchanged. Decode accepts any bytes. It writes exactly
// len(dst) bytes or returns ErrCorrupt, and allocates no more than the stream and its content justify. Most decoders
// also implement PrefixDecoder, which decodes the beginning of a stream in less time than all of it.
//
// A stream records neither its own length nor the length of its content. Chunks record both:
//
//	chunk   header | block | block | ...
//	block   length of stream 0 | stream 0 | length of stream 1 | stream 1 | ...
//	                             ^^^^^^^^ this package
//
// # Numbers
//
// The format has two sets of numbers for codecs. Frame headers and the interface of C-Blosc2 use the compcode. Chunk
// headers use a format number of three bits. An ID is the compcode in a form whose zero value means "not set".
//
//	          compcode   format
//	blosclz       0         0
//	lz4           1         1
//	lz4hc         2         1      the streams of lz4
//	snappy        3         2      only in chunks of Blosc1
//	zlib          4         3
//	zstd          5         4
//	ndlz         32         6      and the compcode in another byte of the chunk header
//	zfp       33 to 35      6      the same
//	others    36 and up     6      the same; user codecs from 160 up
//
// # Codecs and levels
//
// Levels are 1 to 9, from fast to small.
//
//	blosclz   The streams of C-Blosc2, byte for byte. Encode also returns ErrIncompressible if a probe of the
//	          input estimates less than a ratio that depends on the level, if src has fewer than 16 bytes, or if dst
//	          has fewer than 66.
//	lz4       The streams of LZ4_compress_fast (lz4 1.10) with acceleration 10-level, as in C-Blosc2.
//	lz4hc     The streams of LZ4_compress_HC (lz4 1.10) with the level, as in C-Blosc2.
//	zlib      The streams of compress2 (zlib 1.2.12 to 1.3) with the level, as in C-Blosc2. Builds of C-Blosc2 with
//	          zlib-ng write other streams.
//	zstd      The encoder of this package. Its levels match the time and the size of the levels that C-Blosc2 passes
//	          to the C library: 1, 3, 5, ... 15 and 22. Its streams are not those of the C library byte for byte.
//
// Two more codecs work on the shape of blocks, so that only arrays can use them: arrays set Params.BlockShape. The
// level has no effect; Params.Meta is their parameter. Snappy only decodes.
//
//	ndlz      The streams of C-Blosc2, for items of one byte in two dimensions. The parameter is the edge of its
//	          cells, 4 or 8. Blocks of other dimensions are stored.
//	zfp       The streams of libzfp, for floats in one to four dimensions, padded to 8 bytes. It is lossy, and
//	          does not preserve infinities and NaNs. zfp_acc bounds the absolute error by 10 to the power of the
//	          parameter, an int8. zfp_prec keeps as many bits of each item as the parameter states, 1 to 64. zfp_rate
//	          makes streams whose size is the parameter's percentage of a block.
//
// The decoders for Zstd and zlib streams rely on the output having a known size: the output is also their window.
//
// Zstd frames have a content size, one segment, and no checksum, as in C-Blosc2. Zstd and zlib streams of other writers
// may use everything that their formats allow, except preset dictionaries in zlib.
//
// Encoders of zstd are large. For streams of 64 KiB they take 1 to 2.5 MB, and about 10 MB at levels 8 and 9. For
// streams of 2 MiB they take 3 to 4.5 MB, and about 32 MB at level 9. The other encoders take at most about 1 MB.
//
// # Dictionaries
//
// Encoders and decoders of lz4, lz4hc and zstd take a dictionary, which all streams of a chunk share and which the
// chunk stores. Any bytes may serve as a dictionary: streams refer to them as if they preceded the content. With a
// dictionary, the streams of lz4 and lz4hc are not those of the C library. lz4hc then uses level 3 or higher, and zstd
// level 5 or lower.
package codec
