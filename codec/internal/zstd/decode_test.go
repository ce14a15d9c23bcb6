package zstd

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/klauspost/compress/zstd"
)

func newDecoder(t testing.TB, dict []byte) *Decoder {
	t.Helper()
	d, err := NewDecoder(dict)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// guarded returns n bytes between guard bytes, and a function that reports whether the guard bytes are unchanged. The
// slice has guard bytes within its capacity.
func guarded(n int) (b []byte, intact func() bool) {
	const guard = 64
	all := bytes.Repeat([]byte{0xa5}, n+2*guard)
	return all[guard : guard+n], func() bool {
		for i := range guard {
			if all[i] != 0xa5 || all[len(all)-1-i] != 0xa5 {
				return false
			}
		}
		return true
	}
}

// decode decodes src to n bytes, once with pairs of literals and once without. It fails the test if bytes outside of
// dst or in src change, or if the results differ.
func decode(t testing.TB, d *Decoder, src []byte, n int) (dst []byte, err error) {
	t.Helper()
	saved := bytes.Clone(src)
	for _, d.minPairs = range [2]int{0, math.MaxInt} {
		before, errBefore := dst, err
		var intact func() bool
		dst, intact = guarded(n)
		err = d.Decode(dst, src)
		if !intact() {
			t.Fatalf("%x to %d: wrote outside", src, n)
		}
		if !bytes.Equal(src, saved) {
			t.Fatalf("%x to %d: changed the input", saved, n)
		}
		if before != nil && (err != errBefore || err == nil && !bytes.Equal(dst, before)) {
			t.Fatalf("%x to %d: pairs of literals make a difference: %v, %v", src, n, errBefore, err)
		}
		checkBatch(t, d, src, dst, err)
	}
	return dst, err
}

// prefixes decodes beginnings of src, once with pairs of literals and once without, and reports which are valid. want
// is the content of src if err is nil.
func prefixes(t testing.TB, d *Decoder, src []byte, n int, want []byte, err error) (valid [5]bool) {
	t.Helper()
	if err != nil {
		want = nil
	}
	expand := func(dst []byte, n int) bool { return d.DecodePrefix(dst, src, n) == nil }
	d.minPairs = math.MaxInt
	valid = trial.Prefixes(t, n, want, expand)
	d.minPairs = 0
	if others := trial.Prefixes(t, n, want, expand); others != valid {
		t.Fatalf("%x to %d: pairs of literals make a difference for beginnings: %v, %v", src, n, valid, others)
	}
	return valid
}

// check decodes src to want, and checks that it does not decode to another length.
func check(t testing.TB, d *Decoder, src, want []byte) {
	t.Helper()
	got, err := decode(t, d, src, len(want))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%.200x to %d: %v, equal %v", src, len(want), err, bytes.Equal(got, want))
	}
	prefixes(t, d, src, len(want), want, nil)
	for _, n := range []int{0, len(want) - 1, len(want) + 1, len(want) + 100} {
		if n < 0 || n == len(want) {
			continue
		}
		if _, err := decode(t, d, src, n); err == nil {
			t.Fatalf("%d bytes also decode to %d", len(want), n)
		}
	}
}

var levels = []zstd.EncoderLevel{
	zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression,
}

var lengths = []int{
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 400, 511, 512, 1000,
	1023, 1024, 1025, 4000, 4095, 4096, 10000, 16383, 16384, 16385, 65535, 65536, 100000, 131071, 131072, 131073, 300000,
}

// TestEncoder decodes the frames of another library's encoder.
func TestEncoder(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		d := newDecoder(t, nil)
		for kind := range trial.Kinds() {
			for i, n := range lengths {
				if testing.Short() && n > 5000 && (i+kind)%8 != 0 {
					continue
				}
				src := trial.Input(kind, n, int64(i))
				check(t, d, encode(t, levels[(i+kind)%4], form{i%2 == 0, i%3 == 0}, src), src)
			}
		}
	})
}

// TestRandomFrames decodes random frames that use everything the format allows.
func TestRandomFrames(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 120
	}
	forEachKernel(t, func(t *testing.T) {
		none := newDecoder(t, nil)
		others := newOracle(t, nil)
		for seed := range rounds {
			r := rand.New(rand.NewSource(int64(seed)))
			limit := r.Intn(1 << (1 + r.Intn(19)))
			if seed%3 > 0 {
				frame, want := randomFrame(r, limit, nil)
				check(t, none, frame, want)
				if got, err := others.decode(frame, len(want)); !spares(err) && (err != nil || !bytes.Equal(got, want)) {
					t.Fatalf("seed %d: %.200x to %d: the other decoder: %v", seed, frame, len(want), err)
				}
				continue
			}
			dict := randomDict(r)
			d := newDecoder(t, dict.b)
			o := newOracle(t, dict.b)
			for range 5 {
				frame, want := randomFrame(r, limit, dict)
				check(t, d, frame, want)
				if got, err := o.decode(frame, len(want)); !spares(err) && (err != nil || !bytes.Equal(got, want)) {
					t.Fatalf("seed %d: %.200x to %d: the other decoder: %v", seed, frame, len(want), err)
				}
			}
		}
	})
}

// spares reports whether err rejects input that RFC 8878 allows and the C library accepts, but the other decoder does
// not support:
//   - windows above 512 MiB
//   - a few bits after the weights of a Huffman code, too few for another weight
//   - descriptions of state machines at the end of a block, of less than four bytes or with many zeros
//   - state machines of a single symbol
//   - offsets of 2 GiB in a state machine of a single symbol
func spares(err error) bool {
	if err == nil || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return err != nil
	}
	for _, s := range []string{
		"fse decompress returned", "input too small", "corruption detected (remaining", "symbolLen (32) too big",
		"symbolLen (1) too small",
	} {
		if strings.HasPrefix(err.Error(), s) {
			return true
		}
	}
	return false
}

func ExampleDecoder() {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 0x2b, 0, 0, 'A'} // the byte A, five times
	d, err := NewDecoder(nil)
	if err != nil {
		panic(err)
	}
	dst := make([]byte, 5) // the size must be known
	fmt.Println(d.Decode(dst, frame), string(dst))
	fmt.Println(d.Decode(dst[:4], frame))
	// Output:
	// <nil> AAAAA
	// content is longer than expected
}
