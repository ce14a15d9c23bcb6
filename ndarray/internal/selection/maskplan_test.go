package selection

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// randomMask returns n booleans: few, many, all, or runs of equal ones.
func randomMask(r *rand.Rand, n int64) []bool {
	keep := make([]bool, n)
	kind, run := r.IntN(5), false
	for i := range keep {
		switch kind {
		case 0:
			keep[i] = r.IntN(20) == 0
		case 1:
			keep[i] = r.IntN(2) == 0
		case 2:
			keep[i] = true
		case 3:
			keep[i] = r.IntN(20) > 0
		case 4:
			if r.IntN(30) == 0 {
				run = !run
			}
			keep[i] = run
		}
	}
	return keep
}

// checkMaskPlan compares the plan of a mask with that of a list of the same items.
func checkMaskPlan(t *testing.T, r *rand.Rand) {
	t.Helper()
	ctx := context.Background()
	g, m, shape := randomView(r)
	if g == nil {
		return
	}
	total, _ := grid.Product(shape)
	keep := randomMask(r, total)
	sel := []Index{Mask(keep, shape)}
	s, err := Resolve(shape, sel)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, k := range keep {
		if k {
			n++
		}
	}
	if s.Items != int64(n) {
		t.Fatalf("%d selected items, want %d", s.Items, n)
	}
	if n == 0 {
		return
	}
	list, err := NewListPlan(ctx, g, m, &s, sel)
	if err != nil {
		t.Fatal(err)
	}
	mask, err := NewMaskPlan(ctx, g, m, &s, sel)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(shape) < grid.MaxDims && n > len(keep)/64 && g.ChunkBytes >= 64*g.ItemSize; want != (mask != nil) {
		t.Fatalf("mask of %v with %d true values: plan of the mask: %v, want %v", shape, n, mask != nil, want)
	} else if !want {
		return
	}

	size := int(g.ItemSize)
	user := make([]byte, n*size)
	for i := range user {
		user[i] = byte(r.Uint32())
	}
	read, want := make([]byte, len(user)), make([]byte, len(user))
	filled, wantFilled := make([]byte, len(user)), make([]byte, len(user))
	var part ChunkPart
	var listPart ListPart
	next := int64(0)
	numbers := map[int64]bool{}
	for mask.Next(&part, &next) {
		numbers[part.Number] = true
	}
	list.First(&listPart)
	for next = 0; ; {
		// Chunks come in another order, so look for that of the list.
		if !numbers[listPart.Number] {
			t.Fatalf("mask of %v: chunk %d is missing", shape, listPart.Number)
		}
		delete(numbers, listPart.Number)
		for next = 0; mask.Next(&part, &next) && part.Number != listPart.Number; {
		}
		checkMaskChunk(t, r, mask, list, &part, &listPart, user, read, want)
		item := user[:size]
		byList := ListMover{Plan: list, User: wantFilled, Some: true, One: true}
		list.ChunkBox(&byList.Part, &listPart)
		byList.Move(item, false)
		mask.Fill(&part, filled, item)
		if !list.Next(&listPart) {
			break
		}
	}
	if len(numbers) > 0 || !bytes.Equal(read, want) || !bytes.Equal(filled, wantFilled) {
		t.Fatalf("mask of %v: reads differ, or more chunks are read: %v", shape, numbers)
	}
}

// checkMaskChunk compares the blocks of a chunk. Both plans read it, to read and want, and write it from user.
func checkMaskChunk(t *testing.T, r *rand.Rand, mask *MaskPlan, list *ListPlan, part *ChunkPart, listPart *ListPart, user, read, want []byte) {
	t.Helper()
	g := mask.Geo
	var mover MaskMover
	have, blocks := mask.AppendBlocks(nil, part), list.AppendBlocks(nil, listPart)
	blocks = slices.DeleteFunc(blocks, func(k int32) bool { return !list.Box(&listBox{}, listPart, k) })
	if !slices.Equal(have, blocks) {
		t.Fatalf("blocks %v of chunk %d, want %v", have, part.Number, blocks)
	}
	if have, want := mask.Covers(part), list.Covers(listPart); have != want {
		t.Fatalf("covers chunk %d: %v, want %v", part.Number, have, want)
	}
	for k := range int32(g.Blocks) {
		block := make([]byte, g.BlockBytes)
		for i := range block {
			block[i] = byte(r.Uint32())
		}
		byList := ListMover{Plan: list, User: want}
		byList.Some = list.Box(&byList.Part, listPart, k)
		end := mover.Set(mask, part, k, read, false, false)
		if byList.Some != (end > 0) || end > 0 && end != list.End(&byList.Part) {
			t.Fatalf("block %d of chunk %d ends at %d", k, part.Number, end)
		}
		byList.Move(block, false)
		mover.Move(block, false)

		one, kept := r.IntN(2) == 0, r.IntN(2) == 0
		other := bytes.Clone(block)
		byList.User, byList.ToBlock, byList.One = user, true, one
		mover.Set(mask, part, k, user, true, one)
		byList.Move(block, kept)
		mover.Move(other, kept)
		if !bytes.Equal(block, other) {
			t.Fatalf("writes differ in block %d of chunk %d", k, part.Number)
		}
	}
}

