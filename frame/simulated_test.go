package frame

import (
	"fmt"
	"testing"

	"github.com/goblosc/blosc2/frame/internal/simulated"
)

// TestSimulated checks the simulated system itself with a frame of each kind.
func TestSimulated(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		s := simulated.New()
		f, err := CreateFunc(t.Context(), "x", func(b *Batch) error { return b.Append(t.Context(), stamped(1, 10)) }, &CreateOptions{sys: s, Sparse: sparse})
		must(t, err)
		must(t, f.Append(t.Context(), stamped(2, 10)))
		must(t, f.Close())
		f, err = Open(t.Context(), "x", &OpenOptions{sys: s})
		must(t, err)
		verify(t, f)
		if s.Opened == 0 || f.NumChunks() != 2 || len(s.Image[0].Dir) != 1 {
			t.Error(s.Opened, f.Info(), s.Image[0].Dir)
		}
		must(t, f.Close())
		if s.Opened != 0 || len(s.Log) < 5 {
			t.Error(s.Opened, fmt.Sprint(s.Log))
		}
	}
}
