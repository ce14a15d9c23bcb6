package ndarray

import (
	"context"
	"iter"
	"math"

	"github.com/goblosc/blosc2/frame"
)

// ChunkInfo describes a chunk of an array without decoding it: its special value, if it has one, its place in the
// frame, and its sizes in bytes, the decoded one with padding.
type ChunkInfo struct {
	frame.ChunkInfo
	Number int64   // in C order of the grid of chunks
	Coord  []int64 // place in that grid
	Box    Box     // the items of the chunk that are in the array
}

// Ratio returns how many times larger the decoded chunk is than the stored one: infinity when the index alone has it.
func (c ChunkInfo) Ratio() float64 {
	if c.CBytes == 0 {
		return math.Inf(1)
	}
	return float64(c.NBytes) / float64(c.CBytes)
}

// ChunkInfos ranges over the chunks in their order, reading no more than their headers. Coordinates and box are valid
// until the next chunk. All are of the commit that was the newest when the range began. The first error ends it:
// ErrCorrupt, ErrUnsupported, ErrClosed or that of reading.
func (a *Array) ChunkInfos() iter.Seq2[ChunkInfo, error] {
	return func(yield func(ChunkInfo, error) bool) {
		v, st, err := a.view(context.Background())
		if err != nil {
			yield(ChunkInfo{}, err)
			return
		}
		defer v.Release()
		s, err := resolve(st.rec.Shape, nil)
		if err != nil {
			yield(ChunkInfo{}, err)
			return
		}
		plan, n := newPlan(st.geo, &s), st.geo.ndim
		var part chunkPart
		c := ChunkInfo{Coord: make([]int64, n), Box: Box{make([]int64, n), make([]int64, n)}}
		for i := range plan.chunks {
			plan.seek(&part, i)
			c.Number = part.number
			copy(c.Coord, part.coord[:n])
			copy(c.Box.Start, part.origin[:n])
			for i := range n {
				c.Box.Shape[i] = part.hi[i] - part.lo[i]
			}
			c.ChunkInfo, err = v.ChunkInfo(int(part.number))
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}
