// Package cover selects the content of a dictionary: segments of samples that occur in many other samples.
//
// It is a short form of the COVER algorithm (Liao, Petri, Moffat, Wirth: "Effective Construction of Relative Lempel-Ziv
// Dictionaries", WWW 2016). It counts all strings of 8 bytes by their hash, once per sample. It divides the samples
// into epochs. From each epoch in turn it takes the segment that covers the most frequent strings, and stops counting
// these strings. The best segments are taken first and stored last, closest to the data.
package cover

import (
	"encoding/binary"
	"math/bits"
)

const (
	stringLen = 8   // length of the counted strings
	stretch   = 256 // bytes of a stretch
	minEpoch  = 10 * stretch
)

// Build returns a dictionary of at most max bytes, or nil if the samples have nothing in common. The same samples give
// the same dictionary.
func Build(samples [][]byte, max int) []byte {
	c := newCounts(samples)
	total := len(c.text) - stringLen + 1
	if total <= 0 || max < stringLen {
		return nil
	}
	epochs := min(max/stretch/4, total/minEpoch)
	epochs = clamp(epochs, 1, total)
	size := total / epochs

	dict := make([]byte, max)
	tail := max
	for fails, e := 0, 0; tail > 0 && fails < epochs; e = (e + 1) % epochs {
		end := (e + 1) * size
		if e == epochs-1 {
			end = total
		}
		from, to := c.best(e*size, end)
		if from == to {
			fails++
			continue
		}
		fails = 0
		piece := c.text[from : to+stringLen-1]
		piece = piece[len(piece)-min(len(piece), tail):]
		if len(piece) < stringLen {
			break
		}
		tail -= copy(dict[tail-len(piece):], piece)
	}
	if tail == max {
		return nil
	}
	return dict[tail:]
}

func clamp(n, least, most int) int { return max(least, min(n, most)) }

// counts holds, for each hash of a string, the number of samples that contain it, less one.
type counts struct {
	text    []byte // the samples
	shift   int
	samples []uint32
}

func newCounts(samples [][]byte) *counts {
	n := 0
	for _, s := range samples {
		n += len(s)
	}
	width := clamp(bits.Len(uint(n))+1, 10, 18)
	c := &counts{text: make([]byte, 0, n), shift: 64 - width, samples: make([]uint32, 1<<width)}
	last := make([]int32, 1<<width) // the number of the last sample with the string, from 1
	for i, s := range samples {
		for j := range len(s) - stringLen + 1 {
			h := c.hash(s, j)
			switch last[h] {
			case 0:
				last[h] = int32(i + 1)
			case int32(i + 1):
			default:
				last[h] = int32(i + 1)
				c.samples[h]++
			}
		}
		c.text = append(c.text, s...)
	}
	return c
}

func (c *counts) hash(b []byte, i int) uint64 {
	return binary.LittleEndian.Uint64(b[i:]) * 0x9e3779b185ebca87 >> c.shift
}

// best returns the segment with the highest counts among those that start in [begin, end), and sets the counts of its
// strings to 0. It trims strings without counts at both ends. The result is empty if no string has counts.
func (c *counts) best(begin, end int) (from, to int) {
	const window = stretch - stringLen + 1
	sum, most := uint64(0), uint64(0)
	for i := begin; i < end; i++ {
		sum += uint64(c.samples[c.hash(c.text, i)])
		if i-begin >= window {
			sum -= uint64(c.samples[c.hash(c.text, i-window)])
		}
		if sum > most {
			most, to = sum, i+1
			from = max(begin, to-window)
		}
	}
	for from < to && c.samples[c.hash(c.text, from)] == 0 {
		from++
	}
	for from < to && c.samples[c.hash(c.text, to-1)] == 0 {
		to--
	}
	for i := from; i < to; i++ {
		c.samples[c.hash(c.text, i)] = 0
	}
	return from, to
}
