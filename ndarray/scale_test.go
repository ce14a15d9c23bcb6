package ndarray

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
)

// sleeping is a codec that takes a fixed time for each block, and no CPU. So the time of a call on n goroutines is that
// on n CPUs, as far as the goroutines do not wait for each other.
type sleeping struct{ time.Duration }

func (sleeping) ID() codec.ID                                     { return codec.FromCode(200) }
func (s sleeping) NewEncoder(codec.Params) (codec.Encoder, error) { return s, nil }
func (s sleeping) NewDecoder(codec.Params) (codec.Decoder, error) { return s, nil }
func (s sleeping) Decode(dst, src []byte) error {
	time.Sleep(s.Duration)
	for i := range dst {
		dst[i] = src[0] + byte(7*i)
	}
	return nil
}
func (s sleeping) Encode(dst, src []byte) (int, error) {
	time.Sleep(s.Duration)
	return copy(dst, src[:1]), nil
}

// TestScales reads and writes 512 blocks on 1 to 16 simulated CPUs: in one call on all of them, and in a call on each.
func TestScales(t *testing.T) {
	if testing.Short() {
		t.Skip("depends on the speed of the machine")
	}
	const blocks, each = 512, 3 * time.Millisecond
	ctx := t.Context()
	data := make([]byte, blocks<<12)
	for i := range data {
		data[i] = byte(i>>12) + byte(7*i) // as Decode makes it: a repeated byte would need no codec
	}
	options := func(cpus int) *CreateOptions {
		return &CreateOptions{
			Chunks: []int64{16 << 12}, Blocks: []int64{1 << 12}, Codec: codec.FromCode(200), Filters: []chunk.Filter{},
			Codecs: []codec.Codec{sleeping{each}}, Concurrency: cpus,
		}
	}
	for _, cpus := range []int{1, 2, 4, 8, 16} {
		got := make([]byte, len(data))
		var a *Array
		var err error
		ideal := float64(blocks) / float64(cpus) * each.Seconds()
		ratio := func(what string, call func()) {
			start := time.Now()
			call()
			x := time.Since(start).Seconds() / ideal
			t.Logf("%2d CPUs, %s: %.2f times the time without waiting", cpus, what, x)
			if x > 2 {
				t.Errorf("%d CPUs, %s: the goroutines wait for each other", cpus, what)
			}
		}
		ratio("one write", func() { a, err = Create(ctx, "", []int64{int64(len(data))}, data, options(cpus)) })
		if err != nil {
			t.Fatal(err)
		}
		ratio("one read", func() { err = ReadInto(ctx, a, got) })
		if err != nil || !slices.Equal(got, data) {
			t.Fatal("wrong data", err)
		}
		ratio("many reads", func() {
			var all sync.WaitGroup
			part := len(data) / cpus
			for k := range cpus {
				all.Go(func() {
					for off := k * part; off < (k+1)*part; off += 1 << 12 { // calls of one block use one goroutine
						if err := ReadInto(ctx, a, got[off:][:1<<12], Span(int64(off), int64(off+1<<12))); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
		})
		if !slices.Equal(got, data) {
			t.Fatal("wrong data")
		}
		a.Close()
	}
}
