package objects

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/goblosc/blosc2/frame"
)

// uncounted returns the bytes of a batch array of n batches with one block each, and without their lengths.
func uncounted(t *testing.T, n int, block []byte) []byte {
	t.Helper()
	ctx := context.Background()
	o, err := Create(ctx, "", Batches, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := o.Frame().Begin(ctx)
	for i := 0; i < n && err == nil; i++ {
		err = b.AppendBlocks(ctx, [][]byte{block})
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

// TestCountedWork opens an array without the lengths of its batches, whose blocks must be decoded to count the items.
// The work must be justified by the stored bytes.
func TestCountedWork(t *testing.T) {
	block := append([]byte{0x91, 0xc6, 0, 0x20, 0, 0}, make([]byte, 2<<20)...)
	for n, want := range map[int]error{3: nil, 40: ErrTooLarge} {
		f, err := frame.OpenBytes(uncounted(t, n, block), nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := New(context.Background(), f)
		if !errors.Is(err, want) || want == nil && (err != nil || o.Len() != int64(n)) {
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
	} {
		o, err := Create(ctx, "", Batches, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := o.Frame().Begin(ctx)
		if err == nil {
			err = errors.Join(b.AppendBlocks(ctx, c.blocks), b.SetVLMeta(lengthsLayer, []byte("\x81\xadbatch_lengths\x91\x03")), b.Commit())
		}
		if err == nil {
			o, err = New(ctx, o.Frame())
		}
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for _, err = range o.Items(ctx, 0, o.Len()) {
			if err == nil {
				n++
			}
		}
		if !errors.Is(err, c.want) || c.want == nil && (err != nil || n != 3) {
			t.Errorf("%s: %d items, %v, want %v", name, n, err, c.want)
		}
	}
}
