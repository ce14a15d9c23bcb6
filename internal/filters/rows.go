package filters

import (
	"encoding/binary"
	"math/bits"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// Rows describes runs of elements at equal distances, both in a shuffled block and in other memory. The other memory
// holds whole elements.
type Rows struct {
	N         int // number of rows
	Len       int // elements per row
	Block     int // first element of the first row in the block
	BlockStep int // elements from the start of a row to the start of the next; may be negative
	At        int // offset of the first row in the other memory, in bytes
	Step      int // bytes from the start of a row to the start of the next in the other memory; may be negative
	Ahead     int // bytes from these rows to the rows of the next call in the other memory, or 0; for prefetching
}

// check returns the number of elements of width bytes in a block of block bytes, and reports whether there are any
// rows. It panics if a row is not inside the block and inside the size bytes of other memory.
func (r *Rows) check(width, block, size int) (n int, some bool) {
	if width < 1 {
		panic("shuffle: type size or stream count less than 1")
	}
	n = block / width
	if r.N < 1 || r.Len < 1 {
		return n, false
	}
	if r.Len > n || !inside(r.Block, r.BlockStep, r.N, r.Len, n) || !inside(r.At, r.Step, r.N, r.Len*width, size) {
		panic("shuffle: row is outside its block or the other memory")
	}
	return n, true
}

// UnshuffleRows undoes [Shuffle] for some elements of the block src and writes them to rows of dst, such as the rows of
// a box of an array. It does not need memory for the whole block. Rows must not overlap in dst, and dst must not
// overlap src. UnshuffleRows does not read the bytes of src after the last whole element.
//
// It panics if width is less than 1 or a row is not inside src and dst.
func UnshuffleRows(dst, src []byte, width int, r *Rows) {
	if n, some := r.check(width, len(src), len(dst)); some && !unshuffleRowsVector(dst, src, width, n, r) {
		unshuffleRowsGeneric(dst, src, width, n, r)
	}
}

// ShuffleRows does [Shuffle] for some elements of the block dst, which it reads from rows of src, such as the rows of a
// box of an array. It does not change the other elements of dst, or the bytes after the last whole element. Rows must
// not overlap in dst, and dst must not overlap src.
//
// It panics if width is less than 1 or a row is not inside src and dst.
func ShuffleRows(dst, src []byte, width int, r *Rows) {
	if n, some := r.check(width, len(dst), len(src)); some && !shuffleRowsVector(dst, src, width, n, r) {
		shuffleRowsGeneric(dst, src, width, n, r)
	}
}

// UnshuffleRowsFaster reports whether UnshuffleRows is faster than [Unshuffle] and copying rows of length elements, if
// all elements of a block are needed. If few elements are needed, UnshuffleRows is always faster.
func UnshuffleRowsFaster(width, length int) bool {
	switch {
	case !cpu.Has(vectorLevel):
		return length >= rowsGeneric
	case width == 2 || width == 4 || width == 8:
		return length >= rowsLeast
	}
	return width == 16 && length >= vectorElements
}

// rowsGeneric is the least length of rows for which the generic kernels are faster.
const rowsGeneric = 32

// inside reports whether count runs of size elements are inside [0, n). The first run is at at, and each one is step
// after the previous one.
func inside(at, step, count, size, n int) bool {
	if at < 0 || at > n || size > n-at {
		return false
	}
	far := step
	if step < 0 {
		far = -step
	}
	hi, lo := bits.Mul64(uint64(count-1), uint64(far))
	if step < 0 {
		return hi == 0 && lo <= uint64(at)
	}
	return hi == 0 && lo <= uint64(n-at-size)
}

// unshuffleRowsGeneric is the reference for all kernels of UnshuffleRows. n is the number of elements of the block.
func unshuffleRowsGeneric(dst, src []byte, width, n int, r *Rows) {
	if r.Len < 8 {
		unshuffleEach(dst, src, width, n, r)
		return
	}
	d, s := r.At, r.Block
	for range r.N {
		scatterAll(dst[d:d+r.Len*width], width, src[s:], n, width, r.Len)
		d, s = d+r.Step, s+r.BlockStep
	}
}

// unshuffleEach is unshuffleRowsGeneric for short rows: it moves single elements.
func unshuffleEach(dst, src []byte, width, n int, r *Rows) {
	le := binary.LittleEndian
	for i := range r.N {
		d, s := r.At+i*r.Step, r.Block+i*r.BlockStep
		for k := s; k < s+r.Len; k++ {
			p := dst[d : d+width]
			switch width {
			case 2:
				le.PutUint16(p, uint16(src[k])|uint16(src[k+n])<<8)
			case 4:
				le.PutUint32(p, uint32(src[k])|uint32(src[k+n])<<8|uint32(src[k+2*n])<<16|uint32(src[k+3*n])<<24)
			case 8:
				lo := uint32(src[k]) | uint32(src[k+n])<<8 | uint32(src[k+2*n])<<16 | uint32(src[k+3*n])<<24
				hi := uint32(src[k+4*n]) | uint32(src[k+5*n])<<8 | uint32(src[k+6*n])<<16 | uint32(src[k+7*n])<<24
				le.PutUint64(p, uint64(hi)<<32|uint64(lo))
			default:
				for j := range p {
					p[j] = src[k+j*n]
				}
			}
			d += width
		}
	}
}

// shuffleRowsGeneric is the reference for all kernels of ShuffleRows. n is the number of elements of the block.
func shuffleRowsGeneric(dst, src []byte, width, n int, r *Rows) {
	if r.Len < 8 {
		shuffleEach(dst, src, width, n, r)
		return
	}
	d, s := r.Block, r.At
	for range r.N {
		gatherAll(dst[d:], n, src[s:s+r.Len*width], width, width, r.Len)
		d, s = d+r.BlockStep, s+r.Step
	}
}

// shuffleEach is shuffleRowsGeneric for short rows: it moves single elements.
func shuffleEach(dst, src []byte, width, n int, r *Rows) {
	for i := range r.N {
		d, s := r.Block+i*r.BlockStep, r.At+i*r.Step
		for k := d; k < d+r.Len; k++ {
			for j, x := range src[s : s+width] {
				dst[k+j*n] = x
			}
			s += width
		}
	}
}

// scatterRows does UnshuffleRows for rows of at least vectorElements elements, of a width without gaps in vectors. It
// writes the elements left at the end of a row together with elements before them, which it writes again.
func scatterRows(dst, src []byte, width, n int, r *Rows) {
	d, s := r.At, r.Block
	for range r.N {
		row := dst[d : d+r.Len*width]
		if scatterVector(row, width, src[s:], n, width, r.Len) < r.Len {
			at := r.Len - vectorElements
			scatterVector(row[at*width:], width, src[s+at:], n, width, vectorElements)
		}
		d, s = d+r.Step, s+r.BlockStep
	}
}

// raceScatterRows reports the reads and writes of a kernel of UnshuffleRows to the race detector.
func raceScatterRows(dst, src []byte, width, n int, r *Rows) {
	if race.Enabled {
		raceRows(src, dst, width, n, r, race.Read, race.Write)
	}
}

// raceGatherRows reports the reads and writes of a kernel of ShuffleRows to the race detector.
func raceGatherRows(dst, src []byte, width, n int, r *Rows) {
	if race.Enabled {
		raceRows(dst, src, width, n, r, race.Write, race.Read)
	}
}

// raceRows calls ofBlock for the bytes of rows in each plane of the block, and ofOther for the rows in the other
// memory.
func raceRows(block, other []byte, width, n int, r *Rows, ofBlock, ofOther func([]byte)) {
	for i := range r.N {
		b, o := r.Block+i*r.BlockStep, r.At+i*r.Step
		ofOther(other[o : o+r.Len*width])
		for j := range width {
			ofBlock(block[b+j*n:][:r.Len])
		}
	}
}
