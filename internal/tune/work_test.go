package tune

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// streams returns the work for data that is encoded as one stream.
func streams(t *testing.T, id codec.ID, data []byte) measure {
	t.Helper()
	tuner := New(Balanced, 1)
	p := coder.Params{Codec: id, Level: 5, TypeSize: 1, BlockSize: len(data), Filters: []coder.Filter{}}
	l, err := p.Layout(len(data))
	if err != nil {
		t.Fatal(err)
	}
	w := tuner.pool.Get()
	defer tuner.pool.Put(w)
	b, err := w.EncodeBlock(nil, l, 0, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	var m measure
	m.add(id, b, len(data), l.Streams(0))
	return m
}

// TestWork counts the work for data whose literals and sequences are known.
func TestWork(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 1000)
	letters := make([]byte, 60000)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for i := range letters {
		letters[i] = "abcdefghijkl"[int(r.ExpFloat64()*3)%12]
	}
	repeated := bytes.Repeat(random, 100)
	if m := streams(t, codec.LZ4, repeated); m.sequences < 2 || m.sequences > 4 {
		t.Errorf("lz4, 1000 random bytes and their repetition: %d sequences", m.sequences)
	}
	if m := streams(t, codec.Zstd, repeated); m.sequences < 1 || m.sequences > 4 || m.literals != 0 {
		t.Errorf("zstd, 1000 random bytes and their repetition: %d sequences, %d literals with a code", m.sequences, m.literals)
	}
	m := streams(t, codec.Zstd, letters)
	if bytes := m.literals + 32*m.sequences; m.literals < 1000 || m.literals > len(letters) || bytes < len(letters) {
		t.Errorf("zstd, %d letters without repetition: %d literals, %d sequences", len(letters), m.literals, m.sequences)
	}
	if m := streams(t, codec.Zstd, append(bytes.Clone(letters), bytes.Repeat(letters, 4)...)); m.blocks == 0 {
		t.Error("zstd, 300 kB: no second block in a stream")
	}
}

// TestWorkShort counts the work for random bytes, which end anywhere.
func TestWorkShort(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100000 {
		b := make([]byte, r.IntN(40))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		var w work
		w.addLZ4(b)
		w.addZstd(b)
		if w.sequences < 0 || w.literals < 0 || w.blocks > len(b) {
			t.Fatalf("%x: %+v", b, w)
		}
	}
}
