package frametest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
)

// numberFilter is a user filter that stores blocks as they are and records the numbers of their chunks.
type numberFilter struct {
	mu   sync.Mutex
	seen map[int64]bool
}

func (*numberFilter) Code() uint8 { return 203 }

func (f *numberFilter) Forward(dst, src []byte, b chunk.BlockInfo) error {
	copy(dst, src)
	f.mu.Lock()
	f.seen[b.Chunk] = true
	f.mu.Unlock()
	return nil
}

func (f *numberFilter) Backward(dst, src []byte, b chunk.BlockInfo) error {
	return f.Forward(dst, src, b)
}

func newNumberFilter() *numberFilter { return &numberFilter{seen: map[int64]bool{}} }

// digits returns n bytes that compress.
func digits(n int) []byte { return bytes.Repeat([]byte("0123456789"), n/10) }

// check calls op, which must pass only the wanted numbers of chunks.
func (f *numberFilter) check(t *testing.T, what string, op func() error, want ...int64) {
	t.Helper()
	clear(f.seen)
	err := op()
	if got := slices.Sorted(maps.Keys(f.seen)); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v, the filter got chunks %d, want %d", what, err, got, want)
	}
}

// options returns options with f as a user filter, or as Prefilter and Postfilter.
func (f *numberFilter) options(user bool, concurrency int) *frame.CreateOptions {
	o := &frame.CreateOptions{Concurrency: concurrency, Params: chunk.Params{BlockSize: 500, Codec: codec.LZ4}}
	if user {
		o.UserFilters, o.Params.Filters = []chunk.UserFilter{f}, []chunk.Filter{chunk.Filter(f.Code())}
	} else {
		o.Prefilter, o.Postfilter = f.Forward, f.Backward
	}
	return o
}

// TestBlockInfoChunk checks the number of the chunk that functions of the program get, with one block in a chunk and
// with several.
func TestBlockInfoChunk(t *testing.T) {
	ctx := t.Context()
	for _, user := range []bool{true, false} {
		for _, concurrency := range []int{1, 3} {
			f := newNumberFilter()
			g, err := frame.Create(ctx, "", f.options(user, concurrency))
			must(t, err)
			one, several := digits(300), digits(5000)
			edit := func(e func(b *frame.Batch) error) func() error {
				return func() error { return change(g, e) }
			}
			f.check(t, "Append", func() error { return g.Append(ctx, several) }, 0)
			f.check(t, "Append", func() error { return g.Append(ctx, several) }, 1)
			f.check(t, "Insert", edit(func(b *frame.Batch) error { return b.Insert(ctx, 1, several) }), 1)
			f.check(t, "Update", edit(func(b *frame.Batch) error { return b.Update(ctx, 2, several) }), 2)
			f.check(t, "Append of a short chunk", func() error { return g.Append(ctx, one) }, 3)
			var p []byte
			for i := range 4 {
				what := fmt.Sprintf(" of chunk %d", i)
				n := int64(i)
				f.check(t, "ReadChunk"+what, func() (err error) { p, err = g.ReadChunk(ctx, p[:0], i); return err }, n)
				f.check(t, "ReadBlock"+what, func() (err error) { p, err = g.ReadBlock(ctx, p[:0], i, 0); return err }, n)
				f.check(t, "ReadAt"+what, func() error { _, err := g.Content(ctx).ReadAt(p[:10], 5000*n); return err }, n)
			}
			f.check(t, "Content", func() error { _, err := io.Copy(io.Discard, g.Content(ctx)); return err }, 0, 1, 2, 3)
			f.check(t, "Verify", func() error { return g.Verify(ctx, nil) }, 0, 1, 2, 3)
		}
	}
}

// TestBlockInfoChunkOthers is TestBlockInfoChunk for blocks of variable size, regions and a goal.
func TestBlockInfoChunkOthers(t *testing.T) {
	ctx := t.Context()
	f := newNumberFilter()
	g, err := frame.Create(ctx, "", f.options(true, 3))
	must(t, err)
	var p []byte
	for i := range 2 {
		blocks := [][]byte{digits(900), digits(20), digits(3000)}
		f.check(t, "AppendBlocks", func() error {
			return change(g, func(b *frame.Batch) error { return b.AppendBlocks(ctx, blocks) })
		}, int64(i))
		f.check(t, "ReadChunk", func() (err error) { p, err = g.ReadChunk(ctx, p[:0], i); return err }, int64(i))
	}

	o := f.options(true, 3)
	o.ChunkSize = 5000
	r, err := frame.CreateRegions(ctx, t.TempDir()+"/r", 3*5000, o)
	must(t, err)
	f.check(t, "Regions.Write", func() error { return r.Write(ctx, 2, digits(5000)) }, 2)
	must(t, r.Close())

	g, err = frame.Create(ctx, "", f.options(true, 3))
	must(t, err)
	must(t, errors.Join(g.Append(ctx, digits(5000)), g.Append(ctx, digits(5000))))
	f.check(t, "Copy with a goal", func() error {
		_, err := frame.Copy(ctx, "", g, &frame.CreateOptions{Goal: chunk.Fastest})
		return err
	}, 0, 1)
}

// TestVerifyChunkNumber reads another chunk before Verify, on the same worker.
func TestVerifyChunkNumber(t *testing.T) {
	ctx := t.Context()
	f := newNumberFilter()
	g, err := frame.Create(ctx, "", f.options(true, 1))
	must(t, err)
	for range 3 {
		must(t, g.Append(ctx, digits(5000)))
	}
	f.check(t, "ReadAt", func() error { _, err := g.Content(ctx).ReadAt(make([]byte, 10), 10000); return err }, 2)
	f.check(t, "Verify", func() error { return g.Verify(ctx, nil) }, 0, 1, 2)
}
