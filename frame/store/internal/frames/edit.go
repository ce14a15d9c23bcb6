package frames

import (
	"context"
	"io"
	"os"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// file is a file as frame.Storage.
type file struct{ *os.File }

func (f file) Size() (int64, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// EditFile opens the frame in a file for editing. Closing the frame closes the file.
func EditFile(_ context.Context, f *os.File, o *frame.Options) (*frame.Frame, error) {
	return frame.EditStorage(file{f}, o)
}

// Create creates a frame without chunks in a file.
func Create(ctx context.Context, name string, overwrite bool, chunkSize int, fixed, variable []meta.Layer) error {
	o := &frame.Options{Overwrite: overwrite, ChunkSize: chunkSize, Meta: fixed, VLMeta: variable}
	f, err := frame.CreateContext(ctx, name, o, func(*frame.Batch) error { return nil })
	if err != nil {
		return err
	}
	return f.Close()
}

// WithMemory calls use with a frame in memory that has no chunks.
func WithMemory(_ context.Context, variable []meta.Layer, use func(f *frame.Frame) error) error {
	f, err := frame.CreateMemory(&frame.Options{VLMeta: variable}, func(*frame.Batch) error { return nil })
	if err != nil {
		return err
	}
	defer f.Close()
	return use(f)
}

// Save writes a whole frame to w.
func Save(ctx context.Context, w io.Writer, f *frame.Frame) error {
	b, err := Bytes(ctx, f)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// Bytes returns a whole frame.
func Bytes(ctx context.Context, f *frame.Frame) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return f.AppendTo(nil)
}

// VLMetaLayers returns all variable-length metalayers of a frame with their decoded contents.
func VLMetaLayers(f *frame.Frame) ([]meta.Layer, error) {
	var layers []meta.Layer
	for _, name := range f.VLMetaNames() {
		b, err := f.VLMeta(name)
		if err != nil {
			return nil, err
		}
		layers = append(layers, meta.Layer{Name: name, Content: b})
	}
	return layers, nil
}

// SetVLMeta sets a variable-length metalayer in one commit.
func SetVLMeta(f *frame.Frame, name string, content []byte) error { return f.SetVLMeta(name, content) }

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
		last, err := f.ReadChunk(nil, info.NumChunks-1)
		if err != nil {
			return err
		}
		n := min(size-rest, len(content))
		if err := b.Update(info.NumChunks-1, append(last, content[:n]...)); err != nil {
			return err
		}
		content = content[n:]
	}
	for len(content) > 0 {
		n := min(size, len(content))
		if err := b.Append(content[:n]); err != nil {
			return err
		}
		content = content[n:]
	}
	if err := b.SetVLMeta(name, text); err != nil {
		return err
	}
	return b.Commit()
}
