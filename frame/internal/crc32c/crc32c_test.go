package crc32c

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
)

func randomBytes(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// naive is the CRC bit by bit.
func naive(crc uint32, p []byte) uint32 {
	crc = ^crc
	for _, c := range p {
		crc ^= uint32(c)
		for range 8 {
			carry := crc & 1
			crc = crc>>1 ^ carry*0x82f63b78
		}
	}
	return ^crc
}

func TestVectors(t *testing.T) {
	zeros, ones, up, down := make([]byte, 32), make([]byte, 32), make([]byte, 32), make([]byte, 32)
	for i := range 32 {
		ones[i], up[i], down[i] = 0xff, byte(i), byte(31-i)
	}
	for _, tt := range []struct { // RFC 3720, B.4, and the check value of the algorithm
		p    []byte
		want uint32
	}{
		{nil, 0}, {[]byte("123456789"), 0xe3069283},
		{zeros, 0x8a9136aa}, {ones, 0x62a8ab43}, {up, 0x46dd794e}, {down, 0x113fdb5c},
	} {
		if got := Checksum(tt.p); got != tt.want {
			t.Errorf("%x: %#x, want %#x", tt.p, got, tt.want)
		}
	}
}

// TestNaive compares with the CRC bit by bit, around the lengths where the kernel and its loops begin.
func TestNaive(t *testing.T) {
	p := randomBytes(1<<12, 1)
	for _, from := range []int{0, 1, 63, 256, 512, 768, 1024, 2047, 4096 - 63} {
		for n := max(0, from-70); n <= min(from+70, len(p)); n += 7 {
			start := uint32(n) * 0x9e3779b9
			if got, want := Update(start, p[:n]), naive(start, p[:n]); got != want {
				t.Errorf("%d bytes: %#x, want %#x", n, got, want)
			}
		}
	}
}

// TestLengths compares with the standard library: every length and every place within 64 bytes.
func TestLengths(t *testing.T) {
	most, step := 2048, 1
	if testing.Short() || !cpu.Has(cpu.AVX512) {
		most, step = 1100, 5
	}
	p := randomBytes(64+most, 2)
	for at := 0; at < 64; at += step {
		for n := at % step; n <= most; n += step {
			start := uint32(at*4096+n) * 0x9e3779b9
			if got, want := Update(start, p[at:at+n]), updateGeneric(start, p[at:at+n]); got != want {
				t.Fatalf("%d bytes at %d: %#x, want %#x", n, at, got, want)
			}
		}
	}
}

// TestFlips changes each bit of a long message: each gives another checksum, which is the one of the standard library.
func TestFlips(t *testing.T) {
	p := randomBytes(1500, 3)
	was := Checksum(p)
	step := 1
	if testing.Short() {
		step = 37
	}
	for i := 0; i < 8*len(p); i += step {
		p[i/8] ^= 1 << (i % 8)
		if got, want := Checksum(p), updateGeneric(0, p); got != want || got == was {
			t.Fatalf("bit %d: %#x, want %#x", i, got, want)
		}
		p[i/8] ^= 1 << (i % 8)
	}
}

func FuzzUpdate(f *testing.F) {
	f.Add([]byte("123456789"), uint32(0), uint16(0))
	f.Add(randomBytes(700, 4), uint32(1), uint16(300))
	f.Fuzz(func(t *testing.T, p []byte, start uint32, cut uint16) {
		for len(p) > 0 && len(p) < minTested {
			p = append(p, p...)
		}
		k := int(cut) % (len(p) + 1)
		want := updateGeneric(start, p)
		if got := Update(start, p); got != want {
			t.Errorf("%d bytes: %#x, want %#x", len(p), got, want)
		}
		if got := Update(Update(start, p[:k]), p[k:]); got != want {
			t.Errorf("%d and %d bytes: %#x, want %#x", k, len(p)-k, got, want)
		}
	})
}

// minTested is the least length of what FuzzUpdate compares: enough for the loops of the kernel.
const minTested = 1200

func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{256, 512, 1 << 10, 2 << 10, 4 << 10, 256 << 10, 4 << 20} {
		p := randomBytes(n, 5)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			cputest.EachBenchmark(b, func(b *testing.B) {
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					Update(0, p)
				}
			}, cpu.AVX512)
		})
	}
}
