// Package zstdenc compresses blocks of Blosc to Zstandard frames (RFC 8878). Input and output are in memory, so a
// frame is one segment whose window is its content, with the size of the content and without checksum:
//
//	frame   magic | flags, content size | block | block | ...
//	block   raw bytes, or
//	        literals | number of sequences | tables | sequences
//
// A block of at most 128 KiB goes through two stages. First its matches are found, by one of these searches:
//
//	fast.go      one table of hashes (level 1 and 2)
//	double.go    two tables, for long and for short matches (3)
//	lazy.go      rows of 15 positions with the same hash; a match may wait for a better one (4 to 7, and 8 for large inputs)
//	tree.go      all matches of a block, from binary trees, and
//	optimal.go   the cheapest way through the block with them (9, and 8 for small inputs)
//
// Then what they leave, literals and sequences, is coded:
//
//	literals.go, huffman.go, streams.go   Huffman code of the literals, new or that of the block before
//	sequences.go, fse.go, records.go      finite state machines for the codes of sequences
//
// Which search and how much of it a level has is in params.go. At the fast levels blocks that compress very well
// are searched once more in a better way: this takes little time where matches are long, and there are large
// differences in the size of so little. For the slow levels blocks end where the bytes become others (split.go), as
// shuffled numbers have planes of bytes that have nothing in common.
//
// The same input gives the same frame, whatever was compressed before, on all machines: what is done in assembly,
// on amd64, is what the generic code does.
package zstdenc
