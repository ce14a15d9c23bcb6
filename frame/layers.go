package frame

import (
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/internal/coder"
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
		err = b.f.store.grow(int64(n))
	}
	if err != nil {
		return b.f.wrap("metalayers", -1, err)
	}
	b.next.meta, b.next.headerLen = layers, n
	return nil
}

// headerLen returns the length of a header with these metalayers.
func headerLen(layers []meta.Layer) (int, error) {
	head, err := meta.AppendHeader(make([]byte, fixedLen), layers)
	return len(head), err
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
