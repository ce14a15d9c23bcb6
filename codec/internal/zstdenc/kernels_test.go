package zstdenc

import (
	"bytes"
	"math/rand"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/internal/cpu"
)

// generic runs f without the kernels in assembly.
func generic(f func()) {
	defer cpu.Limit(cpu.Generic)()
	f()
}

// compareKernels compresses src with e, with the kernels, and with plain, without, and compares the frames. It returns
// the frame, in dst.
func compareKernels(t testing.TB, e, plain *Encoder, dst, src []byte) []byte {
	t.Helper()
	n := e.Encode(dst, src)
	want := make([]byte, len(dst))
	generic(func() { want = want[:plain.Encode(want, src)] })
	if !bytes.Equal(dst[:n], want) {
		t.Fatalf("level %d, %d bytes: %d with kernels, %d without, or others", e.level, len(src), n, len(want))
	}
	return dst[:n]
}

// TestRecords writes records with all numbers of bits. Most of these numbers would need inputs of many megabytes.
func TestRecords(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var w [2]sequenceRun
	for n := 1; n < 400; n++ {
		records := make([]record, n)
		for i := range records {
			bits := uint8(r.Intn(64))
			records[i] = record{
				rest: r.Uint64() & (1<<bits - 1), bits: bits,
				literals: uint8(r.Intn(presets[0].n)), offset: uint8(r.Intn(presets[1].n)), length: uint8(r.Intn(presets[2].n)),
			}
		}
		use := [3]*coder{&presets[0], &presets[1], &presets[2]}
		dst, want := make([]byte, 12*n+20), make([]byte, 12*n+20)
		w[0].records, w[1].records = records, records
		k := w[0].write(dst, 3, use)
		generic(func() { want = want[:w[1].write(want, 3, use)] })
		if !bytes.Equal(dst[:k], want) {
			t.Fatalf("%d records: %x, want %x", n, dst[:k], want)
		}
	}
}

func TestHistogram(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	b := make([]byte, 5000)
	for i := range b {
		b[i] = byte(r.NormFloat64() * 20)
	}
	var count [256]uint32
	var parts [3][256]uint32
	for _, n := range []int{0, 1, 15, 1023, 1024, 1025, 1039, 1040, 4096, 4999} {
		var want [256]uint32
		for _, c := range b[1 : 1+n] {
			want[c]++
		}
		if histogram(&count, b[1:1+n], &parts); count != want {
			t.Errorf("%d bytes: %v, want %v", n, count, want)
		}
		generic(func() { histogram(&count, b[1:1+n], &parts) })
		if count != want {
			t.Errorf("%d bytes, generic: %v, want %v", n, count, want)
		}
	}
}

// TestRelax tries matches of all numbers of lengths, at costs above and below those so far.
func TestRelax(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for n := range 100 {
		prices := make([]uint32, n)
		got, want := makeSteps(n+20), makeSteps(n+20)
		for i := range got.costs {
			got.costs[i], got.lengths[i], got.offsets[i] = r.Uint32(), r.Uint32(), r.Uint32()
			if i%7 == 0 {
				got.costs[i] = unreached
			}
			want.costs[i], want.lengths[i], want.offsets[i] = got.costs[i], got.lengths[i], got.offsets[i]
		}
		m := match{1 << 31, uint32(3 + n), 99}
		for i := range prices {
			prices[i] = r.Uint32() >> 1 // costs of at least 1<<31, which a signed comparison would take for small
		}
		got.relax(5, prices, m)
		for i, p := range prices {
			if k := 5 + i; m.price+p < want.costs[k] {
				want.costs[k], want.lengths[k], want.offsets[k] = m.price+p, m.length+uint32(i), m.offset
			}
		}
		if !slices.Equal(got.costs, want.costs) || !slices.Equal(got.lengths, want.lengths) || !slices.Equal(got.offsets, want.offsets) {
			t.Fatalf("%d lengths: %v, want %v", n, got, want)
		}
	}
}

// TestTree enters positions into trees with the kernel and without it: the matches and the trees must be the same.
func TestTree(t *testing.T) {
	for _, level := range []int{8, 9} {
		matches := 0
		for seed := range int64(20) {
			src := mixed(5000, seed)
			e, plain := NewEncoder(level), NewEncoder(level)
			for end := 1000; end <= len(src); end += 1000 {
				find := func(e *Encoder) {
					if end == 1000 {
						e.begin(src)
						e.params = e.first
					}
					e.find(end-1000, end)
				}
				find(e)
				generic(func() { find(plain) })
				if !slices.Equal(e.finder.found, plain.finder.found) || !slices.Equal(e.finder.tree, plain.finder.tree) {
					t.Fatalf("level %d, seed %d: other matches up to byte %d, or another tree", level, seed, end)
				}
				matches += len(e.finder.found)
			}
		}
		if matches == 0 {
			t.Errorf("level %d: no matches", level)
		}
	}
}
