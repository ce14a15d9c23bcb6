package objects

import (
	"context"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/meta"
)

// buildBatches returns a frame of one batch with two blocks.
func buildBatches(t testing.TB, layer, lengths, block1, block2 []byte) *frame.Frame {
	t.Helper()
	o := &frame.CreateOptions{Meta: []meta.Layer{{Name: "batcharray", Content: layer}}, VLMeta: []meta.Layer{{Name: "_batch_array_metadata", Content: lengths}}}
	ctx := context.Background()
	f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.AppendBlocks(ctx, [][]byte{block1, block2}) }, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func FuzzBatches(f *testing.F) {
	pack := func(v any) []byte {
		b, err := meta.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	lengths := pack(map[string]any{"batch_lengths": []int{5}})
	f.Add(pack(map[string]any{"serializer": "msgpack", "items_per_block": 3}), lengths, pack([]any{1, "a", nil}), pack([]any{2.5, []any{}}))
	f.Add(pack(map[string]any{"serializer": "msgpack", "items_per_block": nil}), lengths, pack([]any{1, 2}), pack([]any{3, 4, map[string]any{"k": []byte{1}}}))
	f.Add(pack(map[string]any{"serializer": "arrow"}), lengths, []byte("x"), []byte("y"))
	f.Fuzz(func(t *testing.T, layer, lengths, block1, block2 []byte) {
		if len(layer) == 0 || len(layer) > 1000 || len(lengths) == 0 || len(block1) == 0 || len(block2) == 0 {
			return
		}
		ctx := context.Background()
		o, err := New(ctx, buildBatches(t, layer, lengths, block1, block2))
		if err != nil {
			return
		}
		n := int64(0)
		for _, err := range o.Items(ctx, 0, o.Len()) {
			if err != nil {
				n = -1
				break
			}
			n++
		}
		if n >= 0 && n != o.Len() {
			t.Fatalf("%d items, want %d", n, o.Len())
		}
	})
}

func TestSkipValues(t *testing.T) {
	for _, block := range []struct {
		b    []byte
		n    int64
		want int
	}{
		{[]byte{1, 2, 3}, 2, 2}, {[]byte{0x92, 1, 0x91, 2, 9}, 1, 4}, {[]byte{0x81, 0xa1, 'k', 0xc4, 2, 1, 2, 7}, 1, 7},
		{[]byte{0xcb, 0, 0, 0, 0, 0, 0, 0, 0}, 1, 9}, {[]byte{0xd4, 42, 1}, 1, 3}, {[]byte{0xc7, 2, 42, 1, 2}, 1, 5}, {[]byte{0xd9, 1, 'x'}, 1, 3},
		{[]byte{0xdc, 0, 1, 0xc0}, 1, 4}, {[]byte{0xde, 0, 1, 1, 2}, 1, 5}, {[]byte{0xcd, 1, 2}, 1, 3}, {[]byte{0xd3, 0, 0, 0, 0, 0, 0, 0, 1}, 1, 9},
		{[]byte{0xd8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1, 18},
	} {
		if got, err := frames.SkipValues(block.b, block.n); err != nil || got != block.want {
			t.Errorf("SkipValues(%x, %d) = %d, %v, want %d", block.b, block.n, got, err, block.want)
		}
	}
	for _, b := range [][]byte{{}, {0x92, 1}, {0xc1}, {0xdd, 0xff, 0xff, 0xff, 0xff}, {0xc6, 0xff, 0xff, 0xff, 0xff, 1}, {0xdb, 0}, {0xcb, 1}} {
		if _, err := frames.SkipValues(b, 1); err == nil {
			t.Errorf("SkipValues(%x) succeeds", b)
		}
	}
}
