// Package squeeze compresses files that are compressed once and sent often.
//
// It writes the format deflate (RFC 1951) by the method of zopfli. It finds the matches at all positions. Then it
// chooses the literals and matches of each block several times: each time those that take the fewest bits under the
// Huffman codes of its last choice. That takes about a second for each MB, and the result is 4% smaller than that of
// level 9 of zlib. Package codec writes the streams of the C library instead, whatever their size.
package squeeze

import (
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"sync"
)

const (
	piece  = 16 << 10 // a block is a multiple of this, except for the last one
	rounds = 4        // number of choices
)

// Gzip returns b in the format gzip (RFC 1952).
func Gzip(b []byte) []byte {
	// The header: deflate, no name or time, the best level, an unknown system.
	out := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255}
	out = append(out, Deflate(b)...)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(b))
	return binary.LittleEndian.AppendUint32(out, uint32(len(b)))
}

// Deflate returns b in the format deflate (RFC 1951).
func Deflate(b []byte) []byte {
	if len(b) == 0 {
		return []byte{3, 0} // a block of fixed codes that has only its end
	}
	m := findMatches(b)
	// Choose with equal costs in pieces of one size, join pieces that are shorter together, and choose again.
	blocks := make([]*block, (len(b)-1)/piece+1)
	parallel(len(blocks), func(i int) {
		blocks[i] = &block{start: i * piece, end: min((i+1)*piece, len(b))}
		costs := flat()
		for range 2 {
			blocks[i].choose(b, m, &costs)
			costs = blocks[i].costs()
		}
	})
	blocks = join(blocks)
	parallel(len(blocks), func(i int) {
		best := blocks[i]
		costs := best.costs()
		for range rounds {
			next := &block{start: best.start, end: best.end}
			next.choose(b, m, &costs)
			costs = next.costs()
			if next.bits() < best.bits() {
				best = next
			}
		}
		blocks[i] = best
	})
	var w bitWriter
	for i, x := range blocks {
		x.write(&w, i == len(blocks)-1)
	}
	return w.flush()
}

// parallel calls f for the numbers below n on all CPUs.
func parallel(n int, f func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

// join joins neighboring blocks as long as one block takes fewer bits than two.
func join(blocks []*block) []*block {
	for joined := true; joined; {
		joined = false
		out := blocks[:0:0]
		for i := 0; i < len(blocks); i++ {
			x := blocks[i]
			if i+1 < len(blocks) {
				if both := x.with(blocks[i+1]); both.bits() <= x.bits()+blocks[i+1].bits() {
					x, joined = both, true
					i++
				}
			}
			out = append(out, x)
		}
		blocks = out
	}
	return blocks
}
