package b2arrow

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/goblosc/blosc2/frame"
)

// A budget limits the memory of a batch, as the columns together may take much more than their stored bytes justify
// while each of them does not.
type budget struct {
	frames  []*frame.Frame // of the columns
	allowed int64          // number of bytes that are known to be justified
}

// errBatch is returned for a batch that takes too much memory.
var errBatch = errors.New("all columns together, read fewer rows or columns")

// check returns an error if the frames do not justify n bytes. It wraps errBatch.
func (b *budget) check(n int64) error {
	if n <= b.allowed {
		return nil
	}
	if more := n + n/8; frame.CheckAllocs(more, b.frames...) == nil { // so that few calls look at all frames
		b.allowed = more
		return nil
	}
	if err := frame.CheckAllocs(n, b.frames...); err != nil {
		return fmt.Errorf("b2arrow: %w: %w", errBatch, err)
	}
	b.allowed = n
	return nil
}

// largest returns n, or the half of it until the frames justify that.
func (b *budget) largest(n int64) int64 {
	for n > 0 && frame.CheckAllocs(n, b.frames...) != nil {
		n /= 2
	}
	return n
}

// A tally counts the memory of a batch.
type tally struct {
	n    int64
	seen map[*memory.Buffer]bool
}

// add counts the buffers of data that were not counted yet.
func (t *tally) add(d arrow.ArrayData) {
	for _, b := range d.Buffers() {
		if b != nil && !t.seen[b] {
			t.seen[b] = true
			t.n += int64(b.Len())
		}
	}
	for _, c := range d.Children() {
		t.add(c)
	}
	if d.DataType().ID() == arrow.DICTIONARY {
		t.add(d.Dictionary())
	}
}
