package objects

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/meta"
)

// Append adds items at the end, encoded as meta.Marshal does. All of them are stored or none, even after a crash. Each
// item of an object array becomes a chunk. For a batch array, the items of a call are one batch. For a list array, they
// are stored in batches of up to BatchRows lists (see CreateOptions), or in one batch if the array has no BatchRows.
//
// The frame must be open for editing, as frame.Edit returns it. Reads may run at the same time, and another Append
// waits. Append does not update the schema of a table, so do not append to a single column of a table.
//
// The error wraps ErrReadOnly, errors.ErrUnsupported for Arrow streams, or ErrType if an item has no encoding or is not
// a list that the list array accepts. Otherwise it is an error of frame.Frame.Begin or frame.Batch.Commit.
func (o *Array) Append(ctx context.Context, items ...any) error {
	if err := o.append(ctx, items); err != nil {
		return fmt.Errorf("objects: appending: %w", err)
	}
	return nil
}

func (o *Array) append(ctx context.Context, items []any) error {
	if o.arrow {
		return faults.Unsupportedf("items in Arrow streams")
	}
	var lists *listMeta
	if o.kind == Lists {
		var err error
		if lists, err = o.listMeta(); err != nil {
			return err
		}
	}
	raw := make([][]byte, len(items))
	for i, v := range items {
		var err error
		if raw[i], err = meta.Marshal(v); err == nil && lists != nil {
			err = lists.check(raw[i])
		}
		if err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	b, err := o.f.Begin(ctx)
	if err != nil || len(items) == 0 {
		if err == nil {
			b.Rollback()
		}
		return err
	}
	defer b.Rollback()
	if err := o.same(); err != nil {
		return err
	}
	if o.batched {
		size := len(raw)
		if lists != nil && lists.BatchRows > 0 {
			size = int(min(lists.BatchRows, int64(size)))
		}
		return o.appendBatches(ctx, b, slices.Collect(slices.Chunk(raw, size)))
	}
	for _, item := range raw {
		if err := b.Append(ctx, item); err != nil {
			return err
		}
	}
	if err := b.Commit(); err != nil {
		return err
	}
	o.Len() // for count
	return nil
}

// appendBatches appends batches, records their lengths, and commits.
func (o *Array) appendBatches(ctx context.Context, b *frame.Batch, added [][][]byte) error {
	next, err := o.stored(ctx)
	if err != nil {
		return err
	}
	perBlock := int(min(next.perBlock, int64(len(added[0]))))
	if perBlock == 0 {
		perBlock = blockLength(o.f.Info().Params.Level, added[0])
		if len(next.ends) == 0 && setBlockLength(o.f, b, perBlock) == nil {
			next.perBlock = int64(perBlock)
		}
	}
	lengths := make([]int64, len(added))
	for i, items := range added {
		var blocks [][]byte
		for part := range slices.Chunk(items, perBlock) {
			blocks = append(blocks, joinItems(part))
		}
		if err := b.AppendBlocks(ctx, blocks); err != nil {
			return err
		}
		lengths[i] = int64(len(items))
	}
	if err := next.add(lengths); err != nil {
		return err
	}
	if err := b.SetVLMeta(lengthsLayer, next.content()); err != nil {
		return err
	}
	if err := b.Commit(); err != nil {
		return err
	}
	o.batches.Store(next)
	return nil
}

// stored returns a copy of the batches that the frame has now, with their encoded lengths: another Array or process may
// have appended since, or chosen the number of items of a block. It decodes the metalayer if that has changed since the
// last Append, or if there was none.
func (o *Array) stored(ctx context.Context) (*batches, error) {
	v, err := o.f.Engine().View(ctx)
	if err != nil {
		return nil, err
	}
	defer v.Release()
	perBlock, err := o.itemsPerBlock(v)
	if err != nil {
		return nil, err
	}
	content, err := v.VLMeta(lengthsLayer)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	known := *o.batches.Load()
	known.perBlock = perBlock
	if len(known.ends) == v.Info().NumChunks && known.encoded != nil && bytes.Equal(content, known.content()) {
		return &known, nil
	}
	lengths, err := o.batchLengths(ctx, v)
	if err != nil {
		return nil, err
	}
	next := &batches{perBlock: perBlock}
	return next, next.add(lengths)
}

// add appends batches with these lengths.
func (b *batches) add(lengths []int64) error {
	if len(lengths) == 0 {
		return nil
	}
	content, err := meta.Marshal(lengths)
	if err != nil {
		return err
	}
	_, items, err := frames.ArrayHeader(content)
	if err != nil {
		return err
	}
	b.encoded = append(b.encoded, items...)
	b.ends, err = appendEnds(b.ends, lengths)
	return err
}

// content returns the metalayer with the lengths of the batches, all of which are encoded.
func (b *batches) content() []byte {
	const key = "batch_lengths"
	content := make([]byte, 0, len(key)+7+len(b.encoded))
	content = append(content, 0x81, 0xa0|byte(len(key)))
	content = appendArrayHeader(append(content, key...), len(b.ends))
	return append(content, b.encoded...)
}

// blockLength returns the number of items of a block if the array does not say it: as python-blosc2 does, as many of
// the first items as have a number of bytes that depends on the level.
func blockLength(level int, items [][]byte) int {
	budget := 0
	switch {
	case level <= 0 || level >= 9:
		return len(items)
	case level <= 3:
		budget = 1 << 20
	case level <= 6:
		budget = 8 << 20
	default:
		budget = 16 << 20
	}
	for i, item := range items {
		if budget -= len(item); budget < 0 {
			return max(i, 1)
		}
	}
	return len(items)
}

// setBlockLength stores the number of items of a block in the metalayer of an array without batches.
func setBlockLength(f *frame.Frame, b *frame.Batch, n int) error {
	const layer, key = "batcharray", "items_per_block"
	content, _ := frames.MetaLayer(f, layer)
	var m meta.Map
	if err := frames.UnmarshalMeta(f, content, &m); err != nil {
		return err
	}
	i := slices.IndexFunc(m, func(e meta.Entry) bool { return e.Key == key })
	if i < 0 {
		return errors.ErrUnsupported
	}
	m[i].Value = n
	content, err := meta.Marshal(m)
	if err != nil {
		return err
	}
	return b.SetMeta(layer, content)
}

// joinItems returns the MessagePack array of items in MessagePack.
func joinItems(items [][]byte) []byte {
	size := 5
	for _, item := range items {
		size += len(item)
	}
	b := appendArrayHeader(make([]byte, 0, size), len(items))
	for _, item := range items {
		b = append(b, item...)
	}
	return b
}

// appendArrayHeader appends the beginning of a MessagePack array of n elements.
func appendArrayHeader(b []byte, n int) []byte {
	switch {
	case n < 16:
		return append(b, 0x90|byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, 0xdc), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, 0xdd), uint32(n))
}
