package selection

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/internal/ndcopy"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// randomSide places a box in a buffer: the axes in C order with gaps between them, each forwards or, if backwards is
// set, possibly backwards. It returns the length of the buffer in items.
func randomSide(rng *rand.Rand, s *Side, count *grid.Dims, ndim int, backwards bool) int64 {
	unit := int64(1)
	for i := ndim - 1; i >= 0; i-- {
		if rng.IntN(3) == 0 {
			unit *= 1 + rng.Int64N(3)
		}
		s.Stride[i] = unit
		if backwards && rng.IntN(3) == 0 {
			s.Stride[i] = -unit
			s.Offset += unit * (count[i] - 1)
		}
		unit *= count[i]
	}
	gap := rng.Int64N(4)
	s.Offset += gap
	return unit + gap + rng.Int64N(4)
}

// each calls f with the position of every item of a box on two sides.
func each(count *grid.Dims, ndim int, a, b *Side, f func(a, b int64)) {
	var walk func(axis int, x, y int64)
	walk = func(axis int, x, y int64) {
		if axis == ndim {
			f(x, y)
			return
		}
		for k := range count[axis] {
			walk(axis+1, x+k*a.Stride[axis], y+k*b.Stride[axis])
		}
	}
	walk(0, a.Offset, b.Offset)
}

// TestCopyAndFillAgainstLoops compares copies of random boxes with loops over the items.
func TestCopyAndFillAgainstLoops(t *testing.T) {
	sizes := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 255, 300}
	for seed := range 4000 {
		rng := rand.New(rand.NewPCG(3, uint64(seed)))
		size := sizes[seed%len(sizes)]
		x := Box{Ndim: rng.IntN(6), Items: 1}
		if rng.IntN(50) == 0 {
			x.Ndim = grid.MaxDims
		}
		for i := range x.Ndim {
			x.Count[i] = 1 + rng.Int64N(5)
			if x.Ndim == grid.MaxDims {
				x.Count[i] = 1 + rng.Int64N(2)*rng.Int64N(2)*rng.Int64N(2)
			}
			x.Items *= x.Count[i]
		}
		block := make([]byte, int(randomSide(rng, &x.Block, &x.Count, x.Ndim, false))*size)
		user := make([]byte, int(randomSide(rng, &x.User, &x.Count, x.Ndim, true))*size)
		for i := range block {
			block[i] = byte(rng.Uint32())
		}
		value := block[:size]
		if rng.IntN(4) == 0 {
			value = make([]byte, size)
		}
		toUser, fromUser, filled := bytes.Clone(user), bytes.Clone(block), bytes.Repeat([]byte{0xaa}, len(user))
		filledBlock, source := bytes.Clone(block), bytes.Repeat([]byte{0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37}, len(user)/7+1)[:len(user)]
		want := [4][]byte{bytes.Clone(toUser), bytes.Clone(fromUser), bytes.Clone(filled), bytes.Clone(filledBlock)}
		each(&x.Count, x.Ndim, &x.Block, &x.User, func(b, u int64) {
			from, to := int(b)*size, int(u)*size
			copy(want[0][to:to+size], block[from:])
			copy(want[1][from:from+size], source[to:])
			copy(want[2][to:to+size], value)
			copy(want[3][from:from+size], value)
		})
		copyToUser(&x, toUser, block, size)
		copyToBlock(&x, fromUser, source, size)
		setUser(&x, filled, value)
		setBlock(&x, filledBlock, value)
		for i, got := range [][]byte{toUser, fromUser, filled, filledBlock} {
			if !bytes.Equal(got, want[i]) {
				t.Fatalf("seed %d: %s of %v items of %d bytes, block %v, user %v: differs", seed,
					[]string{"toUser", "toBlock", "fillUser", "fillBlock"}[i], x.Count[:x.Ndim], size, x.Block, x.User)
			}
		}
	}
}

// copyToUser copies the items of the box from a block to the user side.
func copyToUser(b *Box, dst, block []byte, itemSize int) {
	runBox(b, dst, block, &b.User, &b.Block, itemSize)
}

// copyToBlock copies the items of the box from the user side to a block.
func copyToBlock(b *Box, block, src []byte, itemSize int) {
	runBox(b, block, src, &b.Block, &b.User, itemSize)
}

// setUser sets the items of the box on the user side to one item.
func setUser(b *Box, dst, item []byte) { runBox(b, dst, item, &b.User, &Side{}, len(item)) }

// setBlock sets the items of the box in a block to one item.
func setBlock(b *Box, block, item []byte) { runBox(b, block, item, &b.Block, &Side{}, len(item)) }

// runBox copies the items of the box from one side to the other.
func runBox(b *Box, dst, src []byte, to, from *Side, itemSize int) {
	c := CopyOf(to, from, &b.Count, b.Ndim, itemSize)
	c.Run(dst, src)
}

// direct reports whether the box is a whole block that is contiguous on the user side.
func direct(b *Box, g *grid.Geometry) bool {
	c := CopyOf(&b.User, &b.Block, &b.Count, b.Ndim, int(g.ItemSize))
	return c.N == 0 && c.Width == int(g.BlockBytes)
}

