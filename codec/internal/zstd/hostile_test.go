package zstd

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
	"github.com/klauspost/compress/zstd"
)

// TestFrames decodes handwritten frames, valid and invalid.
func TestFrames(t *testing.T) {
	const a = "28b52ffd 20 01 090000 41" // one raw block: "A"
	tests := []struct {
		name, stream, want string
		err                error
	}{
		{"raw block", a, "A", nil},
		{"repeated byte", "28b52ffd 20 05 2b0000 41", "AAAAA", nil},
		{"empty block", "28b52ffd 20 00 010000", "", nil},
		{"empty compressed block", "28b52ffd 20 00 150000 0000", "", nil},
		{"blocks without sequences", "28b52ffd 20 05 240000 10414200 1d0000 194300", "ABCCC", nil},
		{"literals only", "28b52ffd 20 02 250000 10414200", "AB", nil},
		{"literals of one byte", "28b52ffd 20 03 1d0000 194300", "CCC", nil},
		{"no sequences in two bytes", "28b52ffd 20 02 2d0000 1041428000", "AB", nil},
		{"bytes behind no sequences", "28b52ffd 20 02 2d0000 1041420000", "AB", errSequences},
		{"content size in 2 bytes", "28b52ffd 60 0000 020800 41", strings.Repeat("A", 256), errInput},
		{"content size in 4 bytes", "28b52ffd a0 01000000 090000 41", "A", nil},
		{"content size in 8 bytes", "28b52ffd e0 0100000000000000 090000 41", "A", nil},
		{"window of 1 KiB", "28b52ffd 00 00 090000 41", "A", nil},
		{"window of 3.75 GiB", "28b52ffd 00 af 090000 41", "A", nil},
		{"window of 4 GiB", "28b52ffd 00 b0 090000 41", "", errWindow},
		{"two frames", a + "28b52ffd 20 02 110000 4243", "ABC", nil},
		{"skippable frame first", "502a4d18 03000000 010203" + a, "A", nil},
		{"skippable frame last", a + "5f2a4d18 00000000", "A", nil},
		{"skippable frame only", "5f2a4d18 01000000 00", "", nil},
		{"skippable frame of 4 GiB", "5f2a4d18 ffffffff 00", "", errInput},
		{"skippable frame cut off", "5f2a4d18 000000", "", errInput},
		{"checksum", "28b52ffd 24 01 090000 41 34b1f55d", "A", errChecksum},
		{"checksum of nothing", "28b52ffd 24 00 010000 99e9d851", "", nil},
		{"no checksum", "28b52ffd 24 00 010000 99e9d8", "", errInput},
		{"content size too large", "28b52ffd a0 02000000 090000 41", "AB", errContent},
		{"content size too small", "28b52ffd 20 01 110000 4142", "AB", errContent},
		{"more than expected", "28b52ffd 20 02 110000 4142", "A", errLonger},
		{"less than expected", a, "AB", errShorter},
		{"reserved bit", "28b52ffd 28 01 090000 41", "A", errReserved},
		{"reserved type of block", "28b52ffd 20 01 0f0000 41", "A", errBlockType},
		{"no last block", "28b52ffd 20 01 080000 41", "A", errInput},
		{"block of 2 MiB", "28b52ffd 00 58 ffffff 41", "A", errBlockSize},
		{"block above its window", "28b52ffd 00 00 0b2000 41", strings.Repeat("A", 1025), errBlockSize},
		{"block as its window", "28b52ffd 00 00 032000 41", strings.Repeat("A", 1024), nil},
		{"another number", "27b52ffd 20 01 090000 41", "A", errMagic},
		{"bytes behind", a + "000000", "A", errInput},
		{"frame behind cut off", a + "28b52ffd", "A", errInput},
		{"empty", "", "", errInput},
		{"dictionary", "28b52ffd 23 12345678 01 090000 41", "A", errDict},
		{"dictionary 0", "28b52ffd 23 00000000 01 090000 41", "A", nil},
		{"literals without a code", "28b52ffd 20 10 2d0000 0341000100", "0123456789012345", errTreeless},
		{"table to repeat", "28b52ffd 20 04 2d0000 0841 01 c0 01", "0123", errRepeat},
		{"reserved bits of modes", "28b52ffd 20 04 2d0000 0841 01 01 01", "0123", errTable},
		// One literal, then a match with the states 1, 0 and 0 of the preset tables, without extra bits.
		{"bits of sequences end in 0", "28b52ffd 20 04 2d0000 0841 01 00 00", "0123", errSequences},
		{"too few bits for states", "28b52ffd 20 04 2d0000 0841 01 00 01", "0123", errSequences},
		{"code above all", "28b52ffd 20 04 450000 0841 01 54 240000 01", "0123", errTable},
		{"offset 0", "28b52ffd 00 00 450000 0800 0200 2f430bae", strings.Repeat("0", 100), errZero},
		{"truncated state of weights", "28b52ffd 00 00 550000 7280 0104 207e 1f02 aa00", strings.Repeat("0", 39), errWeights},
	}
	forEachKernel(t, func(t *testing.T) {
		d := newDecoder(t, nil)
		for _, test := range tests {
			stream, err := hex.DecodeString(strings.ReplaceAll(test.stream, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			got, err := decode(t, d, stream, len(test.want))
			if !errors.Is(err, test.err) || err == nil && string(got) != test.want {
				t.Errorf("%s: %q, %v, want %v", test.name, got, err, test.err)
			}
		}
	})
}

// TestLargeWeights reads weights that a description of a Huffman code can hold, but no code has.
func TestLargeWeights(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for large := 2; large < 80; large++ {
		probs := make([]int, large+1)
		probs[1], probs[large] = 16, 16
		m := newMachine(5, probs)
		var w bitWriter
		w.add(uint64(m.last(r, large, false)), 5)
		w.add(uint64(m.last(r, 1, true)), 5)
		b := append(m.description(), w.end()...)
		src := append([]byte("in front"), byte(len(b)))
		src = append(src, b...)
		d := newDecoder(t, nil)
		// The implied last weight completes a power of two, but two symbols must have weight 1.
		_, err := d.readHuffman(&d.ownHuffman, src, 8, len(src))
		if ok := large == 2 && err == nil || large <= 11; !ok && err != errHuffman {
			t.Errorf("weights 1 and %d: %v, want %v", large, err, errHuffman)
		}
	}
}

// TestMutants changes valid frames a little. All kernels and the other decoder must agree on them.
func TestMutants(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 15
	}
	o, d := newOracle(t, nil), newDecoder(t, nil)
	d.SkipChecksum = true
	valid, all := 0, 0
	for seed := range rounds {
		r := rand.New(rand.NewSource(int64(seed)))
		var frame, want []byte
		if seed%2 == 0 {
			frame, want = randomFrame(r, r.Intn(1<<(5+r.Intn(11))), nil)
		} else {
			want = trial.Input(r.Intn(len(trial.Kinds())), r.Intn(1<<(1+r.Intn(15))), int64(seed))
			frame = encode(t, levels[r.Intn(4)], form{single: r.Intn(2) == 0}, want)
		}
		for range 100 {
			m := mutate(r, frame)
			all++
			if compare(t, d, o, m, len(want)) {
				valid++
			}
		}
	}
	if valid < all/20 || valid > all*19/20 {
		t.Errorf("%d of %d mutants are valid", valid, all)
	}
}

// mutate returns a copy of a frame with one to three bytes changed, or a truncated copy.
func mutate(r *rand.Rand, frame []byte) []byte {
	m := bytes.Clone(frame)
	near := len(m) - 4
	if r.Intn(2) == 0 {
		near = min(near, 200) // where headers and tables are
	}
	for range 1 + r.Intn(3) {
		m[4+r.Intn(near)] = byte(r.Intn(256))
	}
	if r.Intn(20) == 0 {
		m = m[:1+r.Intn(len(m))]
	}
	return m
}

// compare decodes src with all kernels and the other decoder, and reports whether it is valid. src must not be empty.
func compare(t testing.TB, d *Decoder, o oracle, src []byte, n int) bool {
	t.Helper()
	want, wantErr := o.decode(src, n)
	var begins [5]bool
	for i, l := range cputest.Available(kernelLevel) {
		var got []byte
		var err error
		with(l, func() {
			got, err = decode(t, d, src, n)
			valid := prefixes(t, d, src, n, got, err)
			if i == 0 {
				begins = valid
			} else if valid != begins {
				t.Fatalf("%s: %x to %d: different beginnings are valid: %v and %v", l, src, n, begins, valid)
			}
		})
		if i == 0 && err == nil && spares(wantErr) {
			want, wantErr = got, nil
		}
		if err == errStates || err == errZero || err == errWeights {
			// The other decoder also accepts tables of 512 states for offsets, where 256 are allowed, and offset 0 as
			// 1. It reads the first states of weights from before their bits. The C library accepts none of these.
			wantErr = err
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: %x to %d: %v, want %v", l, src, n, err, wantErr)
		}
		if err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%s: %x to %d: wrong bytes", l, src, n)
		}
	}
	return wantErr == nil
}

