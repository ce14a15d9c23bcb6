//go:build amd64 && !purego

package blosclz

// find looks for a match at positions from pos up and below limit, which is at least tailLength bytes before the end of
// src. It enters the positions it passes into the table. It returns the position of the match, the position that it
// repeats, and the result of matchEnd. If there is no match, it returns limit, or pos if that is larger. A match has a
// code of at least 4, and of at least minFar if it is far.
func (e *Encoder) find(src []byte, hashBits uint, pos, limit, minFar int) (at, ref, end int) {
	return findVector(src, &e.table, int(hashBits), pos, limit, minFar)
}

//go:noescape
func findVector(src []byte, table *[1 << maxHashBits]uint32, hashBits, pos, limit, minFar int) (at, ref, end int)
