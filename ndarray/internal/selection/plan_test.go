package selection

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// naive is an array in memory. It finds every item from its coordinates.
type naive struct {
	g      *grid.Geometry
	plain  []byte   // the items in C order
	stored [][]byte // the chunks, with 0xee as padding
}

func newNaive(g *grid.Geometry, rng *rand.Rand) *naive {
	size := int(g.ItemSize)
	a := &naive{g: g, plain: make([]byte, int(g.Items)*size), stored: make([][]byte, g.Chunks)}
	for i := range a.plain {
		a.plain[i] = byte(rng.Uint32())
	}
	for i := range a.stored {
		a.stored[i] = bytes.Repeat([]byte{0xee}, int(g.ChunkBytes))
	}
	for i := range int(g.Items) {
		copy(a.at(int64(i)), a.plain[i*size:(i+1)*size])
	}
	return a
}

// locate returns the chunk and the block of the item at a position in C order, and its position in the block.
func locate(g *grid.Geometry, position int64) (chunk, block, item int64) {
	var x [grid.MaxDims]int64
	for i := g.Ndim - 1; i >= 0; i-- {
		x[i] = position % g.Shape[i]
		position /= g.Shape[i]
	}
	for i := range g.Ndim {
		c, b := g.ChunkShape[i], g.BlockShape[i]
		chunk = chunk*((g.Shape[i]+c-1)/c) + x[i]/c
		block = block*((c+b-1)/b) + x[i]%c/b
		item = item*b + x[i]%c%b
	}
	return chunk, block, item
}

// at returns the stored item at a position.
func (a *naive) at(position int64) []byte {
	chunk, block, item := locate(a.g, position)
	from := (block*a.g.BlockItems + item) * a.g.ItemSize
	return a.stored[chunk][from:][:a.g.ItemSize]
}

// clone returns a copy.
func (a *naive) clone() *naive {
	b := &naive{g: a.g, plain: a.plain, stored: make([][]byte, len(a.stored))}
	for i := range b.stored {
		b.stored[i] = bytes.Clone(a.stored[i])
	}
	return b
}

// blockOf returns the bytes of a block.
func (a *naive) blockOf(chunk int64, block int32) []byte {
	return a.stored[chunk][int64(block)*a.g.BlockBytes:][:a.g.BlockBytes]
}

// randomCase returns a small array with a random partition, and a selection.
func randomCase(rng *rand.Rand) (*grid.Geometry, []Index) {
	ndim := rng.IntN(7)
	most := []int{0, 300, 40, 16, 9, 6, 5}
	if rng.IntN(30) == 0 {
		ndim, most = 16, append(most, make([]int, 10)...)
		most[16] = 2
	}
	shape, chunks, blocks := make([]int64, ndim), make([]int32, ndim), make([]int32, ndim)
	for i := range shape {
		n := 1 + rng.IntN(most[ndim])
		shape[i] = int64(n)
		chunks[i] = int32(1 + rng.IntN(n+1)) // may be longer than the array
		blocks[i] = int32(1 + rng.IntN(int(chunks[i])+rng.IntN(2)))
		if rng.IntN(4) == 0 {
			blocks[i] = chunks[i]
		}
		if rng.IntN(60) == 0 {
			shape[i] = 0
		}
	}
	itemSize := []int64{1, 2, 3, 4, 5, 8, 12, 16, 24}[rng.IntN(9)]
	g, err := grid.NewGeometry(shape, chunks, blocks, itemSize)
	if err != nil {
		panic(err)
	}
	var sel []Index
	named := rng.IntN(ndim + 1)
	for i := range named {
		if rng.IntN(8) == 0 {
			sel = append(sel, NewAxis)
		}
		sel = append(sel, randomEntry(rng, shape[i]))
	}
	return g, sel
}

// randomEntry returns an index for an axis of length n.
func randomEntry(rng *rand.Rand, n int64) Index {
	if n > 0 && rng.IntN(5) == 0 {
		return Point(rng.Int64N(2*n) - n)
	}
	x := Span{None, None, []int64{1, 1, -1, 1 + rng.Int64N(n+2), -1 - rng.Int64N(n+2)}[rng.IntN(5)]}
	for _, end := range []*int64{&x.Start, &x.Stop} {
		if rng.IntN(2) == 0 {
			*end = rng.Int64N(2*n+3) - n - 1
		}
	}
	return x
}

