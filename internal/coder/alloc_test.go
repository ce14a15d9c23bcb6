package coder

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/filters"
	"github.com/goblosc/blosc2/internal/race"
)

// TestAllocs checks that encoding and decoding further blocks allocates nothing.
func TestAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector makes pools of the codecs drop memory")
	}
	src := floats(64 << 10)
	special, err := EncodeSpecial(nil, NaNs, 64<<10, nil, Params{TypeSize: 8, BlockSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, f func() error) {
		t.Helper()
		run := func() {
			if err := f(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		run()
		if n := testing.AllocsPerRun(20, run); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	for _, id := range allCodecs {
		for pl, list := range pipelines {
			p := Params{Codec: id, TypeSize: 4, BlockSize: 4096, Filters: list}
			pool := NewPool(&Options{Concurrency: 1})
			b, err := pool.Encode(nil, src, p)
			if err != nil {
				t.Fatal(err)
			}
			l, err := p.Layout(len(src))
			if err != nil {
				t.Fatal(err)
			}
			w := pool.Get()
			name := id.String() + " " + pl
			out := make([]byte, 0, 3*4096)
			check(name+", encoding a block", func() error {
				_, err := w.EncodeBlock(out, l, 3, src[3*4096:4*4096], src[:4096])
				return err
			})
			check(name+", encoding a block from its items", func() error {
				_, _, err := w.EncodeShuffled(out, l, 3, src[:4096], func(s Shuffled) bool {
					filters.Shuffle(s.Bytes, src[3*4096:4*4096], s.Width)
					return true
				})
				return err
			})
			block := make([]byte, 4096)
			for _, chunk := range [][]byte{b, special} {
				file := bytes.NewReader(chunk)
				var r, at Reader
				if err := w.Open(&r, chunk); err != nil {
					t.Fatal(err)
				}
				check(name+", decoding a block in memory", func() error { return w.DecodeBlock(block, &r, 3) })
				two := [2][]byte{block, make([]byte, 4096)}
				check(name+", decoding two blocks", func() error { return w.DecodePair(two, &r, [2]int{2, 9}) })
				check(name+", opening and decoding a block in a file", func() error {
					if err := w.OpenAt(&at, file, 0, int64(len(chunk)), 0, 0.1); err != nil {
						return err
					}
					return w.DecodeBlock(block, &at, 3)
				})
			}
		}
	}
}

// TestReadAllocs reads blocks from a file, each a bit longer than the one before. Their memory is allocated once.
func TestReadAllocs(t *testing.T) {
	const blockSize, n = 16 << 10, 8
	src := make([]byte, n*blockSize)
	for k := range n {
		rand.New(rand.NewSource(int64(k))).Read(src[k*blockSize:][:blockSize/2+k*blockSize/100])
	}
	pool := NewPool(&Options{Concurrency: 1})
	b, err := pool.Encode(nil, src, Params{Codec: codec.LZ4, Level: 5, BlockSize: blockSize, TypeSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	var r Reader
	w, file := pool.Get(), bytes.NewReader(b)
	if err := w.OpenAt(&r, file, 0, int64(len(b)), 0, 0.1); err != nil {
		t.Fatal(err)
	}
	var buf []byte
	grown := 0
	for k := range n {
		before := cap(buf)
		if _, err := r.bytes(k, &buf); err != nil {
			t.Fatal(err)
		}
		if cap(buf) != before {
			grown++
		}
	}
	if grown != 1 {
		t.Errorf("%d allocations for blocks of %d to %d bytes", grown, r.ends[0]-r.starts[0], r.ends[n-1]-r.starts[n-1])
	}
}
