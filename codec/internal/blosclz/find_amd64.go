//go:build amd64 && !purego

package blosclz

// find looks for a match from pos on, at positions below limit, which is tailLength bytes at least before the end of
// src. It enters the positions that it passes into the table and returns that of the match, where the match repeats,
// and what matchEnd gives; or limit, or pos if that is greater, where there is none. A match has a code of 4 at least,
// and of minFar if it is a far one.
func (e *Encoder) find(src []byte, hashBits uint, pos, limit, minFar int) (at, ref, end int) {
	return findVector(src, &e.table, int(hashBits), pos, limit, minFar)
}

//go:noescape
func findVector(src []byte, table *[1 << maxHashBits]uint32, hashBits, pos, limit, minFar int) (at, ref, end int)