// TestPlanAgainstLoops reads and writes random selections of random arrays block by block, and compares them with loops
// over the items.
func TestPlanAgainstLoops(t *testing.T) {
	rounds := 6000
	if testing.Short() {
		rounds = 600
	}
	seen := map[string]int{}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(1, uint64(seed)))
		g, sel := randomCase(rng)
		checkPlan(t, g, sel, rng, seen)
		if t.Failed() {
			t.Fatalf("seed %d: shape %v chunks %v blocks %v items of %d bytes, selection %v", seed,
				g.Shape[:g.Ndim], g.ChunkShape[:g.Ndim], g.BlockShape[:g.Ndim], g.ItemSize, sel)
		}
	}
	for _, what := range []string{"direct", "whole block", "part block", "whole chunk", "part chunk", "jumped chunk", "jumped block", "empty"} {
		if seen[what] < 20 {
			t.Errorf("%q occurred only %d times", what, seen[what])
		}
	}
}

// tally counts items by chunk, and by chunk and block.
type tally struct {
	chunk map[int64]int64
	block map[[2]int64]int64
}

func newTally() tally { return tally{map[int64]int64{}, map[[2]int64]int64{}} }

func (c tally) add(g *grid.Geometry, position int64) {
	chunk, block, _ := locate(g, position)
	c.chunk[chunk]++
	c.block[[2]int64{chunk, block}]++
}

// checkPlan checks all results of a plan for one selection.
func checkPlan(t *testing.T, g *grid.Geometry, sel []Index, rng *rand.Rand, seen map[string]int) {
	t.Helper()
	a := newNaive(g, rng)
	s, err := Resolve(g.Shape[:g.Ndim], sel)
	if err != nil {
		t.Fatal(err)
	}
	size := int(g.ItemSize)
	taken := positions(g.Shape[:g.Ndim], &s)
	want, touched := make([]byte, 0, len(taken)*size), newTally()
	for _, x := range taken {
		want = append(want, a.plain[x*g.ItemSize:][:size]...)
		touched.add(g, x)
	}
	all := newTally()
	for x := range g.Items {
		all.add(g, x)
	}
	p := NewPlan(g, &s)
	if p.Chunks != int64(len(touched.chunk)) || p.Items != int64(len(taken)) {
		t.Errorf("%d chunks and %d items, want %d and %d", p.Chunks, p.Items, len(touched.chunk), len(taken))
		return
	}
	if p.Items == 0 {
		seen["empty"]++
	}

	got := make([]byte, len(want))
	filled := bytes.Repeat([]byte{1}, len(want))
	fill := bytes.Repeat([]byte{7, 0, 9}, size)[:size]
	update := make([]byte, len(want))
	for i := range update {
		update[i] = byte(rng.Uint32())
	}
	b := a.clone()
	var c ChunkPart
	last, visited := int64(-1), int64(0)
	for i := range p.Chunks {
		p.Seek(&c, i)
		visited++
		if c.Number <= last || touched.chunk[c.Number] == 0 {
			t.Fatalf("chunk %d after %d", c.Number, last)
		}
		if c.Number > last+1 {
			seen["jumped chunk"]++
		}
		last = c.Number
		if n, of := touched.chunk[c.Number], all.chunk[c.Number]; c.Items != n || c.Whole != (n == of) {
			t.Errorf("chunk %d: %d items, whole %v, want %d of %d", c.Number, c.Items, c.Whole, n, of)
		}
		seen[map[bool]string{true: "whole chunk", false: "part chunk"}[c.Whole]]++
		checkBlocks(t, &p, &c, a, touched, all, want, got, seen)

		var x Box
		for block := range int32(g.Blocks) {
			if p.Box(&x, &c, block) {
				copyToBlock(&x, b.blockOf(c.Number, block), update, size)
			}
		}
		if p.chunkBox(&x, &c); x.Items != c.Items || x.whole != c.Whole {
			t.Errorf("box of chunk %d: %d items, whole %v", c.Number, x.Items, x.whole)
		}
		setUser(&x, filled, fill)
	}
	if visited != p.Chunks {
		t.Errorf("%d chunks visited of %d", visited, p.Chunks)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("read\n% x, want\n% x", got, want)
	}
	if !bytes.Equal(filled, bytes.Repeat(fill, len(taken))) {
		t.Errorf("filled % x", filled)
	}
	checkWrite(t, a, b, taken, update)
}

// checkWrite writes items to a one by one. The chunks of a and b must then be equal.
func checkWrite(t *testing.T, a, b *naive, taken []int64, update []byte) {
	t.Helper()
	for i, x := range taken {
		copy(a.at(x), update[i*int(a.g.ItemSize):])
	}
	for i := range a.stored {
		if !bytes.Equal(a.stored[i], b.stored[i]) {
			t.Errorf("write: chunk %d differs", i)
		}
	}
}