// loopsWithRows returns the number of loops of a copy. A row of several items counts as a loop.
func loopsWithRows(c *ndcopy.Copy, itemSize int) int {
	if c.Width > itemSize {
		return c.N + 1
	}
	return c.N
}

// TestNest checks that copies use as few loops as possible.
func TestNest(t *testing.T) {
	g, err := grid.NewGeometry([]int64{40, 30, 20}, []int32{20, 30, 20}, []int32{10, 15, 20}, 4)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"": 2, ":, 0:15": 1, "3": 1, ":, :, 3": 2, ":, 3, 3": 1, "::-1, :15, :": 2, ":, :15, ::2": 1, ":, :15, ::3": 2, "3, :15, ::-1": 2, "::-1, 14::-1, ::-1": 1,
	} {
		sel, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Resolve(g.Shape[:g.Ndim], sel)
		if err != nil {
			t.Fatal(err)
		}
		p := NewPlan(g, &s)
		var c ChunkPart
		var b Box
		var l ndcopy.Copy
		if p.Seek(&c, 0); !p.Box(&b, &c, 0) {
			t.Fatalf("%s: empty box", text)
		}
		p.loops(&l, &b)
		l.Simplify()
		if n := loopsWithRows(&l, 4); n != want {
			t.Errorf("%s: %d loops, want %d", text, n, want)
		}
	}
}

// TestWalkAllocates checks that iterating and copying allocate nothing.
func TestWalkAllocates(t *testing.T) {
	g, err := grid.NewGeometry([]int64{60, 50, 40}, []int32{20, 30, 40}, []int32{7, 8, 9}, 4)
	if err != nil {
		t.Fatal(err)
	}
	block, user, blocks := make([]byte, g.BlockBytes), make([]byte, g.Items*g.ItemSize), make([]int32, 0, g.Blocks)
	step := int64(-3)
	if n := testing.AllocsPerRun(10, func() {
		s, err := Resolve(g.Shape[:g.Ndim], []Index{Span{None, 7, step}, Ellipsis, Span{1, None, 2}})
		if err != nil {
			t.Fatal(err)
		}
		p := NewPlan(g, &s)
		var c ChunkPart
		var b Box
		visited := int64(0)
		for i := range p.Chunks {
			p.Seek(&c, i)
			blocks = p.AppendBlocks(blocks[:0], &c)
			for _, i := range blocks {
				if p.Box(&b, &c, i) {
					copyToUser(&b, user, block, 4)
					copyToBlock(&b, block, user, 4)
					setBlock(&b, block, user[:4])
					visited += b.Items
				}
			}
			p.chunkBox(&b, &c)
			setUser(&b, user, block[:4])
		}
		if visited != p.Items {
			t.Fatal(visited)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRead copies a selection of a 512 x 512 x 64 array from decoded blocks to the result.
func BenchmarkRead(b *testing.B) {
	for _, itemSize := range []int64{1, 2, 4, 8, 12, 16} {
		for _, text := range []string{":", "::-1, ::-1, ::-1", "..., ::2", "::2, ::2", "100:400, 100:400, 10:60", "..., 3"} {
			b.Run(fmt.Sprintf("%d bytes/%s", itemSize, text), func(b *testing.B) {
				benchmarkRead(b, itemSize, text)
			})
		}
	}
}

func benchmarkRead(b *testing.B, itemSize int64, text string) {
	b.ReportAllocs()
	g, err := grid.NewGeometry([]int64{512, 512, 64}, []int32{128, 128, 64}, []int32{32, 32, 32}, itemSize)
	if err != nil {
		b.Fatal(err)
	}
	sel, err := Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	s, err := Resolve(g.Shape[:g.Ndim], sel)
	if err != nil {
		b.Fatal(err)
	}
	p := NewPlan(g, &s)
	block, user, blocks := make([]byte, g.BlockBytes), make([]byte, p.Items*itemSize), make([]int32, 0, g.Blocks)
	b.SetBytes(p.Items * itemSize)
	for b.Loop() {
		var c ChunkPart
		var x Box
		for i := range p.Chunks {
			p.Seek(&c, i)
			blocks = p.AppendBlocks(blocks[:0], &c)
			for _, i := range blocks {
				if p.Box(&x, &c, i) {
					copyToUser(&x, user, block, int(itemSize))
				}
			}
		}
	}
}

// BenchmarkBox measures the cost of Box, the part of the work for a block that does not depend on its bytes.
func BenchmarkBox(b *testing.B) {
	for _, text := range []string{":", "3:400, 3:500, 1:60", "::-3, ::7, ::2"} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			g, err := grid.NewGeometry([]int64{512, 512, 64}, []int32{128, 128, 64}, []int32{32, 32, 32}, 4)
			if err != nil {
				b.Fatal(err)
			}
			sel, _ := Parse(text)
			s, _ := Resolve(g.Shape[:g.Ndim], sel)
			p := NewPlan(g, &s)
			var c ChunkPart
			var x Box
			p.Seek(&c, p.Chunks/2)
			b.SetBytes(g.BlockBytes)
			for b.Loop() {
				if !p.Box(&x, &c, 5) {
					b.Fatal("no item of the block is selected")
				}
			}
		})
	}
}
