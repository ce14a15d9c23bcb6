package deflate

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
	"github.com/goblosc/blosc2/internal/race"
)

// forEachKernel runs f with the Go code and with the kernels of this machine.
func forEachKernel(f func(l cpu.Level)) {
	for _, l := range cputest.Available(cpu.Baseline) {
		func() {
			defer cpu.Limit(l)()
			f(l)
		}()
	}
}

// encoders holds one encoder for each level.
func encoders() (all [10]*Encoder) {
	for level := 1; level <= 9; level++ {
		all[level] = NewEncoder(level)
	}
	return all
}

// check encodes src with all kernels, which must make the same stream. It checks the stream with the standard library
// and returns it.
func check(t testing.TB, e *Encoder, src []byte) (stream []byte) {
	t.Helper()
	forEachKernel(func(name cpu.Level) {
		dst := bytes.Repeat([]byte{0xa5}, len(src)+len(src)/1000+100)
		n := e.Encode(dst, src)
		if n == 0 {
			t.Fatalf("%s: %d bytes do not fit", name, len(src))
		}
		if len(bytes.Trim(dst[n:], "\xa5")) > 0 {
			t.Fatalf("%s: wrote past the end of a stream of %d bytes", name, n)
		}
		if stream == nil {
			stream = dst[:n]
			r, err := zlib.NewReader(bytes.NewReader(stream))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, src) {
				t.Fatalf("%d bytes: wrong content, %v", len(src), err)
			}
		}
		if !bytes.Equal(dst[:n], stream) {
			t.Fatalf("%s: another stream of %d bytes", name, len(src))
		}
		// Exactly this much room is enough, and one byte less is not.
		tight := dst[:n:n]
		if e.Encode(tight, src) != n || e.Encode(tight[:n-1], src) != 0 || e.Encode(tight[:n/2], src) != 0 {
			t.Fatalf("%s: %d bytes: wrong room", name, len(src))
		}
	})
	return stream
}

func TestEncode(t *testing.T) {
	for level, e := range encoders() {
		if level == 0 || testing.Short() && level != 1 && level != 6 {
			continue
		}
		check(t, e, nil)
		for n := 1; n < 400; n += 1 + n/8 {
			for kind := range trial.Kinds() {
				check(t, e, trial.Input(kind, n, int64(n)))
			}
		}
		for kind := range trial.Kinds() {
			check(t, e, trial.Input(kind, 10000+kind*level*500, int64(level)))
		}
	}
}

// TestSameStreams compares streams with those of the C library.
func TestSameStreams(t *testing.T) {
	content, err := os.ReadFile("testdata/digests.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if i := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") {
			want[line[:i]] = strings.TrimSpace(line[i:])
		}
	}
	if len(want) != 9*len(hardKinds) {
		t.Fatalf("%d digests", len(want))
	}
	for level, e := range encoders() {
		if level == 0 || testing.Short() && level != 5 {
			continue
		}
		for _, kind := range hardKinds {
			forEachKernel(func(name cpu.Level) {
				if got := digest(level, kind, e.Encode); got != want[fmt.Sprint(level, " ", kind)] {
					t.Errorf("%s, level %d, %s: %s", name, level, kind, got)
				}
			})
		}
	}
}

// TestLong compares streams with and without the positions by a hash of 4 bytes.
func TestLong(t *testing.T) {
	n := 600
	if testing.Short() || race.Enabled {
		n = 100
	}
	r := rand.New(rand.NewSource(1))
	for level := 6; level <= 9; level++ {
		e, plain := NewEncoder(level), NewEncoder(level)
		plain.long = nil
		for i := range n {
			src := repetitive(r.Intn(20000), r)
			if i%50 == 0 {
				src = repetitive(70000+r.Intn(50000), r) // more than a window
			}
			got, want := make([]byte, len(src)+len(src)/50+100), make([]byte, len(src)+len(src)/50+100)
			want = want[:plain.Encode(want, src)]
			forEachKernel(func(name cpu.Level) {
				if k := e.Encode(got, src); !bytes.Equal(got[:k], want) {
					t.Fatalf("%s, level %d, input %d of %d bytes: %d bytes, want %d, or others", name, level, i, len(src), k, len(want))
				}
			})
		}
	}
}

// digest returns a hash of the streams of inputs of a kind.
func digest(level int, kind string, encode func(dst, src []byte) int) string {
	h := sha256.New()
	for i, n := range hardSizes {
		src := hard(kind, n, rand.New(rand.NewSource(int64(10*level+i))))
		dst := make([]byte, n+n/1000+100)
		k := encode(dst, src)
		binary.Write(h, binary.LittleEndian, uint32(k))
		h.Write(dst[:k])
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// TestIndexes checks that a stream does not depend on what the encoder encoded before, even if indexes restart.
func TestIndexes(t *testing.T) {
	src := trial.Input(3, 20000, 1)
	for _, level := range []int{1, 5, 6} {
		want := check(t, NewEncoder(level), src)
		e := NewEncoder(level)
		for _, end := range []uint32{0, 1, 1 << 15, 1<<16 - 1, 1 << 30, 1<<30 + 1} {
			for i := range e.heads {
				e.heads[i] = max(end, 100) - uint32(i)%100
			}
			if e.long != nil {
				for i := range e.long.heads {
					e.long.heads[i] = max(end, 100) - uint32(i)%100
				}
			}
			e.end = end
			if got := check(t, e, src); !bytes.Equal(got, want) {
				t.Errorf("level %d, after index %d: another stream", level, end)
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	src := trial.Input(3, 50000, 1)
	dst := make([]byte, 60000)
	for _, level := range []int{1, 6} {
		e := NewEncoder(level)
		if n := testing.AllocsPerRun(3, func() { e.Encode(dst, src) }); n > 0 {
			t.Errorf("level %d: %v allocations", level, n)
		}
	}
}

// FuzzEncode encodes arbitrary input.
func FuzzEncode(f *testing.F) {
	for kind := range trial.Kinds() {
		f.Add(1+kind, trial.Input(kind, 1000, 1))
		f.Add(9-kind, trial.Input(kind, 100*kind, 1))
	}
	all := encoders()
	f.Fuzz(func(t *testing.T, level int, src []byte) {
		check(t, all[1+max(0, level)%9], src)
	})
}

func BenchmarkEncode(b *testing.B) {
	for kind := range trial.Kinds() {
		for _, level := range []int{1, 5, 9} {
			src := trial.Input(kind, 128<<10, 1)
			forEachKernel(func(name cpu.Level) {
				b.Run(fmt.Sprintf("%s-%d-%s", trial.Kinds()[kind].Name, level, name), func(b *testing.B) {
					e, dst := NewEncoder(level), make([]byte, len(src)+1000)
					b.SetBytes(int64(len(src)))
					b.ReportAllocs()
					for b.Loop() {
						e.Encode(dst, src)
					}
				})
			})
		}
	}
}
