package storage

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFreeList compares a FreeList with one bit for each byte.
func TestFreeList(t *testing.T) {
	const size = 400
	rng := rand.New(rand.NewPCG(3, 0))
	var list FreeList
	var free [size]bool
	set := func(x Extent, to bool) {
		for i := x.Off; i < x.End; i++ {
			free[i] = to
		}
	}
	for step := range 20_000 {
		x := Extent{Off: rng.Int64N(size)}
		x.End = x.Off + rng.Int64N(min(30, size-x.Off))
		switch rng.IntN(4) {
		case 0:
			list.Reserve(x)
			set(x, false)
		case 1:
			from, n := rng.Int64N(size)*rng.Int64N(2)/8, 1+rng.Int64N(20)
			set(Extent{0, from}, false)
			x, ok := list.Allocate(from, n)
			if off := firstRun(free[:], n); ok != (off >= 0) || ok && x != (Extent{off, off + n}) {
				t.Fatalf("step %d: %d bytes at %v, %v, want offset %d", step, n, x, ok, off)
			}
			set(x, false)
		default: // bytes of several ranges, in any order, also bytes that are free
			var add []Extent
			for i := range int64(size) {
				if i%100 < x.Len() && (!free[i] || rng.IntN(8) == 0) {
					add = append(add, Extent{i, i + 1})
				}
			}
			rng.Shuffle(len(add), func(i, k int) { add[i], add[k] = add[k], add[i] })
			list.Add(append(add, Extent{x.Off, x.Off})...)
			for _, x := range add {
				set(x, true)
			}
		}
		var want []Extent
		for i := range int64(size) {
			if n := len(want); free[i] && n > 0 && want[n-1].End == i {
				want[n-1].End++
			} else if free[i] {
				want = append(want, Extent{i, i + 1})
			}
		}
		if got := slices.Collect(list.All()); !slices.Equal(got, want) {
			t.Fatalf("step %d: %v, want %v", step, got, want)
		}
		checkFreeList(t, &list)
	}
}

// firstRun returns the offset of the first n consecutive bytes that are free, or -1.
func firstRun(free []bool, n int64) int64 {
	run := int64(0)
	for i, x := range free {
		if run++; !x {
			run = 0
		}
		if run == n {
			return int64(i) + 1 - n
		}
	}
	return -1
}

// checkFreeList checks what a FreeList knows about its extents, and that the groups are small.
func checkFreeList(t *testing.T, f *FreeList) {
	t.Helper()
	bytes, end := int64(0), int64(0)
	for _, g := range f.groups {
		most := int64(0)
		for _, x := range g.list {
			bytes, end, most = bytes+x.Len(), x.End, max(most, x.Len())
		}
		if len(g.list) == 0 || len(g.list) > maxGroup || most != g.most {
			t.Fatalf("a group of %d extents, of at most %d bytes, want %d", len(g.list), g.most, most)
		}
	}
	if f.Len() != bytes || f.End() != end {
		t.Fatalf("%d bytes, end %d, want %d, %d", f.Len(), f.End(), bytes, end)
	}
}

