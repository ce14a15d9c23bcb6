package store

import (
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// buildFrame returns a frame with metalayers and one chunk.
func buildFrame(t testing.TB, fixed, variable []meta.Layer, content []byte) []byte {
	t.Helper()
	f, err := frame.CreateMemory(&frame.Options{Meta: fixed, VLMeta: variable}, func(b *frame.Batch) error { return b.Append(content) })
	if err == nil {
		defer f.Close()
		var out []byte
		if out, err = f.AppendTo(nil); err == nil {
			return out
		}
	}
	t.Fatal(err)
	return nil
}
