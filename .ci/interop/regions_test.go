package interop

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

// TestRegions lets C-Blosc2 read arrays that were filled chunk by chunk, in random order. It finds no array before the
// end. Most chunks of the second array are zeros, so that the numbers of its chunk files exceed its size in bytes.
func TestRegions(t *testing.T) {
	ctx := context.Background()
	for _, x := range []struct {
		shape, chunks []int64
		every         int64 // of this many chunks, one has a first item that is not zero
	}{{[]int64{10, 9}, []int64{4, 3}, 1}, {[]int64{100, 90}, []int64{2, 2}, 700}, {[]int64{40}, []int64{10}, 100}} {
		name := filepath.Join(t.TempDir(), "x.b2nd")
		r, err := ndarray.CreateRegions(ctx, name, x.shape, "<i4", &ndarray.CreateOptions{Chunks: x.chunks, Codec: codec.LZ4, NoSync: true, Attrs: map[string]any{"a": 1}})
		if err != nil {
			t.Fatal(err)
		}
		var boxes []ndarray.Box
		for b, err := range r.Missing(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			boxes = append(boxes, ndarray.Box{Start: append([]int64{}, b.Start...), Shape: append([]int64{}, b.Shape...)})
		}
		for _, k := range rand.Perm(len(boxes)) {
			b := boxes[k]
			items := make([]int32, b.Size())
			if last := len(boxes) - 1; int64(last-k)%x.every == 0 && x.every <= int64(len(boxes)) {
				for i := range items {
					items[i] = int32(k + 1000*i)
				}
			}
			if err := ndarray.Write(ctx, r, items, b.Selection()...); err != nil {
				t.Fatal(err)
			}
		}
		if a, err := ref.OpenArray(name); err == nil {
			a.Close()
			t.Error("C-Blosc2 opens an unfinished array")
		}
		if err := r.Finish(ctx); err != nil {
			t.Fatal(err)
		}
		r.Close()
		a, err := ndarray.Open(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		items, err := ndarray.Read[int32](ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
		var want []byte
		for _, i := range items {
			want = binary.LittleEndian.AppendUint32(want, uint32(i))
		}
		c, err := ref.OpenArray(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Dump(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: C-Blosc2 reads other items, %v", x.shape, err)
		}
		c.Close()
	}
}
