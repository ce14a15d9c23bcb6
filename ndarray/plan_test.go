package ndarray

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// naive is an array stored the slow way: every item is found from its coordinates.
type naive struct {
	g      *geometry
	plain  []byte   // the items in C order
	stored [][]byte // the chunks, with 0xee where no item is
}

func newNaive(g *geometry, rng *rand.Rand) *naive {
	size := int(g.itemSize)
	a := &naive{g: g, plain: make([]byte, int(g.items)*size), stored: make([][]byte, g.chunks)}
	for i := range a.plain {
		a.plain[i] = byte(rng.Uint32())
	}
	for i := range a.stored {
		a.stored[i] = bytes.Repeat([]byte{0xee}, int(g.chunkBytes))
	}
	for i := range int(g.items) {
		copy(a.at(int64(i)), a.plain[i*size:(i+1)*size])
	}
	return a
}

// locate returns the chunk and the block of an item, given by its position in C order, and its place in the block.
func locate(g *geometry, position int64) (chunk, block, item int64) {
	var x [maxDims]int64
	for i := g.ndim - 1; i >= 0; i-- {
		x[i] = position % g.shape[i]
		position /= g.shape[i]
	}
	for i := range g.ndim {
		c, b := g.chunkShape[i], g.blockShape[i]
		chunk = chunk*((g.shape[i]+c-1)/c) + x[i]/c
		block = block*((c+b-1)/b) + x[i]%c/b
		item = item*b + x[i]%c%b
	}
	return chunk, block, item
}

// at returns the stored item of a position.
func (a *naive) at(position int64) []byte {
	chunk, block, item := locate(a.g, position)
	from := (block*a.g.blockItems + item) * a.g.itemSize
	return a.stored[chunk][from:][:a.g.itemSize]
}

// clone copies what is stored.
func (a *naive) clone() *naive {
	b := &naive{g: a.g, plain: a.plain, stored: make([][]byte, len(a.stored))}
	for i := range b.stored {
		b.stored[i] = bytes.Clone(a.stored[i])
	}
	return b
}

// blockOf returns the bytes of a block.
func (a *naive) blockOf(chunk int64, block int32) []byte {
	return a.stored[chunk][int64(block)*a.g.blockBytes:][:a.g.blockBytes]
}

// randomCase makes a small array with some partition, and a selection.
func randomCase(rng *rand.Rand) (*geometry, []Index) {
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
	g, err := newGeometry(shape, chunks, blocks, itemSize)
	if err != nil {
		panic(err)
	}
	var sel []Index
	named := rng.IntN(ndim + 1)
	for i := range named {
		if rng.IntN(8) == 0 {
			sel = append(sel, NewAxis)
		}
		sel = append(sel, randomIndex(rng, shape[i]))
	}
	return g, sel
}

func randomIndex(rng *rand.Rand, n int64) Index {
	end := func() int64 {
		if rng.IntN(3) == 0 {
			return None
		}
		return rng.Int64N(2*n+3) - n - 1
	}
	switch r := rng.IntN(10); {
	case r < 2 && n > 0:
		return At(rng.Int64N(2*n) - n)
	case r < 4:
		return All
	case r < 7:
		return Span(end(), end())
	case r == 7:
		return Step(None, None, -1)
	default:
		step := 1 + rng.Int64N(n+2)
		if rng.IntN(2) == 0 {
			step = -step
		}
		return Step(end(), end(), step)
	}
}

// TestPlanAgainstLoops reads and writes random selections of random arrays block by block, and compares with what
// loops over single items give.
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
				g.shape[:g.ndim], g.chunkShape[:g.ndim], g.blockShape[:g.ndim], g.itemSize, sel)
		}
	}
	for _, what := range []string{"direct", "whole block", "part block", "whole chunk", "part chunk", "jumped chunk", "jumped block", "empty"} {
		if seen[what] < 20 {
			t.Errorf("%q was met %d times", what, seen[what])
		}
	}
}

// tally counts items by chunk, and by chunk and block.
type tally struct {
	chunk map[int64]int64
	block map[[2]int64]int64
}

