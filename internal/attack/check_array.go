package attack

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// readArray reads selections of an array, and describes its chunks.
func (c *checker) readArray(f *frame.Frame) {
	a, err := ndarray.OpenFrame(f)
	if !c.step("FromFrame", err) {
		return
	}
	shape := a.Shape()
	for range 3 {
		sel := make([]ndarray.Index, len(shape))
		n := int64(a.DType().Size)
		for k, s := range shape {
			sel[k], s = c.selection(s)
			n *= s
			if n > maxAll { // the caller would not ask for so much
				n = 0
				break
			}
		}
		if n == 0 {
			continue
		}
		dst := make([]byte, n)
		c.mustStep("ReadBytes", a.ReadBytes(context.Background(), dst, sel...))
	}
	if size := a.Size(); size < maxAll/int64(a.DType().Size) {
		dst := make([]byte, int(size)*a.DType().Size)
		c.mustStep("ReadBytes", a.ReadBytes(context.Background(), dst))
	}
	seen := 0
	for _, err := range a.ChunkInfos(context.Background()) {
		if c.mustStep("ChunkInfos", err); seen > 50 || err != nil {
			break
		}
		seen++
	}
	if a.Size() > 0 && a.Size() < 10_000 {
		_, err := ndarray.ReduceAll[float64](context.Background(), a, ndarray.OpSum, nil)
		c.step("ReduceAll", ignoreKinds(err))
	}
}

// ignoreKinds drops the errors of dtypes that cannot be added.
func ignoreKinds(err error) error {
	if errors.Is(err, ndarray.ErrType) || errors.Is(err, ndarray.ErrValue) {
		return nil
	}
	return err
}

// selection returns what to read along an axis of some length, and the number of items.
func (c *checker) selection(s int64) (ndarray.Index, int64) {
	if s == 0 {
		return ndarray.All, 0
	}
	at := c.rng.Int64N(s)
	n := min(1+c.rng.Int64N(7), s-at)
	switch c.rng.IntN(4) {
	case 0:
		return ndarray.Span(at, at+1), 1
	case 1:
		return ndarray.Pick(at, s-1, 0), 3
	case 2:
		return ndarray.Step(at, at+n, 2), (n + 1) / 2
	}
	return ndarray.Span(at, at+n), n
}

// checkChunk decodes a chunk as a whole and in parts.
func (c *checker) checkChunk(b []byte) {
	o := &chunk.Coder{Concurrency: 1 + c.rng.IntN(2), MaxBytes: pick[int64](c.rng, 0, 1<<20), BlockShape: pick(c.rng, nil, []int32{8, 8}, []int32{4, 6})}
	h, err := chunk.ParseHeader(b, int64(len(b)))
	c.step("ParseHeader", err)
	whole, err := o.Decode(nil, b)
	c.Opened = c.step("Decode", err)
	if c.Opened && len(whole) != h.NBytes {
		c.faultf("Decode returns %d bytes of %d", len(whole), h.NBytes)
	}
	blocks, err := o.DecodeBlocks(b)
	if c.step("DecodeBlocks", err) && c.Opened && !bytes.Equal(bytes.Join(blocks, nil), whole) {
		c.faultf("DecodeBlocks and Decode differ")
	}
	c.Intact = c.Opened
	size := int64(h.NBytes)
	buf := make([]byte, 300)
	for _, off := range []int64{0, size / 2, max(0, size-100)} {
		n, err := o.DecodeAt(buf, bytes.NewReader(b), off)
		if n < len(buf) && off+int64(n) == size && err != nil && !errors.Is(err, chunk.ErrCorrupt) {
			err = nil // the end
		}
		if c.step("DecodeAt", err) && c.Opened && !bytes.Equal(buf[:n], whole[off:][:n]) {
			c.faultf("DecodeAt(%d) differs from Decode", off)
		}
	}
}

