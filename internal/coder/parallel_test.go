package coder

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

// TestEncodeParallel encodes contents that hardly compress in some places, so that the space ends at different blocks,
// or just suffices. Any number of workers must make the same chunk, with and without memory for it.
func TestEncodeParallel(t *testing.T) {
	const n = 100_000
	one, three := NewPool(&Options{Concurrency: 1}), NewPool(&Options{Concurrency: 3})
	r := rand.New(rand.NewSource(1))
	stored, rounds := 0, 200
	if testing.Short() {
		rounds = 60
	}
	for i := range rounds {
		src, p := hardlyCompressible(r, n, i)
		p.TypeSize, p.Filters = min(p.TypeSize, 8), [][]Filter{{}, {Shuffle}, {Delta, Shuffle}}[i/2%3]
		want, err := one.Encode(nil, src, p)
		if err != nil {
			t.Fatal(err)
		}
		if want[2]&flagStored != 0 {
			stored++
		}
		for _, dst := range [][]byte{nil, make([]byte, 3, n+100)} {
			got, err := three.Encode(dst, src, p)
			if err != nil || !bytes.Equal(got[len(dst):], want) {
				t.Fatalf("%d, %+v: %v, or not the %d bytes of one worker", i, p, err, len(want))
			}
		}
	}
	if stored < rounds/10 || stored > rounds*9/10 {
		t.Errorf("%d of %d chunks are stored", stored, rounds)
	}
}

// TestLeadingNoise encodes blocks that do not compress before others that do. The leading ones are copied last.
func TestLeadingNoise(t *testing.T) {
	const block, n = 512, 20
	random := noise(n * block)
	for name, filters := range pipelines {
		for first := 0; first <= n; first += 4 {
			src := slices.Clone(random)
			for at := first * block; at < len(src); at += 3 * block { // noise follows, too
				clear(src[at : at+block/2])
			}
			for _, split := range []SplitMode{SplitAlways, SplitNever} {
				t.Run(fmt.Sprintf("%s, %d", name, first), func(t *testing.T) {
					roundTrip(t, Params{Codec: codec.LZ4, TypeSize: 4, BlockSize: block, Filters: filters, Split: split}, src)
				})
			}
		}
	}
}

// TestFilterOnce encodes three blocks, of which the first is slow and saves a few bytes, the second does not compress,
// and the third does. A function of the program must be called once for the first two. The third may be encoded again
// in the space that remains.
func TestFilterOnce(t *testing.T) {
	const block = 4096
	src := noise(3 * block)
	clear(src[:30])
	clear(src[2*block : 3*block-100])
	for _, filter := range []bool{false, true} {
		var calls [3]atomic.Int32
		last := make(chan bool)
		encoded := sync.OnceFunc(func() { close(last) })
		f := func(dst, src []byte, b BlockInfo) error {
			copy(dst, src)
			calls[b.Block].Add(1)
			switch b.Block {
			case 0:
				<-last
			case 2:
				encoded()
			}
			return nil
		}
		p, o := Params{Codec: codec.LZ4, BlockSize: block, Filters: []Filter{}}, &Options{Concurrency: 2, Prefilter: f}
		if filter {
			p.Filters = []Filter{200}
			o = &Options{Concurrency: 2, Plugins: plugins(slowFilter{f})}
		}
		if _, err := Encode(nil, src, p, o); err != nil {
			t.Fatal(err)
		}
		for k := range 2 {
			if n := calls[k].Load(); n != 1 {
				t.Errorf("block %d: %d calls", k, n)
			}
		}
	}
}

// slowFilter is a filter that does not change blocks and calls a function for each.
type slowFilter struct {
	f func(dst, src []byte, b BlockInfo) error
}

func (slowFilter) Code() uint8                                  { return 200 }
func (s slowFilter) Forward(dst, src []byte, b BlockInfo) error { return s.f(dst, src, b) }
func (slowFilter) Backward(dst, src []byte, _ BlockInfo) error  { copy(dst, src); return nil }

// TestStoredByWorkers encodes random bytes in chunks so large that several workers copy them. Two chunks are stored
// whole. The third ends with zeros, so that only its other blocks are stored.
func TestStoredByWorkers(t *testing.T) {
	src := make([]byte, 2*minShared+12345)
	rand.New(rand.NewSource(1)).Read(src)
	last := slices.Clone(src)
	clear(last[len(last)*7/8:])
	for _, c := range []struct {
		level  int
		src    []byte
		stored bool
	}{{codec.NoCompression, src, true}, {5, src, true}, {5, last, false}} {
		p := Params{Codec: codec.LZ4, Level: c.level, TypeSize: 8, Filters: []Filter{}}
		got, err := Encode(nil, c.src, p, &Options{Concurrency: 4})
		if err != nil || got[2]&flagStored != 0 != c.stored {
			t.Errorf("level %d: %v, or stored is not %v", c.level, err, c.stored)
		}
		back, err := Decode(nil, got, &Options{Concurrency: 4})
		if err != nil || !bytes.Equal(back, c.src) {
			t.Errorf("level %d: %v, or other bytes", c.level, err)
		}
	}
}

// hardlyCompressible returns n bytes of which few compress, and the i-th parameters to encode them with.
func hardlyCompressible(r *rand.Rand, n, i int) ([]byte, Params) {
	src := make([]byte, n)
	r.Read(src)
	for range r.Intn(30) {
		at := r.Intn(n)
		clear(src[at:min(n, at+20+r.Intn(1<<r.Intn(11)))])
	}
	return src, Params{Codec: []codec.ID{codec.LZ4, codec.BloscLZ, codec.LZ4HC}[i%3], Level: 1 + r.Intn(9), TypeSize: 1 << r.Intn(5),
		BlockSize: 1 << (9 + r.Intn(8)), Split: allSplits[i%2]}
}

// TestTeam checks that workers stay together, in their order, apart from single ones, and forget their chunk.
func TestTeam(t *testing.T) {
	p := NewPool(&Options{Concurrency: 3})
	team := p.getWorkers(t.Context(), 9, -1)
	if len(team) != 3 || team[0] == team[1] || team[1] == team[2] {
		t.Fatalf("a team is %p", team)
	}
	for _, w := range team {
		w.encoding.layout, w.decoding.reader = new(Layout), new(Reader)
	}
	p.putWorkers(team)
	for _, w := range team {
		if w.encoding.layout != nil || w.decoding.reader != nil {
			t.Error("a worker keeps its layout or reader")
		}
	}
	if w := p.Get(); slices.Contains(team, w) {
		t.Error("Get breaks up a team")
	}
	// A sync.Pool may drop what was put.
	if again := p.getWorkers(t.Context(), 2, -1); slices.Contains(team, again[0]) && !slices.Equal(again, team[:2]) {
		t.Errorf("workers %p of the team %p", again, team)
	}
	if one := p.getWorkers(t.Context(), 1, -1); len(one) != 1 || slices.Contains(team, one[0]) {
		t.Errorf("for one job: %p", one)
	}
}
