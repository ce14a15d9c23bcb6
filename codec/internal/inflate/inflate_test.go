package inflate

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"math/rand"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
)

var errMore = errors.New("more than expected")

// standard decodes src to n bytes with the standard library.
func standard(src []byte, n int) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(src))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, int64(n)+1))
	if err == nil && len(out) > n {
		return nil, errMore
	}
	if err == nil && len(out) < n {
		return nil, errShorter
	}
	return out, err
}

// compare decodes src with the decoder, without and with its kernel, and with the standard library. All must agree. It
// reports whether src is valid.
func compare(t testing.TB, d *Decoder, src []byte, n int) bool {
	t.Helper()
	want, wantErr := standard(src, n)
	for _, l := range cputest.Available(cpu.AVX2) {
		compareAt(t, l, d, src, n, want, wantErr)
	}
	return wantErr == nil
}

// compareAt compares one level of kernels with the result of the standard library.
func compareAt(t testing.TB, l cpu.Level, d *Decoder, src []byte, n int, want []byte, wantErr error) {
	t.Helper()
	defer cpu.Limit(l)()
	got := bytes.Repeat([]byte{0xa5}, n+room)
	err := d.Decode(got[:n:n], src)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%v: %x to %d: %v, want %v", l, src, n, err, wantErr)
	}
	if err == nil && !bytes.Equal(got[:n], want) {
		t.Fatalf("%v: %x to %d: wrong bytes", l, src, n)
	}
	if len(bytes.Trim(got[n:], "\xa5")) > 0 {
		t.Fatalf("%v: %x to %d: wrote past the end", l, src, n)
	}
	if err != nil {
		want = nil
	}
	trial.Prefixes(t, n, want, func(dst []byte, n int) bool { return d.DecodePrefix(dst, src, n) == nil })
}

// makers makes streams with the encoders of the standard library. It keeps the encoders, because they are large.
type makers map[int]*zlib.Writer

// make encodes src, and flushes the stream after every piece bytes.
func (m makers) make(t testing.TB, level, piece int, src []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if m[level] == nil {
		w, err := zlib.NewWriterLevel(nil, level)
		if err != nil {
			t.Fatal(err)
		}
		m[level] = w
	}
	w := m[level]
	w.Reset(&out)
	for ; len(src) > piece; src = src[piece:] {
		w.Write(src[:piece])
		w.Flush()
	}
	w.Write(src)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// mutate returns a copy of a stream with one to three bytes changed, or a truncated copy.
func mutate(r *rand.Rand, src []byte) []byte {
	m := bytes.Clone(src)
	near := len(m)
	if r.Intn(2) == 0 {
		near = min(near, 200) // where codes are
	}
	for range 1 + r.Intn(3) {
		m[2+r.Intn(near-2)] = byte(r.Intn(256))
	}
	if r.Intn(20) == 0 {
		m = m[:r.Intn(len(m))]
	}
	return m
}

// TestMutants decodes streams of another encoder, and mutants of them.
func TestMutants(t *testing.T) {
	rounds := 150
	if testing.Short() {
		rounds = 20
	}
	d, m := new(Decoder), makers{}
	for seed := range rounds {
		r := rand.New(rand.NewSource(int64(seed)))
		want := trial.Input(r.Intn(len(trial.Kinds())), r.Intn(1<<(1+r.Intn(16))), int64(seed))
		src := m.make(t, r.Intn(12)-2, 1+r.Intn(1<<(6+r.Intn(12))), want)
		if !compare(t, d, src, len(want)) || !compare(t, d, append(bytes.Clone(src), "behind"...), len(want)) {
			t.Fatalf("seed %d: invalid", seed)
		}
		for _, n := range []int{0, len(want) - 1, len(want) + 1, 2*len(want) + 300} {
			if n >= 0 && n != len(want) && compare(t, d, src, n) {
				t.Fatalf("seed %d: decodes to %d bytes", seed, n)
			}
		}
		for range 15 {
			compare(t, d, mutate(r, src), len(want))
		}
	}
}

// TestRandom decodes streams of random blocks, with codes that no encoder writes, and mutants of them.
func TestRandom(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 40
	}
	d := new(Decoder)
	valid, all := 0, 0
	for seed := range rounds {
		r := rand.New(rand.NewSource(int64(seed)))
		src, want := randomStream(r)
		if err := d.Decode(make([]byte, len(want)), src); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !compare(t, d, src, len(want)) {
			t.Fatalf("seed %d: invalid", seed)
		}
		for range 5 {
			m := mutate(r, src)
			all++
			if compare(t, d, withChecksum(m), len(want)) {
				valid++
			}
		}
	}
	if valid < all/50 {
		t.Errorf("%d of %d mutants are valid", valid, all)
	}
}

