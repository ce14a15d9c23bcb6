package document

import (
	"context"
	"sync"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/examples/viewer/internal/plane"
	"github.com/goblosc/blosc2/frame"
)

// A ChunkMap describes the chunks of a plane, or a part of them around a position.
type ChunkMap struct {
	Top, Left, Rows, Cols int64 // in chunks
	AllRows, AllCols      int64
	ChunkRows, ChunkCols  int64 // items of a chunk along the axes
	Cells                 []Cell
}

// A Cell is a chunk.
type Cell struct {
	Number  int
	Special string // "" if the chunk has data
	NBytes  int
	CBytes  int
	Off     int64
}

const (
	maxMap  = 32 // chunks along an axis of a map
	readers = 16 // chunks whose headers are read at the same time
)

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
	m.Cells = make([]Cell, m.Rows*m.Cols)
	slots := make(chan struct{}, readers)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for k := range m.Cells {
		if x.Row >= 0 {
			at[x.Row] = m.Top + int64(k)/m.Cols
		}
		at[x.Col] = m.Left + int64(k)%m.Cols
		number := int64(0)
		for i, n := range grid {
			number = number*n + at[i]
		}
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			info, err := a.Frame().ChunkInfo(ctx, int(number))
			if err != nil {
				cancel(err)
				return
			}
			m.Cells[k] = cellOf(int(number), info)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return m, nil
}

// cellOf returns the cell of a chunk.
func cellOf(number int, info frame.ChunkInfo) Cell {
	c := Cell{Number: number, NBytes: info.NBytes, CBytes: info.CBytes, Off: info.Off}
	if info.Special != chunk.Regular {
		c.Special = info.Special.String()
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
