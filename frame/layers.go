package frame

import (
	"context"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame/internal/crc32c"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// SetMeta sets a metalayer: a new one while the frame has no chunks, neither now nor before the batch, else one that
// is there, to a content of the same length. Errors are ErrLimit and ErrParam, also when a reader still uses a state
// with chunks whose place a longer header would take.
func (b *Batch) SetMeta(name string, content []byte) error {
	if b.done {
		return b.errDone()
	}
	s := b.next
	layers := slices.Clone(s.meta)
	i := findLayer(layers, name)
	chunks := s.index.n > 0 || b.cur != nil && b.cur.index.n > 0
	switch {
	case i >= 0 && len(layers[i].Content) != len(content) && chunks:
		return b.f.wrap("metalayer "+name, -1, fmt.Errorf("%d bytes in place of %d: %w", len(content), len(layers[i].Content), ErrParam))
	case i >= 0 && len(layers[i].Content) == len(content):
		layers[i].Content = slices.Clone(content)
		s.meta = layers // the header stays as long as it is, even if it is longer than it need be
		s.noteLayer(false, name, layers[i].Content)
		return nil
	case i >= 0:
		layers[i].Content = slices.Clone(content)
	case chunks:
		return b.f.wrap("metalayer "+name, -1, fmt.Errorf("cannot be added to a frame with chunks: %w", ErrParam))
	default:
		layers = append(layers, meta.Layer{Name: name, Content: slices.Clone(content)})
	}
	if err := b.setLayers(layers); err != nil {
		return err
	}
	s.noteLayer(false, name, content)
	return nil
}

// setLayers sets the metalayers and with them the length of the header.
func (b *Batch) setLayers(layers []meta.Layer) error {
	n, err := headerLen(layers)
	if err == nil {
		err = b.f.store.headerFits(int64(n))
	}
	if err != nil {
		return b.f.wrap("metalayers", -1, err)
	}
	b.next.meta, b.next.headerLen = layers, n
	return nil
}

// SetVLMeta sets a variable-length metalayer; it is compressed. By python-blosc2's convention content is a
// MessagePack value: see meta.Marshal. The format lets other libraries write back at most 16 of them. Errors are
// ErrLimit.
func (b *Batch) SetVLMeta(name string, content []byte) error {
	if b.done {
		return b.errDone()
	}
	c, err := b.f.plain.Encode(nil, content, coder.CParams{})
	if err == nil && name == ChecksumLayer {
		err = fmt.Errorf("the library writes it, see SetChecksums: %w", ErrParam)
	}
	if err != nil {
		return b.f.wrap("variable-length metalayer "+name, -1, err)
	}
	layers := slices.Clone(b.next.vlmeta)
	if i := findLayer(layers, name); i >= 0 {
		layers[i].Content = c
	} else {
		layers = append(layers, meta.Layer{Name: name, Content: c})
	}
	if _, err := meta.AppendTrailer(nil, layers); err != nil {
		return b.f.wrap("variable-length metalayer "+name, -1, err)
	}
	b.next.vlmeta = layers
	b.next.noteLayer(true, name, c)
	return nil
}

// DeleteVLMeta removes a variable-length metalayer, or fails with ErrNotFound. Without ChecksumLayer, the frame keeps
// no checksums any more.
func (b *Batch) DeleteVLMeta(name string) error {
	if b.done {
		return b.errDone()
	}
	i := findLayer(b.next.vlmeta, name)
	if i < 0 {
		return b.f.wrap("variable-length metalayer "+name, -1, ErrNotFound)
	}
	if name == ChecksumLayer {
		if err := b.keepSums(); err != nil {
			return err
		}
	}
	b.next.vlmeta = slices.Delete(slices.Clone(b.next.vlmeta), i, i+1)
	b.next.forgetVLMeta(name)
	return nil
}

// ReplaceMeta puts content of the same length in the place of a metalayer.
func (b *Batch) ReplaceMeta(name string, content []byte) error {
	if b.done {
		return b.errDone()
	}
	i := findLayer(b.next.meta, name)
	if i < 0 {
		return b.f.wrap("metalayer "+name, -1, ErrNotFound)
	}
	if have := len(b.next.meta[i].Content); have != len(content) {
		return b.f.wrap("metalayer "+name, -1, fmt.Errorf("%d bytes in place of %d: %w", len(content), have, ErrParam))
	}
	return b.SetMeta(name, content)
}

// SetChecksums makes the frame keep checksums from this batch on, or no longer. It reads all chunks to make them
// anew; one that differs from a checksum that it has is an ErrChecksum, unless another library has changed the index
// since. It returns early when ctx says so.
func (b *Batch) SetChecksums(ctx context.Context, on bool) error {
	if b.done {
		return b.errDone()
	}
	ctx = task.Context(ctx)
	s := b.next
	if !on {
		if err := b.keepSums(); err != nil {
			return err
		}
		s.sums, s.index.sums = nil, nil
		s.vlmeta = slices.DeleteFunc(slices.Clone(s.vlmeta), func(l meta.Layer) bool { return l.Name == ChecksumLayer })
		return nil
	}
	layers := withLayer(s.vlmeta, ChecksumLayer, nil)
	if _, err := meta.AppendTrailer(nil, layers); err != nil {
		return b.f.wrap("variable-length metalayer "+ChecksumLayer, -1, err)
	}
	var sums []uint32
	var buf []byte
	for i := range s.index.list {
		err := ctx.Err()
		sum := uint32(0)
		if err == nil && s.index.list[i] >= 0 {
			if buf, err = b.f.rawChunk(buf[:0], s, i); err == nil {
				err = b.f.checkSum(s, i, buf)
			}
			sum = crc32c.Checksum(buf)
		}
		if err != nil {
			return err
		}
		sums = append(sums, sum)
	}
	b.owned = false // the list has other checksums now
	s.index.sums, s.sums, s.vlmeta = sums, &checksums{}, layers
	for _, l := range s.meta {
		s.noteLayer(false, l.Name, l.Content)
	}
	for _, l := range s.vlmeta {
		if l.Name != ChecksumLayer {
			s.noteLayer(true, l.Name, l.Content)
		}
	}
	return nil
}

// keepSums returns an ErrParam if Options.RequireChecksums forbids removing the checksums.
func (b *Batch) keepSums() error {
	if !b.f.opts.RequireChecksums {
		return nil
	}
	return b.f.wrap("variable-length metalayer "+ChecksumLayer, -1, fmt.Errorf("Options.RequireChecksums asks for it: %w", ErrParam))
}

// SetChecksums makes the frame keep checksums, or no longer. See Batch.SetChecksums.
func (f *Frame) SetChecksums(ctx context.Context, on bool) error {
	return f.editContext(ctx, func(b *Batch) error { return b.SetChecksums(ctx, on) })
}
