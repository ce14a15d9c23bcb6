package coder

import (
	"bytes"
	"errors"
	"math/rand"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/filters"
)

// TestBuild makes chunks of blocks that were encoded elsewhere, that are shuffled from their items, and that are plain.
// Their contents hardly compress in some places, so that the space ends at different blocks, or just suffices.
func TestBuild(t *testing.T) {
	const n = 100_000
	pool := NewPool(&Options{Concurrency: 1})
	w := pool.Get()
	defer pool.Put(w)
	r := rand.New(rand.NewSource(1))
	stored, rounds := 0, 200
	if testing.Short() {
		rounds = 60
	}
	for i := range rounds {
		src, p := hardlyCompressible(r, n, i)
		want, err := pool.Encode(nil, src, p)
		if err != nil {
			t.Fatal(err)
		}
		if want[2]&flagStored != 0 {
			stored++
		}
		l, err := p.Layout(n)
		if err != nil {
			t.Fatal(err)
		}
		turn := r.Intn(3)
		block := func(k int) []byte { return src[k*l.BlockSize:][:l.BlockLen(k)] }
		got, h, err := w.Build(nil, l, nil, Blocks{
			Ready: func(k int) ([]byte, error) {
				if (k+turn)%3 > 0 {
					return nil, nil
				}
				return w.EncodeBlock(nil, l, k, block(k), nil)
			},
			Shuffled: func(k int, s Shuffled) bool {
				if (k+turn)%3 == 2 {
					return false
				}
				filters.Shuffle(s.Bytes, block(k), s.Width)
				return true
			},
			Plain: func(k int) ([]byte, error) { return block(k), nil },
		})
		checkHeader(t, got, h, err)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d, %+v: %v, or not the %d bytes of Encode", i, p, err, len(want))
		}
	}
	if stored < rounds/10 || stored > rounds*9/10 {
		t.Errorf("%d of %d chunks are stored", stored, rounds)
	}
}

// TestEncodeShuffledNot has blocks that cannot be shuffled first, or are not.
func TestEncodeShuffledNot(t *testing.T) {
	src := floats(1000)
	copyOf := func(dst, src []byte, _ BlockInfo) error {
		copy(dst, src)
		return nil
	}
	users := plugins(&addFilter{code: 200})
	for name, c := range map[string]struct {
		o       Options
		filters []Filter
		size    int
		ok      bool
	}{
		"shuffle":                {filters: []Filter{Shuffle}, size: 4, ok: true},
		"items that do not fit":  {filters: []Filter{Shuffle.With(7)}, size: 4},
		"nothing to shuffle":     {filters: []Filter{Shuffle}, size: 1},
		"no filter":              {filters: []Filter{}, size: 4},
		"a prefilter":            {o: Options{Prefilter: copyOf}, filters: []Filter{Shuffle}, size: 4},
		"a user's filter before": {o: Options{Plugins: users}, filters: []Filter{Filter(200).With(9), Shuffle}, size: 4},
		"a user's filter behind": {o: Options{Plugins: users}, filters: []Filter{Shuffle, Filter(200).With(9)}, size: 4, ok: true},
		"delta before":           {filters: []Filter{Delta, Shuffle}, size: 4},
		"delta behind":           {filters: []Filter{Shuffle, Delta}, size: 4, ok: true},
		"shuffled twice":         {filters: []Filter{NoFilter, Shuffle.With(2), Shuffle}, size: 4, ok: true},
	} {
		l, err := Params{Codec: codec.LZ4, TypeSize: c.size, BlockSize: 1000, Filters: c.filters}.Layout(len(src))
		if err != nil {
			t.Fatal(err)
		}
		w := NewPool(&c.o).Get()
		want, err := w.EncodeBlock(nil, l, 0, src, nil)
		if err != nil {
			t.Fatal(err)
		}
		asked := false
		got, ok, err := w.EncodeShuffled([]byte("before"), l, 0, nil, func(s Shuffled) bool {
			asked = true
			filters.Shuffle(s.Bytes, src, s.Width)
			return true
		})
		if !c.ok {
			want = nil
		}
		if err != nil || ok != c.ok || asked != c.ok || string(got) != "before"+string(want) {
			t.Errorf("%s: error %v, shuffled first: %v, asked: %v, or other bytes", name, err, ok, asked)
		}
		got, ok, err = w.EncodeShuffled([]byte("before"), l, 0, nil, func(Shuffled) bool { return false })
		if err != nil || ok || string(got) != "before" {
			t.Errorf("%s: a block that is not given: error %v, done: %v, %d bytes", name, err, ok, len(got))
		}
	}
	l, err := Params{Codec: codec.LZ4, TypeSize: 4, Filters: []Filter{Shuffle, 201}}.Layout(len(src))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := NewPool(nil).Get().EncodeShuffled(nil, l, 0, nil, func(Shuffled) bool { return true }); !ok || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("an unknown filter: done: %v, error %v", ok, err)
	}
}
