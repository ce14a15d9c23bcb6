package rows

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

func TestSet(t *testing.T) {
	const n = 3*Window + 100
	marks := make([]byte, n)
	r := &Set{}
	var live []int64
	for i := range marks {
		if gap := i > 20_000 && i < 120_001; !gap && (i%3 == 0 || i/5000%2 == 1) {
			marks[i] = byte(1 + i%255)
			live = append(live, int64(i))
		}
	}
	for start := 0; start < n; start += Window {
		r.add(marks[start:min(start+Window, n)], int64(start))
	}
	if r.Live != int64(len(live)) || r.Stored != live[len(live)-1]+1 {
		t.Fatalf("%d live of %d, want %d of %d", r.Live, r.Stored, len(live), live[len(live)-1]+1)
	}
	for i, want := range live {
		if got := r.Rank(want); got != int64(i) {
			t.Fatalf("Rank(%d) = %d, want %d", want, got, i)
		}
		if got := r.Position(int64(i)); got != want {
			t.Fatalf("position(%d) = %d, want %d", i, got, want)
		}
	}
	for _, span := range [][2]int64{{0, r.Live}, {1, 2}, {100, 60_000}, {5, 5}, {13_400, 13_500}, {15_000, 15_001}} {
		var got []int64
		err := r.Windows(span[0], span[1], 1000, func(from, to int64, live []int32) error {
			if !r.IsLive(from) {
				t.Fatalf("windows(%v): stored row %d is deleted", span, from)
			}
			for _, i := range live {
				got = append(got, from+int64(i))
			}
			for i := from; live == nil && i < to; i++ {
				got = append(got, i)
			}
			return nil
		})
		if err != nil || !slices.Equal(got, live[span[0]:span[1]]) {
			t.Errorf("windows(%v): %d rows, %v", span, len(got), err)
		}
		got = nil
		last := int64(-1)
		for from, to := range r.Runs(span[0], span[1]) {
			if from <= last || from >= to {
				t.Fatalf("Runs(%v): %d to %d after %d", span, from, to, last)
			}
			for last = to; from < to; from++ {
				got = append(got, from)
			}
		}
		if !slices.Equal(got, live[span[0]:span[1]]) {
			t.Errorf("Runs(%v): %d rows", span, len(got))
		}
	}
}

// TestGap reads two rows between which hundreds of millions of rows are deleted. Looking at each of them would take too
// long.
func TestGap(t *testing.T) {
	const n = 1 << 28
	r := &Set{Stored: n, Live: 2, bits: make([]uint64, n/64), before: make([]int64, n/64/groupWords)}
	r.bits[0], r.bits[len(r.bits)-1] = 1, 1<<63
	for g := range r.before[1:] {
		r.before[1+g] = 1
	}
	start, calls := time.Now(), 0
	for ; calls < 50 && time.Since(start) < 2*time.Second; calls++ {
		var got []int64
		err := r.Windows(0, 2, Window, func(from, to int64, live []int32) error {
			for _, i := range live {
				got = append(got, from+int64(i))
			}
			for i := from; live == nil && i < to; i++ {
				got = append(got, i)
			}
			return nil
		})
		for from, to := range r.Runs(0, 2) {
			got = append(got, from, to)
		}
		if want := []int64{0, n - 1, 0, 1, n - 1, n}; err != nil || !slices.Equal(got, want) {
			t.Fatalf("rows %d, %v, want %d", got, err, want)
		}
	}
	if calls < 50 {
		t.Errorf("%d calls in %v", calls, time.Since(start))
	}
}

// TestLongRun reads single rows and short ranges of hundreds of millions of rows, of which one is deleted. Looking for
// the end of the run each time would take too long.
func TestLongRun(t *testing.T) {
	const n, deleted, step = 1 << 28, 100, 1 << 16
	r := &Set{Stored: n, Live: n - 1, bits: make([]uint64, n/64), before: make([]int64, n/64/groupWords)}
	for i := range r.bits {
		r.bits[i] = math.MaxUint64
	}
	r.bits[deleted/64] &^= 1 << (deleted % 64)
	for g := range r.before[1:] {
		r.before[1+g] = int64(1+g)*64*groupWords - 1
	}
	start, calls := time.Now(), int64(0)
	for ; calls < n/step && time.Since(start) < 2*time.Second; calls++ {
		at := calls * step
		for _, stop := range []int64{at + 1, min(at+step, r.Live)} {
			want := []int64{at, stop}
			if at > deleted {
				want = []int64{at + 1, stop + 1}
			} else if stop > deleted {
				want = []int64{at, deleted, deleted + 1, stop + 1}
			}
			var got []int64
			for from, to := range r.Runs(at, stop) {
				got = append(got, from, to)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("Runs(%d, %d): %d, want %d", at, stop, got, want)
			}
		}
	}
	if calls < n/step {
		t.Errorf("%d calls in %v", calls, time.Since(start))
	}
}

// TestCount counts rows without decoding special chunks, whose rows would take too long.
func TestCount(t *testing.T) {
	ctx := t.Context()
	large := min(1<<35, int64(math.MaxInt)) - 5
	for name, c := range map[string]struct {
		n, chunk int64
		make     func(shape []int64, o *ndarray.CreateOptions) (*ndarray.Array, error)
		want     int64
	}{
		"no rows": {0, Window, func(shape []int64, o *ndarray.CreateOptions) (*ndarray.Array, error) {
			return ndarray.Zeros(ctx, "", shape, "|b1", o)
		}, 0},
		"zeros in tiny chunks": {1 << 27, 1, func(shape []int64, o *ndarray.CreateOptions) (*ndarray.Array, error) {
			return ndarray.Zeros(ctx, "", shape, "|b1", o)
		}, 0},
		"ones": {large, 1 << 30, func(shape []int64, o *ndarray.CreateOptions) (*ndarray.Array, error) {
			return ndarray.Full(ctx, "", shape, true, o)
		}, large},
		"some in large chunks": {4*Window + 100, Window + 100, someRows, 4*Window + 100 - 2*1000},
		"some in small chunks": {4*Window + 100, Window - 100, someRows, 4*Window + 100 - 2*1000},
	} {
		a, err := c.make([]int64{c.n}, &ndarray.CreateOptions{Chunks: []int64{c.chunk}})
		if err != nil {
			t.Fatal(name, err)
		}
		limited, stop := context.WithTimeout(ctx, 2*time.Second)
		got, err := Count(limited, a)
		stop()
		if err != nil || got != c.want {
			t.Errorf("%s: %d, %v, want %d", name, got, err, c.want)
		}
		if c.n > 1<<20 {
			continue
		}
		if r, err := Read(ctx, a); err != nil || r.Live != c.want {
			t.Errorf("%s: Read: %v, %v, want %d", name, r, err, c.want)
		}
	}
}

// someRows returns marks of rows, 1000 of which are deleted at the start and at the end.
func someRows(shape []int64, o *ndarray.CreateOptions) (*ndarray.Array, error) {
	marks := bytes.Repeat([]byte{1}, int(shape[0]))
	clear(marks[:1000])
	clear(marks[len(marks)-1000:])
	return ndarray.CreateBytes(context.Background(), "", shape, "|b1", marks, o)
}
