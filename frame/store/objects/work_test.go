package objects

import (
	"context"
	"errors"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// TestCountedWork opens an array without the lengths of its batches, whose blocks must be decoded to count the items.
// The work must be justified by the stored bytes.
func TestCountedWork(t *testing.T) {
	block := append([]byte{0x91, 0xc6, 0, 0x20, 0, 0}, make([]byte, 2<<20)...)
	for n, want := range map[int]error{3: nil, 40: ErrTooLarge} {
		f, err := frame.OpenBytes(built(t, Batches, func(b *frame.Batch) error {
			var err error
			for i := 0; i < n && err == nil; i++ {
				err = b.AppendBlocks(context.Background(), [][]byte{block})
			}
			return err
		}), nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := New(context.Background(), f)
		if !errors.Is(err, want) || want == nil && o.Len() != int64(n) {
			t.Errorf("%d batches: %v, want %v", n, err, want)
		}
	}
}

// TestRestOfBlock reads blocks with bytes after their items, which the decoder of python-blosc2 rejects too.
func TestRestOfBlock(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		blocks [][]byte
		want   error
	}{
		"as usual":    {[][]byte{{0x92, 1, 2}, {0x91, 3}}, nil},
		"rest":        {[][]byte{{0x92, 1, 2}, {0x91, 3, 0}}, ErrCorrupt},
		"rest before": {[][]byte{{0x92, 1, 2, 0}, {0x91, 3}}, ErrCorrupt},
		"no items":    {[][]byte{{0x90}, {0x93, 1, 2, 3}}, ErrCorrupt},
	} {
		f, err := frame.OpenBytes(built(t, Batches, func(b *frame.Batch) error { return oneBatch(b, 3, c.blocks...) }), nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := New(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for _, err = range o.Items(ctx, 0, o.Len()) {
			if err == nil {
				n++
			}
		}
		if !errors.Is(err, c.want) || c.want == nil && n != 3 {
			t.Errorf("%s: %d items, %v, want %v", name, n, err, c.want)
		}
	}
}

// TestManyBlocks opens and reads a batch that is one value, with many more blocks than bytes: an empty array in each.
func TestManyBlocks(t *testing.T) {
	ctx := context.Background()
	raw, err := chunk.EncodeSpecial(nil, chunk.Value, 1<<30, []byte{0x90}, chunk.Params{TypeSize: 1, BlockSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range []bool{false, true} { // the number of items
		f, err := frame.OpenBytes(built(t, Batches, func(b *frame.Batch) error {
			if err := b.AppendRaw(ctx, raw); err != nil || !known {
				return err
			}
			content, err := meta.Marshal(meta.Map{{Key: "batch_lengths", Value: []int64{1}}})
			if err != nil {
				return err
			}
			return b.SetVLMeta(lengthsLayer, content)
		}), nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := New(ctx, f)
		if known {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := o.Blocks(ctx, 0); !errors.Is(err, ErrCorrupt) {
				t.Errorf("Blocks: %v", err)
			}
			var v any
			err = o.Item(ctx, 0, &v)
		}
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("known %t: %v", known, err)
		}
	}
}
