package fartest_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/internal/fartest"
)

// inFlight is a source that adds the bytes that are asked for to a sum, if it is set. Its reads then wait for their
// context.
type inFlight struct {
	*fartest.Source
	sum *atomic.Pointer[atomic.Int64]
}

func (f inFlight) ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	if sum := f.sum.Load(); sum != nil {
		for _, w := range want {
			sum.Add(w.Len)
		}
		<-ctx.Done()
		return ctx.Err()
	}
	return f.Source.ReadRanges(ctx, want, got)
}

// TestFarConcatMemory joins arrays with large chunks by pieces. Their stored bytes that are read at the same time are
// limited.
func TestFarConcatMemory(t *testing.T) {
	data := make([]byte, 61440*24*4)
	rand.NewChaCha8([32]byte{5}).Read(data)
	local, err := ndarray.CreateBytes(ctx, "", []int64{61440, 24}, "<u4", data, &ndarray.CreateOptions{Chunks: []int64{61440, 24}, Blocks: []int64{61440, 24}})
	if err != nil {
		t.Fatal(err)
	}
	stored := fartest.Stored(t, local.Frame())
	for _, verify := range []bool{false, true} {
		var sum atomic.Pointer[atomic.Int64]
		var rs []ndarray.Reader
		for range 40 {
			a, err := ndarray.OpenSource(ctx, inFlight{fartest.NewSource(stored, 1), &sum}, &ndarray.OpenOptions{Concurrency: 1, Verify: verify})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			rs = append(rs, a)
		}
		var n atomic.Int64
		sum.Store(&n)
		ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		if _, err := ndarray.Concat(ctx, "", 1, rs, &ndarray.CreateOptions{Chunks: []int64{64, 960}, Blocks: []int64{64, 24}, Concurrency: 1}); err == nil {
			t.Error("no error")
		}
		if got := n.Load(); got > 64<<20 {
			t.Errorf("Verify %v: %d bytes at the same time, at most 64 MiB are right", verify, got)
		}
	}
}
