package tune

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// write gives data to a Tuner, a chunk after the other, and returns the times of trials and of encoding by the table.
func write(t *testing.T, tuner *Tuner, data []byte, size, blockSize int) (trials, encoding float64) {
	t.Helper()
	for ; len(data) > 0; data = data[min(size, len(data)):] {
		c := Chunk{Size: min(size, len(data)), BlockSize: blockSize, Plain: func(k int) ([]byte, error) {
			return data[k*blockSize : min((k+1)*blockSize, size, len(data))], nil
		}}
		if tuner.Due(c.Size) {
			if err := tuner.Try(&c); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := tuner.Layout(c.Size, blockSize); err != nil {
			t.Fatal(err)
		}
		encoding += writeTime(tuner.full(tuner.Params())) * float64(c.Size)
	}
	return tuner.spent, encoding
}

// kinds returns data of several kinds.
func kinds(n int) map[string][]byte {
	r := rand.New(rand.NewPCG(7, 8))
	sorted, noise, random := make([]byte, 0, n), make([]byte, 0, n), make([]byte, 0, n)
	x := uint32(0)
	for range n / 4 {
		x += r.Uint32N(9)
		sorted = binary.LittleEndian.AppendUint32(sorted, x)
		noise = binary.LittleEndian.AppendUint32(noise, r.Uint32N(1<<10)<<3)
		random = binary.LittleEndian.AppendUint32(random, r.Uint32())
	}
	return map[string][]byte{"sorted": sorted, "noise": noise, "random": random, "both": append(sorted[:n/2:n/2], noise[n/2:]...)}
}

// TestBudget compares the time of the trials with a tenth of the time for writing, by the table.
func TestBudget(t *testing.T) {
	const n = 8 << 20
	for name, data := range kinds(n) {
		for _, g := range []Goal{Balanced, Smallest, Fastest} {
			for _, size := range []int{256 << 10, 1 << 20, n} {
				for _, known := range []bool{true, false} {
					tuner := New(g, 4)
					if known {
						tuner.Expect(n)
					}
					trials, encoding := write(t, tuner, data, size, 64<<10)
					if got := trials / encoding; got > share {
						t.Errorf("%v, %s, chunks of %d: trials take %.1f%% of the time for writing", g, name, size, 100*got)
					}
				}
			}
		}
	}
}

// TestTimes checks that all candidates have times.
func TestTimes(t *testing.T) {
	for _, g := range []Goal{Balanced, Smallest, Fastest} {
		for _, p := range append(g.screens(), g.levels()...) {
			if d := decodeTimeOf(p.Codec); writeTime(p) <= 0 || d.plain <= 0 || p.Codec == codec.Default {
				t.Errorf("%v: %v:%d has no times", g, p.Codec, p.Level)
			}
		}
	}
}

// TestMeasure compares the sizes that a measure counts with those of a chunk.
func TestMeasure(t *testing.T) {
	const n, piece = 1 << 18, 1 << 16
	for name, data := range kinds(n) {
		for _, p := range []coder.Params{{Codec: codec.LZ4, Level: 5}, {Codec: codec.Zstd, Level: 3, Filters: []coder.Filter{coder.Delta, coder.Shuffle}}} {
			p.TypeSize = 4
			tuner := New(Balanced, 4)
			s := sample{size: piece}
			for at := 0; at < n; at += piece {
				s.pieces = append(s.pieces, data[at:at+piece])
			}
			r, err := tuner.try(p, &s)
			if err != nil {
				t.Fatal(err)
			}
			p.BlockSize = piece
			c, err := tuner.pool.Encode(nil, data, p)
			if err != nil {
				t.Fatal(err)
			}
			if want := int64(len(c) - coder.HeaderSize); r.Stored != want {
				t.Errorf("%s, %v: %d bytes, the chunk has %d", name, p.Codec, r.Stored, want)
			}
		}
	}
}
