package selection

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

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
	g, _ := randomCase(r)
	if g.Items == 0 || g.Ndim == 0 {
		return
	}
	m := randomMapping(r, g)
	var buf grid.Dims
	shape := m.Shape(&buf)
	total, _ := grid.Product(shape)
	keep := randomMask(r, total)
	sel := []Index{Mask(keep, shape)}
	x := OneMask(sel, len(shape))
	if (x == nil) != (len(shape) == grid.MaxDims) {
		t.Fatalf("mask of %v is not found", shape)
	}
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
	if n == 0 || x == nil {
		return
	}
	list, err := NewListPlan(ctx, g, m, &s, sel)
	if err != nil {
		t.Fatal(err)
	}
	mask, err := NewMaskPlan(ctx, WholePlan(g, m), keep)
	if err != nil {
		t.Fatal(err)
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
	var mover MaskMover
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
		have, blocks := mask.AppendBlocks(nil, &part), list.AppendBlocks(nil, &listPart)
		blocks = slices.DeleteFunc(blocks, func(k int32) bool { return !list.Box(&listBox{}, &listPart, k) })
		if !slices.Equal(have, blocks) {
			t.Fatalf("mask of %v: blocks %v of chunk %d, want %v", shape, have, part.Number, blocks)
		}
		if have, want := mask.Covers(&part), list.Covers(&listPart); have != want {
			t.Fatalf("mask of %v: covers chunk %d: %v, want %v", shape, part.Number, have, want)
		}
		for k := range int32(g.Blocks) {
			block := make([]byte, g.BlockBytes)
			for i := range block {
				block[i] = byte(r.Uint32())
			}
			byList := ListMover{Plan: list, User: want}
			byList.Some = list.Box(&byList.Part, &listPart, k)
			end := mover.Set(mask, &part, k, read, false, false)
			if byList.Some != (end > 0) || end > 0 && end != list.End(&byList.Part) {
				t.Fatalf("mask of %v: block %d of chunk %d ends at %d", shape, k, part.Number, end)
			}
			byList.Move(block, false)
			mover.Move(block, false)

			one, kept := r.IntN(2) == 0, r.IntN(2) == 0
			other := bytes.Clone(block)
			byList.User, byList.ToBlock, byList.One = user, true, one
			mover.Set(mask, &part, k, user, true, one)
			byList.Move(block, kept)
			mover.Move(other, kept)
			if !bytes.Equal(block, other) {
				t.Fatalf("mask of %v: writes differ in block %d of chunk %d", shape, k, part.Number)
			}
		}
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
