package lz4hc

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/lz4block"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/pierrec/lz4/v4"
)

// encodeBoth compresses with the kernels and without them, with encoders that are kept. The streams must agree.
func encodeBoth(t *testing.T, kernel, plain *Encoder, dst, src []byte) int {
	t.Helper()
	n := kernel.Encode(dst, src)
	defer cpu.Limit(cpu.Generic)()
	want := make([]byte, len(dst))
	if k := plain.Encode(want, src); !bytes.Equal(dst[:n], want[:k]) {
		t.Fatalf("level %d, %d bytes into %d: %d bytes with kernels, %d without, or other ones", kernel.level, len(src), len(dst), n, k)
	}
	return n
}

// pieces makes n bytes of noise, runs, short cycles and repetitions of what was before.
func pieces(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	alphabet := 1 + r.Intn(1<<r.Intn(9))
	for i := 0; i < n; {
		k := 1 + r.Intn(1<<r.Intn(11))
		from := r.Intn(i + 1)
		if r.Intn(3) == 0 {
			from = max(0, i-1-r.Intn(5))
		}
		noise := r.Intn(3) == 0 || i == 0
		for ; k > 0 && i < n; i, from, k = i+1, from+1, k-1 {
			b[i] = b[from]
			if noise {
				b[i] = byte(r.Intn(alphabet))
			}
		}
	}
	return b
}

func TestKernels(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	for level := 1; level <= 9; level++ {
		r := rand.New(rand.NewSource(int64(level)))
		kernel, plain := NewEncoder(level), NewEncoder(level)
		for range rounds {
			src := pieces(r, r.Intn(1<<r.Intn(18)))
			dst := make([]byte, len(src)+r.Intn(60))
			if n := encodeBoth(t, kernel, plain, dst, src); n > 0 && !bytes.Equal(expand(t, dst[:n]), src) {
				t.Fatalf("level %d: %d bytes do not come back", level, len(src))
			}
		}
	}
}

func TestAllocs(t *testing.T) {
	src, dst := pieces(rand.New(rand.NewSource(1)), 70000), make([]byte, 70000)
	for _, level := range []int{1, 5, 9} {
		e := NewEncoder(level)
		if n := testing.AllocsPerRun(5, func() { e.Encode(dst, src) }); n > 0 {
			t.Errorf("level %d: %v allocations", level, n)
		}
	}
}

func FuzzKernels(f *testing.F) {
	f.Add([]byte("hello hello hello hello hello hello hello"), 100, 5)
	f.Add(bytes.Repeat([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), 30), 700, 9)
	f.Fuzz(func(t *testing.T, src []byte, room, level int) {
		level = 1 + max(0, level)%9
		encodeBoth(t, NewEncoder(level), NewEncoder(level), make([]byte, max(0, min(room, 1<<16))), src)
	})
}

// TestDict compresses blocks that begin with parts of a dictionary, with kernels and without.
func TestDict(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	r := rand.New(rand.NewSource(1))
	for level := 1; level <= 9; level++ {
		for _, n := range []int{1, 5, 13, 300, 20000, 65535, 70000} {
			dict := pieces(r, n)
			kernel, plain := NewDictEncoder(level, dict), NewDictEncoder(level, dict)
			for range rounds {
				from := r.Intn(n)
				src := append(bytes.Clone(dict[from:min(n, from+r.Intn(3000))]), pieces(r, r.Intn(1<<r.Intn(14)))...)
				dst := make([]byte, len(src)+r.Intn(60))
				k := encodeBoth(t, kernel, plain, dst, src)
				if k == 0 {
					continue
				}
				back := make([]byte, len(src))
				if m, err := lz4.UncompressBlockWithDict(dst[:k], back, dict[max(0, n-lz4block.MaxDistance):]); err != nil || m != len(src) || !bytes.Equal(back, src) {
					t.Fatalf("level %d, dictionary of %d bytes: %d bytes do not come back", level, n, len(src))
				}
			}
		}
	}
}
