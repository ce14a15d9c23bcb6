// Package chunk reads and writes one Blosc2 chunk in memory:
//
//	z, err := chunk.Encode(nil, data, chunk.Params{
//		TypeSize: 4,
//		Codec:    codec.LZ4,
//		Filters:  []chunk.Filter{chunk.TruncPrec.With(12), chunk.Shuffle},
//	})
//	data, err = chunk.Decode(nil, z)
//
// A chunk is the unit of storage; its blocks are the units of compression. The package knows headers, the filter
// pipeline, the streams of a block and special values. It does not know files, other chunks or dimensions.
//
// # The bytes of a chunk
//
// All integers are little-endian.
//
//	offset  size
//	     0     1   version         1, 2: Blosc1; 3, 4: Blosc2 previews; 5; 6 with blocks of variable length
//	     1     1   version of the codec's format (always 1)
//	     2     1   flags           bits 0 and 2 both set: 32-byte header; otherwise bit 0 shuffle, bit 2 bitshuffle;
//	                               bit 1 stored (the payload is the data itself), bit 3 delta,
//	                               bit 4 blocks are not split, bits 5-7 stream format
//	     3     1   typesize        1 to 255; larger item sizes are written as 1
//	     4     4   nbytes          size of the decoded chunk
//	     8     4   blocksize       size of a decoded block (number of blocks in version 6)
//	    12     4   cbytes          size of the chunk, this header included
//	    16     6   filters         32-byte headers only: filter of each slot, applied 0 to 5 when writing
//	    22     1   codec           number of the codec if the stream format is 6
//	    23     1   codec_meta      parameter of the codec
//	    24     6   filters_meta    parameter of each filter
//	    30     1   flags2          bit 0: blocks of variable length
//	    31     1   blosc2_flags    bit 0 dictionary, bit 1 big-endian producer, bit 3 lazy (never on disk),
//	                               bits 4-6 special value, bit 7 instrumented
//
//	a regular chunk                                a stored chunk        a special chunk
//	+--------+---------+--------+---------+        +--------+------+     +--------+---------+
//	| header | bstarts | [dict] | streams |        | header | data |     | header | [value] |
//	+--------+---------+--------+---------+        +--------+------+     +--------+---------+
//
// bstarts holds the offset of each block in the chunk, in no particular order. A block is one stream. In a split chunk
// it is typesize streams, and stream j holds byte j of all items. Each stream is a 4-byte length and its bytes:
//
//	length = 0                    zeros, nothing follows
//	length < 0                    a run of the byte -length; one token byte (1) follows
//	length = decoded length       the uncompressed bytes
//	other                         a stream of the codec
//
// A dictionary follows bstarts: 4 bytes of length, then the dictionary, which all streams use.
//
// If blocks have sizes of their own, bstarts is in order. A block is then its decoded length (4 bytes) and one stream,
// which ends where the next block starts. The stream has no length field, and is never a run.
//
// # Encoding and decoding
//
//	decode:  streams -> codec -> filters 5..0 -> destination
//	encode:  source -> filters 0..5 -> codec -> streams
//
// The unit of work is a block. [Encode] and [Decode] process a whole chunk in memory with the defaults. A [Coder] keeps
// codecs and memory between calls, and has user codecs and user filters. Its method DecodeAt reads parts of a chunk in
// a file. EncodeBlocks and DecodeBlocks process chunks with blocks of any sizes.
//
// If Shuffle is the only filter of a chunk, a block is decoded only as far as a read needs. For the first n of 10
// items, these are n bytes of each stream of a split block, and all but the last 10-n bytes of a block that is not
// split.
//
//	split       AAA....... BBB....... CCC....... DDD.......
//	not split   AAA=======BBB=======CCC=======DDD.......      = is decoded but not used
//
// # Properties of the frame
//
// Some filters and codecs depend on the shape of blocks, or on item sizes above 255. These are properties of the frame
// that a chunk does not hold: [Coder] has fields for them.
package chunk
