package ndarray

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/ndarray/internal/convert"
)

// recent keeps the last states of an array, by number.
type recent struct {
	mu     sync.Mutex
	states []*model
	first  int64 // number of states[0]
}

func (r *recent) add(m *model) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	const most = 3000
	if len(r.states) == most {
		r.states = append(r.states[:0], r.states[most/2:]...)
		r.first += most / 2
	}
	r.states = append(r.states, m)
	return r.first + int64(len(r.states)) - 1
}

// from returns the states from number n up, or nil if some of them are no longer kept.
func (r *recent) from(n int64) []*model {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n < r.first {
		return nil
	}
	return append([]*model(nil), r.states[n-r.first:]...)
}

// crowdSelection returns a selection that is inside every state of the array.
func crowdSelection(rng *rand.Rand, least int64) []Index {
	sel := make([]Index, 2)
	for i := range sel {
		start := rng.Int64N(least)
		stop := start + 1 + rng.Int64N(least-start)
		switch rng.IntN(4) {
		case 0:
			sel[i] = At(start)
		case 1:
			sel[i] = Step(start, stop, 1+rng.Int64N(3))
		default:
			sel[i] = Span(start, stop)
		}
	}
	return sel
}

// TestCrowd reads random selections with 64 goroutines while another one writes and resizes. Each read must see one
// committed state, which must not be older than the last commit before the read.
//
// NDARRAY_MINUTES=10 go test -race -run TestCrowd ./ndarray runs it for ten minutes.
func TestCrowd(t *testing.T) {
	least, goroutines := int64(10), runtime.NumGoroutine()
	lasts := 500 * time.Millisecond
	if minutes, err := strconv.ParseFloat(os.Getenv("NDARRAY_MINUTES"), 64); err == nil {
		lasts = time.Duration(minutes * float64(time.Minute) / 3)
	}
	for _, p := range locations(t) {
		t.Run(p.String(), func(t *testing.T) {
			ctx := t.Context()
			o := &Options{Chunks: []int32{7, 9}, Blocks: []int32{3, 4}}
			o.Sparse, o.NoSync, o.Concurrency = p.sparse, true, 2
			m := newModel([]int64{20, 24}, 4)
			a, err := Zeros(p.name, m.shape, "<i4", o)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			r := &recent{}
			r.add(m)
			var committed, reads, unknown atomic.Int64
			var stop atomic.Bool
			var wg sync.WaitGroup
			defer wg.Wait() // also when the test ends early
			defer stop.Store(true)
			for g := range 64 {
				rng := rand.New(rand.NewPCG(uint64(g), 64))
				wg.Go(func() {
					for !stop.Load() {
						sel := crowdSelection(rng, least)
						lo := committed.Load()
						got, err := Read[int32](ctx, a, sel...)
						if err != nil {
							t.Error(err)
							return
						}
						states := r.from(lo)
						if states == nil {
							unknown.Add(1)
							continue
						}
						b, found := convert.Stored(a.dtype, got), false
						for _, m := range states {
							found = found || bytes.Equal(m.read(t, sel), b)
						}
						if !found {
							t.Errorf("%v: items of none of the %d states from number %d up", sel, len(states), lo)
							return
						}
						reads.Add(1)
						time.Sleep(time.Duration(rng.IntN(5000)) * time.Microsecond) // leave time for the writer
					}
				})
			}
			rng := rand.New(rand.NewPCG(1, 65))
			commits := 0
			for end := time.Now().Add(lasts); time.Now().Before(end) && !t.Failed(); commits++ {
				var err error
				if rng.IntN(4) == 0 {
					shape := []int64{least + rng.Int64N(20), least + rng.Int64N(20)}
					m = m.resize(shape)
					n := r.add(m)
					err = a.Resize(ctx, shape...)
					committed.Store(n)
				} else {
					sel := randomSelection(rng, m.shape)
					next := &model{m.shape, m.size, bytes.Clone(m.data)}
					list, _ := next.at(t, sel)
					src := randomBytes(rng, 4*len(list))
					next.write(t, src, sel)
					m = next
					n := r.add(m)
					err = a.WriteBytes(ctx, src, sel...)
					committed.Store(n)
				}
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(rng.IntN(1000)) * time.Microsecond)
			}
			stop.Store(true)
			wg.Wait()
			m.check(t, a, rng)
			t.Logf("%d reads, %d commits, %d reads too slow to check", reads.Load(), commits, unknown.Load())
			if reads.Load() < 64 || unknown.Load() > reads.Load()/10 {
				t.Error("too few reads")
			}
		})
	}
	for range 100 {
		if runtime.NumGoroutine() <= goroutines {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
}
