package ndarray

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/internal/ndcopy"
)

// randomSide lays a box out in a buffer: the axes in C order with gaps between them, each forwards or backwards.
// It returns the length of the buffer in items.
func randomSide(rng *rand.Rand, s *side, count *dims, ndim int, backwards bool) int64 {
	unit := int64(1)
	for i := ndim - 1; i >= 0; i-- {
		if rng.IntN(3) == 0 {
			unit *= 1 + rng.Int64N(3)
		}
		s.stride[i] = unit
		if backwards && rng.IntN(3) == 0 {
			s.stride[i] = -unit
			s.offset += unit * (count[i] - 1)
		}
		unit *= count[i]
	}
	gap := rng.Int64N(4)
	s.offset += gap
	return unit + gap + rng.Int64N(4)
}

// each calls f with the position of every item of a box on two sides.
func each(count *dims, ndim int, a, b *side, f func(a, b int64)) {
	var walk func(axis int, x, y int64)
	walk = func(axis int, x, y int64) {
		if axis == ndim {
			f(x, y)
			return
		}
		for k := range count[axis] {
			walk(axis+1, x+k*a.stride[axis], y+k*b.stride[axis])
		}
	}
	walk(0, a.offset, b.offset)
}

func TestCopyAndFillAgainstLoops(t *testing.T) {
	sizes := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 255, 300}
	for seed := range 4000 {
		rng := rand.New(rand.NewPCG(3, uint64(seed)))
		size := sizes[seed%len(sizes)]
		x := box{ndim: rng.IntN(6), items: 1}
		if rng.IntN(50) == 0 {
			x.ndim = maxDims
		}
		for i := range x.ndim {
			x.count[i] = 1 + rng.Int64N(5)
			if x.ndim == maxDims {
				x.count[i] = 1 + rng.Int64N(2)*rng.Int64N(2)*rng.Int64N(2)
			}
			x.items *= x.count[i]
		}
		block := make([]byte, int(randomSide(rng, &x.block, &x.count, x.ndim, false))*size)
		user := make([]byte, int(randomSide(rng, &x.user, &x.count, x.ndim, true))*size)
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
		each(&x.count, x.ndim, &x.block, &x.user, func(b, u int64) {
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
					[]string{"toUser", "toBlock", "fillUser", "fillBlock"}[i], x.count[:x.ndim], size, x.block, x.user)
			}
		}
	}
}

// copyToUser copies the items of the box from a block to the user side.
func copyToUser(b *box, dst, block []byte, itemSize int) {
	runBox(b, dst, block, &b.user, &b.block, itemSize)
}

// copyToBlock copies the items of the box from the user side to a block.
func copyToBlock(b *box, block, src []byte, itemSize int) {
	runBox(b, block, src, &b.block, &b.user, itemSize)
}

// setUser sets the items of the box on the user side to one item.
func setUser(b *box, dst, item []byte) { runBox(b, dst, item, &b.user, &side{}, len(item)) }

// setBlock sets the items of the box in a block to one item.
func setBlock(b *box, block, item []byte) { runBox(b, block, item, &b.block, &side{}, len(item)) }

func runBox(b *box, dst, src []byte, to, from *side, itemSize int) {
	c := copyOf(to, from, &b.count, b.ndim, itemSize)
	c.Run(dst, src)
}

// direct reports whether the box is a whole block that is one run on the user side.
func direct(b *box, g *geometry) bool {
	c := copyOf(&b.user, &b.block, &b.count, b.ndim, int(g.itemSize))
	return c.N == 0 && c.Width == int(g.blockBytes)
}

// loopsWithRows returns the number of loops of a copy, rows of several items included.
func loopsWithRows(c *ndcopy.Copy, itemSize int) int {
	if c.Width > itemSize {
		return c.N + 1
	}
	return c.N
}

