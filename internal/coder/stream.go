package coder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/filters"
)

// part is the part of a filtered block that the caller needs: the first bytes of each of its planes, which are stored
// one after the other. A block without filters is one plane. Shuffle makes one plane of each byte of the items. The
// bytes after the planes are needed only with the whole block.
type part struct {
	planes, size int // number of planes, and the size of a plane in bytes
	n            int // bytes needed of each plane
}

// whole returns the part that is all of a block of size bytes.
func whole(size int) part { return part{1, size, size} }

// neededOf returns the number of bytes needed of a stream that holds bytes [from, to) of the block: from the start of
// the stream up to the last byte in the part.
func (p part) neededOf(from, to int) int {
	to = min(to, p.planes*p.size)
	if to <= from {
		return 0
	}
	last := (to - 1) / p.size * p.size // start of the plane that holds the last byte of the stream
	return max(0, min(last+p.n, to)-from)
}

// partOf returns the part of a block of size bytes from which its first n bytes can be decoded.
func (s *steps) partOf(size, n int) part {
	if n == 0 || n < size && s.n == 0 {
		return part{1, size, n}
	}
	if s.planes > 0 && n <= size/s.planes*s.planes && n < size {
		return part{s.planes, size / s.planes, (n + s.planes - 1) / s.planes}
	}
	return whole(size)
}

// cursor reads the streams of a block.
type cursor struct {
	b  []byte
	at int
}

// eachStream calls decode for each stream of a regular block that is not a run, with its number, its part of dst and
// the number of bytes needed of the stream. It fills the parts of runs itself.
func eachStream(dst []byte, h *Header, c *cursor, p part, decode func(j int, dst, in []byte, n int) error) error {
	streams := h.streams(len(dst))
	n := len(dst) / streams
	if n == 0 || n*streams != len(dst) {
		return corrupt("block of %d bytes in %d streams", len(dst), streams)
	}
	for j := range streams {
		out, needed := dst[j*n:(j+1)*n:(j+1)*n], p.neededOf(j*n, (j+1)*n)
		in, err := c.nextStream(out[:needed])
		if len(in) > h.longestStream(n) {
			err = corrupt("stream of %d bytes for %d bytes of content", len(in), n)
		}
		if err == nil && in != nil && needed > 0 {
			err = decode(j, out, in, needed)
		}
		if err != nil {
			if streams > 1 {
				err = fmt.Errorf("stream %d: %w", j, err)
			}
			return err
		}
	}
	return nil
}

// longestStream returns the length of the longest stream for n bytes of content. It bounds the time: a stream can have
// many parts that decode to no bytes. No writer makes a stream longer than its content, because it stores such content,
// except that C-Blosc 1 does not limit Snappy. User codecs have the same freedom.
func (h *Header) longestStream(n int) int {
	switch h.Format {
	case codec.FormatBloscLZ, codec.FormatLZ4, codec.FormatZlib, codec.FormatZstd:
		return n
	}
	return 2*n + 64
}

// nextStream returns the next stream. If it is a run, it fills dst and returns nil.
func (c *cursor) nextStream(dst []byte) ([]byte, error) {
	if len(c.b)-c.at < 4 {
		return nil, corrupt("stream length is truncated")
	}
	n := int(int32(binary.LittleEndian.Uint32(c.b[c.at:])))
	c.at += 4
	size := n // of what follows
	if n < 0 {
		size = 1 // the token of a run
	}
	if size > len(c.b)-c.at {
		return nil, corrupt("stream of %d bytes, but only %d are left", size, len(c.b)-c.at)
	}
	b := c.b[c.at : c.at+size : c.at+size]
	c.at += size
	if n > 0 {
		return b, nil
	}
	if n < 0 && (n < -255 || b[0]&1 == 0) {
		return nil, corrupt("run of %d with token %#x", -n, b[0])
	}
	filters.Fill(dst, []byte{byte(-n)})
	return nil, nil
}

// errNoRoom is returned if a chunk would not be smaller than its data.
var errNoRoom = errors.New("no room")

// encodeStream appends one stream: its length and its bytes. room is the number of bytes that both may take. It does
// not copy a stream that is stored uncompressed: it then returns true, and the end of dst has space for src. The order
// of its checks is the order in C-Blosc2, so that it stores the same streams.
func encodeStream(dst, src []byte, enc codec.Encoder, room int) (_ []byte, stored bool, _ error) {
	at := len(dst)
	room -= 4
	run := isRun(src)
	if room < 0 || run && src[0] != 0 && room < 1 {
		return dst, false, errNoRoom
	}
	dst = append(dst, 0, 0, 0, 0)
	if run && src[0] == 0 {
		return dst, false, nil
	}
	if run {
		binary.LittleEndian.PutUint32(dst[at:], uint32(-int32(src[0])))
		return append(dst, 1), false, nil
	}
	most := min(len(src), room)
	if most <= 0 {
		return dst, false, errNoRoom
	}
	dst = grow(dst, most)
	n, err := enc.Encode(dst[at+4:], src)
	switch {
	case incompressible(n, most, err, src):
		if len(src) > room {
			return dst, false, errNoRoom
		}
		n, stored = len(src), true
	case err != nil:
		return dst, false, err
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(n))
	return dst[:at+4+n], stored, nil
}

// incompressible reports whether a codec that had space for most bytes did not make src shorter. User codecs may report
// that in several ways.
func incompressible(n, most int, err error, src []byte) bool {
	return errors.Is(err, codec.ErrIncompressible) || err == nil && (n <= 0 || n > most || n >= len(src))
}

// isRun reports whether all bytes are the same, by comparing b with itself shifted by one byte. That comparison is
// vectorized.
func isRun(b []byte) bool { return bytes.Equal(b[1:], b[:len(b)-1]) }
