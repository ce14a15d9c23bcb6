// Package lookahead begins to read items before their turn, within limits on their number and their stored bytes.
package lookahead

import "slices"

// The limits for items that are being read.
const (
	MaxItems = 16
	MaxBytes = 64 << 20 // stored
)

// Queue is items that are used one after the other. One goroutine uses it. Set its exported fields first.
type Queue struct {
	Len   int
	Bytes func(i int) int64         // stored bytes of item i; a negative number if it is not to be read ahead
	Start func(i int) (stop func()) // begins to read item i

	begun   int // the items before it were started, if they are to be read ahead
	running []running
	bytes   int64 // of running
}

type running struct {
	item  int
	bytes int64
	stop  func()
}

// Begin starts item i and later ones within the limits.
func (q *Queue) Begin(i int) {
	for ; q.begun < q.Len; q.begun++ {
		n := min(q.Bytes(q.begun), MaxBytes)
		if n < 0 {
			continue
		}
		if q.begun > i && (len(q.running) == MaxItems || n > MaxBytes-q.bytes) {
			return
		}
		q.running = append(q.running, running{q.begun, n, q.Start(q.begun)})
		q.bytes += n
	}
}

// End stops item i if it was started.
func (q *Queue) End(i int) {
	k := slices.IndexFunc(q.running, func(x running) bool { return x.item == i })
	if k < 0 {
		return
	}
	x := q.running[k]
	q.running = slices.Delete(q.running, k, k+1)
	q.bytes -= x.bytes
	x.stop()
}

// Stop stops all items that were started, also those after one whose stop panics.
func (q *Queue) Stop() {
	if len(q.running) > 0 {
		defer q.Stop()
		q.End(q.running[0].item)
	}
}
