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
	// A run, and equal words of different bytes.
	copy(b[301:], bytes.Repeat([]byte{7}, 100))
	copy(b[601:], bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 10))
	var count [256]uint32
	var parts [3][256]uint32
	for _, n := range []int{0, 1, 15, 1023, 1024, 1025, 1039, 1040, 1056, 4096, 4999} {
		for _, stride := range []int{16, 32} {
			if stride == 32 && (n%16 > 0 || n < 1024) {
				continue
			}
			var want [256]uint32
			for i, c := range b[1 : 1+n] {
				if i%stride < 16 {
					want[c]++
				}
			}
			for _, run := range []func(func()){generic, func(f func()) { f() }} {
				count = [256]uint32{}
				run(func() { addHistogram(&count, b[1:1+n], &parts, stride) })
				if count != want {
					t.Errorf("%d bytes, stride %d: %v, want %v", n, stride, count, want)
				}
			}
		}
		var want [256]uint32
		for _, c := range b[1 : 1+n] {
			want[c]++
		}
		if histogram(&count, b[1:1+n], &parts); count != want {
			t.Errorf("%d bytes: %v, want %v", n, count, want)
		}
	}
}

// TestTally counts literals of which a half suffices, and others.
func TestTally(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	l := &literalsWriter{quick: true}
	for _, n := range []int{100, leastSampled - 1, leastSampled, leastSampled + 31, 40000, 128 << 10} {
		for _, all := range []bool{false, true} {
			b := make([]byte, n)
			for i := range b {
				// The bytes of items of 32 bytes: in each half of an item, one half of the values.
				b[i] = byte(i%32/16*128 + r.Intn(128))
				if b[i] == 77 && !all {
					b[i] = 78
				}
			}
			var count [256]uint32
			for _, c := range b {
				count[c]++
			}
			l.tally(b)
			if n < leastSampled || !all {
				if l.count != count {
					t.Errorf("%d literals: %v, want %v", n, l.count, count)
				}
				continue
			}
			sum := 0
			for i, c := range l.count {
				sum += int(c)
				if c == 0 || c%2 != 0 || max(c, count[i]) > 2*min(c, count[i])+20 {
					t.Errorf("%d literals: byte %d counts %d, want about %d", n, i, c, count[i])
				}
			}
			if sum > n || sum < n-64 {
				t.Errorf("%d literals: %d counted", n, sum)
			}
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

// TestFast searches many small inputs, in which short matches are frequent and offsets repeat, with the kernel and
// without it.
func TestFast(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	n := 30000
	if brief() {
		n = 6000
	}
	for _, level := range []int{1, 3} {
		e, plain := NewEncoder(level), NewEncoder(level)
		for range n {
			src := make([]byte, 20+r.Intn(150))
			for i := range src {
				src[i] = byte(r.Intn(3))
			}
			for range 4 { // repeat some bytes after a few others
				k := 4 + r.Intn(9)
				from, to := r.Intn(len(src)-k), r.Intn(len(src)-k)
				copy(src[to:to+k], src[from:from+k])
			}
			for _, e := range []*Encoder{e, plain} {
				e.begin(src)
			}
			e.match(&e.first, 0, len(src))
			generic(func() { plain.match(&plain.first, 0, len(src)) })
			if !slices.Equal(e.sequences, plain.sequences) || !bytes.Equal(e.text, plain.text) {
				t.Fatalf("level %d, input %v: %v and %v, want %v and %v", level, src, e.sequences, e.text, plain.sequences, plain.text)
			}
		}
	}
}
