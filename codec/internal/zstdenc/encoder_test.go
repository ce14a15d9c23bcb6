package zstdenc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/codec/internal/zstd"
	"github.com/goblosc/blosc2/internal/race"
	klauspost "github.com/klauspost/compress/zstd"
)

// sizes is a ladder around the limits of blocks, literals, headers and levels.
var sizes = []int{
	0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 31, 32, 33, 63, 64, 65, 100, 255, 256, 257, 300, 511, 1000, 1023, 1024,
	1025, 4095, 4096, 5000, 10000, 16383, 16384, 16385, 40000, 65535, 65536, 65791, 65792, 65793, 131071, 131072, 131073, 131080,
	131085, 200000, 262144, 262145, 400000,
}

// brief reports whether tests should be short.
func brief() bool { return testing.Short() || race.Enabled }

// decoders are the decoder of this library and the decoder of another library.
type decoders struct {
	own   *zstd.Decoder
	other *klauspost.Decoder
}

func newDecoders(t testing.TB) decoders {
	t.Helper()
	own, err := zstd.NewDecoder(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := klauspost.NewReader(nil, klauspost.WithDecoderConcurrency(1), klauspost.WithDecoderLowmem(true))
	if err != nil {
		t.Fatal(err)
	}
	return decoders{own, other}
}

// check decodes a frame with both decoders and compares with want.
func (d decoders) check(t testing.TB, frame, want []byte) {
	t.Helper()
	out := make([]byte, len(want))
	if err := d.own.Decode(out, frame); err != nil || !bytes.Equal(out, want) {
		t.Errorf("%d bytes in %d: wrong content: %v", len(want), len(frame), err)
	}
	out, err := d.other.DecodeAll(frame, out[:0])
	if err != nil || !bytes.Equal(out, want) {
		t.Errorf("%d bytes in %d: wrong content with the other decoder: %v", len(want), len(frame), err)
	}
}

// room is enough for any frame with n bytes.
func room(n int) int { return n + n/maxBlock*3 + 40 }

func TestRoundTrip(t *testing.T) {
	for level := 1; level <= 9; level++ {
		t.Run(fmt.Sprint(level), func(t *testing.T) {
			t.Parallel()
			e, d := NewEncoder(level), newDecoders(t)
			for kind := range trial.Kinds() {
				for i, n := range sizes {
					if brief() && ((i+kind+level)%8 != 0 || n > 70_000 && (kind+level)%3 != 0) {
						continue
					}
					src := trial.Input(kind, n, int64(i+100*level))
					dst := make([]byte, room(n))
					k := e.Encode(dst, src)
					if k == 0 {
						t.Fatalf("%s, %d bytes: no frame", trial.Kinds()[kind].Name, n)
					}
					d.check(t, dst[:k], src)
				}
			}
		})
	}
}

// mixed returns n bytes of pieces of all kinds, and of repetitions of earlier bytes.
func mixed(n int, seed int64) []byte {
	r := rand.New(rand.NewSource(seed))
	var b []byte
	for len(b) < n {
		k := 1 + r.Intn(1<<r.Intn(17))
		if len(b) > 0 && r.Intn(3) == 0 {
			from := r.Intn(len(b))
			b = append(b, b[from:min(len(b), from+k)]...)
			continue
		}
		b = append(b, trial.Input(r.Intn(len(trial.Kinds())), k, seed+int64(len(b)))...)
	}
	return b[:n]
}

func TestMixed(t *testing.T) {
	d := newDecoders(t)
	for level := 1; level <= 9; level++ {
		e := NewEncoder(level)
		for seed := range int64(30) {
			if brief() && seed != int64(level) {
				continue
			}
			src := mixed(1000+int(seed)*17000, seed)
			dst := make([]byte, room(len(src)))
			d.check(t, dst[:e.Encode(dst, src)], src)
		}
	}
}

// TestRoom encodes into outputs of many lengths. Nothing is written past the end, and frames that fit are the same.
func TestRoom(t *testing.T) {
	for level := 1; level <= 9; level++ {
		e := NewEncoder(level)
		for kind := range trial.Kinds() {
			for _, n := range []int{0, 5, 300, 5000, 150000} {
				if brief() && ((n+kind+level)%4 != 0 || n > 5000 && (kind+level)%12 != 0) {
					continue
				}
				src := trial.Input(kind, n, 1)
				want := make([]byte, room(n))
				want = want[:e.Encode(want, src)]
				guarded := make([]byte, len(want)+100)
				for _, k := range []int{0, 5, 6, 8, 9, 10, len(want) / 2, len(want) - 1, len(want), len(want) + 1, len(want) + 50} {
					if k < 0 {
						continue
					}
					for i := range guarded {
						guarded[i] = 0xa5
					}
					got := e.Encode(guarded[:k:k], src)
					if k < len(want) && got != 0 || k >= len(want) && !bytes.Equal(guarded[:got], want) {
						t.Fatalf("level %d, %s, %d bytes, room %d: %d, want %d", level, trial.Kinds()[kind].Name, n, k, got, len(want))
					}
					for _, c := range guarded[k:] {
						if c != 0xa5 {
							t.Fatalf("level %d, %s, %d bytes, room %d: written past the end", level, trial.Kinds()[kind].Name, n, k)
						}
					}
				}
			}
		}
	}
}

// TestSameAgain checks that a frame does not depend on earlier input, nor on the base of the tables.
func TestSameAgain(t *testing.T) {
	for level := 1; level <= 9; level++ {
		used := NewEncoder(level)
		for seed := range int64(12) {
			if brief() && seed%3 != int64(level)%3 {
				continue
			}
			src := mixed(1+int(seed)*int(seed)*2000, seed)
			dst, want := make([]byte, room(len(src))), make([]byte, room(len(src)))
			want = want[:NewEncoder(level).Encode(want, src)]
			if seed == 6 {
				used.free = 1<<31 - uint32(len(src)) // the last base that fits
			}
			if got := dst[:used.Encode(dst, src)]; !bytes.Equal(got, want) {
				t.Fatalf("level %d, input %d: %d bytes, then %d", level, seed, len(want), len(got))
			}
			if seed == 7 && used.free > 1<<30 {
				t.Fatalf("level %d: the tables are not cleared", level)
			}
		}
	}
}

// TestSizes checks that higher levels compress better.
func TestSizes(t *testing.T) {
	for kind, v := range trial.Kinds() {
		size := 200000
		if brief() {
			size = 100000
		}
		src := trial.Input(kind, size, 3)
		dst := make([]byte, room(len(src)))
		n := [3]int{NewEncoder(1).Encode(dst, src), NewEncoder(5).Encode(dst, src), NewEncoder(9).Encode(dst, src)}
		if n[1] > n[0]+n[0]/50+20 || n[2] > n[1]+n[1]/100+20 {
			t.Errorf("%s: levels 1, 5 and 9 take %d bytes", v.Name, n)
		}
		if v.Name == "noise" && n[0] > len(src)+20 || v.Name == "zeros" && n[0] > 60 || v.Name == "ramp" && n[0] > len(src)/100 {
			t.Errorf("%s: %d bytes", v.Name, n)
		}
	}
}

// TestBehindNoise checks that matches after noise are found: some byte planes of shuffled records are noise.
func TestBehindNoise(t *testing.T) {
	const plane = 5 << 10
	r := rand.New(rand.NewSource(1))
	var src []byte
	for range 12 {
		noise := make([]byte, plane)
		r.Read(noise)
		src = append(src, noise...)
		phase := 0.0
		for range plane { // a byte that increases by 15.26 on average, with some jitter
			phase += 15.26 + r.Float64()/64
			src = append(src, byte(int(phase)))
		}
	}
	dst := make([]byte, room(len(src)))
	for level := 1; level <= 9; level++ {
		most := len(src)/2 + 5500
		if level >= 7 {
			most = len(src)/2 + 3800
		}
		if n := NewEncoder(level).Encode(dst, src); n > most {
			t.Errorf("level %d: %d bytes, want at most %d", level, n, most)
		}
	}
}

// TestShortMatches checks that the optimal parse finds the matches of numbers that count up: three bytes of each repeat
// those at the same distance as the three bytes before. A walk that weighs one match alone takes none of them.
func TestShortMatches(t *testing.T) {
	for _, c := range []struct{ level, size int }{{8, 64 << 10}, {9, 64 << 10}, {9, 512 << 10}} {
		src := make([]byte, c.size)
		for i := 0; i < len(src); i += 4 {
			binary.LittleEndian.PutUint32(src[i:], uint32(i/4))
		}
		dst := make([]byte, room(len(src)))
		n := NewEncoder(c.level).Encode(dst, src)
		newDecoders(t).check(t, dst[:n], src)
		if most := len(src) / 10; n > most {
			t.Errorf("level %d: %d bytes take %d, want at most %d", c.level, len(src), n, most)
		}
	}
}

// TestFields compresses records whose fields repeat high bytes of the record before. No match follows another one
// immediately. A parse that compares paths with the price of that gives up the matches of the time: it takes 109,372
// bytes.
func TestFields(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	src := make([]byte, 240_000)
	now := uint64(1_700_000_000_000_000_000)
	for i := 0; i < len(src); i += 24 {
		now += 1_000_000 + uint64(r.Intn(1000))
		binary.LittleEndian.PutUint64(src[i:], now)
		binary.LittleEndian.PutUint32(src[i+8:], uint32(i/24))
		binary.LittleEndian.PutUint32(src[i+12:], math.Float32bits(float32(math.Sin(float64(i)/120_000))))
		binary.LittleEndian.PutUint32(src[i+16:], math.Float32bits(float32(r.Intn(100))/4))
		binary.LittleEndian.PutUint32(src[i+20:], uint32(r.Intn(4)))
	}
	dst := make([]byte, room(len(src)))
	n := NewEncoder(9).Encode(dst, src)
	newDecoders(t).check(t, dst[:n], src)
	if most := 104_000; n > most {
		t.Errorf("%d bytes, want at most %d", n, most)
	}
}

// TestSecondPass compresses one block at level 9. The first pass of the optimal parse knows nothing of the data.
// Without a second one the block takes 18,781 bytes, and without the walks of insist 18,921.
func TestSecondPass(t *testing.T) {
	kind := slices.IndexFunc(trial.Kinds(), func(k trial.Kind) bool { return k.Name == "temperatures" })
	src := trial.Input(kind, 60_000, 3)
	dst := make([]byte, room(len(src)))
	n := NewEncoder(9).Encode(dst, src)
	newDecoders(t).check(t, dst[:n], src)
	if most := 18_750; n > most {
		t.Errorf("%d bytes, want at most %d", n, most)
	}
}

// TestSecondSearch compresses a pattern of words, some of which are the same. The first search of the fast levels finds
// the period, which leaves all of the pattern as literals.
func TestSecondSearch(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	words, pattern := make([]byte, 256), []byte(nil)
	r.Read(words)
	for range 100 {
		k := 4 * r.Intn(64)
		pattern = append(pattern, words[k:k+4]...)
	}
	src := bytes.Repeat(pattern, maxBlock/len(pattern))
	dst := make([]byte, room(len(src)))
	for _, level := range []int{3, 4, 5} {
		if n := NewEncoder(level).Encode(dst, src); n > 330 {
			t.Errorf("level %d: %d bytes", level, n)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	src := mixed(300000, 1)
	dst := make([]byte, room(len(src)))
	for level := 1; level <= 9; level++ {
		e := NewEncoder(level)
		e.Encode(dst, src)
		if n := testing.AllocsPerRun(2, func() { e.Encode(dst, src); e.Encode(dst, src[:20000]) }); n > 0 {
			t.Errorf("level %d: %v allocations", level, n)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	for kind := range trial.Kinds() {
		f.Add(trial.Input(kind, 3000, 1), uint8(kind), uint16(0))
	}
	f.Add(mixed(5000, 1), uint8(8), uint16(40))
	d := newDecoders(f)
	encoders := map[uint8][2]*Encoder{}
	f.Fuzz(func(t *testing.T, piece []byte, level uint8, times uint16) {
		level = level%9 + 1
		pair, ok := encoders[level]
		if !ok {
			pair = [2]*Encoder{NewEncoder(int(level)), NewEncoder(int(level))}
			encoders[level] = pair
		}
		// Long inputs are made of pieces with something between.
		src := bytes.Clone(piece)
		for i := range min(int(times), 1<<18/(len(piece)+1)) {
			src = append(append(src, byte(i), byte(i>>3)), piece[i%(len(piece)+1):]...)
		}
		dst := make([]byte, room(len(src)))
		d.check(t, compareKernels(t, pair[0], pair[1], dst, src), src)
	})
}

func BenchmarkEncode(b *testing.B) {
	for kind, v := range trial.Kinds() {
		for _, level := range []int{1, 3, 5, 7, 9} {
			b.Run(fmt.Sprintf("%s-%d", v.Name, level), func(b *testing.B) {
				src := trial.Input(kind, 256<<10, 1)
				dst := make([]byte, room(len(src)))
				e := NewEncoder(level)
				n := 0
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					n = e.Encode(dst, src)
				}
				b.ReportMetric(float64(len(src))/float64(n), "ratio")
			})
		}
	}
}

// TestFirstInput compares frames of new encoders, whose buffers have the size of their first input, with those of an
// encoder with large buffers.
func TestFirstInput(t *testing.T) {
	for level := 1; level <= 8; level++ { // level 9 needs the buffers in the same way, but more time for new tables
		large := NewEncoder(level)
		large.Encode(make([]byte, room(maxBlock)), trial.Input(0, maxBlock, 1))
		for kind := range trial.Kinds() {
			for i, n := range []int{9, 17, 255, 4097} {
				if brief() && (i+kind+level)%4 != 0 {
					continue
				}
				src := trial.Input(kind, n, int64(n))
				got, want := make([]byte, room(n)), make([]byte, room(n))
				got, want = got[:NewEncoder(level).Encode(got, src)], want[:large.Encode(want, src)]
				if !bytes.Equal(got, want) {
					t.Errorf("level %d, %s, %d bytes: a new encoder writes another frame", level, trial.Kinds()[kind].Name, n)
				}
			}
		}
	}
}
