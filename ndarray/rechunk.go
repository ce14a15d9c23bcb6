package ndarray

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/rechunk"
)

// RechunkStage is one step of a plan of PlanRechunk: it copies all items from one array to another. Any number of
// workers may copy its tiles, in any order. The tiles begin at multiples of their shape. Each consists of whole chunks
// of the array that is written, so a worker can write it to Regions. A stage must not begin before the previous stage
// has ended.
type RechunkStage struct {
	Tile         []int64 // shape of a tile
	Chunks       []int64 // shape of the chunks that are written
	Tiles        int64   // number of tiles
	Memory       int64   // size of the largest tile in bytes
	Reads        int64   // number of chunks that are read; a chunk counts again for each tile that has items of it
	Writes       int64   // number of chunks that are written, each once
	BytesRead    int64   // decoded size of the chunks that are read, in bytes, without padding
	BytesWritten int64   // size of all items in bytes
}

// PlanRechunk plans how to copy an array with chunks of shape from to an array with chunks of shape to, if a worker can
// hold tiles of at most maxMemory bytes. shape, from and to are in items, without the automatic lengths of
// CreateOptions, and itemSize is in bytes. A worker needs additional memory for the chunks that it decodes and encodes.
// The plan has one stage, which may read chunks more than once, or several stages with intermediate arrays, which read
// each chunk once. PlanRechunk returns the plan with the least cost that it finds. The cost is the number of bytes that
// are read and written, plus 1 MiB for each chunk. PlanRechunk reads no array.
//
// The error wraps ErrTooLarge if a new chunk exceeds maxMemory or a number overflows, and ErrShape for lengths that do
// not match.
func PlanRechunk(shape []int64, itemSize int64, from, to []int64, maxMemory int64) ([]RechunkStage, error) {
	const overhead = 1 << 20
	plan, err := rechunk.New(rechunk.Problem{Shape: shape, ItemSize: itemSize, From: from, To: to, MaxMemory: maxMemory, Overhead: overhead})
	if err != nil {
		return nil, err
	}
	var stages []RechunkStage
	for _, s := range plan {
		stages = append(stages, RechunkStage(s))
	}
	return stages, nil
}

// mostListed is the largest number of chunks of an array whose chunks are not written in order: its index is in memory
// from the beginning, even if all chunks are special.
const mostListed = 1 << 20

// rechunk copies the items of an array with another partition. If the boxes that run reads would decode many blocks
// again and again, it uses tiles of another shape, or temporary arrays. memory is the most that it may hold, or 0.
func (w *boxWriter) rechunk(ctx context.Context, b *frame.Batch, h *snapshot, memory int64) error {
	g, from := w.l.geo, h.st.geo
	n := g.Ndim
	block := w.bytes(from.BlockShape[:min(n, from.Ndim)])
	if memory > 0 {
		w.most = w.room(memory, w.bytes(g.ChunkShape[:n]), block)
	}
	if !h.chunkwise() || h.m.Ndim != from.Ndim || n == 0 || g.Items == 0 {
		return w.run(ctx, b)
	}
	// A read decodes only the blocks that it needs, which are the chunks of the problem.
	const overhead = 4 << 10
	p := rechunk.Problem{
		Shape: g.Shape[:n], ItemSize: int64(w.size), From: from.BlockShape[:n], To: g.ChunkShape[:n], MaxMemory: w.budget(), Overhead: overhead,
	}
	for i := range n {
		if from.ChunkShape[i]%from.BlockShape[i] != 0 { // blocks begin again at each chunk
			p.From = from.ChunkShape[:n]
		}
	}
	const gain = 1.5 // that must be expected
	part := w.part(&grid.Dims{}, &g.Shape)
	direct := p.Cost(p.Stage(p.From, part[:n], p.To))
	for {
		plan, err := rechunk.New(p)
		if err != nil || slices.ContainsFunc(plan, func(t rechunk.Stage) bool { return t.Writes > mostListed }) {
			return w.run(ctx, b) // a chunk takes more memory, or the array is huge
		}
		if direct <= gain*p.Cost(plan...) {
			return w.run(ctx, b)
		}
		if memory == 0 || !slices.ContainsFunc(plan, func(t rechunk.Stage) bool {
			return t.Memory > w.room(memory, w.bytes(t.Chunks), block)
		}) {
			w.most = p.MaxMemory
			return w.stages(ctx, b, plan)
		}
		p.MaxMemory -= p.MaxMemory/8 + 1 // chunks between the stages are large
	}
}

