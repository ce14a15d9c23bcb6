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

// FreeList is the free space of a storage: extents that neither overlap nor touch, sorted by offset.
type FreeList []Extent

// Add adds free space and joins extents that touch. It takes time in proportion to the list, so add many extents at
// once.
func (f *FreeList) Add(extents ...Extent) {
	list := append(*f, extents...)
	slices.SortFunc(list, func(x, y Extent) int { return cmp.Compare(x.Off, y.Off) })
	kept := list[:0]
	for _, x := range list {
		switch last := len(kept) - 1; {
		case x.Off >= x.End:
		case last >= 0 && kept[last].End == x.Off:
			kept[last].End = x.End
		default:
			kept = append(kept, x)
		}
	}
	*f = kept
}

// Reserve removes x from the free space.
func (f *FreeList) Reserve(x Extent) {
	if !slices.ContainsFunc(*f, x.Overlaps) {
		return
	}
	var kept []Extent
	for _, y := range *f {
		if y.Off < min(y.End, x.Off) {
			kept = append(kept, Extent{y.Off, min(y.End, x.Off)})
		}
		if max(y.Off, x.End) < y.End {
			kept = append(kept, Extent{max(y.Off, x.End), y.End})
		}
	}
	*f = kept
}

// Allocate takes n bytes from the first extent that has n bytes at or after offset from.
func (f *FreeList) Allocate(from, n int64) (Extent, bool) {
	for i := range *f {
		x := &(*f)[i]
		if x.Off < from {
			x.Off = min(from, x.End)
		}
		if x.Len() >= n {
			off := x.Off
			switch x.Off += n; {
			case x.Off < x.End:
			case i == 0: // moves nothing
				*f = (*f)[1:]
			default:
				*f = slices.Delete(*f, i, i+1)
			}
			return Extent{off, off + n}, true
		}
	}
	return Extent{}, false
}

// Len returns the number of free bytes.
func (f FreeList) Len() int64 {
	sum := int64(0)
	for _, x := range f {
		sum += x.Len()
	}
	return sum
}

// Owner is a state that uses extents.
type Owner interface {
	InUse() bool // reports whether it has readers
}

// Pending holds pending frees: extents that become free when the readers of a state, and of all states before it, are
// gone.
type Pending[O Owner] []pendingFree[O]

type pendingFree[O Owner] struct {
	owner    O
	own      Extent // no other state uses it; may be empty
	extents  []Extent
	replaced io.Closer // a storage or directory that another one has replaced, or nil
}

// Add adds the extents that no state after owner uses, and own, which only owner uses, and which may be empty. replaced
// may be nil; it is closed when neither owner nor a state before it is in use. Add retains extents.
func (p *Pending[O]) Add(owner O, own Extent, extents []Extent, replaced io.Closer) {
	*p = append(*p, pendingFree[O]{owner, own, extents, replaced})
}

// Release returns the extents that are no longer in use, and removes them from p. The extents of an owner without
// readers that wait for an earlier state become those of that state, so that p does not keep the owner.
func (p *Pending[O]) Release() (free []Extent) {
	var replaced []io.Closer
	kept := (*p)[:0]
	for _, r := range *p {
		if r.owner.InUse() {
			kept = append(kept, r)
			continue
		}
		if r.own.Len() > 0 {
			free = append(free, r.own)
			r.own = Extent{}
		}
		switch last := len(kept) - 1; {
		case last < 0:
			free = append(free, r.extents...)
			if r.replaced != nil {
				replaced = append(replaced, r.replaced)
			}
		case r.replaced == nil:
			kept[last].extents = append(kept[last].extents, r.extents...)
		default:
			kept = append(kept, r)
		}
	}
	clear((*p)[len(kept):])
	*p = kept
	for _, c := range replaced {
		c.Close() // nothing was written to it since it was synced
	}
	return free
}

// All yields all extents with their owners.
func (p Pending[O]) All() iter.Seq2[O, Extent] {
	return func(yield func(O, Extent) bool) {
		for _, r := range p {
			if r.own.Len() > 0 && !yield(r.owner, r.own) {
				return
			}
			for _, x := range r.extents {
				if !yield(r.owner, x) {
					return
				}
			}
		}
	}
}

// Owners yields the states that wait for their readers.
func (p Pending[O]) Owners() iter.Seq[O] {
	return func(yield func(O) bool) {
		for _, r := range p {
			if !yield(r.owner) {
				return
			}
		}
	}
}

// Overlaps reports whether x overlaps a pending extent.
func (p Pending[O]) Overlaps(x Extent) bool {
	return slices.ContainsFunc(p, func(r pendingFree[O]) bool {
		return r.own.Overlaps(x) || slices.ContainsFunc(r.extents, x.Overlaps)
	})
}

// Forget removes the extents, because other bytes may be stored there now, but keeps the owners.
func (p Pending[O]) Forget() {
	for i := range p {
		p[i].own, p[i].extents = Extent{}, nil
	}
}

// Close closes the storages that were replaced.
func (p Pending[O]) Close() {
	for _, r := range p {
		if r.replaced != nil {
			r.replaced.Close()
		}
	}
}
