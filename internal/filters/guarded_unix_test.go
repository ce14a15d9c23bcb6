//go:build linux || darwin

package filters

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
	"github.com/goblosc/blosc2/internal/guardpage"
)

// rowEdges are lengths of rows at which kernels change what they do.
var rowEdges = [...]int{1, 8, 16, 24, 32, 48, 64, 96, 128, 256}

// randomRows returns rows, and the lengths in bytes of the block and of the other memory that they need.
func randomRows(r *rand.Rand, width int) (rows Rows, block, other int) {
	length := rowEdges[r.IntN(len(rowEdges))]
	if r.IntN(4) > 0 {
		length = max(1, length+r.IntN(9)-4)
	}
	rows = Rows{N: 1 + r.IntN(8), Len: length, Ahead: r.IntN(3) * (r.IntN(1<<20) - 1<<19)}
	rows.BlockStep, rows.Step = length+r.IntN(2)*r.IntN(40), length*width+r.IntN(2)*r.IntN(70)
	n := (rows.N-1)*rows.BlockStep + length + r.IntN(2)*r.IntN(20)
	block, other = n*width+r.IntN(width), (rows.N-1)*rows.Step+length*width
	if r.IntN(3) == 0 {
		rows.Block, rows.BlockStep = (rows.N-1)*rows.BlockStep, -rows.BlockStep
	}
	if r.IntN(3) == 0 {
		rows.At, rows.Step = (rows.N-1)*rows.Step, -rows.Step
	}
	return rows, block, other
}

// spoilRows makes one field wrong or extreme.
func spoilRows(r *rand.Rand, rows *Rows) {
	extremes := [...]int{-1, 0, 1, math.MaxInt, math.MinInt, math.MaxInt / 2, math.MinInt / 2, math.MaxInt32, math.MinInt32}
	steps := []*int{&rows.BlockStep, &rows.Step}
	fields := append(steps, &rows.Block, &rows.At, &rows.Len, &rows.N)
	f := fields[r.IntN(len(fields))]
	if r.IntN(2) == 0 {
		*f += r.IntN(5) - 2
	} else {
		*f = extremes[r.IntN(len(extremes))]
	}
	for _, f := range steps {
		if rows.N > 1<<20 && *f == 0 {
			*f = 1
		}
	}
}

// fits reports whether rows lie inside of a block of n elements and of size bytes of other memory.
func fits(rows *Rows, width, n, size int) bool {
	inside := func(at, step, length, n int) bool {
		last := new(big.Int).Mul(big.NewInt(int64(rows.N-1)), big.NewInt(int64(step)))
		last.Add(last, big.NewInt(int64(at)))
		end := big.NewInt(int64(n))
		for _, at := range []*big.Int{last, big.NewInt(int64(at))} {
			if at.Sign() < 0 || new(big.Int).Add(at, big.NewInt(int64(length))).Cmp(end) > 0 {
				return false
			}
		}
		return true
	}
	if rows.N < 1 || rows.Len < 1 {
		return true // nothing to do
	}
	return rows.Len <= n && inside(rows.Block, rows.BlockStep, rows.Len, n) && inside(rows.At, rows.Step, rows.Len*width, size)
}

