package ndarray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/trap"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
)

// ticking is a reader of zeros and a writer. It calls Tick for each read after 18 MB, and for each write.
type ticking struct {
	*trap.Trap
	n int
}

func (r *ticking) Read(p []byte) (int, error) {
	if r.n += len(p); r.n > 18_000_000 {
		r.Tick()
	}
	clear(p)
	return len(p), nil
}

func (r *ticking) Write(p []byte) (int, error) { r.Tick(); return len(p), nil }

// TestPanics calls functions that panic or call runtime.Goexit. The caller must get the panic, and the array must be
// unchanged.
func TestPanics(t *testing.T) {
	ctx := context.Background()
	for _, workers := range []int{1, 4} {
		for _, goexit := range []bool{false, true} {
			if testing.Short() && goexit != (workers == 1) {
				continue // use each value once
			}
			t.Run(fmt.Sprintf("%d/goexit=%v", workers, goexit), func(t *testing.T) {
				before := runtime.NumGoroutine()
				b, pre, post := &trap.Trap{Goexit: goexit}, &trap.Trap{Goexit: goexit}, &trap.Trap{Goexit: goexit}
				o := &CreateOptions{Chunks: []int64{20, 20}, Blocks: []int64{5, 5}}
				o.Concurrency, o.NoSync = workers, true
				o.Filters = []chunk.Filter{200}
				o.UserFilters = []chunk.UserFilter{trapFilter{pre, post}}
				data := make([]float32, 100*100)
				for i := range data {
					data[i] = float32(i)
				}
				a, err := Create(ctx, filepath.Join(t.TempDir(), "x"), []int64{100, 100}, data, o)
				if err != nil {
					t.Fatal(err)
				}
				use := func(what string, x *trap.Trap, f func() error) {
					t.Helper()
					x.Spring(t, what, f)
					short, cancel := context.WithTimeout(ctx, 20*time.Second)
					defer cancel()
					if err := Fill(short, a, float32(5), At(3), At(4)); err != nil {
						t.Fatal(what, err)
					}
					if err := Write(short, a, data[304:305], At(3), At(4)); err != nil {
						t.Fatal(what, err)
					}
					got, err := Read[float32](short, a)
					for i := range got {
						if got[i] != data[i] {
							t.Fatalf("%s: item %d is %v", what, i, got[i])
						}
					}
					if err != nil {
						t.Fatal(what, err)
					}
				}
				use("Read", post, func() error { _, err := Read[float32](ctx, a); return err })
				use("Write", pre, func() error { return Write(ctx, a, data) })
				use("Append", pre, func() error { return Append(ctx, a, 0, data) })
				use("FromFunc", b, func() error {
					_, err := FromFunc(ctx, "", []int64{90, 90}, func(x Tile[int8]) error {
						if x.Start[0] > 30 {
							b.Tick()
						}
						return nil
					}, o)
					return err
				})
				use("Map", b, func() error {
					_, err := Map(ctx, "", a, func(out []int8, in Tile[float32]) error { b.Tick(); return nil }, nil)
					return err
				})
				use("Map, reading", post, func() error {
					_, err := Map(ctx, "", a, func(out []int8, in Tile[float32]) error { return nil }, nil)
					return err
				})
				use("Reduce", post, func() error { _, err := Reduce(ctx, a, OpSum, nil); return err })
				for _, depth := range []int{0, 1, 5, 1_000_000} {
					use("Tiles", post, func() error {
						for _, err := range Tiles[float32](ctx, a, ByChunk(a).ReadAhead(depth)) {
							if err != nil {
								return err
							}
						}
						return nil
					})
					use("Tiles, loop", b, func() error {
						for range Tiles[float32](ctx, a, ByChunk(a).ReadAhead(depth)) {
							b.Tick()
						}
						return nil
					})
				}
				use("WriteItems", b, func() error { return ToWriter(ctx, &ticking{Trap: b}, a) })
				name := filepath.Join(t.TempDir(), "big")
				shape := []int64{20_000_000}
				use("FromReader", b, func() error {
					_, err := FromReader(ctx, name, shape, "|u1", &ticking{Trap: b}, &CreateOptions{})
					return err
				})
				use("FromSeq", b, func() error {
					_, err := FromSeq(ctx, name, shape, iter.Seq[int8](func(yield func(int8) bool) {
						for i := 0; yield(0); i++ {
							if i == 18_000_000 {
								b.Tick()
							}
						}
					}), nil)
					return err
				})
				po := &CreateOptions{Filters: o.Filters, UserFilters: o.UserFilters}
				use("FromReader, compressing", pre, func() error {
					_, err := FromReader(ctx, name, shape, "|u1", &ticking{Trap: b}, po)
					return err
				})
				if left, err := filepath.Glob(name + "*"); err != nil || len(left) > 0 {
					t.Error("remaining files:", left, err)
				}
				if err := a.Close(); err != nil {
					t.Error(err)
				}
				for i := 0; runtime.NumGoroutine() > before; i++ {
					if i == 500 {
						t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
					}
					time.Sleep(10 * time.Millisecond)
				}
			})
		}
	}
}

