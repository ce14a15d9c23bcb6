package remote

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/internal/task"
)

// ReadRanges reads ranges of the object, which may overlap and have any order, with few requests: see Options.Gap. It
// calls got as the bytes arrive, on the goroutine of the caller: b holds the bytes of range want[i] that begin at byte
// at of the range. A range of at most Options.MaxLen bytes is delivered at once, a longer one in parts, in any order,
// and an empty one not at all. got must not change b, and may retain it, which retains up to Options.MaxLen bytes. If
// got returns an error, ReadRanges stops and returns it. It returns ErrBounds if a range is not inside the object.
func (obj *Object) ReadRanges(ctx context.Context, want []Range, got func(i int, at int64, b []byte) error) error {
	for _, r := range want {
		if err := ranges.Check(r, obj.id.Size); err != nil {
			return fmt.Errorf("%s: %w: %w", obj.c.name, err, ErrBounds)
		}
	}
	ctx = task.Context(ctx)
	m := obj.cost()
	batches := obj.batches(ranges.Plan(want, &m))
	switch len(batches) {
	case 0:
		return obj.failed(ctx)
	case 1:
		held, err := obj.fetch(ctx, wanted(&batches[0]))
		if err != nil {
			return err
		}
		defer obj.table.release(held)
		return deliver(&batches[0], held, got)
	}
	s := stream{obj: obj, arrived: make(chan arrival)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	defer s.end()
	for i := range batches {
		b := &batches[i]
		for s.running > 0 && (s.bytes+b.bytes > m.MaxBytes || s.running >= 4*m.Requests) {
			if err := s.next(got); err != nil {
				return err
			}
		}
		s.start(b)
	}
	for s.running > 0 {
		if err := s.next(got); err != nil {
			return err
		}
	}
	return nil
}

// batch is fetched and delivered at once: it is a fetch, or several for one request.
type batch struct {
	parts []ranges.Part // ascending
	bytes int64
}

// batches returns the batches of fetches. If a request may ask for several ranges, the fetches are divided among the
// requests in flight, but requests have more ranges if their bytes take less time than another request.
func (obj *Object) batches(fetches []ranges.Fetch) []batch {
	most := 1
	if obj.several() {
		most = maxPieces
	}
	share := (len(fetches) + obj.o.Requests - 1) / obj.o.Requests
	m := obj.c.costs.cost()
	m.Gap = 0
	few := min(m.GapLen(), obj.o.MaxLen)
	var batches []batch
	n := 0 // fetches in the last batch
	for _, f := range fetches {
		if last := len(batches) - 1; n > 0 && n < most {
			b := &batches[last]
			if bytes := b.bytes + f.Len; bytes <= few || n < share && bytes <= obj.o.MaxLen {
				b.parts, b.bytes = append(b.parts, f.Parts...), bytes
				n++
				continue
			}
		}
		batches = append(batches, batch{f.Parts, f.Len})
		n = 1
	}
	return batches
}

// wanted returns the ranges of the parts of a batch.
func wanted(b *batch) []Range {
	want := make([]Range, len(b.parts))
	for i, p := range b.parts {
		want[i] = p.Range
	}
	return want
}

// stream is a call of ReadRanges with several batches.
type stream struct {
	obj     *Object
	ctx     context.Context
	cancel  context.CancelFunc
	arrived chan arrival
	running int
	bytes   int64 // of the batches that are running or not delivered
}

// arrival is the result of fetching a batch.
type arrival struct {
	batch *batch
	held  []*segment
	err   error
	exit  *task.Exit
}

// start starts the fetches of a batch.
func (s *stream) start(b *batch) {
	s.running++
	s.bytes += b.bytes
	go func() {
		a := arrival{batch: b}
		task.Run(func() { a.held, a.err = s.obj.fetch(s.ctx, wanted(b)) }, func(x *task.Exit) { a.exit = x })
		s.arrived <- a
	}()
}

// next waits for a batch and delivers its bytes.
func (s *stream) next(got func(i int, at int64, b []byte) error) error {
	a := <-s.arrived
	s.running--
	s.bytes -= a.batch.bytes
	a.exit.Continue()
	if a.err != nil {
		return a.err
	}
	defer s.obj.table.release(a.held)
	return deliver(a.batch, a.held, got)
}

// end cancels the fetches that are running and waits for them.
func (s *stream) end() {
	s.cancel()
	for ; s.running > 0; s.running-- {
		a := <-s.arrived
		s.obj.table.release(a.held)
	}
}

// deliver calls got for the parts of a batch.
func deliver(b *batch, held []*segment, got func(i int, at int64, b []byte) error) error {
	for i := range b.parts {
		p := &b.parts[i]
		if err := got(p.Want, p.At, gather(p.Range, held)); err != nil {
			return err
		}
	}
	return nil
}

// gather returns the bytes of a range from ascending segments that cover it. It copies only if there are several.
func gather(r Range, held []*segment) []byte {
	i, _ := slices.BinarySearchFunc(held, r.Off, func(s *segment, off int64) int { return cmp.Compare(s.End(), off+1) })
	if s := held[i]; r.End() <= s.End() {
		return s.data[r.Off-s.Off:][:r.Len:r.Len]
	}
	b := make([]byte, 0, r.Len)
	for at := r.Off; at < r.End(); i++ {
		s := held[i]
		b = append(b, s.data[at-s.Off:][:min(r.End(), s.End())-at]...)
		at += min(r.End(), s.End()) - at
	}
	return b
}
