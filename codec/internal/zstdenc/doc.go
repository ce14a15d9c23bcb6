// Package zstdenc encodes blocks of Blosc as Zstandard frames (RFC 8878). Input and output are in memory, so a frame is
// one segment whose window is its content, with the size of the content and without checksum:
//
//	frame   magic | flags, content size | block | block | ...
//	block   raw bytes, or
//	        literals | number of sequences | tables | sequences
//
// A block of at most 128 KiB is encoded in two stages. First one of these searches finds its matches:
//
//	fast.go      one table of hashes (level 1 and 2), or two, for long and for short matches (3; double.go)
//	lazy.go      rows of 15 positions with the same hash; a match may wait for a better one (4 to 7, and 8 for large
//	             inputs)
//	tree.go      all matches of a block, from binary trees, and
//	optimal.go   the cheapest path through the block with them (9, and 8 for small inputs)
//
// The optimal parse skips random bytes, which quiet.go finds. There a sample also decides whether the searches of
// levels 4 to 6 find matches of 4 bytes, or longer ones only.
//
// Then the resulting literals and sequences are encoded:
//
//	literals.go, huffman.go, streams.go   Huffman code of the literals, new or from the previous block
//	sequences.go, fse.go                  finite state machines for the codes of sequences
//
// match.go assigns searches and their parameters to levels. At the fast levels, a better search is repeated on blocks
// that compress very well: it takes little time if matches are long, and it makes a large difference to the small size.
// At the slow levels, blocks end where the statistics of the bytes change (split.go), because shuffled numbers have
// byte planes that have nothing in common.
//
// The same input gives the same frame on all machines, whatever was encoded before. The assembly for amd64 does the
// same as the generic code.
package zstdenc
