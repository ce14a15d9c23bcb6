package tune

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// write gives data to a Tuner, a chunk after the other, and returns the time for encoding it by the table.
func write(t *testing.T, tuner *Tuner, data []byte, size, blockSize int) (encoding float64) {
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
		encoding += tuner.write * float64(c.Size)
	}
	return encoding
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

// TestBudget compares the time of the trials with the time for writing 32 MiB, by the table: it is at most a tenth.
func TestBudget(t *testing.T) {
	const n, times = 8 << 20, 4
	for name, data := range kinds(n) {
		for _, g := range []Goal{Balanced, Smallest, Fastest} {
			for _, size := range []int{256 << 10, n} {
				for _, known := range []bool{true, false} {
					tuner := New(g, 4)
					if known {
						tuner.Expect(times * n)
					}
					encoding := 0.0
					for range times {
						encoding += write(t, tuner, data, size, 64<<10)
					}
					if tuner.spent > 0.1*encoding {
						t.Errorf("%v, %s, chunks of %d: trials take %.1f%% of the time for writing", g, name, size, 100*tuner.spent/encoding)
					}
				}
			}
		}
	}
}

// TestTimes checks that all candidates have times.
func TestTimes(t *testing.T) {
	for _, g := range []Goal{Balanced, Smallest, Fastest} {
		all, best := g.screens()
		if best.Level == 0 {
			best = all
		}
		for _, p := range append(g.levels(), all, best) {
			if encoding(p.Codec, p.Level).plain <= 0 || decoding(p.Codec).plain <= 0 || p.Codec == codec.Default {
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
			tuner.sample.size = piece
			for at := 0; at < n; at += piece {
				tuner.sample.pieces = append(tuner.sample.pieces, data[at:at+piece])
			}
			if err := tuner.try(p); err != nil {
				t.Fatal(err)
			}
			p.BlockSize = piece
			c, err := tuner.pool.Encode(nil, data, p)
			if err != nil {
				t.Fatal(err)
			}
			if r, want := tuner.rows[0], int64(len(c)-coder.HeaderSize); r.Stored != want {
				t.Errorf("%s, %v: %d bytes, the chunk has %d", name, p.Codec, r.Stored, want)
			}
		}
	}
}

// TestSmallestLevel checks that all candidates of the last round of Smallest have level 9: a lower level must not take
// the place of the best filters.
func TestSmallestLevel(t *testing.T) {
	const n = 8 << 20
	for name, data := range kinds(n) {
		tuner := New(Smallest, 4)
		tuner.Expect(2 * horizon)
		write(t, tuner, data, n, 64<<10)
		table := tuner.Table()
		last := 0
		for ; last < len(table) && table[last].Bytes == table[0].Bytes; last++ {
			if level := table[last].Params.Level; level != 9 {
				t.Errorf("%s: level %d in the last round", name, level)
			}
		}
		if last == 0 || last == len(table) {
			t.Errorf("%s: %d of %d trials are of the last round", name, last, len(table))
		}
	}
}
