package frame

import "github.com/goblosc/blosc2/chunk"

// Append compresses p with the frame's parameters and adds it as the last chunk. See Batch.AppendChunk. This edit
// and the following ones are commits of their own; put several into a Batch to make them one.
func (f *Frame) Append(p []byte) error {
	return f.edit(func(b *Batch) error { return b.Append(p) })
}

// Insert compresses p and adds it before chunk i.
func (f *Frame) Insert(i int, p []byte) error {
	return f.edit(func(b *Batch) error { return b.Insert(i, p) })
}

// Update compresses p and puts it in the place of chunk i.
func (f *Frame) Update(i int, p []byte) error {
	return f.edit(func(b *Batch) error { return b.Update(i, p) })
}

// Delete removes chunk i.
func (f *Frame) Delete(i int) error {
	return f.edit(func(b *Batch) error { return b.DeleteChunk(i) })
}

// Reorder puts chunk order[i] at place i.
func (f *Frame) Reorder(order []int) error {
	return f.edit(func(b *Batch) error { return b.Reorder(order) })
}

// FillSpecial makes an empty frame one of n bytes of a special value.
func (f *Frame) FillSpecial(n int64, s chunk.Special) error {
	return f.edit(func(b *Batch) error { return b.FillSpecial(n, s) })
}

// SetMeta sets a metalayer. See Batch.SetMeta.
func (f *Frame) SetMeta(name string, content []byte) error {
	return f.edit(func(b *Batch) error { return b.SetMeta(name, content) })
}

// SetVLMeta sets a variable-length metalayer. See Batch.SetVLMeta.
func (f *Frame) SetVLMeta(name string, content []byte) error {
	return f.edit(func(b *Batch) error { return b.SetVLMeta(name, content) })
}

// DeleteVLMeta removes a variable-length metalayer, or fails with ErrNotFound.
func (f *Frame) DeleteVLMeta(name string) error {
	return f.edit(func(b *Batch) error { return b.DeleteVLMeta(name) })
}

// Append compresses p with the frame's parameters and adds it as the last chunk. See AppendChunk.
func (b *Batch) Append(p []byte) error { return b.Insert(b.next.index.n, p) }

// Insert compresses p and adds it before chunk i.
func (b *Batch) Insert(i int, p []byte) error {
	if err := b.check(i, b.next.index.n); err != nil {
		return err
	}
	c, err := b.encode(p)
	if err != nil {
		return err
	}
	return b.InsertChunk(i, c)
}

// Update compresses p and puts it in the place of chunk i.
func (b *Batch) Update(i int, p []byte) error {
	if err := b.check(i, b.next.index.n-1); err != nil {
		return err
	}
	c, err := b.encode(p)
	if err != nil {
		return err
	}
	return b.UpdateChunk(i, c)
}

func (b *Batch) encode(p []byte) ([]byte, error) {
	c, err := b.f.pool.Encode(nil, p, b.next.cparams())
	if err != nil {
		return nil, b.f.wrap("chunk", -1, err)
	}
	return c, nil
}

// AppendBlocks compresses blocks, each of its own size and of at least one byte, and adds them as the last chunk. It
// makes an empty frame one with blocks of variable size, which then takes no other chunks. See AppendChunk.
func (b *Batch) AppendBlocks(blocks [][]byte) error {
	if b.done {
		return b.errDone()
	}
	c, err := b.f.pool.EncodeVL(nil, blocks, b.next.cparams())
	if err != nil {
		return b.f.wrap("chunk", -1, err)
	}
	return b.AppendChunk(c)
}

// AppendBlocks compresses blocks, each of its own size, and adds them as the last chunk. See Batch.AppendBlocks.
func (f *Frame) AppendBlocks(blocks [][]byte) error {
	return f.edit(func(b *Batch) error { return b.AppendBlocks(blocks) })
}
