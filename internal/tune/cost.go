package tune

import (
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// The tables hold times in ns on one core, measured once. Only their proportions matter: they are the same on every
// machine, so that choices are.

// decodeTime is the time for decoding streams of a codec.
type decodeTime struct {
	stream float64 // per stream
	plain  float64 // per decoded byte
	packed float64 // per compressed byte
}

// decodeTimeOf returns the times of a codec.
func decodeTimeOf(id codec.ID) decodeTime {
	switch id {
	case codec.Zstd:
		return decodeTime{500, 0.25, 2.2}
	case codec.Zlib:
		return decodeTime{400, 0.3, 2.2}
	}
	return decodeTime{30, 0.1, 0.4} // LZ4, LZ4HC, BloscLZ
}

// copyTime is the time for a byte that is copied, for instance from a stream that is stored uncompressed.
const copyTime = 0.05

// filterTime returns the times for applying and undoing a filter, per byte.
func filterTime(f coder.Filter) (forward, backward float64) {
	switch f.With(0) {
	case coder.Shuffle:
		return 0.07, 0.06
	case coder.BitShuffle:
		return 0.1, 0.1
	case coder.ByteDelta:
		return 0.3, 0.2
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
	switch id {
	case codec.Zstd:
		return [...]float64{1: 3, 2: 4, 3: 5, 4: 7, 5: 9, 6: 10, 7: 15, 8: 100, 9: 190}[level]
	case codec.LZ4HC:
		return 40
	case codec.Zlib:
		return 50
	}
	return 1.8 // LZ4, BloscLZ
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
	t := copyTime*float64(m.copied) + d.plain*float64(m.decoded) + d.packed*float64(m.packed) + d.stream*m.streams
	for _, f := range p.Filters {
		_, backward := filterTime(f)
		t += backward * float64(m.bytes)
	}
	return t
}

// Storage speeds of the goals, as ns for a byte, and how many times the data of Balanced is read.
const (
	balancedTransfer = 20     // 20 s for a GB: an object store, a busy network file system, a hard disk
	balancedReads    = 20     // for each time that it is written
	fastestTransfer  = 1 / 3. // 3 GB/s: a fast local disk
)

// cost returns the cost of m by which candidates are compared, per byte of data. Its unit is ns, or for Smallest stored
// bytes.
func (g Goal) cost(p coder.Params, m measure) float64 {
	n := float64(max(m.bytes, 1))
	stored := float64(m.stored) / n
	read := readTime(p, m) / n
	switch g {
	case Smallest:
		return stored
	case Fastest:
		return stored*fastestTransfer + read
	}
	return stored*balancedTransfer + read + writeTime(p)/balancedReads
}
