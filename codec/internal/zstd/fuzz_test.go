package zstd

import (
	"math/rand"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
)

// FuzzDecode decodes arbitrary input with every kernel and with the decoder of another library.
func FuzzDecode(f *testing.F) {
	for seed := range 40 {
		r := rand.New(rand.NewSource(int64(seed)))
		frame, want := randomFrame(r, 1<<(1+seed%10), nil)
		f.Add(frame, len(want))
	}
	for kind := range trial.Kinds() {
		src := trial.Input(kind, 300, 1)
		for _, level := range levels {
			f.Add(encode(f, level, form{}, src), len(src))
		}
	}
	o, d := newOracle(f, nil), newDecoder(f, nil)
	d.SkipChecksum = true
	f.Fuzz(func(t *testing.T, src []byte, n int) {
		if len(src) > 0 { // the other decoder accepts empty input as zero frames
			compare(t, d, o, src, max(0, min(n, 1<<18)))
		}
	})
}

// FuzzFrames decodes random frames, and mutants of them, with or without a dictionary.
func FuzzFrames(f *testing.F) {
	for seed := range int64(20) {
		f.Add(seed, 1000, seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed int64, limit int, withDict bool) {
		r := rand.New(rand.NewSource(seed))
		var dict *testDict
		d, o := newDecoder(t, nil), newOracle(t, nil)
		if withDict {
			dict = randomDict(r)
			d, o = newDecoder(t, dict.b), newOracle(t, dict.b)
		}
		d.SkipChecksum = true
		for range 5 {
			frame, want := randomFrame(r, max(0, min(limit, 1<<18)), dict)
			if !compare(t, d, o, frame, len(want)) {
				t.Fatalf("seed %d: invalid", seed)
			}
			check(t, d, frame, want)
			for range 10 {
				m := mutate(r, frame)
				if withDict {
					// The other decoder uses the dictionary only for frames that name it.
					copy(m, frame[:min(len(frame), 10)])
				}
				compare(t, d, o, m, len(want))
			}
		}
	})
}

// FuzzDictionary makes decoders with arbitrary input as the dictionary.
func FuzzDictionary(f *testing.F) {
	r := rand.New(rand.NewSource(1))
	for range 20 {
		dict := randomDict(r)
		frame, want := randomFrame(r, 300, dict)
		f.Add(dict.b, frame, len(want))
	}
	f.Fuzz(func(t *testing.T, dict, src []byte, n int) {
		d, err := NewDecoder(dict)
		if err != nil {
			return
		}
		n = max(0, min(n, 1<<16))
		for _, l := range cputest.Available(kernelLevel) {
			with(l, func() { decode(t, d, src, n) })
		}
	})
}