func newTally() tally { return tally{map[int64]int64{}, map[[2]int64]int64{}} }

func (c tally) add(g *geometry, position int64) {
	chunk, block, _ := locate(g, position)
	c.chunk[chunk]++
	c.block[[2]int64{chunk, block}]++
}

// checkPlan checks everything that a plan says about one selection.
func checkPlan(t *testing.T, g *geometry, sel []Index, rng *rand.Rand, seen map[string]int) {
	t.Helper()
	a := newNaive(g, rng)
	s, err := resolve(g.shape[:g.ndim], sel)
	if err != nil {
		t.Fatal(err)
	}
	size := int(g.itemSize)
	taken := positions(g.shape[:g.ndim], &s)
	want, touched := make([]byte, 0, len(taken)*size), newTally()
	for _, x := range taken {
		want = append(want, a.plain[x*g.itemSize:][:size]...)
		touched.add(g, x)
	}
	all := newTally()
	for x := range g.items {
		all.add(g, x)
	}
	p := newPlan(g, &s)
	if p.chunks != int64(len(touched.chunk)) || p.items != int64(len(taken)) {
		t.Errorf("%d chunks and %d items, want %d and %d", p.chunks, p.items, len(touched.chunk), len(taken))
		return
	}
	if p.items == 0 {
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
	var c chunkPart
	last, visited := int64(-1), int64(0)
	for i := range p.chunks {
		p.seek(&c, i)
		visited++
		if c.number <= last || touched.chunk[c.number] == 0 {
			t.Fatalf("chunk %d after %d", c.number, last)
		}
		if c.number > last+1 {
			seen["jumped chunk"]++
		}
		last = c.number
		if n, of := touched.chunk[c.number], all.chunk[c.number]; c.items != n || c.whole != (n == of) {
			t.Errorf("chunk %d: %d items, whole %v, want %d of %d", c.number, c.items, c.whole, n, of)
		}
		seen[map[bool]string{true: "whole chunk", false: "part chunk"}[c.whole]]++
		checkBlocks(t, &p, &c, a, touched, all, want, got, seen)

		var x box
		for block := range int32(g.blocks) {
			if p.box(&x, &c, block) {
				copyToBlock(&x, b.blockOf(c.number, block), update, size)
			}
		}
		if p.chunkBox(&x, &c); x.items != c.items || x.whole != c.whole {
			t.Errorf("box of chunk %d: %d items, whole %v", c.number, x.items, x.whole)
		}
		setUser(&x, filled, fill)
	}
	if visited != p.chunks {
		t.Errorf("%d chunks visited of %d", visited, p.chunks)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("read\n% x, want\n% x", got, want)
	}
	if !bytes.Equal(filled, bytes.Repeat(fill, len(taken))) {
		t.Errorf("filled % x", filled)
	}
	checkWrite(t, a, b, taken, update)
}

// checkWrite writes items to a one by one, after which its storage must be that of b.
func checkWrite(t *testing.T, a, b *naive, taken []int64, update []byte) {
	t.Helper()
	for i, x := range taken {
		copy(a.at(x), update[i*int(a.g.itemSize):])
	}
	for i := range a.stored {
		if !bytes.Equal(a.stored[i], b.stored[i]) {
			t.Errorf("write: chunk %d differs", i)
		}
	}
}

// checkBlocks reads the touched blocks of one chunk.
func checkBlocks(t *testing.T, p *plan, c *chunkPart, a *naive, touched, all tally,
	want, got []byte, seen map[string]int) {
	t.Helper()
	g, size := p.geo, int(p.geo.itemSize)
	blocks := p.appendBlocks(nil, c)
	if !slices.IsSorted(blocks) || len(slices.Compact(blocks)) != len(blocks) {
		t.Errorf("chunk %d: blocks %v", c.number, blocks)
	}
	if n := len(blocks); blocks[n-1]-blocks[0] >= int32(n) {
		seen["jumped block"]++
	}
	for block := range int32(g.blocks) {
		var b box
		n, of := touched.block[[2]int64{c.number, int64(block)}], all.block[[2]int64{c.number, int64(block)}]
		if ok := p.box(&b, c, block); ok != (n > 0) || ok != slices.Contains(blocks, block) || b.items != n {
			t.Errorf("chunk %d block %d: %v, %d items, want %d", c.number, block, ok, b.items, n)
		}
		if b.items == 0 {
			continue
		}
		if b.whole != (n == of) {
			t.Errorf("chunk %d block %d: whole %v", c.number, block, b.whole)
		}
		seen[map[bool]string{true: "whole block", false: "part block"}[b.whole]]++
		stored := a.blockOf(c.number, block)
		copyToUser(&b, got, stored, size)
		// Random items of 4 bytes and more do not repeat, so that equal bytes in one run mean the same order.
		run := b.items == g.blockItems && b.user.offset+g.blockItems <= p.items &&
			bytes.Equal(want[int(b.user.offset)*size:][:len(stored)], stored)
		if direct(&b, g) && !run || size >= 4 && run && !direct(&b, g) {
			t.Errorf("chunk %d block %d: direct %v", c.number, block, direct(&b, g))
		}
		if direct(&b, g) {
			seen["direct"]++
		}
	}
}

// TestPlanLong walks selections of arrays that are too long for loops.
func TestPlanLong(t *testing.T) {
	const n = 1 << 62
	g, err := newGeometry([]int64{n}, []int32{1 << 20}, []int32{1 << 10}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		sel    Index
		chunks []int64
		user   int64 // offset of the first chunk
	}{
		{Step(5, None, 1<<60), []int64{0, 1 << 40, 2 << 40, 3 << 40}, 0},
		{Step(-1, None, -1<<61), []int64{1<<41 - 1, 1<<42 - 1}, 1},
		{Span(-3, None), []int64{1<<42 - 1}, 0},
		{Step(0, None, 1<<63-1), []int64{0}, 0},
		{Span(1<<40-1, 1<<40+1), []int64{1<<20 - 1, 1 << 20}, 0},
	} {
		s, err := resolve([]int64{n}, []Index{x.sel})
		if err != nil {
			t.Fatal(err)
		}
		p := newPlan(g, &s)
		var c chunkPart
		var b box
		var chunks []int64
		for i := range p.chunks {
			p.seek(&c, i)
			blocks := p.appendBlocks(nil, &c)
			if len(blocks) != 1 || !p.box(&b, &c, blocks[0]) {
				t.Fatalf("%v: blocks %v", x.sel, blocks)
			}
			if len(chunks) == 0 && b.user.offset != x.user {
				t.Errorf("%v: user offset %d", x.sel, b.user.offset)
			}
			chunks = append(chunks, c.number)
		}
		if !slices.Equal(chunks, x.chunks) {
			t.Errorf("%v: chunks %v, want %v", x.sel, chunks, x.chunks)
		}
	}
}

// FuzzPlan reads and writes small arrays with any partition and selection.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{10, 4, 3, 7, 7, 2}, uint8(4), "1:9:2, ::-1")
	f.Add([]byte{}, uint8(1), "")
	f.Add([]byte{200, 20, 30}, uint8(3), "-1:0:-41")
	f.Fuzz(func(t *testing.T, parts []byte, itemSize uint8, text string) {
		var shape []int64
		var chunks, blocks []int32
		for len(parts) >= 3 && len(shape) < maxDims {
			shape = append(shape, int64(parts[0]))
			chunks, blocks = append(chunks, int32(parts[1])), append(blocks, int32(parts[2]))
			parts = parts[3:]
		}
		g, err := newGeometry(shape, chunks, blocks, int64(itemSize))
		if err != nil || g.items > 1<<12 || g.chunkBytes*g.chunks > 1<<18 {
			return
		}
		sel, err := ParseSelection(text)
		if err != nil {
			return
		}
		if s, err := resolve(shape, sel); err != nil || s.place.lists > 0 {
			return
		}
		sum := uint64(itemSize)
		for _, n := range binary.BigEndian.AppendUint64([]byte(text), uint64(g.items)) {
			sum = sum*31 + uint64(n)
		}
		checkPlan(t, g, sel, rand.New(rand.NewPCG(2, sum)), map[string]int{})
	})
}
