package codec

import (
	stdzlib "compress/zlib"
	"errors"
	"fmt"
	"io"

	"github.com/goblosc/blosc2/codec/internal/inflate"
	"github.com/klauspost/compress/zlib"
)

// zlibCodec is zlib: deflate with a header of two bytes and an Adler-32 at the end (RFC 1950).
type zlibCodec struct{}

func (zlibCodec) ID() ID { return Zlib }

func (zlibCodec) NewEncoder(p Params) (Encoder, error) {
	if err := checkLevel(Zlib, p); err != nil {
		return nil, err
	}
	w, err := newZlibWriter(p.Level)
	if err != nil {
		return nil, fmt.Errorf("codec: zlib: %w: %w", ErrUnsupported, err)
	}
	return &zlibEncoder{w: w}, nil
}

// zlibWriter is what the two libraries have in common.
type zlibWriter interface {
	io.WriteCloser
	Reset(io.Writer)
}

// newZlibWriter returns the compressor for a level. The standard library gives about the sizes of the C library
// at its speed. Klauspost's level 6 is both smaller and faster than the levels 2 to 4 of either and nearly as
// small as their 5, while its levels 1 to 5 store blocks in which they find no match: shuffled numbers are full
// of them, and they can lose a third to Huffman codes.
func newZlibWriter(level int) (zlibWriter, error) {
	if level == 1 || level >= 6 {
		return stdzlib.NewWriterLevel(nil, level)
	}
	return zlib.NewWriterLevel(nil, 6)
}

// NewDecoder ignores a dictionary, as the format does.
func (zlibCodec) NewDecoder(Params) (Decoder, error) { return new(zlibDecoder), nil }

type zlibEncoder struct {
	w    zlibWriter
	room room
}

func (e *zlibEncoder) Encode(dst, src []byte) (int, error) {
	e.room = room{dst: dst}
	e.w.Reset(&e.room)
	_, err := e.w.Write(src)
	if err == nil {
		err = e.w.Close()
	}
	n := e.room.n
	e.room = room{} // hold no memory of the caller
	if err != nil {
		return 0, ErrIncompressible // room is the only writer, and lack of room its only error
	}
	return encoded(n, src)
}

// room is a writer into a slice that never grows.
type room struct {
	dst []byte
	n   int
}

func (r *room) Write(p []byte) (int, error) {
	if len(p) > len(r.dst)-r.n {
		return 0, errNoRoom
	}
	r.n += copy(r.dst[r.n:], p)
	return len(p), nil
}

var (
	errNoRoom = errors.New("no room")
)

type zlibDecoder struct{ d inflate.Decoder }

// Decode ignores bytes of src after the end of the stream, as zlib's uncompress does.
func (d *zlibDecoder) Decode(dst, src []byte) error {
	if err := d.d.Decode(dst, src); err != nil {
		return fmt.Errorf("codec: zlib: %w: %w", ErrCorrupt, err)
	}
	return nil
}
