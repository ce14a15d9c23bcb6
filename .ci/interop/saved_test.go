package interop

import (
	"bytes"
	"context"

	"github.com/goblosc/blosc2/frame"
)

// saved returns what Save writes.
func saved(f *frame.Frame) ([]byte, error) {
	var b bytes.Buffer
	_, err := f.Save(context.Background(), &b)
	return b.Bytes(), err
}

// ourLayers is a frame whose metalayers are edited in a commit each.
type ourLayers struct{ *frame.Frame }

func (f ourLayers) SetMeta(name string, content []byte) error {
	return inBatch(f.Frame, func(b *frame.Batch) error { return b.SetMeta(name, content) })
}

func (f ourLayers) SetVLMeta(name string, content []byte) error {
	return inBatch(f.Frame, func(b *frame.Batch) error { return b.SetVLMeta(name, content) })
}

func (f ourLayers) DeleteVLMeta(name string) error {
	return inBatch(f.Frame, func(b *frame.Batch) error { return b.DeleteVLMeta(name) })
}

// inBatch makes a change of a frame in a batch of its own.
func inBatch(f *frame.Frame, change func(b *frame.Batch) error) error {
	b, err := f.Begin(context.Background())
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err := change(b); err != nil {
		return err
	}
	return b.Commit()
}
