package lazy

import (
	"sync"

	"github.com/goblosc/blosc2/meta"
)

// apply computes n items. Each argument has n items, or is a constant with one item. The result may be an argument.
type apply func(s *scratch, args []vec, n int) (vec, error)

// scratch has the memory of the vectors of a goroutine, which blocks use one after the other.
type scratch struct {
	ints   stack[int64]
	floats stack[float64]
}

// stack is slices, of which the first ones are in use.
type stack[T any] struct {
	slices [][]T
	used   int
}

// take returns a slice of n items with undefined contents.
func (s *stack[T]) take(n int) []T {
	if s.used == len(s.slices) {
		s.slices = append(s.slices, nil)
	}
	if cap(s.slices[s.used]) < n {
		s.slices[s.used] = make([]T, n)
	}
	s.used++
	return s.slices[s.used-1][:n:n]
}

// release frees all slices from number first up, except x.
func (s *stack[T]) release(first int, x []T) {
	for k := first; k < s.used && len(x) > 0; k++ {
		if list := s.slices; len(list[k]) > 0 && &list[k][0] == &x[0] {
			list[first], list[k] = list[k], list[first]
			s.used = first + 1
			return
		}
	}
	s.used = first
}

// newVec returns n items of a dtype, with undefined contents.
func (s *scratch) newVec(d meta.DType, n int) vec {
	if isFloat(d) {
		return vec{d: d, f: s.floats.take(n)}
	}
	return vec{d: d, i: s.ints.take(n)}
}

// spread returns v with n items, which are copies if it has one.
func (v vec) spread(s *scratch, n int) vec {
	if len(v.i)+len(v.f) == n {
		return v
	}
	out := s.newVec(v.d, n)
	for k := range out.i {
		out.i[k] = v.i[0]
	}
	for k := range out.f {
		out.f[k] = v.f[0]
	}
	return out
}

// scratches has the memory of the goroutines of a call that computes an array.
type scratches struct {
	mu   sync.Mutex
	free []*scratch
}

// take returns memory that no goroutine uses.
func (l *scratches) take() *scratch {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.free) - 1
	if last < 0 {
		return new(scratch)
	}
	s := l.free[last]
	l.free = l.free[:last]
	return s
}

// put returns memory for later blocks.
func (l *scratches) put(s *scratch) {
	s.ints.used, s.floats.used = 0, 0
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, s)
}
