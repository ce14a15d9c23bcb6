package coder

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

// TestContext ends the context of a call while it encodes or decodes block 3. Each worker may finish what it has begun.
func TestContext(t *testing.T) {
	const size, blocks = 4096, 64
	src := floats(size * blocks)
	random := noise(size * blocks)
	params := Params{TypeSize: 4, BlockSize: size, Codec: codec.LZ4, Split: SplitNever}
	stored, dict := params, params
	stored.Level = codec.NoCompression
	dict.Dict = true
	for _, workers := range []int{1, 2, 5} {
		var count atomic.Int64
		var cancel context.CancelFunc
		filter := func(dst, src []byte, _ BlockInfo) error {
			if count.Add(1) == 3 {
				cancel()
			}
			copy(dst, src)
			return nil
		}
		p := NewPool(&Options{Concurrency: workers, Prefilter: filter, Postfilter: filter})
		encode := func(c Params, src []byte) func(ctx context.Context, dst []byte) ([]byte, error) {
			return func(ctx context.Context, dst []byte) ([]byte, error) {
				l, err := c.Layout(len(src))
				if err != nil {
					t.Fatal(err)
				}
				return p.EncodeLayout(ctx, dst, src, l, -1)
			}
		}
		decode := func(b []byte) func(ctx context.Context, dst []byte) ([]byte, error) {
			return func(ctx context.Context, dst []byte) ([]byte, error) { return p.DecodeNumber(ctx, dst, b, -1) }
		}
		for name, call := range map[string]func(ctx context.Context, dst []byte) ([]byte, error){
			"encode":        encode(params, src),
			"encode noise":  encode(params, random),
			"encode stored": encode(stored, src),
			"encode dict":   encode(dict, src),
			"encode VL": func(ctx context.Context, dst []byte) ([]byte, error) {
				return p.EncodeVL(ctx, dst, cut(src, 1, size), params, -1)
			},
			"decode":        decode(mustEncode(t, src, params)),
			"decode stored": decode(mustEncode(t, src, stored)),
			"decode zeros":  decode(mustEncode(t, make([]byte, size*blocks), params)),
		} {
			var ctx context.Context
			ctx, cancel = context.WithCancel(t.Context())
			count.Store(0)
			out, err := call(ctx, []byte("head"))
			if !errors.Is(err, context.Canceled) || string(out) != "head" {
				t.Errorf("%s with %d workers: %d bytes, error %v", name, workers, len(out), err)
			}
			if n := count.Load(); n > int64(2+workers) {
				t.Errorf("%s with %d workers: %d blocks after the end of the context", name, workers, n-3)
			}
			cancel()
			count.Store(10)
			if _, err := call(t.Context(), nil); err != nil { // the workers forget the context
				t.Errorf("%s with %d workers, again: %v", name, workers, err)
			}
		}
	}
}

// TestContextPieces ends the context before a large chunk is copied or filled, which needs no codec.
func TestContextPieces(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	src := noise(2 * minShared)
	for _, workers := range []int{1, 2} {
		p := NewPool(&Options{Concurrency: workers})
		c := Params{Level: codec.NoCompression}
		l, err := c.Layout(len(src))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.EncodeLayout(ctx, nil, src, l, -1); !errors.Is(err, context.Canceled) {
			t.Errorf("encoding with %d workers: %v", workers, err)
		}
		b := mustEncode(t, src, c)
		if out, err := p.DecodeNumber(ctx, nil, b, -1); !errors.Is(err, context.Canceled) || len(out) > 0 {
			t.Errorf("decoding with %d workers: %d bytes, %v", workers, len(out), err)
		}
		if out, err := p.Decode(nil, b); err != nil || !bytes.Equal(out, src) {
			t.Errorf("%d workers: %v, or other data", workers, err)
		}
	}
}
