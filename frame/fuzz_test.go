package frame

import (
	"context"
	"testing"
)

// FuzzOpen opens any bytes as a frame, reads all of it, verifies it, and edits a copy.
func FuzzOpen(f *testing.F) {
	_, frames := contiguousFixtures(f, 1500)
	for _, b := range frames {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		goodError(t, readEverything(b))
		editEverything(b)
	})
}

// FuzzEdit runs the program of edits that the bytes spell, and compares with the model.
func FuzzEdit(f *testing.F) {
	f.Add(uint64(1), uint64(1), false)
	f.Add(uint64(2), uint64(7), true)
	f.Fuzz(func(t *testing.T, seed, program uint64, variable bool) {
		common := 64
		if variable {
			common = 0
		}
		rng := newRand(seed)
		_, fr, m := diskFrame(t, common)
		for ; program > 0; program >>= 2 {
			b, err := fr.Begin(context.Background())
			must(t, err)
			next := m.clone()
			for range 1 + program%3 {
				step(t, rng, b, next, common)
			}
			if program%4 == 3 {
				b.Rollback()
			} else {
				must(t, b.Commit())
				m = next
			}
			m.check(t, fr, rng)
		}
	})
}
