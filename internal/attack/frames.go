package attack

import (
	"bytes"
	"context"

	"github.com/goblosc/blosc2/frame"
)

// openOptions returns the options for opening a frame for reading, by a name or not.
func openOptions(o *frame.OpenOptions, named bool) *frame.OpenOptions {
	return &frame.OpenOptions{
		Concurrency: o.Concurrency, MaxBytes: o.MaxBytes, Verify: o.Verify, Mmap: o.Mmap && named, Cache: o.Cache,
		MaxChunks: o.MaxChunks, MaxMeta: o.MaxMeta,
	}
}

// editOptions returns the options for Edit.
func editOptions(o *frame.OpenOptions) *frame.OpenOptions {
	e := openOptions(o, false)
	e.Locking, e.NoSync = o.Locking, o.NoSync
	return e
}

// inBatch makes a change in a batch of its own.
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

// saved returns what Save writes.
func saved(f *frame.Frame) ([]byte, error) {
	var b bytes.Buffer
	_, err := f.Save(context.Background(), &b)
	return b.Bytes(), err
}

// metaLayer returns the content of a metalayer and whether there is one.
func metaLayer(f *frame.Frame, name string) ([]byte, bool) {
	for _, l := range f.Meta() {
		if l.Name == name {
			return l.Content, true
		}
	}
	return nil, false
}

// checksumLayer is the variable-length metalayer with the checksums of a frame. See the comment of package frame.
const checksumLayer = "b2crc32c"
