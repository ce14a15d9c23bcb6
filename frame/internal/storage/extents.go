package storage

import (
	"cmp"
	"io"
	"iter"
	"slices"
)

// Extent is a range of bytes.
type Extent struct{ Off, End int64 }

// Len returns the number of bytes.
func (x Extent) Len() int64 { return x.End - x.Off }

// Overlaps reports whether x and y have a byte in common.
func (x Extent) Overlaps(y Extent) bool { return max(x.Off, y.Off) < min(x.End, y.End) }

// From returns the part of x at off and after it, which may be empty.
func (x Extent) From(off int64) Extent { return Extent{min(max(x.Off, off), x.End), x.End} }

// FreeList is the free space of a storage: extents that are not empty and neither overlap nor touch, sorted by offset.
// They are in groups, so that no call looks at all of them.
type FreeList struct {
	groups []freeGroup // none is empty
	bytes  int64
}

// freeGroup is a part of a FreeList.
type freeGroup struct {
	list []Extent // at most maxGroup
	most int64    // the largest length
}

const maxGroup = 512

// Add adds free space and joins extents that touch.
func (f *FreeList) Add(extents ...Extent) {
	for _, x := range extents {
		if x.Off < x.End {
			f.Reserve(x) // also correct if some of it is free already
			f.add(x)
		}
	}
}

func (f *FreeList) add(x Extent) {
	f.bytes += x.Len()
	g, i := f.find(x.Off - 1)
	if g == len(f.groups) { // x is the last
		if g == 0 {
			f.groups = append(f.groups, freeGroup{})
		}
		g = len(f.groups) - 1
		i = len(f.groups[g].list)
		f.replace(g, i, i, x)
		return
	}
	list, k := f.groups[g].list, i
	if list[k].End == x.Off {
		x.Off = list[k].Off
		k++
	}
	switch {
	case k < len(list):
		if list[k].Off == x.End {
			x.End = list[k].End
			k++
		}
	case g+1 < len(f.groups):
		if next := f.groups[g+1].list[0]; next.Off == x.End {
			x.End = next.End
			f.replace(g+1, 0, 1)
		}
	}
	f.replace(g, i, k, x)
}

// find returns the position of the first extent that ends after off: its group, or the number of groups if there is
// none, and its index in the group.
func (f *FreeList) find(off int64) (g, i int) {
	end := func(x Extent, off int64) int { return cmp.Compare(x.End, off+1) }
	g, _ = slices.BinarySearchFunc(f.groups, off, func(y freeGroup, off int64) int { return end(y.list[len(y.list)-1], off) })
	if g < len(f.groups) {
		i, _ = slices.BinarySearchFunc(f.groups[g].list, off, end)
	}
	return g, i
}

// replace replaces extents i to k-1 of a group. It splits a group that becomes too large, and removes an empty one.
func (f *FreeList) replace(g, i, k int, by ...Extent) {
	most := f.groups[g].most
	if slices.ContainsFunc(f.groups[g].list[i:k], func(x Extent) bool { return x.Len() == most }) {
		most = -1 // perhaps of these alone
	}
	list := slices.Replace(f.groups[g].list, i, k, by...)
	n := len(list)
	if n == 0 {
		f.groups = slices.Delete(f.groups, g, g+1)
		return
	}
	if n > maxGroup {
		n /= 2
		f.groups = slices.Insert(f.groups, g+1, newFreeGroup(slices.Clone(list[n:])))
		most = -1
	}
	if most < 0 {
		f.groups[g] = newFreeGroup(list[:n])
		return
	}
	for _, x := range by {
		most = max(most, x.Len())
	}
	f.groups[g] = freeGroup{list, most}
}

func newFreeGroup(list []Extent) freeGroup {
	most := int64(0)
	for _, x := range list {
		most = max(most, x.Len())
	}
	return freeGroup{list, most}
}

// Reserve removes x from the free space.
func (f *FreeList) Reserve(x Extent) {
	for x.Off < x.End {
		g, i := f.find(x.Off)
		if g == len(f.groups) {
			return
		}
		y := f.groups[g].list[i]
		if y.Off >= x.End {
			return
		}
		var kept []Extent
		if y.Off < x.Off {
			kept = append(kept, Extent{y.Off, x.Off})
		}
		if x.End < y.End {
			kept = append(kept, Extent{x.End, y.End})
		}
		f.bytes -= min(x.End, y.End) - max(x.Off, y.Off)
		f.replace(g, i, i+1, kept...)
	}
}

// Allocate takes n bytes from the first extent that has n bytes at or after offset from. It removes the free space
// before from.
func (f *FreeList) Allocate(from, n int64) (Extent, bool) {
	f.Reserve(Extent{End: from})
	for _, g := range f.groups {
		if g.most < n {
			continue
		}
		i := slices.IndexFunc(g.list, func(x Extent) bool { return x.Len() >= n })
		x := Extent{g.list[i].Off, g.list[i].Off + n}
		f.Reserve(x)
		return x, true
	}
	return Extent{}, false
}