// TestDictionaries checks which dictionaries are valid, and which frames can be read with them.
func TestDictionaries(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	dict := randomDict(r)
	tables := len(dict.b) - len(dict.content)
	for n := 8; n < tables; n++ {
		if _, err := NewDecoder(dict.b[:n]); err == nil {
			t.Errorf("the first %d of %d bytes of a dictionary are accepted", n, tables)
		}
	}
	zero := bytes.Clone(dict.b)
	copy(zero[tables-8:], make([]byte, 4))
	far := bytes.Clone(dict.b)
	copy(far[tables-4:], []byte{255, 255, 255, 255})
	nameless := bytes.Clone(dict.b)
	copy(nameless[4:], make([]byte, 4))
	for i, b := range [][]byte{zero, far, nameless} {
		if _, err := NewDecoder(b); err == nil {
			t.Errorf("invalid dictionary %d is accepted", i)
		}
	}
	frame, want := randomFrame(r, 1000, dict)
	for _, b := range [][]byte{nil, dict.content, randomDict(r).b} {
		if _, err := decode(t, newDecoder(t, b), frame, len(want)); err != errDict {
			t.Errorf("with another dictionary: %v", err)
		}
	}
	// A dictionary of content only: frames do not reference it.
	text := trial.Input(3, 5000, 1)
	for _, n := range []int{1, 7, 8, 100, 2000} {
		b := text[:n]
		src := bytes.Repeat(text[n/2:n], 3)
		forEachKernel(t, func(t *testing.T) {
			for _, level := range levels {
				e := newEncoder(t, level, form{}, zstd.WithEncoderDictRaw(0, b))
				check(t, newDecoder(t, b), e.EncodeAll(src, nil), src)
			}
		})
	}
}

