package ndarray

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
)

// history is the list of states that an array had or is about to have.
type history struct {
	mu        sync.Mutex
	states    [][]byte
	committed atomic.Int64
}

func (h *history) add(b []byte) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = append(h.states, bytes.Clone(b))
	return int64(len(h.states) - 1)
}

// has reports whether b is one of the states from number lo up.
func (h *history) has(b []byte, lo int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.states[lo:], func(s []byte) bool { return bytes.Equal(s, b) })
}

// TestReadersWithWriter reads with several goroutines while another one changes the array. Each read must see one
// committed state, which must not be older than the last commit before the read.
func TestReadersWithWriter(t *testing.T) {
	steps := 60
	if testing.Short() {
		steps = 20
	}
	for _, p := range locations(t) {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			rng := rand.New(rand.NewPCG(11, 1))
			o := &CreateOptions{Chunks: []int64{7, 9}, Blocks: []int64{3, 4}}
			o.Sparse, o.NoSync, o.Concurrency = p.sparse, true, 2
			m := newModel([]int64{20, 24}, 4)
			a, err := Zeros(ctx, p.name, m.shape, "<i4", o)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			h := &history{}
			h.add(m.data)
			var stop atomic.Bool
			var reads atomic.Int64
			var wg sync.WaitGroup
			defer wg.Wait() // also when the test ends early
			defer stop.Store(true)
			for range 4 {
				wg.Go(func() {
					for !stop.Load() {
						lo := h.committed.Load()
						got, err := Read[int32](ctx, a)
						if err != nil {
							t.Error(err)
							return
						}
						if !h.has(convert.Stored(a.dtype, got), lo) {
							t.Errorf("read a state that was never committed, or that is older than state %d", lo)
							return
						}
						reads.Add(1)
					}
				})
			}
			for i := range steps {
				for reads.Load() < int64(i) && !t.Failed() {
					time.Sleep(10 * time.Microsecond) // so that the readers see some of the states
				}
				switch i % 4 {
				case 0:
					sel := randomSelection(rng, m.shape)
					list, _ := m.at(t, sel)
					src := randomBytes(rng, 4*len(list))
					m.write(t, src, sel)
					n := h.add(m.data)
					if err := a.WriteBytes(ctx, src, sel...); err != nil {
						t.Fatal(err)
					}
					h.committed.Store(n)
				case 1:
					shape := []int64{10 + rng.Int64N(20), 10 + rng.Int64N(20)}
					m = m.resize(shape)
					n := h.add(m.data)
					if err := a.Resize(ctx, shape...); err != nil {
						t.Fatal(err)
					}
					h.committed.Store(n)
				case 2:
					at, out := rng.Int64N(m.shape[0]-3), 1+rng.Int64N(3)
					src := randomBytes(rng, int(4*2*(m.shape[0]-out)))
					m = m.splice(0, at, out, 0, nil).splice(1, 8, 0, 2, src)
					n := h.add(m.data)
					b, err := a.Begin(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					if err := errors.Join(b.Delete(ctx, 0, at, out), b.InsertBytes(ctx, 1, 8, src), b.Commit()); err != nil {
						t.Fatal(err)
					}
					h.committed.Store(n)
				default:
					src := randomBytes(rng, int(4*2*m.shape[1]))
					sel := Span(m.shape[0], None)
					m = m.resize([]int64{m.shape[0] + 2, m.shape[1]})
					m.write(t, src, []Index{sel})
					n := h.add(m.data)
					if err := a.AppendBytes(ctx, 0, src); err != nil {
						t.Fatal(err)
					}
					h.committed.Store(n)
				}
			}
			stop.Store(true)
			wg.Wait()
			m.check(t, a, rng)
		})
	}
}

