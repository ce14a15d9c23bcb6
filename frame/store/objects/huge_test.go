package objects

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/race"
)

// TestHugeItem reads an item that a file of a few hundred bytes claims to have, of gigabytes. There is no MaxBytes.
func TestHugeItem(t *testing.T) {
	ctx := context.Background()
	head := []byte{0xdb, 0x7f, 0xff, 0xff, 0x00} // text
	for name, b := range map[string][]byte{
		"object": built(t, Objects, func(b *frame.Batch) error {
			c, err := chunk.EncodeSpecial(nil, chunk.Value, 2<<30-64, []byte{0xc0}, chunk.Params{TypeSize: 1})
			if err != nil {
				return err
			}
			return b.AppendRaw(ctx, c)
		}),
		"batch": built(t, Batches, func(b *frame.Batch) error {
			block := slices.Concat([]byte{0x91}, head, make([]byte, 12<<20))
			return oneBatch(b, 1, block)
		}),
	} {
		f, err := frame.OpenBytes(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := New(ctx, f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var v any
		for what, read := range map[string]func() error{
			"Item": func() error { return o.Item(ctx, 0, &v) },
			"Each": func() error { return o.Each(ctx, 0, 1, func(int64, []byte) error { return nil }) },
			"Items": func() error {
				for _, err := range o.Items(ctx, 0, 1) {
					return err
				}
				return nil
			},
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := read()
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s, %s: %v, want %v", name, what, err, ErrTooLarge)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 && !race.Enabled {
				t.Errorf("%s, %s: %d bytes of memory", name, what, used)
			}
		}
	}
}

// built returns the bytes of an array that fill has filled.
func built(t *testing.T, kind Kind, fill func(b *frame.Batch) error) []byte {
	t.Helper()
	ctx := context.Background()
	o, err := Create(ctx, "", kind, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := o.Frame().Begin(ctx)
	if err == nil {
		defer b.Rollback()
		err = fill(b)
	}
	if err == nil {
		err = b.Commit()
	}
	var out bytes.Buffer
	if err == nil {
		_, err = o.Frame().Save(ctx, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// oneBatch appends blocks, which have n items, less than 128, as the only batch.
func oneBatch(b *frame.Batch, n byte, blocks ...[]byte) error {
	lengths := append([]byte("\x81\xadbatch_lengths\x91"), n)
	return errors.Join(b.AppendBlocks(context.Background(), blocks), b.SetVLMeta(lengthsLayer, lengths))
}

// TestRanges reads items that do not exist.
func TestRanges(t *testing.T) {
	ctx := context.Background()
	for _, kind := range []Kind{Objects, Batches, Lists} {
		var co *CreateOptions
		if kind == Lists {
			co = &CreateOptions{Element: "int64"}
		}
		o, err := Create(ctx, "", kind, co)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Append(ctx, []any{1}, []any{2}, []any{3}); err != nil {
			t.Fatal(err)
		}
		for _, r := range [][2]int64{{-1, 1}, {0, 4}, {3, 4}, {4, 4}, {2, 1}, {-1 << 63, 1}, {0, 1<<63 - 1}, {1<<63 - 1, 1<<63 - 1}} {
			calls := 0
			see := func(int64, []byte) error { calls++; return nil }
			if err := o.Each(ctx, r[0], r[1], see); !errors.Is(err, ErrBounds) || calls > 0 {
				t.Errorf("kind %d, items %d: %d calls, %v, want %v", kind, r, calls, err, ErrBounds)
			}
			for _, err := range o.Items(ctx, r[0], r[1]) {
				if !errors.Is(err, ErrBounds) {
					t.Errorf("kind %d, items %d: %v, want %v", kind, r, err, ErrBounds)
				}
			}
		}
		for _, i := range []int64{-1, 3, 1<<63 - 1} {
			var v any
			if err := o.Item(ctx, i, &v); !errors.Is(err, ErrBounds) {
				t.Errorf("kind %d, item %d: %v, want %v", kind, i, err, ErrBounds)
			}
		}
		for _, i := range []int{-1, 1 << 30} {
			if _, _, err := o.BatchRange(i); !errors.Is(err, ErrBounds) {
				t.Errorf("kind %d, batch %d: %v, want %v", kind, i, err, ErrBounds)
			}
			if _, err := o.Block(ctx, nil, i, 0); !errors.Is(err, ErrBounds) {
				t.Errorf("kind %d, block of batch %d: %v, want %v", kind, i, err, ErrBounds)
			}
			if _, err := o.Block(ctx, nil, 0, i); !errors.Is(err, ErrBounds) {
				t.Errorf("kind %d, block %d: %v, want %v", kind, i, err, ErrBounds)
			}
		}
	}
}