// checkBlocks reads the blocks of a chunk that hold selected items.
func checkBlocks(t *testing.T, p *Plan, c *ChunkPart, a *naive, touched, all tally,
	want, got []byte, seen map[string]int) {
	t.Helper()
	g, size := p.Geo, int(p.Geo.ItemSize)
	blocks := p.AppendBlocks(nil, c)
	if !slices.IsSorted(blocks) || len(slices.Compact(blocks)) != len(blocks) {
		t.Errorf("chunk %d: blocks %v", c.Number, blocks)
	}
	if n := len(blocks); blocks[n-1]-blocks[0] >= int32(n) {
		seen["jumped block"]++
	}
	for block := range int32(g.Blocks) {
		var b Box
		n, of := touched.block[[2]int64{c.Number, int64(block)}], all.block[[2]int64{c.Number, int64(block)}]
		if ok := p.Box(&b, c, block); ok != (n > 0) || ok != slices.Contains(blocks, block) || b.Items != n {
			t.Errorf("chunk %d block %d: %v, %d items, want %d", c.Number, block, ok, b.Items, n)
		}
		if b.Items == 0 {
			continue
		}
		if b.whole != (n == of) {
			t.Errorf("chunk %d block %d: whole %v", c.Number, block, b.whole)
		}
		seen[map[bool]string{true: "whole block", false: "part block"}[b.whole]]++
		stored := a.blockOf(c.Number, block)
		copyToUser(&b, got, stored, size)
		// Random items of at least 4 bytes do not repeat, so equal bytes imply the same order.
		run := b.Items == g.BlockItems && b.User.Offset+g.BlockItems <= p.Items &&
			bytes.Equal(want[int(b.User.Offset)*size:][:len(stored)], stored)
		if direct(&b, g) && !run || size >= 4 && run && !direct(&b, g) {
			t.Errorf("chunk %d block %d: direct %v", c.Number, block, direct(&b, g))
		}
		if direct(&b, g) {
			seen["direct"]++
		}
	}
}

// TestPlanLong iterates over selections of arrays that are too long for loops.
func TestPlanLong(t *testing.T) {
	const n = 1 << 62
	g, err := grid.NewGeometry([]int64{n}, []int32{1 << 20}, []int32{1 << 10}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		sel    Index
		chunks []int64
		user   int64 // offset of the first chunk
	}{
		{Span{5, None, 1 << 60}, []int64{0, 1 << 40, 2 << 40, 3 << 40}, 0},
		{Span{-1, None, -1 << 61}, []int64{1<<41 - 1, 1<<42 - 1}, 1},
		{Span{-3, None, 1}, []int64{1<<42 - 1}, 0},
		{Span{0, None, 1<<63 - 1}, []int64{0}, 0},
		{Span{1<<40 - 1, 1<<40 + 1, 1}, []int64{1<<20 - 1, 1 << 20}, 0},
	} {
		s, err := Resolve([]int64{n}, []Index{x.sel})
		if err != nil {
			t.Fatal(err)
		}
		p := NewPlan(g, &s)
		var c ChunkPart
		var b Box
		var chunks []int64
		for i := range p.Chunks {
			p.Seek(&c, i)
			blocks := p.AppendBlocks(nil, &c)
			if len(blocks) != 1 || !p.Box(&b, &c, blocks[0]) {
				t.Fatalf("%v: blocks %v", x.sel, blocks)
			}
			if len(chunks) == 0 && b.User.Offset != x.user {
				t.Errorf("%v: user offset %d", x.sel, b.User.Offset)
			}
			chunks = append(chunks, c.Number)
		}
		if !slices.Equal(chunks, x.chunks) {
			t.Errorf("%v: chunks %v, want %v", x.sel, chunks, x.chunks)
		}
	}
}

// FuzzPlan reads and writes small arrays with random partitions and selections.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{10, 4, 3, 7, 7, 2}, uint8(4), "1:9:2, ::-1")
	f.Add([]byte{}, uint8(1), "")
	f.Add([]byte{200, 20, 30}, uint8(3), "-1:0:-41")
	f.Fuzz(func(t *testing.T, parts []byte, itemSize uint8, text string) {
		var shape []int64
		var chunks, blocks []int32
		for len(parts) >= 3 && len(shape) < grid.MaxDims {
			shape = append(shape, int64(parts[0]))
			chunks, blocks = append(chunks, int32(parts[1])), append(blocks, int32(parts[2]))
			parts = parts[3:]
		}
		g, err := grid.NewGeometry(shape, chunks, blocks, int64(itemSize))
		if err != nil || g.Items > 1<<12 || g.ChunkBytes*g.Chunks > 1<<18 {
			return
		}
		sel, err := Parse(text)
		if err != nil {
			return
		}
		if s, err := Resolve(shape, sel); err != nil || s.ListAxes.Lists > 0 {
			return
		}
		sum := uint64(itemSize)
		for _, n := range binary.BigEndian.AppendUint64([]byte(text), uint64(g.Items)) {
			sum = sum*31 + uint64(n)
		}
		checkPlan(t, g, sel, rand.New(rand.NewPCG(2, sum)), map[string]int{})
	})
}