// TestWritersWait writes to one array with several goroutines and checks that no write is lost.
func TestWritersWait(t *testing.T) {
	ctx := context.Background()
	a, err := Zeros(ctx, "", []int64{8, 30}, "<i8", &CreateOptions{Chunks: []int64{8, 7}, Blocks: []int64{2, 7}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range int64(8) {
		wg.Go(func() {
			for k := range int64(30) {
				if err := Fill(ctx, a, 100*i+k, At(i), At(k)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, err := Read[int64](ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range got {
		if want := int64(100*(i/30) + i%30); x != want {
			t.Fatalf("item %d is %d, want %d", i, x, want)
		}
	}
}

// countdown is a context that is canceled at the n-th call of Err.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancel cancels every operation at each of its calls of Err. The operation must return the error of the context,
// and the array must be unchanged.
func TestCancel(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	m := newModel([]int64{18, 22}, 4)
	m.data = randomBytes(rng, len(m.data))
	o := &CreateOptions{Chunks: []int64{5, 8}, Blocks: []int64{3, 8}}
	o.Codec = codec.LZ4 // it needs little memory
	step := int64(1)
	if testing.Short() || race.Enabled {
		step = 9
	}
	for what, f := range map[string]func(ctx context.Context, a *Array) error{
		"read":   func(ctx context.Context, a *Array) error { return a.ReadBytes(ctx, make([]byte, len(m.data))) },
		"item":   func(ctx context.Context, a *Array) error { _, err := Item[int32](ctx, a, 2, 3); return err },
		"write":  func(ctx context.Context, a *Array) error { return a.WriteBytes(ctx, make([]byte, len(m.data))) },
		"fill":   func(ctx context.Context, a *Array) error { return a.FillBytes(ctx, make([]byte, 4), Span(2, 9)) },
		"resize": func(ctx context.Context, a *Array) error { return a.Resize(ctx, 30, 30) },
		"append": func(ctx context.Context, a *Array) error { return a.AppendBytes(ctx, 0, make([]byte, 4*22)) },
		"insert": func(ctx context.Context, a *Array) error { return a.InsertBytes(ctx, 1, 3, make([]byte, 4*18)) },
		"delete": func(ctx context.Context, a *Array) error { return a.Delete(ctx, 0, 5, 1) },
		"batch":  func(ctx context.Context, a *Array) error { return severalEdits(ctx, a, make([]byte, 4*22)) },
		"resizeAt": func(ctx context.Context, a *Array) error {
			return a.ResizeAt(ctx, []int64{5, 9}, []int64{12, 27})
		},
		"copy": func(ctx context.Context, a *Array) error {
			_, err := Copy(ctx, "", a, &CreateOptions{Chunks: []int64{4, 4}, Blocks: []int64{4, 4}})
			return err
		},
	} {
		for _, workers := range []int{1, 3} {
			cancelled := 0
			for n := int64(0); ; n += step {
				o.Concurrency = workers
				a, err := CreateBytes(context.Background(), "", m.shape, "<i4", m.data, o)
				if err != nil {
					t.Fatal(err)
				}
				// Items that are removed when the array shrinks must be cleared when it grows again.
				full := withOldItems(t, a)
				ctx := &countdown{Context: context.Background()}
				ctx.left.Store(n)
				if err = f(ctx, full); err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("%s canceled after %d: %v", what, n, err)
				}
				m.check(t, full, rng)
				if cancelled++; cancelled > 1000 {
					t.Fatalf("%s does not end", what)
				}
			}
			if cancelled == 0 {
				t.Errorf("%s ignores the context", what)
			}
		}
	}
}

// withOldItems grows an array, fills it and shrinks it again, so that its padding contains items.
func withOldItems(t *testing.T, a *Array) *Array {
	t.Helper()
	ctx := context.Background()
	shape := a.Shape()
	if err := a.Resize(ctx, shape[0]+3, shape[1]+3); err != nil {
		t.Fatal(err)
	}
	for _, sel := range [][]Index{{Span(shape[0], None)}, {All, Span(shape[1], None)}} {
		if err := a.FillBytes(ctx, []byte{1, 2, 3, 4}, sel...); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Resize(ctx, shape...); err != nil {
		t.Fatal(err)
	}
	return a
}

// severalEdits inserts src in the middle, deletes it again except for its first step, and appends it, in one batch.
func severalEdits(ctx context.Context, a *Array, src []byte) error {
	b, err := a.Begin(context.Background())
	if err != nil {
		return err
	}
	defer b.Rollback()
	length := a.Shape()[0]
	if err := b.InsertBytes(ctx, 0, 5, src); err != nil {
		return err
	}
	if err := b.Delete(ctx, 0, 6, b.Shape()[0]-length-1); err != nil {
		return err
	}
	if err := b.AppendBytes(ctx, 0, src); err != nil {
		return err
	}
	return b.Commit()
}

// failing is a Storage whose calls fail after a given number of calls.
type failing struct {
	m      frame.Memory
	writes atomic.Int64 // number of calls that still succeed
	reads  atomic.Int64
}

var errStorage = errors.New("the storage failed")

func (s *failing) spend(n *atomic.Int64) error {
	if n.Add(-1) < 0 {
		return errStorage
	}
	return nil
}

func (s *failing) ReadAt(p []byte, off int64) (int, error) {
	if err := s.spend(&s.reads); err != nil {
		return 0, err
	}
	return s.m.ReadAt(p, off)
}

func (s *failing) WriteAt(p []byte, off int64) (int, error) {
	if err := s.spend(&s.writes); err != nil {
		n, _ := s.m.WriteAt(p[:len(p)/2&^511], off) // disks write whole sectors
		return n, err
	}
	return s.m.WriteAt(p, off)
}

func (s *failing) Sync() error {
	return s.spend(&s.writes)
}

func (s *failing) Truncate(size int64) error {
	if err := s.spend(&s.writes); err != nil {
		return err
	}
	return s.m.Truncate(size)
}

func (s *failing) Size() (int64, error) { return s.m.Size() }
func (s *failing) Close() error         { return nil }

// TestStorageFails edits an array while each call of the storage in turn, and all later calls, fail. The open array and
// the stored bytes must be in the state before the edit, or if only the last sync failed, in the state after it.
func TestStorageFails(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(13, 1))
	m := newModel([]int64{18, 22}, 4)
	m.data = randomBytes(rng, len(m.data))
	made, err := CreateBytes(ctx, "", m.shape, "<i4", m.data, &CreateOptions{Chunks: []int64{5, 8}, Blocks: []int64{3, 8}})
	if err != nil {
		t.Fatal(err)
	}
	base, err := saved(withOldItems(t, made).Frame())
	if err != nil {
		t.Fatal(err)
	}
	src := randomBytes(rng, 4*7*22)
	written := &model{m.shape, 4, bytes.Clone(m.data)}
	written.write(t, src, []Index{Span(4, 11)})
	appended := m.resize([]int64{25, 22})
	appended.write(t, src, []Index{Span(18, None)})
	several := m.splice(0, 5, 0, 1, src[:4*22]).splice(0, 19, 0, 7, src)
	for what, c := range map[string]struct {
		edit  func(a *Array) error
		after *model
	}{
		"insert":  {func(a *Array) error { return a.InsertBytes(ctx, 0, 4, src) }, m.splice(0, 4, 0, 7, src)},
		"aligned": {func(a *Array) error { return a.InsertBytes(ctx, 0, 5, src[:4*5*22]) }, m.splice(0, 5, 0, 5, src[:4*5*22])},
		"delete":  {func(a *Array) error { return a.Delete(ctx, 1, 2, 11) }, m.splice(1, 2, 11, 0, nil)},
		"resizeAt": {
			func(a *Array) error { return a.ResizeAt(ctx, []int64{5, 3}, []int64{9, 29}) },
			m.splice(0, 5, 9, 0, nil).splice(1, 3, 0, 7, nil),
		},
		"batch":  {func(a *Array) error { return severalEdits(ctx, a, src) }, several},
		"write":  {func(a *Array) error { return a.WriteBytes(ctx, src, Span(4, 11)) }, written},
		"resize": {func(a *Array) error { return a.Resize(ctx, 25, 17) }, m.resize([]int64{25, 17})},
		"append": {func(a *Array) error { return a.AppendBytes(ctx, 0, src) }, appended},
	} {
		failed := 0
		for n := int64(0); ; n++ {
			st := &failing{}
			st.reads.Store(1 << 40)
			st.writes.Store(1 << 40)
			st.m.WriteAt(base, 0)
			f, err := frame.EditStorage(ctx, st, nil)
			if err != nil {
				t.Fatal(err)
			}
			a, err := OpenFrame(f)
			if err != nil {
				t.Fatal(err)
			}
			st.writes.Store(n)
			err = c.edit(a)
			if err == nil && st.writes.Load() >= 0 {
				c.after.check(t, a, rng)
				break
			}
			if err != nil && !errors.Is(err, errStorage) {
				t.Fatalf("%s, failure of call %d: %v", what, n, err)
			}
			failed++
			again, err := OpenBytes(bytes.Clone(st.m.Bytes()), nil)
			if err != nil {
				t.Fatalf("%s, failure of call %d: %v", what, n, err)
			}
			for _, a := range []*Array{a, again} {
				if slices.Equal(a.Shape(), c.after.shape) && (what != "write" || same(t, a, c.after)) {
					c.after.check(t, a, rng)
				} else {
					m.check(t, a, rng)
				}
			}
		}
		if failed < 3 {
			t.Errorf("%s: only %d calls can fail", what, failed)
		}
	}
}

// same reports whether an array has the items of a model.
func same(t *testing.T, a *Array, m *model) bool {
	t.Helper()
	got := make([]byte, len(m.data))
	return a.ReadBytes(context.Background(), got) == nil && bytes.Equal(got, m.data)
}

// TestReadsFail reads an array while each read of the storage in turn fails. The error must be that of the storage, and
// the next read must succeed.
func TestReadsFail(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(14, 1))
	m := newModel([]int64{60, 220}, 4)
	for i := range m.data {
		m.data[i] = byte(rng.Uint32())
	}
	made, err := CreateBytes(ctx, "", m.shape, "<i4", m.data, &CreateOptions{Chunks: []int64{30, 100}, Blocks: []int64{3, 80}})
	if err != nil {
		t.Fatal(err)
	}
	st := &failing{}
	st.reads.Store(1 << 40)
	st.writes.Store(1 << 40)
	base, err := saved(made.Frame())
	if err != nil {
		t.Fatal(err)
	}
	st.m.WriteAt(base, 0)
	f, err := frame.EditStorage(ctx, st, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := OpenFrame(f)
	if err != nil {
		t.Fatal(err)
	}
	for n := int64(0); ; n++ {
		st.reads.Store(n)
		err := a.ReadBytes(ctx, make([]byte, len(m.data)))
		write := a.WriteBytes(ctx, make([]byte, 4*220), At(2))
		st.reads.Store(1 << 40)
		if err == nil {
			if n < 6 {
				t.Errorf("only %d reads", n)
			}
			break
		}
		if !errors.Is(err, errStorage) || !errors.Is(write, errStorage) {
			t.Fatalf("failure of read %d: %v, %v", n, err, write)
		}
		m.check(t, a, rng)
	}
}

// TestReadOnlyAndClosed checks the errors of arrays that are open for reading, or closed.
func TestReadOnlyAndClosed(t *testing.T) {
	ctx := context.Background()
	a, err := Create(ctx, "", []int64{3}, []int16{1, 2, 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := saved(a.Frame())
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenBytes(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	edits := func(a *Array) []error {
		return []error{Write(ctx, a, []int16{1}, At(0)), Fill(ctx, a, int16(1)), a.Resize(ctx, 2), a.AppendBytes(ctx, 0, nil),
			a.InsertBytes(ctx, 0, 0, nil), a.Delete(ctx, 0, 0, 1), a.ResizeAt(ctx, []int64{0}, []int64{2}), severalEdits(ctx, a, nil)}
	}
	for i, err := range edits(r) {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("edit %d of an array opened for reading: %v", i, err)
		}
	}
	if err := errors.Join(a.Close(), a.Close()); err != nil {
		t.Error(err)
	}
	_, read := Read[int16](ctx, a)
	_, item := Item[int16](ctx, a, 1)
	_, copied := Copy(ctx, "", a, nil)
	for i, err := range append(edits(a), read, item, copied, a.ReadBytes(ctx, make([]byte, 6))) {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("call %d on a closed array: %v", i, err)
		}
	}
	if !slices.Equal(a.Shape(), []int64{3}) || len(a.Shape()) != 1 || a.Size() != 3 || a.DType().Size != 2 || a.DType().String() != "<i2" {
		t.Error("the shape of a closed array is wrong")
	}
}