// room returns how many bytes of items a box may have, so that the writer takes at most memory while it reads blocks of
// some bytes and writes chunks of some bytes. A box has at least one chunk, also if there is no room for it.
func (w *boxWriter) room(memory, chunk, block int64) int64 {
	workers := int64(task.Workers(w.l.opts.Concurrency, math.MaxInt64))
	// The garbage collector lets the heap grow to twice what is in use.
	rest := memory/2 - 4*workers*block // stored, decoded and shuffled
	// Two chunks of the box for each worker are encoded at a time, and each may have a copy of its blocks.
	return max(rest-4*workers*chunk, rest/3, min(chunk, memory))
}

// bytes returns the size of the items of a chunk or block.
func (w *boxWriter) bytes(shape []int64) int64 {
	n := int64(w.size)
	for i, length := range shape {
		n *= max(1, min(length, w.l.geo.Shape[i]))
	}
	return n
}

// stages runs the stages of a plan, all but the last with temporary arrays. All stages use the same buffer.
func (w *boxWriter) stages(ctx context.Context, b *frame.Batch, plan []rechunk.Stage) error {
	g := w.l.geo
	var most int64
	for _, t := range plan {
		most = max(most, t.Memory)
	}
	if err := w.grow(ctx, most); err != nil {
		return err
	}
	for first := true; len(plan) > 1; first = false {
		a, err := w.between(ctx, b, plan[0])
		if first && errors.Is(err, errors.ErrUnsupported) { // there is no place for it
			return w.run(ctx, b)
		}
		if err != nil {
			return err
		}
		defer a.Close() // removes it
		h, err := snapshotOf(ctx, a)
		if err != nil {
			return err
		}
		defer h.release()
		w.read, w.ahead = h.read, h.readAhead
		plan = plan[1:]
	}
	return w.tiles(ctx, b, plan[0].Tile[:g.Ndim])
}

// between writes the items to a temporary array with the chunks of a stage.
func (w *boxWriter) between(ctx context.Context, b *frame.Batch, stage rechunk.Stage) (*Array, error) {
	st, err := b.Engine().Scratch()
	if err != nil {
		return nil, err
	}
	o := &CreateOptions{Chunks: stage.Chunks, Codec: codec.LZ4, Storage: st, NoSync: true, Concurrency: w.l.opts.Concurrency}
	l, err := newLayout(ctx, "", w.l.rec.Shape, meta.Of('V', w.size), o)
	if err != nil {
		st.Close()
		return nil, err
	}
	t := *w // with the buffer, which is large enough
	t.l = l
	owned := false
	a, err := l.create(ctx, "", func(b *frame.Batch) error {
		owned = true
		return t.tiles(ctx, b, stage.Tile)
	})
	if !owned {
		st.Close()
	}
	return a, err
}

// tiles writes all chunks to an empty frame, a tile of whole chunks at a time.
func (w *boxWriter) tiles(ctx context.Context, b *frame.Batch, tile []int64) error {
	if err := w.zeros(b); err != nil { // the tiles may not be in the order of the chunks
		return err
	}
	g := w.l.geo
	return w.write(ctx, b, func(yield func(box) bool) {
		var at, start, step grid.Dims
		copy(step[:], tile)
		for {
			var stop grid.Dims
			for i := range g.Ndim {
				stop[i] = min(at[i]+tile[i], g.Shape[i])
			}
			for x := range w.boxes(at, stop) {
				if !yield(x) {
					return
				}
			}
			if !advance(&at, &start, &step, &g.Shape, g.Ndim) {
				return
			}
		}
	})
}
