package store

import (
	"bytes"
	"context"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// buildFrame returns a frame with metalayers and one chunk.
func buildFrame(t testing.TB, fixed, variable []meta.Layer, content []byte) []byte {
	t.Helper()
	ctx := context.Background()
	o := &frame.CreateOptions{Meta: fixed, VLMeta: variable}
	f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, content) }, o)
	if err == nil {
		defer f.Close()
		var out bytes.Buffer
		if _, err = f.Save(ctx, &out); err == nil {
			return out.Bytes()
		}
	}
	t.Fatal(err)
	return nil
}
