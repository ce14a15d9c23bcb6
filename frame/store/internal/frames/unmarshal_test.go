package frames

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/meta"
)

// withLayers returns a frame with variable-length metalayers, opened from its bytes with a limit of its memory.
func withLayers(t *testing.T, maxBytes int64, layers ...meta.Layer) *frame.Frame {
	t.Helper()
	f, err := frame.Create(context.Background(), "", &frame.CreateOptions{VLMeta: layers})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := Bytes(context.Background(), f)
	if err == nil {
		f, err = frame.OpenBytes(b, &frame.OpenOptions{MaxBytes: maxBytes})
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestMemoryOfMetalayers decodes metalayers of short values, which take far more memory than their bytes.
func TestMemoryOfMetalayers(t *testing.T) {
	const n = 64 << 10
	for name, value := range map[string]byte{"arrays": 0x90, "maps": 0x80, "nils": 0xc0, "small numbers": 1} {
		content := append([]byte{0xdd, 0, n >> 16, 0, 0}, bytes.Repeat([]byte{value}, n)...)
		f := withLayers(t, 1<<20, meta.Layer{Name: "layer", Content: content})
		b, _, err := VLMeta(f, "layer")
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var v any
		err = UnmarshalMeta(f, b, &v)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, errs.ErrTooLarge) || errors.Is(err, errs.ErrCorrupt) {
			t.Errorf("%s: %v, want %v", name, err, errs.ErrTooLarge)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 && !race.Enabled {
			t.Errorf("%s: %d bytes of memory", name, used)
		}
	}
}