func TestChecksum(t *testing.T) {
	for in, want := range map[string]uint64{
		"": 0xef46db3751d8e999, "a": 0xd24ec4f1a98c6e5b, "abc": 0x44bc2cf5ad770999,
		strings.Repeat("0123456789", 10): xxhash64([]byte(strings.Repeat("0123456789", 10))),
	} {
		if got := xxhash64([]byte(in)); got != want {
			t.Errorf("%q: %#x, want %#x", in, got, want)
		}
	}
	d := newDecoder(t, nil)
	for n := 1; n < 150; n++ { // this encoder writes no checksum for empty content
		src := trial.Input(1, n, int64(n))
		frame := encode(t, zstd.SpeedFastest, form{checksum: true}, src)
		check(t, d, frame, src)
		frame[len(frame)-1] ^= 1
		if _, err := decode(t, d, frame, n); err != errChecksum {
			t.Errorf("%d bytes: %v, want %v", n, err, errChecksum)
		}
		d.SkipChecksum = true
		check(t, d, frame, src)
		d.SkipChecksum = false
	}
}

// TestAllocations checks that a decoder allocates nothing after it has decoded the largest block.
func TestAllocations(t *testing.T) {
	for kind := range trial.Kinds() {
		src := trial.Input(kind, 300000, 1)
		d := newDecoder(t, nil)
		dst := make([]byte, len(src))
		for _, level := range levels {
			frame := encode(t, level, form{single: true}, src)
			if err := d.Decode(dst, frame); err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(3, func() { d.Decode(dst, frame) }); n > 0 {
				t.Errorf("%s: %v allocations", trial.Kinds()[kind].Name, n)
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for kind := range trial.Kinds() {
		for _, size := range []int{8 << 10, 256 << 10} {
			for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedBestCompression} {
				src := trial.Input(kind, size, 1)
				frame := encode(b, level, form{single: true}, src)
				for _, l := range cputest.Available(kernelLevel) {
					b.Run(fmt.Sprintf("%s-%dk-%v-%s", trial.Kinds()[kind].Name, size>>10, level, l), func(b *testing.B) {
						d := newDecoder(b, nil)
						dst := make([]byte, size)
						b.SetBytes(int64(size))
						b.ReportAllocs()
						with(l, func() {
							for b.Loop() {
								if err := d.Decode(dst, frame); err != nil {
									b.Fatal(err)
								}
							}
						})
					})
				}
			}
		}
	}
}
