package coder

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

// TestCopyBlock builds chunks from the stored blocks of other chunks. It succeeds for layouts that differ only in the
// level, and not for others.
func TestCopyBlock(t *testing.T) {
	src := make([]byte, 40_000)
	for i := range src {
		src[i] = byte(i/64) ^ byte(i*i>>9)
	}
	copy(src[9000:], make([]byte, 9000))
	pool := NewPool(nil)
	w := pool.Get()
	defer pool.Put(w)
	params := []Params{
		{TypeSize: 4, BlockSize: 4096, Codec: codec.LZ4},
		{TypeSize: 4, BlockSize: 4096, Codec: codec.LZ4, Split: SplitNever},
		{TypeSize: 4, BlockSize: 4096, Codec: codec.LZ4, Filters: []Filter{BitShuffle}},
		{TypeSize: 4, BlockSize: 4096, Codec: codec.LZ4, Filters: []Filter{NoFilter}},
		{TypeSize: 8, BlockSize: 4096, Codec: codec.LZ4},
		{TypeSize: 4, BlockSize: 8192, Codec: codec.LZ4},
		{TypeSize: 4, BlockSize: 4096, Codec: codec.Zstd},
		{TypeSize: 4, BlockSize: 4096, Codec: codec.LZ4, Filters: []Filter{Delta, Shuffle}},
		{TypeSize: 4, BlockSize: 4096, Codec: codec.Zstd, Dict: true},
		{TypeSize: 4, BlockSize: 4096, Codec: codec.LZ4, Level: codec.NoCompression},
	}
	copied := 0
	for i, p := range params {
		c, err := Encode(nil, src, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, q := range params {
			q.Level = max(-1, q.Level+3)
			if params[k].Level == codec.NoCompression {
				q.Level = codec.NoCompression
			}
			l, err := q.Layout(len(src))
			if err != nil {
				t.Fatal(err)
			}
			var r Reader
			if err := w.Open(&r, c); err != nil {
				t.Fatal(err)
			}
			blocks := make([][]byte, l.NumBlocks)
			all := l.NumBlocks > 0
			for n := range r.NumBlocks {
				b, ok, err := w.CopyBlock(nil, l, &r, n)
				if err != nil {
					t.Fatal(err)
				}
				if all = all && ok; all {
					blocks[n] = b
				}
			}
			own := i == k && !p.Dict && p.Level >= 0 && !r.Filters.has(Delta)
			if all != own {
				t.Errorf("blocks of %v copied into %v: %v", p, q, all)
			}
			if !all {
				continue
			}
			copied++
			out, err := assemble(t, w, l, nil, blocks, func(int) ([]byte, error) { return nil, fmt.Errorf("asked for") })
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Decode(nil, out, nil); err != nil || !bytes.Equal(got, src) {
				t.Errorf("%v: %v", p, err)
			}
		}
	}
	if copied < 7 {
		t.Errorf("%d chunks copied", copied)
	}
	// A short block at the position of the first block, which has more bytes than a short block can have.
	c, err := Encode(nil, src, params[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	var r Reader
	l, err := params[0].Layout(len(src))
	if err != nil {
		t.Fatal(err)
	}
	last := l.NumBlocks - 1
	copy(c[HeaderSize+4*last:][:4], c[HeaderSize:][:4])
	if err := w.Open(&r, c); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := w.CopyBlock(nil, l, &r, last); ok || err != nil {
		t.Errorf("a block of %d bytes was copied, %v", r.ends[last]-r.starts[last], err)
	}
}
