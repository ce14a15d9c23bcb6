package frame

import (
	"bytes"
	"context"
	"testing"
)

// TestSpaceBehindTheFrame fills the space that a batch left behind the end of the frame when it was rolled back, while
// an old state is in use, and goes on behind it: no chunk may get the place of another one of the batch.
func TestSpaceBehindTheFrame(t *testing.T) {
	f, _ := modelFrame(t, "memory", 200)
	defer f.Close()
	must(t, f.Append(stamped(1, 50)))
	v, err := f.View()
	must(t, err)
	defer v.Release()
	must(t, f.Update(0, stamped(2, 50)))
	for _, keep := range []bool{false, true} {
		b, err := f.Begin(context.Background())
		must(t, err)
		for i := range 6 {
			if i < 5 || keep {
				must(t, b.Append(stamped(10+i, 50)))
			}
		}
		if keep {
			must(t, b.Commit())
		} else {
			b.Rollback()
		}
	}
	for i := range 6 {
		got, err := f.ReadChunk(nil, i+1)
		must(t, err)
		if !bytes.Equal(got, stamped(10+i, 50)) {
			t.Errorf("chunk %d has other content", i+1)
		}
	}
	verify(t, f)
}
