package remote_test

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// localSource is a frame.Source in memory that records its reads. It reads one range at a time, as from a file.
type localSource struct {
	data []byte

	mu   sync.Mutex
	read []frame.Range
}

// Size implements frame.Source.
func (s *localSource) Size() int64 { return int64(len(s.data)) }

// ReadAtContext implements frame.Source.
func (s *localSource) ReadAtContext(_ context.Context, p []byte, off int64) (int, error) {
	n, err := bytes.NewReader(s.data).ReadAt(p, off)
	s.note(frame.Range{Off: off, Len: int64(n)})
	return n, err
}

// note notes ranges that are read.
func (s *localSource) note(r ...frame.Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = append(s.read, r...)
}

// plannedSource is a localSource that reads many ranges at once. Its latency is zero, so that it reads over no gap.
type plannedSource struct{ *localSource }

// Gap returns the largest gap that is read.
func (plannedSource) Gap() int64 { return 0 }

// ReadRanges reads many ranges at once.
func (s plannedSource) ReadRanges(_ context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	s.note(want...)
	for i, r := range want {
		if err := got(i, 0, s.data[r.Off:r.End()]); err != nil {
			return err
		}
	}
	return nil
}

// TestLocalPlan compares what reads of a file take, which are not planned, with the plan at zero latency. The plan
// reads no other bytes. From a file, the beginnings of chunks may be read twice, and gaps between blocks if most
// blocks of a chunk are wanted.
func TestLocalPlan(t *testing.T) {
	for _, c := range table {
		if c.long {
			continue
		}
		stored := makeArray(t, c.Shape, c.Chunks, c.Blocks, c.Codec, false)
		for _, sel := range [][]ndarray.Index{
			nil, c.Sel(), {ndarray.At(50), ndarray.At(50), ndarray.At(50)}, {ndarray.Span(10, 50), ndarray.Span(100, 170)},
			{ndarray.Step(0, 60, 7), ndarray.At(3), ndarray.Span(200, 300)},
		} {
			local, planned := &localSource{data: stored}, &localSource{data: stored}
			readNoted(t, local, local, sel)
			readNoted(t, plannedSource{planned}, planned, sel)
			t.Logf("%s, %v: %d reads of %d bytes, and %d of %d by the plan", c.name, sel,
				len(local.read), size(local.read), len(planned.read), size(planned.read))
			if size(planned.read) > size(local.read) {
				t.Errorf("%s, %v: the plan has more bytes", c.name, sel)
			}
			for _, r := range planned.read {
				if !within(r, local.read) {
					t.Errorf("%s, %v: the plan reads %v, and not all of that is read from a file", c.name, sel, r)
				}
			}
		}
	}
}

// size returns the number of bytes in ranges.
func size(list []frame.Range) (n int64) {
	for _, r := range list {
		n += r.Len
	}
	return n
}

// within reports whether ranges in ascending order cover a range.
func within(r frame.Range, list []frame.Range) bool {
	at := r.Off
	for _, x := range list {
		if x.Off <= at {
			at = max(at, x.End())
		}
	}
	return at >= r.End()
}

// readNoted reads a selection of an array. Afterwards noted has the ranges that this took, in order.
func readNoted(t *testing.T, src frame.Source, noted *localSource, sel []ndarray.Index) {
	t.Helper()
	a, err := ndarray.OpenSource(t.Context(), src, &ndarray.OpenOptions{Concurrency: 1, MaxBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	noted.read = nil
	if _, err := ndarray.Read[float32](t.Context(), a, sel...); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(noted.read, func(a, b frame.Range) int { return cmp.Compare(a.Off, b.Off) })
}
