package tune

import (
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// The tables hold times in ns on one core. They were fitted once to measured times: the ten kinds of data of
// examples/tuning with all candidates. Only their proportions matter. They are the same on every machine, so that
// choices are.

// times are the times of a codec, for encoding or for decoding.
type times struct {
	stream   float64 // per stream
	block    float64 // per compressed block after the first of a stream
	plain    float64 // per plain byte
	literal  float64 // per literal with a Huffman code
	sequence float64
}

// of returns the time for n plain bytes in streams that do the work w.
func (t times) of(n int64, streams float64, w work) float64 {
	return t.plain*float64(n) + t.stream*streams +
		t.block*float64(w.blocks) + t.literal*float64(w.literals) + t.sequence*float64(w.sequences)
}

// decoding returns the times for decoding streams of a codec.
func decoding(id codec.ID) times {
	if id == codec.Zstd {
		return times{stream: 2500, block: 1300, plain: 0.035, literal: 0.85, sequence: 11}
	}
	return times{stream: 30, plain: 0.055, sequence: 3} // LZ4
}

// encoding returns the times for encoding with a codec at a level. Most of the time is the search for matches, which
// takes longer in data with many of them.
func encoding(id codec.ID, level int) times {
	if id == codec.Zstd {
		t := times{stream: 5000, literal: 2.5}
		t.plain = [...]float64{1: 0.2, 3: 0.9, 5: 1.2, 6: 2, 9: 90}[level]
		t.sequence = [...]float64{1: 40, 3: 130, 5: 280, 6: 400, 9: 1000}[level]
		return t
	}
	return times{plain: 0.12, sequence: 24} // LZ4
}

// copyTime is the time for a byte that is copied, for instance from a stream that is stored uncompressed.
const copyTime = 0.02

// filterTime returns the times for applying and undoing a filter, per byte.
func filterTime(f coder.Filter) (forward, backward float64) {
	switch f.With(0) {
	case coder.Shuffle:
		return 0.05, 0.045
	case coder.BitShuffle:
		return 0.05, 0.04
	case coder.ByteDelta:
		return 0.2, 0.07
	case coder.Delta:
		return 0.1, 0.1
	}
	return 0, 0
}

// setupTime is the time for a trial besides encoding: its memory is not in the caches.
const setupTime = 40_000

// writeTime returns the time for encoding with parameters that a measure m suggests, for streams of the length that
// they had in the sample or, if they are whole, of that in the chunk.
func writeTime(p coder.Params, m *measure, whole bool) float64 {
	if p.Level == codec.NoCompression {
		return copyTime * float64(m.bytes)
	}
	streams := float64(m.streams)
	if whole {
		streams *= m.part
	}
	t := encoding(p.Codec, p.Level).of(m.bytes, streams, m.work)
	for _, f := range p.Filters {
		forward, _ := filterTime(f)
		t += forward * float64(m.bytes)
	}
	return t
}

// readTime returns the time for decoding the bytes of m.
func readTime(p coder.Params, m *measure) float64 {
	t := copyTime*float64(m.copied) + decoding(p.Codec).of(m.decoded, float64(m.streams)*m.part, m.work)
	for _, f := range p.Filters {
		_, backward := filterTime(f)
		t += backward * float64(m.bytes)
	}
	return t
}

// Storage speeds of the goals, as ns for a byte.
const (
	balancedTransfer = 20     // 20 s for a GB: an object store, a busy network file system, a hard disk
	fastestTransfer  = 1 / 3. // 3 GB/s: a fast local disk
)

// Weights of times in the cost of Balanced.
const (
	balancedReads = 100  // how many times the data is read for each time that it is written
	slowReading   = 10   // of the time by which decoding exceeds a fair time
	fairReading   = 1.15 // times that of the defaults, because the times of the tables are not exact
)

// cost returns the cost of a row by which candidates are compared, per byte of data. usual is the time for decoding a
// byte with the default parameters. The unit is ns, or for Smallest stored bytes.
func (g Goal) cost(r *Trial, usual float64) float64 {
	stored := float64(r.Stored) / float64(max(r.Bytes, 1))
	switch g {
	case Smallest:
		return stored
	case Fastest:
		return stored*fastestTransfer + r.Read
	}
	return stored*balancedTransfer + r.Read + slowReading*max(r.Read-fairReading*usual, 0) + r.Write/balancedReads
}