// edits edits the mutant itself, and reads it again.
func (c *checker) edits() {
	o := c.options()
	o.Locking = c.rng.IntN(4) == 0
	f, err := frame.Edit(context.Background(), c.path, editOptions(o))
	if !c.step("Edit", err) {
		return
	}
	defer f.Close()
	if f.NumChunks() > 200_000 {
		return // each edit writes the whole index
	}
	for range 2 + c.rng.IntN(3) {
		c.editFrame(f)
	}
	if c.mu.Array && c.rng.IntN(2) == 0 {
		if a, err := ndarray.OpenFrame(f); c.step("FromFrame for editing", err) {
			for range 2 {
				c.editArray(a)
			}
		}
	}
	intact := c.verify("Verify after edits", f)
	if c.Intact && intact != nil && !c.mu.linked() { // a chunk goes when the file that a link leads to goes
		c.faultf("edits break an intact mutant: %v", intact)
	}
	c.step("Close", f.Close())
	g, err := frame.Open(context.Background(), c.path, nil)
	if !c.step("Open after edits", err) {
		if !errors.Is(err, frame.ErrTooLarge) {
			c.faultf("a frame that was edited does not open: %v", err)
		}
		return
	}
	defer g.Close()
	if intact == nil {
		if err := c.verify("Verify after opening again", g); err != nil {
			c.faultf("a frame that was edited is not what is stored: %v", err)
		}
	}
}

// editFrame does one edit. Some are not possible for all frames, so that an error need not be a fault.
func (c *checker) editFrame(f *frame.Frame) {
	n, size := f.NumChunks(), f.Info().ChunkSize
	if size <= 0 || size > maxAll {
		size = 100
	}
	content := smooth(size, c.mu.Seed)
	if c.mu.Array && (n == 0 || c.rng.IntN(2) == 0) {
		c.step("SetVLMeta", inBatch(f, func(b *frame.Batch) error { return b.SetVLMeta("note", content[:min(10, size)]) }))
		return // edits of chunks would not fit its shape
	}
	at := 0
	if n > 0 {
		at = c.rng.IntN(n)
	}
	switch op := c.rng.IntN(7); {
	case c.mu.Array && op < 5 || op == 5:
		c.step("Compact", f.Compact(context.Background()))
	case op == 0 || n == 0:
		c.step("Append", f.Append(context.Background(), content))
	case op == 1:
		c.step("Delete", inBatch(f, func(b *frame.Batch) error { return b.Delete(at) }))
	case op == 2:
		c.step("Update", inBatch(f, func(b *frame.Batch) error { return b.Update(context.Background(), at, content) }))
	case op == 3 && n < 5000:
		c.step("Reorder", inBatch(f, func(b *frame.Batch) error { return b.Reorder(c.rng.Perm(n)) }))
	case op == 4:
		c.step("Insert", inBatch(f, func(b *frame.Batch) error { return b.Insert(context.Background(), at, content) }))
	default:
		c.step("SetChecksums", inBatch(f, func(b *frame.Batch) error { return b.SetChecksums(context.Background(), c.rng.IntN(2) == 0) }))
	}
}

// editArray does one edit.
func (c *checker) editArray(a *ndarray.Array) {
	// An edit in the middle of an axis encodes all that follows: a program limits its time.
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	shape := a.Shape()
	if len(shape) == 0 {
		c.step("FillBytes", a.FillBytes(ctx, make([]byte, a.DType().Size)))
		return
	}
	k := c.rng.IntN(len(shape))
	step := int64(a.DType().Size) // bytes of one step along the axis
	for i, s := range shape {
		if i != k {
			step *= s
		}
		if step <= 0 || step > maxAll {
			step = 0
			break
		}
	}
	switch op := c.rng.IntN(5); {
	case op == 0:
		shape[k] = pick(c.rng, 0, shape[k]/2, shape[k]+1+c.rng.Int64N(20), shape[k]*2)
		c.step("Resize", a.Resize(ctx, shape...))
	case op == 1 && shape[k] > 0:
		at := c.rng.Int64N(shape[k])
		c.step("Delete", a.Delete(ctx, k, at, min(shape[k]-at, 1+c.rng.Int64N(5))))
	case op == 2 && step > 0:
		c.step("Append", a.AppendBytes(ctx, k, make([]byte, step*2)))
	case op == 3 && step > 0 && shape[k] > 0:
		c.step("Insert", a.InsertBytes(ctx, k, c.rng.Int64N(shape[k]), make([]byte, step)))
	case shape[k] > 0:
		sel := make([]ndarray.Index, len(shape))
		for i, s := range shape {
			if sel[i], s = c.selection(s); s == 0 {
				return
			}
		}
		item := binary.LittleEndian.AppendUint64(make([]byte, 0, 8), 12345)
		for len(item) < a.DType().Size {
			item = append(item, 0)
		}
		if a.DType().Size <= maxAll {
			c.step("FillBytes", a.FillBytes(ctx, item[:a.DType().Size], sel...))
		}
	}
}
