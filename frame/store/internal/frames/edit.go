package frames

import (
	"bytes"
	"context"

	"github.com/goblosc/blosc2/frame"
)

// Bytes returns a whole frame.
func Bytes(ctx context.Context, f *frame.Frame) ([]byte, error) {
	var b bytes.Buffer
	_, err := f.Save(ctx, &b)
	return b.Bytes(), err
}

// SetVLMeta sets a variable-length metalayer in one commit.
func SetVLMeta(ctx context.Context, f *frame.Frame, name string, content []byte) error {
	b, err := f.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err := b.SetVLMeta(name, content); err != nil {
		return err
	}
	return b.Commit()
}

// AppendContent appends bytes to the decoded bytes of a frame with chunks of equal size, and sets a variable-length
// metalayer, in one commit.
func AppendContent(ctx context.Context, f *frame.Frame, content []byte, name string, text []byte) error {
	info := f.Info()
	size := info.ChunkSize
	if size <= 0 {
		size = 8192
	}
	b, err := f.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Rollback()
	if rest := int(info.NBytes % int64(size)); rest > 0 { // complete the last chunk
		last, err := f.ReadChunk(ctx, nil, info.NumChunks-1)
		if err != nil {
			return err
		}
		n := min(size-rest, len(content))
		if err := b.Update(ctx, info.NumChunks-1, append(last, content[:n]...)); err != nil {
			return err
		}
		content = content[n:]
	}
	for len(content) > 0 {
		n := min(size, len(content))
		if err := b.Append(ctx, content[:n]); err != nil {
			return err
		}
		content = content[n:]
	}
	if err := b.SetVLMeta(name, text); err != nil {
		return err
	}
	return b.Commit()
}
