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
			n := 1 + rng.Int64N(20)
			x, ok := list.Allocate(0, n)
			if ok != hasRun(free[:], n) || ok && (x.Len() != n || slices.Contains(free[x.Off:x.End], false)) {
				t.Fatalf("step %d: %d bytes at %v, %v", step, n, x, ok)
			}
			set(x, false)
		default: // the used bytes of several ranges, in any order
			var add []Extent
			for i := range int64(size) {
				if i%100 < x.Len() && !free[i] {
					add = append(add, Extent{i, i + 1})
				}
			}
			rng.Shuffle(len(add), func(i, k int) { add[i], add[k] = add[k], add[i] })
			list.Add(append(add, Extent{x.Off, x.Off})...)
			for _, x := range add {
				set(x, true)
			}
		}
		var want FreeList
		for i := range int64(size) {
			if n := len(want); free[i] && n > 0 && want[n-1].End == i {
				want[n-1].End++
			} else if free[i] {
				want = append(want, Extent{i, i + 1})
			}
		}
		if !slices.Equal(list, want) {
			t.Fatalf("step %d: %v, want %v", step, list, want)
		}
	}
}

// hasRun reports whether n consecutive bytes are free.
func hasRun(free []bool, n int64) bool {
	run := int64(0)
	for _, x := range free {
		if run++; !x {
			run = 0
		}
		if run == n {
			return true
		}
	}
	return false
}

// readers is the number of readers of a state.
type readers int

func (r *readers) InUse() bool { return *r > 0 }

// TestPending compares Pending with the rule for each extent.
func TestPending(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	var p Pending[*readers]
	var states []*readers
	freed := map[Extent]bool{}
	for step := range int64(300) {
		state := readers(rng.IntN(3) / 2)
		states = append(states, &state)
		p.Add(&state, Extent{2 * step, 2*step + 1}, []Extent{{2*step + 1, 2*step + 2}}, nil)
		if k := rng.IntN(len(states)); rng.IntN(2) == 0 {
			*states[k] = 0
		}
		for _, x := range p.Release() {
			if freed[x] {
				t.Fatalf("step %d: %v is free twice", step, x)
			}
			freed[x] = true
		}
		waits := false // a state so far is in use
		for k, s := range states {
			waits = waits || s.InUse()
			own := Extent{2 * int64(k), 2*int64(k) + 1}
			if next := (Extent{own.End, own.End + 1}); freed[own] == s.InUse() || freed[next] == waits {
				t.Fatalf("step %d: %v free %v, %v free %v; state %d in use %v, an earlier one %v",
					step, own, freed[own], next, freed[next], k, s.InUse(), waits)
			}
		}
		for _, r := range p {
			if !r.owner.InUse() {
				t.Fatalf("step %d: a state without readers is kept", step)
			}
		}
	}
}
