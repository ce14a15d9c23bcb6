package lookahead

import (
	"maps"
	"slices"
	"testing"
)

// newQueue returns a queue of items with stored sizes, and the set of those that are being read.
func newQueue(sizes []int64, stopped func()) (*Queue, map[int]bool) {
	running := map[int]bool{}
	return &Queue{Len: len(sizes), Bytes: func(i int) int64 { return sizes[i] }, Start: func(i int) func() {
		running[i] = true
		return func() {
			delete(running, i)
			stopped()
		}
	}}, running
}

// TestQueue uses items one after the other, and checks which are being read.
func TestQueue(t *testing.T) {
	const part = MaxBytes / 4
	q, running := newQueue([]int64{part, -1, part, 0, 3 * part, 10 * part, -1, part}, func() {})
	for i, want := range [][]int{{0, 2, 3}, {2, 3, 4}, {2, 3, 4}, {3, 4}, {4}, {5}, {7}, {7}} {
		q.Begin(i)
		if got := slices.Sorted(maps.Keys(running)); !slices.Equal(got, want) {
			t.Errorf("item %d: %v are being read, want %v", i, got, want)
		}
		q.End(i)
		q.End(i) // does nothing
	}
	if len(running) > 0 {
		t.Errorf("%v were not stopped", running)
	}
}

// TestStop stops as many items as are read at a time. Each of them panics.
func TestStop(t *testing.T) {
	q, running := newQueue(make([]int64, 2*MaxItems), func() { panic("stop") })
	q.Begin(0)
	if len(running) != MaxItems {
		t.Errorf("%d items are being read, want %d", len(running), MaxItems)
	}
	defer func() {
		if x := recover(); x != "stop" || len(running) > 0 {
			t.Errorf("panic %v, %v were not stopped", x, running)
		}
	}()
	q.Stop()
}