// Len returns the number of free bytes.
func (f *FreeList) Len() int64 { return f.bytes }

// End returns the end of the last extent, or 0.
func (f *FreeList) End() int64 {
	if len(f.groups) == 0 {
		return 0
	}
	list := f.groups[len(f.groups)-1].list
	return list[len(list)-1].End
}

// All yields the extents.
func (f *FreeList) All() iter.Seq[Extent] {
	return func(yield func(Extent) bool) {
		for _, g := range f.groups {
			for _, x := range g.list {
				if !yield(x) {
					return
				}
			}
		}
	}
}

// Owner is a state that uses extents.
type Owner interface {
	InUse() bool // reports whether it has readers
}

// Pending holds pending frees: extents that become free when no state that has them has readers any more. These are the
// states from the one that the extent was written for to the last one before it was freed.
type Pending[O Owner] struct {
	list  []pendingFree[O] // in the order of the states
	state int64            // the number of the newest state

	// born has the first state of extents that were written while an older state was in use, by offset. Other extents
	// may belong to all states.
	born map[int64]int64
}

type pendingFree[O Owner] struct {
	owner    O
	state    int64  // the number of owner
	own      Extent // no other state uses it; may be empty
	extents  []pendingExtent
	replaced io.Closer // a storage or directory that another one has replaced, or nil
}

// pendingExtent is an extent of the states from born to one that is not before the state that it waits for.
type pendingExtent struct {
	Extent
	born int64
}

// Add adds the extents that no state after owner uses, and own, which only owner uses, and which may be empty. The keys
// of written are the offsets of the extents that no state up to owner uses. replaced may be nil; it is closed when
// neither owner nor a state before it is in use.
func (p *Pending[O]) Add(owner O, own Extent, extents []Extent, written map[int64]int64, replaced io.Closer) {
	r := pendingFree[O]{owner, p.state, own, make([]pendingExtent, len(extents)), replaced}
	for i, x := range extents {
		r.extents[i] = pendingExtent{x, p.born[x.Off]}
		delete(p.born, x.Off)
	}
	p.state++
	if len(p.list) > 0 || owner.InUse() {
		if p.born == nil {
			p.born = map[int64]int64{}
		}
		for off := range written {
			p.born[off] = p.state
		}
	}
	p.list = append(p.list, r)
}

// Release returns the extents that are no longer in use, and removes them from p. The extents of an owner without
// readers that wait for an earlier state become those of that state, so that p does not keep the owner.
func (p *Pending[O]) Release() (free []Extent) {
	var replaced []io.Closer
	kept := p.list[:0]
	for _, r := range p.list {
		if r.owner.InUse() {
			kept = append(kept, r)
			continue
		}
		if r.own.Len() > 0 {
			free = append(free, r.own)
			r.own = Extent{}
		}
		if len(kept) > 0 && r.replaced != nil {
			kept = append(kept, r)
			continue
		}
		for _, x := range r.extents {
			// No state between the last one in use and r is in use.
			if last := len(kept) - 1; last >= 0 && kept[last].state >= x.born {
				kept[last].extents = append(kept[last].extents, x)
			} else {
				free = append(free, x.Extent)
			}
		}
		if r.replaced != nil {
			replaced = append(replaced, r.replaced)
		}
	}
	clear(p.list[len(kept):])
	p.list = kept
	if len(kept) == 0 {
		p.born = nil // no state is older than the newest
	}
	for _, c := range replaced {
		c.Close() // nothing was written to it since it was synced
	}
	return free
}

// Len returns the number of states that wait for their readers.
func (p *Pending[O]) Len() int { return len(p.list) }

// All yields all extents with their owners.
func (p *Pending[O]) All() iter.Seq2[O, Extent] {
	return func(yield func(O, Extent) bool) {
		for _, r := range p.list {
			if r.own.Len() > 0 && !yield(r.owner, r.own) {
				return
			}
			for _, x := range r.extents {
				if !yield(r.owner, x.Extent) {
					return
				}
			}
		}
	}
}

// Owners yields the states that wait for their readers.
func (p *Pending[O]) Owners() iter.Seq[O] {
	return func(yield func(O) bool) {
		for _, r := range p.list {
			if !yield(r.owner) {
				return
			}
		}
	}
}

// Overlaps reports whether x overlaps a pending extent.
func (p *Pending[O]) Overlaps(x Extent) bool {
	return slices.ContainsFunc(p.list, func(r pendingFree[O]) bool {
		return r.own.Overlaps(x) || slices.ContainsFunc(r.extents, func(y pendingExtent) bool { return x.Overlaps(y.Extent) })
	})
}

// Forget removes the extents, because other bytes may be stored there now, but keeps the owners.
func (p *Pending[O]) Forget() {
	for i := range p.list {
		p.list[i].own, p.list[i].extents = Extent{}, nil
	}
	p.born = nil
}

// Close closes the storages that were replaced.
func (p *Pending[O]) Close() {
	for _, r := range p.list {
		if r.replaced != nil {
			r.replaced.Close()
		}
	}
}