// TestNest checks that copies use as few loops as they can.
func TestNest(t *testing.T) {
	g, err := newGeometry([]int64{40, 30, 20}, []int32{20, 30, 20}, []int32{10, 15, 20}, 4)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"": 2, ":, 0:15": 1, "3": 1, ":, :, 3": 2, ":, 3, 3": 1, "::-1, :15, :": 2, ":, :15, ::2": 1, ":, :15, ::3": 2, "3, :15, ::-1": 2, "::-1, 14::-1, ::-1": 1,
	} {
		sel, err := ParseSelection(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := resolve(g.shape[:g.ndim], sel)
		if err != nil {
			t.Fatal(err)
		}
		p := newPlan(g, &s)
		var c chunkPart
		var b box
		var l ndcopy.Copy
		if p.seek(&c, 0); !p.box(&b, &c, 0) {
			t.Fatalf("%s: nothing", text)
		}
		p.loops(&l, &b)
		l.Simplify()
		if n := loopsWithRows(&l, 4); n != want {
			t.Errorf("%s: %d loops, want %d", text, n, want)
		}
	}
}

// TestWalkAllocates checks that walking and copying leave the heap alone.
func TestWalkAllocates(t *testing.T) {
	g, err := newGeometry([]int64{60, 50, 40}, []int32{20, 30, 40}, []int32{7, 8, 9}, 4)
	if err != nil {
		t.Fatal(err)
	}
	block, user, blocks := make([]byte, g.blockBytes), make([]byte, g.items*g.itemSize), make([]int32, 0, g.blocks)
	step := int64(-3)
	if n := testing.AllocsPerRun(10, func() {
		s, err := resolve(g.shape[:g.ndim], []Index{Step(None, 7, step), Ellipsis, Step(1, None, 2)})
		if err != nil {
			t.Fatal(err)
		}
		p := newPlan(g, &s)
		var c chunkPart
		var b box
		visited := int64(0)
		for i := range p.chunks {
			p.seek(&c, i)
			blocks = p.appendBlocks(blocks[:0], &c)
			for _, i := range blocks {
				if p.box(&b, &c, i) {
					copyToUser(&b, user, block, 4)
					copyToBlock(&b, block, user, 4)
					setBlock(&b, block, user[:4])
					visited += b.items
				}
			}
			p.chunkBox(&b, &c)
			setUser(&b, user, block[:4])
		}
		if visited != p.items {
			t.Fatal(visited)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRead moves a selection of a 512 x 512 x 64 array from decoded blocks to the result.
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
	g, err := newGeometry([]int64{512, 512, 64}, []int32{128, 128, 64}, []int32{32, 32, 32}, itemSize)
	if err != nil {
		b.Fatal(err)
	}
	sel, err := ParseSelection(text)
	if err != nil {
		b.Fatal(err)
	}
	s, err := resolve(g.shape[:g.ndim], sel)
	if err != nil {
		b.Fatal(err)
	}
	p := newPlan(g, &s)
	block, user, blocks := make([]byte, g.blockBytes), make([]byte, p.items*itemSize), make([]int32, 0, g.blocks)
	b.SetBytes(p.items * itemSize)
	for b.Loop() {
		var c chunkPart
		var x box
		for i := range p.chunks {
			p.seek(&c, i)
			blocks = p.appendBlocks(blocks[:0], &c)
			for _, i := range blocks {
				if p.box(&x, &c, i) {
					copyToUser(&x, user, block, int(itemSize))
				}
			}
		}
	}
}

// BenchmarkBox finds one box of a block: the cost of a block apart from its bytes.
func BenchmarkBox(b *testing.B) {
	for _, text := range []string{":", "3:400, 3:500, 1:60", "::-3, ::7, ::2"} {
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			g, err := newGeometry([]int64{512, 512, 64}, []int32{128, 128, 64}, []int32{32, 32, 32}, 4)
			if err != nil {
				b.Fatal(err)
			}
			sel, _ := ParseSelection(text)
			s, _ := resolve(g.shape[:g.ndim], sel)
			p := newPlan(g, &s)
			var c chunkPart
			var x box
			p.seek(&c, p.chunks/2)
			b.SetBytes(g.blockBytes)
			for b.Loop() {
				if !p.box(&x, &c, 5) {
					b.Fatal("not touched")
				}
			}
		})
	}
}
