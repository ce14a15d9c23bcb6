//go:build !(amd64 && !purego)

package deflate

// find does what findGeneric does.
func (e *Encoder) find(pos, before, chain int) (at, length, distance int) {
	return e.findGeneric(pos, before, chain)
}

// insertAll does what insertAllGeneric does.
func (e *Encoder) insertAll(pos, end int) { e.insertAllGeneric(pos, end) }

func raceEncode([]byte) {}
