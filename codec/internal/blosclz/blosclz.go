// Package blosclz compresses and expands BloscLZ streams, the codec of Blosc's own.
//
// BloscLZ is a byte-oriented LZ77 in the family of FastLZ. A stream is a sequence of tokens, each led by a
// control byte c:
//
//	c < 32    literals: the c+1 bytes that follow (1 to 32)
//	c >= 32   match: copy earlier output
//
//	match     c: LLL HHHHH   [length bytes]   low   [far, 2 bytes]
//
//	LLL 1..6  the match is LLL+2 bytes long
//	LLL 7     it is 9 bytes long plus the sum of the length bytes: 255 means that another one follows
//	distance  HHHHH*256 + low + 1, that is 1 to 8191 bytes back, unless HHHHH is 31 and low is 255:
//	          then two more bytes, big-endian, plus 8192: 8192 to 73727 bytes back
//
// A match may overlap its own output: distance 1 is a run. The three high bits of the first control byte of a
// stream are a marker and are ignored, so a stream starts with literals; and since the format wants two bytes
// left where a match is read, it ends with literals too. A stream does not tell its length nor that of its
// content; both come from outside.
package blosclz

// Limits of the format and of the encoder.
const (
	maxRun      = 32            // literals in a token
	maxNear     = 8191          // greatest distance of the short form
	maxFar      = 65535 + 8190  // distances from here on are not used by the encoder
	minLength   = 16            // shortest input that the encoder takes
	minRoom     = 66            // smallest output that the encoder takes
	tailLength  = 12            // no match starts in the last bytes of the input
	maxHashBits = 14            // of the hash table, at levels 3 and above
	hashFactor  = 2_654_435_761 // multiplicative hash, Knuth's constant
)
