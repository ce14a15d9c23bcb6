package frame

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/goblosc/blosc2/chunk"
)

// programs returns how many random programs a test runs: few, or as many as the environment asks for.
func programs(t testing.TB, few int) int {
	if n, err := strconv.Atoi(os.Getenv("FRAME_PROGRAMS")); err == nil {
		return n
	}
	if testing.Short() {
		few = max(1, few/4)
	}
	return few
}

// simFrame makes an empty frame on a simulated disk and opens it for editing.
func simFrame(t testing.TB, sparse bool, common int) (*simSystem, *Frame, *model) {
	t.Helper()
	s := newSim()
	o := &Options{sys: s, Sparse: sparse, ChunkSize: common, Concurrency: 1, CParams: chunk.CParams{TypeSize: 4, Codec: chunk.CodecFromCode(1)}}
	f, err := Create("x", o, nil)
	must(t, err)
	must(t, f.Close())
	f, err = Edit("x", &Options{sys: s, Concurrency: 1})
	must(t, err)
	m := &model{chunkSize: common}
	if common == 0 {
		m.chunkSize = -1
	}
	return s, f, m
}

// TestCrashFiles cuts the power at each change of the disk that random programs make, for frames in files and in
// directories. Of all that was not synced by itself any part may be lost, torn or there before what was done earlier:
// bytes of files, names in directories. The frame must be that before or after the commit that was under way.
//
// FRAME_PROGRAMS=2000 go test -run TestCrashFiles ./frame runs 2000 programs.
func TestCrashFiles(t *testing.T) {
	tried := map[bool]int{}
	for seed := range programs(t, 40) {
		sparse, common := seed%2 == 1, []int{64, 0}[seed/2%2]
		rng := rand.New(rand.NewPCG(uint64(seed), 55))
		s, f, m := simFrame(t, sparse, common)
		before := s.image.clone()
		s.log = nil
		for range 2 + rng.IntN(5) {
			var view View
			if rng.IntN(4) == 0 { // so that space stays in use
				var err error
				view, err = f.View()
				must(t, err)
			}
			start, next := len(s.log), m
			var err error
			if rng.IntN(8) == 0 {
				err = f.Compact(t.Context())
			} else {
				next, err = edit(t, rng, f, m, common)
			}
			must(t, err)
			tried[sparse] += crashFiles(t, rng, before, s.log, start, m, next, fmt.Sprintf("program %d", seed))
			m = next
			if view.s != nil {
				view.Release()
			}
		}
		must(t, heldBy(f, m))
		must(t, f.Close())
		if s.opened != 0 {
			t.Fatalf("program %d: %d files are open", seed, s.opened)
		}
	}
	t.Logf("%d crashes of files, %d of directories", tried[false], tried[true])
}

// crashFiles builds what a disk may hold after a crash at any time from start on, and checks it.
func crashFiles(t testing.TB, rng *rand.Rand, before simImage, log []simOp, start int, old, next *model, what string) int {
	t.Helper()
	tried := 0
	for n := start; n <= len(log); n++ {
		lasting := make([]bool, n)
		for i := range n {
			for _, o := range log[i+1 : n] {
				lasting[i] = lasting[i] || o.kind == "sync" && log[i].syncs(o.id)
			}
		}
		for try := range 6 {
			m := before.clone()
			for i, o := range log[:n] {
				if !lasting[i] && (try == 1 || try > 2 && rng.IntN(2) == 0) {
					continue // lost
				}
				o.apply(m, !lasting[i] && (try == 2 && i == n-1 || try > 3 && rng.IntN(2) == 0), rng)
			}
			tried++
			if err := survives(t, rng, m, old, next); err != nil {
				t.Fatalf("%s, after %d of %d changes, try %d: %v", what, n, len(log), try, err)
			}
		}
	}
	return tried
}

// survives tells whether the frame of an image is one of the models, and now and then whether it can be edited.
func survives(t testing.TB, rng *rand.Rand, m simImage, models ...*model) error {
	s := simOn(m)
	edits := rng.IntN(10) == 0
	f, err := openPath("x", &Options{sys: s, Concurrency: 1, NoSync: true}, edits)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := heldBy(f, models...); err != nil || !edits {
		return err
	}
	for _, m := range models {
		if heldBy(f, m) != nil {
			continue
		}
		next := m.clone()
		p := randomBytes(rng, 64)
		next.insert(len(next.chunks), p)
		if err := f.Append(p); err != nil {
			return err
		}
		checkSpace(t, f)
		return heldBy(f, next)
	}
	return nil
}