// TestMaskPlanAgainstLists compares plans of masks with plans of lists of the same items.
func TestMaskPlanAgainstLists(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	for range 2000 {
		checkMaskPlan(t, r)
	}
}

// FuzzMaskPlan compares plans of masks with plans of lists of the same items.
func FuzzMaskPlan(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkMaskPlan(t, rand.New(rand.NewPCG(seed, 4))) })
}

// TestMaskPlanWide reads an item of a view whose items would have more bytes than a system of 32 bits can address.
func TestMaskPlanWide(t *testing.T) {
	ctx := context.Background()
	const n, size = 4096, 1 << 19
	g, err := grid.NewGeometry([]int64{n}, []int32{64}, []int32{1}, size)
	if err != nil {
		t.Fatal(err)
	}
	m := Identity(g, meta.DType{Size: size})
	m.Axes[0], m.Axes[1] = ViewAxis{Axis: -1, Step: 1, Count: 2}, m.Axes[0]
	m.Ndim = 2
	keep := make([]bool, 2*n)
	for i := n + 64; i < n+64+130; i++ {
		keep[i] = true
	}
	sel := []Index{Mask(keep, []int64{2, n})}
	s, err := Resolve([]int64{2, n}, sel)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewMaskPlan(ctx, g, &m, &s, sel)
	if err != nil {
		t.Fatal(err)
	}
	var part ChunkPart
	var mover MaskMover
	next := int64(0)
	for k := range 3 {
		if !p.Next(&part, &next) || part.Number != int64(k)+1 {
			t.Fatalf("chunk %d, want %d", part.Number, k+1)
		}
	}
	user, block := make([]byte, 130*size), make([]byte, size)
	block[0] = 9
	if end := mover.Set(p, &part, 1, user, false, false); end != size {
		t.Errorf("block ends at %d", end)
	}
	mover.Move(block, false)
	if at := bytes.IndexByte(user, 9); at != (2*64+1)*size || p.Next(&part, &next) {
		t.Errorf("item is at byte %d", at)
	}
}

// TestMaskPlanLimits checks which masks have a plan of their own, and that looking for the next chunk ends with ctx.
func TestMaskPlanLimits(t *testing.T) {
	plan := func(ctx context.Context, chunk, block int32, every int) *MaskPlan {
		g, err := grid.NewGeometry([]int64{1 << 21}, []int32{chunk}, []int32{block}, 1)
		if err != nil {
			t.Fatal(err)
		}
		keep := make([]bool, g.Items)
		for i := 0; i < len(keep); i += every {
			keep[i] = true
		}
		sel := []Index{Mask(keep, g.Shape[:1])}
		s, err := Resolve(g.Shape[:1], sel)
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewMaskPlan(ctx, g, nil, &s, sel)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	ctx, cancel := context.WithCancel(context.Background())
	for _, x := range []struct {
		chunk, block int32
		every        int
		want         bool
	}{{64, 64, 2, true}, {63, 63, 2, false}, {1 << 16, 1, 2, true}, {1<<16 + 1, 1, 2, false}, {64, 64, 63, true}, {64, 64, 64, false}} {
		if p := plan(ctx, x.chunk, x.block, x.every); (p != nil) != x.want {
			t.Errorf("chunks of %d, blocks of %d, every %d: plan of the mask: %v", x.chunk, x.block, x.every, p != nil)
		}
	}
	p := plan(ctx, 64, 64, 2)
	for i := range p.words[:len(p.words)-1] {
		p.words[i] = maskWord{} // no chunk has selected items
	}
	p.words[len(p.words)-1].before = 0
	var part ChunkPart
	next := int64(0)
	cancel()
	if !p.Next(&part, &next) || next == p.Chunks {
		t.Errorf("Next goes on after the context has ended, to chunk %d", next)
	}
}
