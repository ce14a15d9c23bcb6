package remote

import (
	"cmp"
	"container/list"
	"context"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/internal/task"
)

// segment is a range of the object that is in memory or being loaded. data and err are set before done is closed.
type segment struct {
	Range
	data   []byte
	err    error
	exit   *task.Exit // of code of the user that has panicked
	done   chan struct{}
	load   *load // that fills it, until it is done
	refs   int   // calls that hold it
	pinned bool  // stays in memory
	table  *table
	elem   *list.Element // in table.cache
}

// loaded returns a segment with bytes that were read.
func loaded(off int64, data []byte) *segment {
	s := &segment{Range: Range{Off: off, Len: int64(len(data))}, data: data, done: make(chan struct{})}
	close(s.done)
	return s
}

// load is one read of the object that fills segments.
type load struct {
	Range
	segments []*segment
	cancel   context.CancelFunc
}

// table holds the segments of an object, which are disjoint. Calls that want the same bytes share their segments.
type table struct {
	*cache
	segments []*segment // ascending
}

// cache holds segments that are done and not pinned, of a table or of several. Its lock is also that of the tables.
type cache struct {
	mu    sync.Mutex
	lru   list.List // of segments; the front was used last
	bytes int64     // that the segments in lru count
	limit int64     // of bytes
}

// segmentCost is the memory for a segment besides its bytes.
const segmentCost = 288

// cost returns the number of bytes that a segment counts in a cache.
func (s *segment) cost() int64 { return s.Len + segmentCost }

// pin adds bytes that stay in memory.
func (t *table) pin(off int64, data []byte) {
	if len(data) == 0 {
		return
	}
	s := loaded(off, data)
	s.pinned = true
	t.mu.Lock()
	defer t.mu.Unlock()
	t.insert(s)
}

// add adds bytes that were read, and returns their segment, which the caller must release.
func (t *table) add(off int64, data []byte) *segment {
	s := loaded(off, data)
	s.refs = 1
	t.mu.Lock()
	defer t.mu.Unlock()
	t.insert(s)
	t.keep(s)
	return s
}

// addHeld adds a loaded segment for one caller, until the caller releases it. It is not in the cache, which may evict
// segments in use.
func (t *table) addHeld(off int64, data []byte) *segment {
	s := loaded(off, data)
	s.refs = 1
	t.mu.Lock()
	defer t.mu.Unlock()
	t.insert(s)
	return s
}

// clear removes all segments. No call may hold one.
func (t *table) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.segments) > 0 {
		t.remove(t.segments[len(t.segments)-1])
	}
}

// insert adds a segment.
func (t *table) insert(s *segment) {
	i, _ := slices.BinarySearchFunc(t.segments, s.Off, func(s *segment, off int64) int { return cmp.Compare(s.Off, off) })
	t.segments = slices.Insert(t.segments, i, s)
	s.table = t
}

// remove removes a segment, if it is there.
func (t *table) remove(s *segment) {
	i, ok := slices.BinarySearchFunc(t.segments, s.Off, func(s *segment, off int64) int { return cmp.Compare(s.Off, off) })
	if ok && t.segments[i] == s {
		t.segments = slices.Delete(t.segments, i, i+1)
	}
	if s.elem != nil {
		t.lru.Remove(s.elem)
		t.bytes -= s.cost()
		s.elem = nil
	}
}

// overlapping returns the segments that overlap a range, as a part of t.segments.
func (t *table) overlapping(r Range) []*segment {
	i, _ := slices.BinarySearchFunc(t.segments, r.Off, func(s *segment, off int64) int { return cmp.Compare(s.End(), off+1) })
	j := i
	for j < len(t.segments) && t.segments[j].Off < r.End() {
		j++
	}
	return t.segments[i:j]
}

// holes returns the parts of a range that no segment covers.
func (t *table) holes(holes []Range, r Range) []Range {
	at := r.Off
	for _, s := range t.overlapping(r) {
		if s.Off > at {
			holes = append(holes, Range{Off: at, Len: s.Off - at})
		}
		at = s.End()
	}
	if at < r.End() {
		holes = append(holes, Range{Off: at, Len: r.End() - at})
	}
	return holes
}

// missing returns the parts of ascending ranges that no segment covers, and the number of bytes of the ranges that are
// covered.
func (t *table) missing(want []Range) (holes []Range, hit int64) {
	end := int64(0)
	for _, r := range want {
		if at := max(r.Off, end); at < r.End() {
			end = r.End()
			hit += end - at
			holes = t.holes(holes, Range{Off: at, Len: end - at})
		}
	}
	for _, h := range holes {
		hit -= h.Len
	}
	return holes, hit
}

// hold returns the segments that cover ascending ranges, and the loads that the caller must start for them. The caller
// must release the segments. hit is the number of bytes that need no load.
func (t *table) hold(want []Range, m *ranges.Model) (held []*segment, loads []*load, hit int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	holes, hit := t.missing(want)
	for _, f := range ranges.Plan(holes, m) {
		l := &load{}
		for _, h := range t.holes(nil, f.Range) { // the gaps between wanted bytes may be in memory
			s := &segment{Range: h, done: make(chan struct{}), load: l}
			l.segments = append(l.segments, s)
			t.insert(s)
		}
		off, end := l.segments[0].Off, l.segments[len(l.segments)-1].End()
		l.Range = Range{Off: off, Len: end - off}
		loads = append(loads, l)
	}
	for _, r := range want {
		for _, s := range t.overlapping(r) {
			if len(held) > 0 && held[len(held)-1].Off >= s.Off {
				continue
			}
			if s.refs++; s.elem != nil {
				t.lru.MoveToFront(s.elem)
			}
			held = append(held, s)
		}
	}
	return held, loads, hit
}

// release ends the use of segments. A load is canceled if no reader needs its segments any more.
func (t *table) release(held []*segment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range held {
		if s.refs--; s.refs > 0 {
			continue
		}
		l := s.load
		switch {
		case l == nil:
			if s.elem == nil && !s.pinned {
				t.remove(s)
			}
		case !slices.ContainsFunc(l.segments, func(s *segment) bool { return s.refs > 0 }):
			for _, s := range l.segments {
				t.remove(s)
			}
			l.cancel()
		}
	}
}

// finish completes the segments of a load, with its bytes, or with an error or the exit of its goroutine.
func (t *table) finish(l *load, data []byte, err error, exit *task.Exit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range l.segments {
		s.load, s.err, s.exit = nil, err, exit
		if err != nil || exit != nil {
			t.remove(s)
		} else if s.data = data[s.Off-l.Off:][:s.Len:s.Len]; len(l.segments) > 1 && t.limit > 0 {
			s.data = slices.Clone(s.data) // so that the cache holds no more bytes than it counts
		}
		close(s.done)
	}
	if err == nil && exit == nil {
		for _, s := range l.segments {
			t.keep(s)
		}
	}
}

// keep adds a segment that is done to the cache, or removes it if no call holds it.
func (t *table) keep(s *segment) {
	if s.cost() > t.limit {
		if s.refs == 0 {
			t.remove(s)
		}
		return
	}
	i, ok := slices.BinarySearchFunc(t.segments, s.Off, func(s *segment, off int64) int { return cmp.Compare(s.Off, off) })
	if !ok || t.segments[i] != s {
		return // canceled
	}
	s.elem = t.lru.PushFront(s)
	for t.bytes += s.cost(); t.bytes > t.limit; {
		last := t.lru.Back().Value.(*segment)
		last.table.remove(last)
	}
}