// withChecksum returns a copy of a stream with the right checksum, if the stream is valid up to its checksum.
func withChecksum(src []byte) []byte {
	if len(src) < 2 {
		return src
	}
	in := bytes.NewReader(src[2:])
	content, err := io.ReadAll(io.LimitReader(flate.NewReader(in), 1<<18))
	if err != nil || len(content) == 1<<18 {
		return src
	}
	return append(src[:len(src)-in.Len():len(src)-in.Len()], checksum(content)...)
}

func checksum(p []byte) []byte { return binary.BigEndian.AppendUint32(nil, adler32.Checksum(p)) }

// TestStreams decodes handwritten streams, valid and invalid.
func TestStreams(t *testing.T) {
	tests := []struct {
		name, stream, want string
		err                error
	}{
		{"nothing", "789c 0300 00000001", "", nil},
		{"stored", "7801 01 0100feff 41 00420042", "A", nil},
		{"preset codes", "789c 7304 00 00420042", "A", nil},
		{"two blocks", "7801 00 0100feff 41 01 0100feff 42 00c60084", "AB", nil},
		{"stored nothing", "7801 01 0000ffff 00000001", "", nil},
		{"small window", "081d 7304 00 00420042", "A", nil},
		{"empty", "", "", errInput},
		{"header only", "789c", "A", errInput},
		{"window of 64 KiB", "881c 7304 00 00420042", "A", errHeader},
		{"another method", "7900 7304 00 00420042", "A", errHeader},
		{"header fails its check", "789d 7304 00 00420042", "A", errHeader},
		{"dictionary", "78bb 00420042 7304 00 00420042", "A", errDict},
		{"reserved kind", "789c 07 00420042", "A", errKind},
		{"stored lengths differ", "7801 01 0100ffff 41 00420042", "A", errStored},
		{"stored is cut off", "7801 01 0200fdff 41", "AB", errInput},
		{"stored length is cut off", "7801 01 0100fe", "A", errInput},
		{"stored is too long", "7801 01 0200fdff 4142 00c60084", "A", errLonger},
		{"too short", "7801 01 0100feff 41 00420042", "AB", errShorter},
		{"no checksum", "7801 01 0100feff 41 004200", "A", errInput},
		{"wrong checksum", "7801 01 0100feff 41 00420043", "A", errChecksum},
		{"no last block", "7801 00 0100feff 41", "A", errInput},
		{"literal too many", "789c 7304 00 00420042", "", errLonger},
		// With the preset codes: length 286, distance 30, and a match before the first byte.
		{"unknown length", "789c 1b03 00 00000001 00000000", "A", errSymbol},
		{"no description", "789c 05 00000000000000000000000000", "A", errCode},
		{"too many lengths", "789c fd 00000000000000000000000000", "A", errCode},
	}
	d := new(Decoder)
	for _, test := range tests {
		src, err := hex.DecodeString(strings.ReplaceAll(test.stream, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(test.want))
		err = d.Decode(got, src)
		if !errors.Is(err, test.err) || err == nil && string(got) != test.want {
			t.Errorf("%s: %q, %v, want %v", test.name, got, err, test.err)
		}
		compare(t, d, src, len(test.want))
	}
	// With the preset codes: invalid symbols, and a distance that is too large.
	for _, test := range []struct {
		name string
		err  error
		put  func(w *bitWriter)
	}{
		{"length 286", errSymbol, func(w *bitWriter) { w.code(0b11000110, 8) }},
		{"length 287", errSymbol, func(w *bitWriter) { w.code(0b11000111, 8) }},
		{"distance 30", errSymbol, func(w *bitWriter) { w.code(0b0000001, 7); w.code(30, 5) }},
		{"distance 31", errSymbol, func(w *bitWriter) { w.code(0b0000001, 7); w.code(31, 5) }},
		{"distance 2 after one byte", errDistance, func(w *bitWriter) { w.code(0b0000001, 7); w.code(1, 5) }},
		{"a match too long", errLonger, func(w *bitWriter) { w.code(0b11000101, 8); w.code(0, 5) }},
	} {
		for _, n := range []int{10, 1000} { // the careful loop, and the fast one
			if n > 258 && test.err == errLonger {
				continue
			}
			w := bitWriter{b: []byte{0x78, 0x9c}}
			w.put(0b011, 3)
			w.code(0x30+'A', 8)
			test.put(&w)
			src := append(w.end(), make([]byte, 40)...)
			if err := d.Decode(make([]byte, n), src); err != test.err {
				t.Errorf("%s in %d bytes: %v, want %v", test.name, n, err, test.err)
			}
			compare(t, d, src, n)
		}
	}
}

// TestPairs checks that a table has entries of two literals if there are enough of them, and that countPairs counts
// these.
func TestPairs(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	made := 0
	const rounds = 300
	for range rounds {
		// A complete code: split random leaves of a tree.
		lengths := []uint8{1, 1}
		for want := 2 + r.Intn(maxLiterals-1); len(lengths) < want; {
			if i := r.Intn(1 + r.Intn(len(lengths))); lengths[i] < maxBits {
				lengths[i]++
				lengths = append(lengths, lengths[i])
			}
		}
		lengths = append(lengths, make([]byte, maxLiterals-len(lengths))...)
		r.Shuffle(len(lengths), func(i, j int) { lengths[i], lengths[j] = lengths[j], lengths[i] })
		var tables tables
		if !tables.makeLiterals(lengths, true) {
			t.Fatalf("%v is no code", lengths)
		}
		pairs := 0
		for _, e := range tables.literals[:1<<literalBits] {
			if e >= isLiteral && e>>24&3 == 2 {
				pairs++
			}
		}
		want := countPairs(lengths)
		if want < minPairs {
			want = 0
		} else {
			made++
		}
		if pairs != want {
			t.Fatalf("%v: %d pairs, want %d", lengths, pairs, want)
		}
	}
	if made < rounds/10 || made > rounds*9/10 {
		t.Errorf("%d of %d tables have pairs", made, rounds)
	}
}

// TestAllocations checks that a decoder allocates nothing.
func TestAllocations(t *testing.T) {
	d, m := new(Decoder), makers{}
	for kind := range trial.Kinds() {
		want := trial.Input(kind, 100000, 1)
		src, dst := m.make(t, 6, len(want), want), make([]byte, len(want))
		if n := testing.AllocsPerRun(3, func() { d.Decode(dst, src) }); n > 0 {
			t.Errorf("%s: %v allocations", trial.Kinds()[kind].Name, n)
		}
	}
}

// FuzzDecode decodes arbitrary input.
func FuzzDecode(f *testing.F) {
	for seed := range 30 {
		src, want := randomStream(rand.New(rand.NewSource(int64(seed))))
		if len(src) < 1000 {
			f.Add(src, len(want))
		}
	}
	m := makers{}
	for kind := range trial.Kinds() {
		f.Add(m.make(f, 6, 1000, trial.Input(kind, 1000, 1)), 1000)
	}
	d := new(Decoder)
	f.Fuzz(func(t *testing.T, src []byte, n int) {
		n = max(0, min(n, 1<<17))
		compare(t, d, src, n)
		compare(t, d, withChecksum(src), n)
	})
}

func BenchmarkDecode(b *testing.B) {
	cputest.EachBenchmark(b, benchmarkDecode, cpu.AVX2)
}

func benchmarkDecode(b *testing.B) {
	m := makers{}
	for kind := range trial.Kinds() {
		for _, size := range []int{8 << 10, 256 << 10} {
			want := trial.Input(kind, size, 1)
			src := m.make(b, 6, size, want)
			b.Run(fmt.Sprintf("%s-%dk", trial.Kinds()[kind].Name, size>>10), func(b *testing.B) {
				d := new(Decoder)
				dst := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if err := d.Decode(dst, src); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
