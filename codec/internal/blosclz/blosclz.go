// Package blosclz encodes and decodes streams of BloscLZ, Blosc's own codec.
//
// BloscLZ is a byte-oriented LZ77 in the family of FastLZ. A stream is a sequence of tokens. Each token begins with a
// control byte c:
//
//	c < 32    literals: the c+1 bytes that follow (1 to 32)
//	c >= 32   match: copy earlier output
//
//	match     c: LLL HHHHH   [length bytes]   low   [far, 2 bytes]
//
//	LLL 1..6  the match is LLL+2 bytes long
//	LLL 7     it is 9 bytes long plus the sum of the length bytes: after a byte of 255 another one follows
//	distance  HHHHH*256 + low + 1, that is 1 to 8191 bytes back, unless HHHHH is 31 and low is 255:
//	          then two more bytes, big-endian, plus 8192: 8192 to 73727 bytes back
//
// A match may overlap its own output: distance 1 is a run. The three high bits of the first control byte of a stream
// are a marker and are ignored, so a stream starts with literals. It also ends with literals, because the format
// requires two more bytes when a match is read. A stream records neither its own length nor the length of its content.
package blosclz

// Limits of the format and of the encoder.
const (
	maxRun      = 32            // literals in a token
	maxNear     = 8191          // largest distance of the short form
	maxFar      = 65535 + 8190  // the encoder uses only smaller distances
	minLength   = 16            // shortest input that the encoder takes
	minRoom     = 66            // smallest output that the encoder takes
	tailLength  = 12            // no match starts in the last bytes of the input
	maxHashBits = 14            // of the hash table, at levels 3 and above
	hashFactor  = 2_654_435_761 // multiplicative hash, Knuth's constant
)