// TestFreeListLarge compares a FreeList of many groups with a list that is searched from the start.
func TestFreeListLarge(t *testing.T) {
	const slots, slot = 10_000, 16
	rng := rand.New(rand.NewPCG(5, 0))
	var list FreeList
	var naive []Extent
	var used []Extent
	for i := range int64(slots) {
		used = append(used, Extent{i * slot, i*slot + slot})
	}
	groups := 0
	for step := range 4 * slots {
		frees := rng.IntN(3) > 0
		if step >= 2*slots { // the list becomes short again
			frees = rng.IntN(3) == 0
		}
		if frees && len(used) > 0 {
			k := rng.IntN(len(used))
			x := used[k]
			used = slices.Delete(used, k, k+1)
			list.Add(x)
			i := 0
			for i < len(naive) && naive[i].End < x.Off {
				i++
			}
			k = i
			for ; k < len(naive) && naive[k].Off <= x.End; k++ {
				x.Off, x.End = min(x.Off, naive[k].Off), max(x.End, naive[k].End)
			}
			naive = slices.Replace(naive, i, k, x)
			groups = max(groups, len(list.groups))
			continue
		}
		n := 1 + rng.Int64N(3*slot)
		x, ok := list.Allocate(0, n)
		i := slices.IndexFunc(naive, func(x Extent) bool { return x.Len() >= n })
		if ok != (i >= 0) || ok && x != (Extent{naive[i].Off, naive[i].Off + n}) {
			t.Fatalf("step %d: %d bytes at %v, %v, want extent %d", step, n, x, ok, i)
		}
		if !ok {
			continue
		}
		used = append(used, x)
		if naive[i].Off = x.End; naive[i].Len() == 0 {
			naive = slices.Delete(naive, i, i+1)
		}
	}
	if !slices.Equal(slices.Collect(list.All()), naive) || groups < 4 {
		t.Fatalf("other extents, or only %d groups", groups)
	}
	checkFreeList(t, &list)
}

// TestFreeListCost counts the groups and extents that calls look at, in a list of many extents that are too small.
func TestFreeListCost(t *testing.T) {
	const n = 100_000
	var list FreeList
	for i := range int64(n) { // not in order
		i = i * 7919 % n
		list.Add(Extent{32 * i, 32*i + 16})
	}
	checkFreeList(t, &list)
	if cost := len(list.groups) + maxGroup; cost > n/64 { // of each call
		t.Errorf("a call looks at %d groups and extents of %d", cost, n)
	}
	for i := range int64(n) {
		if x, ok := list.Allocate(0, 17); ok {
			t.Fatalf("17 bytes at %v", x)
		}
		list.Reserve(Extent{32 * i, 32*i + 8})
	}
	if list.Len() != n*8 {
		t.Errorf("%d bytes", list.Len())
	}
}

// readers is the number of readers of a state.
type readers int

func (r *readers) InUse() bool { return *r > 0 }

// TestPending compares Pending with the rule for each extent: it is free when none of its states is in use.
func TestPending(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	type life struct {
		Extent
		born, last int // numbers of states
	}
	var p Pending[*readers]
	var states []*readers
	var live, dead []life
	free := map[Extent]bool{}
	for step := range 300 {
		state := readers(rng.IntN(3) / 2)
		states = append(states, &state)
		var freed []Extent
		for range min(len(live), rng.IntN(3)) {
			k := rng.IntN(len(live))
			x := live[k]
			live, x.last = slices.Delete(live, k, k+1), step
			dead, freed = append(dead, x), append(freed, x.Extent)
		}
		written := map[int64]int64{}
		for i := range int64(2) {
			x := Extent{3*int64(step) + i, 3*int64(step) + i + 1}
			written[x.Off] = x.End
			live = append(live, life{x, step + 1, 0})
		}
		own := Extent{3*int64(step) + 2, 3*int64(step) + 3}
		dead = append(dead, life{own, step, step})
		p.Add(&state, own, freed, written, nil)
		if k := rng.IntN(len(states)); rng.IntN(2) == 0 {
			*states[k] = 0
		}
		for _, x := range p.Release() {
			if free[x] {
				t.Fatalf("step %d: %v is free twice", step, x)
			}
			free[x] = true
		}
		for _, x := range dead {
			if inUse := slices.ContainsFunc(states[x.born:x.last+1], (*readers).InUse); free[x.Extent] == inUse {
				t.Fatalf("step %d: %v of states %d to %d, in use %v, free %v", step, x.Extent, x.born, x.last, inUse, free[x.Extent])
			}
		}
		if len(free) > len(dead) {
			t.Fatalf("step %d: %d extents are free, %d dead", step, len(free), len(dead))
		}
		for _, r := range p.list {
			if !r.owner.InUse() {
				t.Fatalf("step %d: a state without readers is kept", step)
			}
		}
		if len(p.born) > len(live) {
			t.Fatalf("step %d: the first states of %d extents, %d are live", step, len(p.born), len(live))
		}
	}
}
