package coder

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/codec"
)

// fakeCodec returns the given results from each call.
type fakeCodec struct {
	n      func(dst, src []byte) int
	err    error
	params *codec.Params // of the last encoder or decoder, if not nil
}

func (fakeCodec) ID() codec.ID { return codec.FromCode(200) }

func (c fakeCodec) NewEncoder(p codec.Params) (codec.Encoder, error) { return c.note(p), nil }
func (c fakeCodec) NewDecoder(p codec.Params) (codec.Decoder, error) { return c.note(p), nil }

func (c fakeCodec) note(p codec.Params) fakeCodec {
	if c.params != nil {
		*c.params = p
	}
	return c
}

// Encode writes the first byte and drops the rest.
func (c fakeCodec) Encode(dst, src []byte) (int, error) {
	dst[0] = src[0]
	return c.n(dst, src), c.err
}

func (c fakeCodec) Decode(dst, src []byte) error {
	for i := range dst {
		dst[i] = src[0]
	}
	return c.err
}

func TestUserCodec(t *testing.T) {
	src := contents["ramp"](1000)
	p := Params{Codec: codec.FromCode(200), CodecMeta: 77, TypeSize: 300, BlockSize: 600, Level: 3}
	for name, n := range map[string]func(dst, src []byte) int{
		"no bytes":  func(dst, src []byte) int { return 0 },
		"fewer":     func(dst, src []byte) int { return -1 },
		"as many":   func(dst, src []byte) int { return len(src) },
		"more":      func(dst, src []byte) int { return len(src) + 1 },
		"many more": func(dst, src []byte) int { return 1 << 30 },
	} {
		o := &Options{Plugins: plugins(fakeCodec{n: n})}
		for _, content := range []string{"ramp", "tail"} {
			src := contents[content](100_000)
			b, err := Encode(nil, src, p, o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, err := Decode(nil, b, o); err != nil || !bytes.Equal(got, src) {
				t.Errorf("%s: %v, or other data", name, err)
			}
			if b, err = NewPool(o).EncodeVL(t.Context(), nil, cut(src, 1, 5000), p, -1); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got, err := Decode(nil, b, o); err != nil || !bytes.Equal(got, src) {
				t.Errorf("%s, blocks of variable length: %v, or other data", name, err)
			}
		}
	}
	beyond := fakeCodec{n: func(dst, src []byte) int { return len(dst) + 1 }}
	if _, _, err := encodeStream(nil, src[:100], beyond, 50); !errors.Is(err, errNoRoom) {
		t.Errorf("a codec that reports more bytes than it had space for: %v", err)
	}
	one := func(dst, src []byte) int { return 1 }
	var params codec.Params
	o := &Options{Plugins: plugins(fakeCodec{n: one, params: &params}), BlockShape: []int32{2}, Concurrency: 1}
	b, err := Encode(nil, src, p, o)
	if err != nil || b[2]>>5 != 6 || b[22] != 200 || b[23] != 77 {
		t.Fatalf("header %x, %v", b[:32], err)
	}
	if params.Level != 3 || params.Meta != 77 || params.TypeSize != 300 || len(params.BlockShape) != 1 {
		t.Errorf("the encoder got %+v", params)
	}
	got, err := Decode(nil, b, &Options{Plugins: o.Plugins, ItemSize: 300, BlockShape: []int32{2}, Concurrency: 1})
	if err != nil || !bytes.Equal(got[:600], bytes.Repeat(src[:1], 600)) {
		t.Errorf("%x, %v", got, err)
	}
	if params.Meta != 77 || params.TypeSize != 300 || len(params.BlockShape) != 1 {
		t.Errorf("the decoder got %+v", params)
	}
	// Chunks with other parameters in the same pool get their own encoders and decoders.
	pool := NewPool(o)
	for meta := range uint8(5) {
		p.CodecMeta = meta
		b, err := pool.Encode(nil, src, p)
		if err != nil || params.Meta != meta {
			t.Errorf("the encoder got %+v, want parameter %d; %v", params, meta, err)
		}
		params.Meta = 99
		if _, err := pool.Decode(nil, b); err != nil || params.Meta != meta {
			t.Errorf("the decoder got %+v, want parameter %d; %v", params, meta, err)
		}
	}
	errMine := errors.New("mine")
	bad := &Options{Plugins: plugins(fakeCodec{n: one, err: errMine})}
	if b, err := Encode(nil, src, p, bad); !errors.Is(err, errMine) || len(b) > 0 {
		t.Errorf("encoding: %v", err)
	}
	if b, err := NewPool(bad).EncodeVL(t.Context(), nil, [][]byte{src}, p, -1); !errors.Is(err, errMine) || len(b) > 0 {
		t.Errorf("encoding blocks of variable length: %v", err)
	}
	var e *Error
	if _, err := Decode(nil, b, bad); !errors.Is(err, errMine) || !errors.As(err, &e) || e.Block != 0 {
		t.Errorf("decoding: %v", err)
	}
	if _, err := Decode(nil, b, nil); !errors.Is(err, errors.ErrUnsupported) || !errors.As(err, &e) {
		t.Errorf("decoding without the codec: %v", err)
	}
}

// halfCodec stores the first half of blocks whose halves are equal. It calls the function with the first byte.
type halfCodec func(first byte)

func (halfCodec) ID() codec.ID { return codec.FromCode(200) }

func (f halfCodec) NewEncoder(codec.Params) (codec.Encoder, error) { return f, nil }
func (f halfCodec) NewDecoder(codec.Params) (codec.Decoder, error) { return f, nil }

func (f halfCodec) Encode(dst, src []byte) (int, error) {
	f(src[0])
	return copy(dst, src[:len(src)/2]), nil
}

func (halfCodec) Decode(dst, src []byte) error {
	copy(dst[copy(dst, src):], src)
	return nil
}

// TestUserCodecPanics checks that the blocks that wait for a block whose codec panics are not taken for blocks of the
// next chunk.
func TestUserCodecPanics(t *testing.T) {
	const size, blocks = 600, 8
	fill := func(first int) []byte {
		var b []byte
		for k := range 2 * blocks {
			half := bytes.Repeat([]byte{255}, size/2)
			half[0] = byte(first + k/2)
			b = append(b, half...)
		}
		return b
	}
	var others sync.WaitGroup
	others.Add(blocks - 1)
	f := halfCodec(func(first byte) {
		switch {
		case first == 0: // the first block of the first chunk: panic after all others
			others.Wait()
			panic("first block")
		case first < blocks:
			others.Done()
		case first > blocks: // the others of the second chunk: submit them after its first block
			time.Sleep(5 * time.Millisecond)
		}
	})
	pool := NewPool(&Options{Concurrency: 2, Plugins: plugins(f)})
	p := Params{Codec: codec.FromCode(200), TypeSize: 1, BlockSize: size, Level: 3, Filters: []Filter{}}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = pool.Encode(nil, fill(0), p)
	}()
	want := fill(blocks)
	b, err := pool.Encode(nil, want, p)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pool.Decode(nil, b); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the next chunk: %v, or other bytes", err)
	}
}
