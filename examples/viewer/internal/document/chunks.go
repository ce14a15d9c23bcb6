package document

import (
	"context"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/examples/viewer/internal/plane"
	"github.com/goblosc/blosc2/ndarray"
)

// A ChunkMap describes the chunks of a plane, or a part of them around a position.
type ChunkMap struct {
	Top, Left, Rows, Cols int64 // in chunks
	AllRows, AllCols      int64
	ChunkRows, ChunkCols  int64 // items of a chunk along the axes
	Cells                 []MapCell
}

// A MapCell is a chunk of a map.
type MapCell struct {
	Number  int
	Special string // "" if the chunk has data
	NBytes  int
	CBytes  int
	Off     int64
	Coding  string // codec and filters, such as "zstd, shuffle"; "" if the chunk has no data
}

// maxMap is the number of chunks along an axis of a map.
const maxMap = 32

// ChunkMap returns the chunks of a plane around the item at x.At.
func (a *Array) ChunkMap(ctx context.Context, x plane.Axes) (*ChunkMap, error) {
	shape, chunks := a.Shape(), a.Chunks()
	if err := x.Check(shape); err != nil {
		return nil, err
	}
	grid := make([]int64, len(shape))
	at := make([]int64, len(shape))
	for i, n := range shape {
		c := max(chunks[i], 1)
		grid[i] = (n + c - 1) / c
		at[i] = min(max(x.At[i], 0)/c, max(grid[i]-1, 0))
	}
	m := &ChunkMap{AllRows: 1, Rows: 1, AllCols: grid[x.Col], ChunkRows: 1, ChunkCols: chunks[x.Col]}
	m.Left, m.Cols = around(at[x.Col], grid[x.Col])
	if x.Row >= 0 {
		m.AllRows, m.ChunkRows = grid[x.Row], chunks[x.Row]
		m.Top, m.Rows = around(at[x.Row], grid[x.Row])
	}
	// The map shows the chunks of this selection.
	sel := make([]ndarray.Index, len(shape))
	for i, k := range at {
		sel[i] = ndarray.At(k * chunks[i])
	}
	along := func(axis int, first, count int64) {
		sel[axis] = ndarray.Span(first*chunks[axis], min((first+count)*chunks[axis], shape[axis]))
	}
	along(x.Col, m.Left, m.Cols)
	if x.Row >= 0 {
		along(x.Row, m.Top, m.Rows)
	}
	m.Cells = make([]MapCell, m.Rows*m.Cols)
	for c, err := range a.ChunkInfos(ctx, sel...) {
		if err != nil {
			return nil, err
		}
		k := c.Coord[x.Col] - m.Left
		if x.Row >= 0 {
			k += (c.Coord[x.Row] - m.Top) * m.Cols
		}
		m.Cells[k] = cellOf(&c)
	}
	return m, nil
}

// cellOf returns the cell of a chunk.
func cellOf(info *ndarray.ChunkInfo) MapCell {
	c := MapCell{Number: int(info.Number), NBytes: info.NBytes, CBytes: info.CBytes, Off: info.Off}
	switch {
	case info.Special != chunk.Regular:
		c.Special = info.Special.String()
	case info.Stored:
		c.Coding = "stored as it is"
	default:
		c.Coding = info.Codec.String()
		for _, f := range info.Filters {
			if f != chunk.NoFilter {
				c.Coding += ", " + f.String()
			}
		}
	}
	return c
}

// around returns the part of n chunks to show around one of them.
func around(at, n int64) (first, count int64) {
	if n <= maxMap {
		return 0, n
	}
	return max(0, min(at-maxMap/2, n-maxMap)), maxMap
}
