package ndarray

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"testing"
)

// TestUniformResize changes the shape of arrays of many chunks in a few bytes: it takes no memory for each.
func TestUniformResize(t *testing.T) {
	ctx := context.Background()
	const length = 1 << 26 // and as many chunks
	z, err := Zeros("", []int64{length, 2}, "<i4", &Options{Chunks: []int32{1, 2}, Blocks: []int32{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := z.Frame().AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	z.Close()
	for _, c := range []struct {
		what string
		edit func(a *Array) error
		want error
	}{
		{"Resize", func(a *Array) error { return a.Resize(ctx, length+100, 2) }, nil},
		{"Resize", func(a *Array) error { return a.Resize(ctx, length-1, 3) }, nil},
		{"Delete", func(a *Array) error { return a.Delete(ctx, 0, 10, 5) }, nil},
		{"ResizeAt", func(a *Array) error { return a.ResizeAt(ctx, []int64{7, 0}, []int64{length + 3, 2}) }, nil},
		{"Insert", func(a *Array) error { return a.Insert(ctx, 0, 7, bytes.Repeat([]byte{1}, 8)) }, ErrTooLarge},
		{"Append", func(a *Array) error { return a.Append(ctx, 0, bytes.Repeat([]byte{1}, 8)) }, ErrTooLarge},
		{"Copy", func(a *Array) error {
			c, err := Copy(ctx, a, "", &Options{Chunks: []int32{2, 2}, Blocks: []int32{1, 2}})
			if err == nil {
				err = c.Close()
			}
			return err
		}, nil},
	} {
		a := editBytes(t, file)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := c.edit(a)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%s: %d bytes allocated", c.what, n)
		}
		a.Close()
	}
}