// TestWaitForBatch checks that edits stop waiting for an open batch when their context is done.
func TestWaitForBatch(t *testing.T) {
	a, err := Zeros(ctx, filepath.Join(t.TempDir(), "x"), []int64{10, 10}, "<i4", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var none context.Context
	b, err := a.Begin(none)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Rollback()
	for name, edit := range map[string]func(ctx context.Context) error{
		"Begin":  func(ctx context.Context) error { _, err := a.Begin(ctx); return err },
		"Fill":   func(ctx context.Context) error { return Fill(ctx, a, int32(1)) },
		"Write":  func(ctx context.Context) error { return Write(ctx, a, make([]int32, 100)) },
		"Resize": func(ctx context.Context) error { return a.Resize(ctx, 20, 20) },
		"Append": func(ctx context.Context) error { return Append(ctx, a, 0, make([]int32, 10)) },
		"Delete": func(ctx context.Context) error { return a.Delete(ctx, 0, 1, 1) },
		"Put":    func(ctx context.Context) error { return Write(ctx, a, []int32{1}, Flat([]int64{1}...)) },
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		if err := edit(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(name, err)
		}
		cancel()
	}
}

// TestNilContext calls functions with a nil context, which is context.Background().
func TestNilContext(t *testing.T) {
	var ctx context.Context
	a, err := Create(ctx, "", []int64{1000}, make([]int32, 1000), &CreateOptions{Chunks: []int64{100}, Blocks: []int64{10}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	empty, err := FromReader(ctx, "", []int64{0}, "<i4", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	_, readErr := Read[int32](ctx, a)
	_, emptyErr := Read[int32](ctx, empty)
	_, reduceErr := Reduce(ctx, a, OpSum, nil)
	_, copyErr := Copy(ctx, "", a, nil)
	_, mapErr := Map(ctx, "", a, func(out []int8, in Tile[int32]) error { return nil }, nil)
	for _, err := range Tiles[int32](ctx, a, ByChunk(a).ReadAhead(3)) {
		if err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(readErr, emptyErr, reduceErr, copyErr, mapErr, Fill(ctx, a, int32(1)), ToWriter(ctx, io.Discard, a),
		a.Resize(ctx, 2000), Append(ctx, a, 0, make([]int32, 5)), a.ReadBytes(ctx, nil, Span(0, 0))); err != nil {
		t.Error(err)
	}
}

// TestManyGoroutines checks that the number of goroutines is limited by the work and by a fixed number.
func TestManyGoroutines(t *testing.T) {
	var most atomic.Int64
	o := &CreateOptions{Chunks: []int64{100}, Blocks: []int64{10}}
	o.Concurrency = 1_000_000
	funcFilter(func() error {
		for n, m := int64(runtime.NumGoroutine()), most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		return nil
	}).use(o)
	const chunks = 1500
	data := make([]int16, 100*chunks)
	for i := range data {
		data[i] = int16(i) | 1
	}
	a, err := Create(t.Context(), "", []int64{100 * chunks}, data, o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	check := func(what string, limit int64, err error) {
		t.Helper()
		if n := most.Swap(0); err != nil || n > limit {
			t.Errorf("%s: %d goroutines, %v", what, n, err)
		}
		for i := 0; runtime.NumGoroutine() > 40 && i < 500; i++ {
			time.Sleep(time.Millisecond)
		}
	}
	_, err = Read[int16](t.Context(), a)
	check("Read", 1100, err)
	_, err = Reduce(t.Context(), a, OpSum, nil)
	check("Reduce", 1200, err)
	_, err = Map(t.Context(), "", a, func(out []int8, in Tile[int16]) error { return nil }, nil)
	check("Map", 1100, err)
	for _, err := range Tiles[int16](t.Context(), a, ByChunk(a).ReadAhead(1_000_000)) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check("Tiles", 1100*11, nil) // each tile has a goroutine, which has up to ten for its blocks
}

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
			o := &CreateOptions{Chunks: []int64{7, 9}, Blocks: []int64{3, 4}}
			o.Sparse, o.NoSync, o.Concurrency = p.sparse, true, 2
			m := newModel([]int64{20, 24}, 4)
			a, err := Zeros(ctx, p.name, m.shape, "<i4", o)
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

// trapFilter is a user filter that copies blocks and ticks its traps.
type trapFilter struct{ forward, backward *trap.Trap }

func (trapFilter) Code() uint8 { return 200 }

func (f trapFilter) Forward(dst, src []byte, _ chunk.BlockInfo) error {
	f.forward.Tick()
	copy(dst, src)
	return nil
}

func (f trapFilter) Backward(dst, src []byte, _ chunk.BlockInfo) error {
	f.backward.Tick()
	copy(dst, src)
	return nil
}

// TestSelectionMemory compares the memory of index arrays with what a read allocates.
func TestSelectionMemory(t *testing.T) {
	ctx := t.Context()
	a, err := Zeros(ctx, "", []int64{10, 10, 4}, "|u1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	const n = 1000
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i % 10)
	}
	keep := make([]bool, 10)
	keep[3], keep[7] = true, true
	const many = 1_000_000
	long := make([]int64, many)
	for _, c := range []struct {
		sel  []Index
		want int64
	}{
		{nil, 0}, {[]Index{At(1), Span(2, 5)}, 0},
		{[]Index{Pick(list...)}, 16 * n}, {[]Index{Pick(list...), Pick(1, 2, 3)}, 16 * (n + 3)},
		{[]Index{Coords(list)}, 16 * n}, {[]Index{Coords(list), Coords(list)}, 16 * n},
		{[]Index{Coords(list, n, 1), Coords(list)}, 16 * n * n}, {[]Index{Coords(list), At(1), Span(0, 2)}, 16 * n},
		{[]Index{Mask(keep)}, 32}, {[]Index{Flat(list...)}, 16 * n}, {[]Index{Coords(list), All, Span(0, 0)}, 0},
		{[]Index{Coords(list, n, 1, 1), Coords(list, n, 1), Coords(long[:n])}, 16 * n * n * n},
		{[]Index{Coords(long, many, 1, 1), Coords(long, many, 1), Coords(long)}, math.MaxInt64},
	} {
		got, err := a.SelectionMemory(c.sel...)
		if err != nil || got != c.want {
			t.Errorf("%.40v: %d bytes, %v, want %d", c.sel, got, err, c.want)
		}
		shape, err := a.SelectionShape(c.sel...)
		if err != nil {
			t.Fatal(err)
		}
		size := int64(1)
		for _, n := range shape {
			size *= n
		}
		if size > 1<<23 {
			continue
		}
		dst := make([]byte, size)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := a.ReadBytes(ctx, dst, c.sel...); err != nil {
			t.Error(err)
		}
		runtime.ReadMemStats(&after)
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > c.want+c.want/4+64<<10 {
			t.Errorf("%.40v: a read took %d bytes, want %d", c.sel, took, c.want)
		}
	}
	if _, err := a.SelectionMemory(Pick(10)); !errors.Is(err, ErrBounds) {
		t.Errorf("%v, want ErrBounds", err)
	}
}

// TestSelectionMemoryMask compares the memory of a mask that is broadcast to two dimensions with what a read allocates.
func TestSelectionMemoryMask(t *testing.T) {
	const n = 1_000_000
	a, err := Zeros(t.Context(), "", []int64{n, 10}, "|u1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	keep := make([]bool, n)
	for i := range keep {
		keep[i] = true
	}
	sel := []Index{Mask(keep), Coords(make([]int64, n), 1, n)}
	got, err := a.SelectionMemory(sel...)
	if err != nil || got != 24*n {
		t.Errorf("%d bytes, %v, want %d", got, err, 24*n)
	}
	dst := make([]byte, n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := a.ReadBytes(t.Context(), dst, sel...); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if took := int64(after.TotalAlloc - before.TotalAlloc); took > got+1<<20 {
		t.Errorf("a read took %d bytes, want %d", took, got)
	}
}
