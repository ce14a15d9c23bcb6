package object

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/frame"
)

// memory is a Getter that counts.
type memory struct {
	data []byte

	mu       sync.Mutex
	requests int
	err      error
}

func (m *memory) Get(ctx context.Context, off, n int64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	if m.err != nil {
		return nil, m.err
	}
	return bytes.Clone(m.data[off : off+n]), ctx.Err()
}

// newMemory returns n bytes.
func newMemory(n int) *memory {
	m := &memory{data: make([]byte, n)}
	rand.NewChaCha8([32]byte{1}).Read(m.data)
	return m
}

// TestReadRanges reads random ranges from a cache that holds a part of the object.
func TestReadRanges(t *testing.T) {
	for _, size := range []int{0, 1, pageSize - 1, pageSize, pageSize + 1, 40 << 20} {
		m := newMemory(size)
		o := New(m, int64(size), 1<<20, m.data[:min(size, 2*pageSize)])
		r := rand.New(rand.NewPCG(1, 2))
		for range 50 {
			var want []frame.Range
			for range r.IntN(20) {
				off := r.Int64N(int64(size) + 1)
				want = append(want, frame.Range{Off: off, Len: min(r.Int64N(100_000), int64(size)-off)})
			}
			got := make([][]byte, len(want))
			for i, w := range want {
				got[i] = make([]byte, w.Len)
			}
			left := make([]int64, len(want))
			err := o.ReadRanges(t.Context(), want, func(i int, at int64, b []byte) error {
				left[i] += int64(copy(got[i][at:], b))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				if left[i] != w.Len || !bytes.Equal(got[i], m.data[w.Off:w.End()]) {
					t.Fatalf("range %v of %d bytes: wrong bytes, %d delivered", w, size, left[i])
				}
			}
			if len(o.pages) > o.limit {
				t.Fatalf("%d pages, want at most %d", len(o.pages), o.limit)
			}
		}
	}
}

// TestRequests counts requests: close pages share one, and pages in memory need none.
func TestRequests(t *testing.T) {
	m := newMemory(100 * pageSize)
	o := New(m, 100*pageSize, 64<<20, nil)
	read := func(want int, ranges ...frame.Range) {
		t.Helper()
		m.requests = 0
		if err := o.ReadRanges(t.Context(), ranges, func(int, int64, []byte) error { return nil }); err != nil || m.requests != want {
			t.Errorf("%d requests, want %d: %v", m.requests, want, err)
		}
	}
	read(1, frame.Range{Off: 10, Len: 10}, frame.Range{Off: 3 * pageSize, Len: 10})
	read(0, frame.Range{Off: pageSize, Len: pageSize})
	read(2, frame.Range{Off: 10 * pageSize, Len: 1}, frame.Range{Off: 90 * pageSize, Len: pageSize + 1})
	read(0, frame.Range{Off: 91*pageSize + 5, Len: 1})
}

func TestFaults(t *testing.T) {
	m := newMemory(1000)
	o := New(m, 1000, 1<<20, nil)
	for _, r := range []frame.Range{{Off: -1, Len: 2}, {Off: 0, Len: 1001}, {Off: 1000, Len: 1}, {Off: 0, Len: -1}} {
		if err := o.ReadRanges(t.Context(), []frame.Range{r}, nil); !errors.Is(err, frame.ErrBounds) {
			t.Errorf("%v: %v", r, err)
		}
	}
	m.err = errors.New("no")
	if _, err := o.ReadAtContext(t.Context(), make([]byte, 10), 0); !errors.Is(err, m.err) {
		t.Error(err)
	}
	m.err = nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.ReadAtContext(ctx, make([]byte, 10), 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	m.data = m.data[:500:500]
	o = New(short{}, 1000, 1<<20, nil)
	if _, err := o.ReadAtContext(t.Context(), make([]byte, 10), 0); err == nil {
		t.Error("no error of a short answer")
	}
}

// short answers with too few bytes.
type short struct{}

func (short) Get(context.Context, int64, int64) ([]byte, error) { return make([]byte, 3), nil }
