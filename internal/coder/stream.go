package coder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/filters"
)

// part is what is wanted of a block whose items are still apart: the first bytes of each of its planes, which stand one
// after the other. A block without filters is one plane; Shuffle makes one of each byte of the items. Bytes behind the
// planes are wanted only with the whole block.
type part struct {
	planes, size int // of a plane, in bytes
	n            int // wanted of each
}

// whole is all of a block of size bytes.
func whole(size int) part { return part{1, size, size} }

// of returns how many bytes are wanted of a stream that holds those from one byte of the block to another: from its first
// to the last that is in the part.
func (p part) of(from, to int) int {
	to = min(to, p.planes*p.size)
	if to <= from {
		return 0
	}
	last := (to - 1) / p.size * p.size // the plane that is in the stream to its end
	return max(0, min(last+p.n, to)-from)
}

// wanted returns what is wanted of a block of size bytes, so that the first n can be decoded.
func (s *steps) wanted(size, n int) part {
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

// length reads the length field of a stream.
func (c *cursor) length() (int, error) {
	if len(c.b)-c.at < 4 {
		return 0, corrupt("stream length cut off")
	}
	n := int32(binary.LittleEndian.Uint32(c.b[c.at:]))
	c.at += 4
	return int(n), nil
}

// take reads n bytes.
func (c *cursor) take(n int) ([]byte, error) {
	if n > len(c.b)-c.at {
		return nil, corrupt("stream of %d bytes, %d left", n, len(c.b)-c.at)
	}
	b := c.b[c.at : c.at+n : c.at+n]
	c.at += n
	return b, nil
}

// eachStream calls expand for the streams of a regular block and their places in dst, and with how many bytes of each are
// wanted. It fills the places of runs.
func eachStream(dst []byte, h *Header, c *cursor, p part, expand func(dst, in []byte, n int) error) error {
	streams := h.streams(len(dst))
	n := len(dst) / streams
	if n == 0 || n*streams != len(dst) {
		return corrupt("block of %d bytes in %d streams", len(dst), streams)
	}
	for j := range streams {
		place, wanted := dst[j*n:(j+1)*n:(j+1)*n], p.of(j*n, (j+1)*n)
		in, err := c.stream(place[:wanted])
		if err == nil && in != nil && wanted > 0 {
			err = expand(place, in, wanted)
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

// stream returns the next stream, or fills dst and returns nil where there is a run.
func (c *cursor) stream(dst []byte) ([]byte, error) {
	n, err := c.length()
	if err != nil {
		return nil, err
	}
	switch {
	case n == 0:
		filters.Fill(dst, []byte{0})
		return nil, nil
	case n < 0:
		token, err := c.take(1)
		if err != nil {
			return nil, err
		}
		if n < -255 || token[0]&1 == 0 {
			return nil, corrupt("run of %d with token %#x", -n, token[0])
		}
		filters.Fill(dst, []byte{byte(-n)})
		return nil, nil
	}
	return c.take(n)
}

// errNoRoom reports that a chunk would not be smaller than its data.
var errNoRoom = errors.New("no room")

// encodeStream appends one stream: its length and its bytes. room is what is left for both.
func encodeStream(dst, src []byte, enc codec.Encoder, room int) ([]byte, error) {
	dst, asIs, err := tryStream(dst, src, enc, room)
	if asIs {
		filters.Copy(dst[len(dst)-len(src):], src)
	}
	return dst, err
}

// tryStream is encodeStream, following the order of the reference's checks so that the outcome is the same, but that it
// returns true for a stream that is src as it is, and does not copy it behind its length.
func tryStream(dst, src []byte, enc codec.Encoder, room int) (_ []byte, asIs bool, _ error) {
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
	case gaveUp(n, most, err, src):
		if len(src) > room {
			return dst, false, errNoRoom
		}
		n, asIs = len(src), true
	case err != nil:
		return dst, false, err
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(n))
	return dst[:at+4+n], asIs, nil
}

// gaveUp tells whether a codec that was given room for most bytes returned nothing that is shorter than src. Codecs of
// the user may say so in many ways.
func gaveUp(n, most int, err error, src []byte) bool {
	return errors.Is(err, codec.ErrIncompressible) || err == nil && (n <= 0 || n > most || n >= len(src))
}

// isRun tells whether all bytes are the same: whether the block is itself moved by one. That comparison is a vectorized
// one.
func isRun(b []byte) bool { return bytes.Equal(b[1:], b[:len(b)-1]) }