// TestGuardedRows runs UnshuffleRows and ShuffleRows between guard pages, with rows that fit and rows that do not.
// Package guardpage describes long runs.
func TestGuardedRows(t *testing.T) {
	const size = 1 << 17
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	blockMem, otherMem := guardpage.New(t, size), guardpage.New(t, size)
	random := randomBytes(size, 9)
	r := rand.New(rand.NewPCG(1, 2))
	widths := [...]int{1, 2, 2, 2, 3, 4, 4, 4, 5, 7, 8, 8, 8, 12, 16, 16, 17, 24}
	var want [size]byte
	runs := guardpage.Runs(t, 500_000)
	paths := cputest.Available(levels...)
	counts := map[cpu.Level]int{}
	panicked, spoiled := 0, 0
	for done := 0; done < runs; done += 2 * len(paths) {
		width := widths[r.IntN(len(widths))]
		rows, b, o := randomRows(r, width)
		if b > size || o > size {
			done -= 2 * len(paths)
			continue
		}
		block, other := blockMem[size-b:], otherMem[size-o:]
		if r.IntN(4) == 0 {
			block, other = blockMem[:b:b], otherMem[:o:o]
		}
		bad := r.IntN(4) == 0
		if bad {
			spoilRows(r, &rows)
			spoiled++
		}
		good := fits(&rows, width, b/width, o)
		if !good {
			panicked++
		}
		for _, move := range []struct {
			name     string
			do       func(dst, src []byte, width int, r *Rows)
			dst, src []byte
		}{{"UnshuffleRows", UnshuffleRows, other, block}, {"ShuffleRows", ShuffleRows, block, other}} {
			copy(move.src, random)
			for i, l := range paths {
				counts[l]++
				copy(move.dst, random[100:])
				if tryMove(t, l, func() { move.do(move.dst, move.src, width, &rows) }, &rows) == good {
					t.Fatalf("%s with %v, width %d, %+v, block of %d, memory of %d: fits is %v", move.name, l, width, rows, b, o, good)
				}
				if i == 0 {
					copy(want[:], move.dst)
				}
				if !bad && !bytes.Equal(move.dst, want[:len(move.dst)]) { // spoiled rows may overlap
					t.Fatalf("%s with %v, width %d, %+v, block of %d, memory of %d: wrong bytes", move.name, l, width, rows, b, o)
				}
			}
		}
	}
	t.Logf("runs: %v; %d rows were spoiled, and %d of these do not fit", counts, spoiled, panicked)
	if panicked < spoiled/4 || panicked > spoiled*9/10 {
		t.Errorf("%d of %d spoiled rows do not fit", panicked, spoiled)
	}
}

// tryMove runs f with the kernels of a level. It reports whether f panics, and fails if the reason is an access outside
// of the memory.
func tryMove(t *testing.T, l cpu.Level, f func(), rows *Rows) (panicked bool) {
	t.Helper()
	defer func() {
		v := recover()
		if _, ok := v.(interface{ Addr() uintptr }); ok {
			t.Fatalf("%v, %+v: %v", l, rows, v)
		}
		panicked = v != nil
	}()
	with(l, f)
	return false
}

// TestGuardedJoin runs Join with planes and memory between guard pages. Package guardpage describes long runs.
func TestGuardedJoin(t *testing.T) {
	const most = 4096 // bytes in a plane
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(3, 4))
	dstMem := guardpage.New(t, 8*most)
	var planeMem [8][]byte
	for j := range planeMem {
		planeMem[j] = guardpage.New(t, most)
		copy(planeMem[j], randomBytes(most, uint64(j)))
	}
	var want [8 * most]byte
	runs := guardpage.Runs(t, 200_000)
	paths := cputest.Available(levels...)
	uncached := 0
	for done := 0; done < runs; done += len(paths) {
		width, n := 1<<(1+r.IntN(3)), r.IntN(1+most>>r.IntN(6))
		var planes [8][]byte
		for j := range width {
			at := (most - n) * r.IntN(2)
			planes[j] = planeMem[j][at : at+n : at+n]
			for i, b := range planes[j] {
				want[i*width+j] = b
			}
		}
		// The memory ends at a guard page, begins at one, or begins up to 63 bytes after one.
		at := [...]int{len(dstMem) - n*width, 0, min(len(dstMem)-n*width, r.IntN(64))}[r.IntN(3)]
		dst := dstMem[at : at+n*width : at+n*width]
		past := r.IntN(2) == 0
		if past {
			uncached++
		}
		for _, l := range paths {
			clear(dst)
			with(l, func() { Join(dst, planes[:width], past) })
			if !bytes.Equal(dst, want[:n*width]) {
				t.Fatalf("%v, width %d, %d elements at %d, uncached %v: wrong bytes", l, width, n, at, past)
			}
		}
	}
	t.Logf("runs: %d; %d of %d inputs were written past the caches", runs, uncached, runs/len(paths))
}
