package codec

import (
	"fmt"
	"math/bits"

	unzstd "github.com/goblosc/blosc2/codec/internal/zstd"
	"github.com/goblosc/blosc2/codec/internal/zstdenc"
	"github.com/klauspost/compress/zstd"
)

// zstdCodec is Zstandard: a stream is one frame, with its content size and without a checksum.
type zstdCodec struct{}

func (zstdCodec) ID() ID { return Zstd }

func (zstdCodec) NewEncoder(p Params) (Encoder, error) {
	if err := checkLevel(Zstd, p); err != nil {
		return nil, err
	}
	if len(p.Dict) == 0 {
		return zstdEncoder{zstdenc.NewEncoder(p.Level)}, nil
	}
	// C-Blosc2 calls the C library with the odd levels from 1 to 15, and with 22 at level 9. The best encoder copies tables
	// of 32 MiB for each stream with a dictionary.
	e := &zstdDictEncoder{level: min(zstd.EncoderLevelFromZstd(2*p.Level-1), zstd.SpeedBetterCompression)}
	e.dict = zstdEncoderDict(p.Dict)
	if err := e.fit(0); err != nil { // unsound dictionaries are told here
		return nil, err
	}
	return e, nil
}

type zstdEncoder struct{ enc *zstdenc.Encoder }

func (e zstdEncoder) Encode(dst, src []byte) (int, error) {
	return encoded(e.enc.Encode(dst, src), src)
}

// Windows of an encoder with a dictionary, in bytes. It holds tables and history for its window, so it starts with a
// small one; streams above the greatest use that.
const (
	zstdMinWindow = 128 << 10
	zstdMaxWindow = 8 << 20
)

// zstdDictEncoder is for streams with a dictionary.
type zstdDictEncoder struct {
	level  zstd.EncoderLevel
	dict   zstd.EOption
	window int
	enc    *zstd.Encoder
	buf    []byte
}

func (e *zstdDictEncoder) Encode(dst, src []byte) (int, error) {
	if err := e.fit(len(src)); err != nil {
		return 0, err
	}
	// The library appends, and would allocate where dst is short. A stream of its own is small, mostly.
	need := e.enc.MaxEncodedSize(len(src))
	if len(dst) >= need {
		return encoded(len(e.enc.EncodeAll(src, dst[:0:len(dst)])), src)
	}
	if cap(e.buf) < need {
		e.buf = make([]byte, 0, need)
	}
	out := e.enc.EncodeAll(src, e.buf)
	if len(out) > len(dst) {
		return 0, ErrIncompressible
	}
	return encoded(copy(dst, out), src)
}

// fit makes the encoder one whose window holds n bytes, where there is one so great.
func (e *zstdDictEncoder) fit(n int) error {
	if e.enc != nil && (n <= e.window || e.window == zstdMaxWindow) {
		return nil
	}
	n = min(max(n, zstdMinWindow), zstdMaxWindow)
	e.window = 1 << bits.Len(uint(n-1)) // the next power of two
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(e.level),
		zstd.WithWindowSize(e.window),
		zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false),
		zstd.WithSingleSegment(true),
		zstd.WithZeroFrames(true),
		// Streams of shuffled numbers often have skewed bytes and no match. The faster levels would store them.
		zstd.WithAllLitEntropyCompression(true),
		zstd.WithLowerEncoderMem(true),
		e.dict)
	if err != nil {
		return fmt.Errorf("codec: zstd: %w: %w", ErrUnsupported, err)
	}
	e.enc = enc
	return nil
}

func (zstdCodec) NewDecoder(p Params) (Decoder, error) {
	dec, err := unzstd.NewDecoder(p.Dict)
	if err != nil {
		return nil, fmt.Errorf("codec: zstd: dictionary: %w: %w", ErrCorrupt, err)
	}
	if unzstd.BatchPays() {
		return zstdBatchDecoder{zstdDecoder{dec}}, nil
	}
	return zstdDecoder{dec}, nil
}

type zstdDecoder struct {
	dec *unzstd.Decoder
}

func (d zstdDecoder) Decode(dst, src []byte) error { return zstdError(d.dec.Decode(dst, src)) }

// DecodePrefix does not compare checksums.
func (d zstdDecoder) DecodePrefix(dst, src []byte, n int) error {
	return zstdError(d.dec.DecodePrefix(dst, src, n))
}

// zstdBatchDecoder is a zstdDecoder that expands the literals of two frames side by side.
type zstdBatchDecoder struct{ zstdDecoder }

// PlanesPay returns true: what is side by side is the same whatever the frames hold.
func (d zstdBatchDecoder) PlanesPay() bool { return true }

// DecodeBatch compares checksums of frames that are wanted as a whole.
func (d zstdBatchDecoder) DecodeBatch(dst, src [][]byte, n []int) error {
	return zstdError(d.dec.DecodeBatch(dst, src, n))
}

func zstdError(err error) error {
	if err != nil {
		return fmt.Errorf("codec: zstd: %w: %w", ErrCorrupt, err)
	}
	return nil
}
