package tune

import (
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// The tables hold times in ns on one core. They were fitted once to 190 measured times: the ten kinds of data of
// examples/tuning with all candidates. Only their proportions matter. They are the same on every machine, so that
// choices are.

// decodeTime is the time for decoding streams of a codec.
type decodeTime struct {
	stream   float64 // per stream
	block    float64 // per compressed block after the first of a stream
	plain    float64 // per decoded byte
	literal  float64 // per literal with a Huffman code
	sequence float64
}

// decodeTimeOf returns the times of a codec.
func decodeTimeOf(id codec.ID) decodeTime {
	if id == codec.Zstd {
		return decodeTime{stream: 2500, block: 1300, plain: 0.035, literal: 0.85, sequence: 11}
	}
	return decodeTime{stream: 30, plain: 0.055, sequence: 3} // LZ4
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

// encodeTime returns the time for encoding with a codec at a level, per byte.
func encodeTime(id codec.ID, level int) float64 {
	if level == codec.NoCompression {
		return copyTime
	}
	if id == codec.Zstd {
		return [...]float64{1: 1.6, 2: 2.2, 3: 3, 4: 5, 5: 6, 6: 7, 7: 14, 8: 100, 9: 190}[level]
	}
	return 0.8 // LZ4
}

// writeTime returns the time for encoding a byte with parameters.
func writeTime(p coder.Params) float64 {
	t := encodeTime(p.Codec, p.Level)
	for _, f := range p.Filters {
		forward, _ := filterTime(f)
		t += forward
	}
	return t
}

// readTime returns the time for decoding n bytes from m.
func readTime(p coder.Params, m measure) float64 {
	d := decodeTimeOf(p.Codec)
	t := copyTime*float64(m.copied) + d.plain*float64(m.decoded) + d.stream*m.streams
	t += d.block*float64(m.blocks) + d.literal*float64(m.literals) + d.sequence*float64(m.sequences)
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

// cost returns the cost of m by which candidates are compared, per byte of data. usual is the time for decoding a byte
// with the default parameters. The unit is ns, or for Smallest stored bytes.
func (g Goal) cost(p coder.Params, m measure, usual float64) float64 {
	n := float64(max(m.bytes, 1))
	stored := float64(m.stored) / n
	read := readTime(p, m) / n
	switch g {
	case Smallest:
		return stored
	case Fastest:
		return stored*fastestTransfer + read
	}
	return stored*balancedTransfer + read + slowReading*max(read-fairReading*usual, 0) + writeTime(p)/balancedReads
}
