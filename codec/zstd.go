package codec

import (
	"fmt"
	"math/bits"

	unzstd "github.com/goblosc/blosc2/codec/internal/zstd"
	"github.com/goblosc/blosc2/codec/internal/zstdenc"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/klauspost/compress/zstd"
)

// newZstdEncoder returns an encoder for Zstandard: a stream is one frame with its content size and without a checksum.
func newZstdEncoder(p Params) (Encoder, error) {
	if len(p.Dict) == 0 {
		return zstdEncoder{zstdenc.NewEncoder(p.Level)}, nil
	}
	// C-Blosc2 calls the C library with the odd levels from 1 to 15, and with 22 at level 9. SpeedBestCompression is
	// not used: it copies tables of 32 MiB for each stream with a dictionary.
	e := &zstdDictEncoder{level: min(zstd.EncoderLevelFromZstd(2*p.Level-1), zstd.SpeedBetterCompression)}
	e.dict = zstdEncoderDict(p.Dict)
	if err := e.fit(0); err != nil { // reports an invalid dictionary
		return nil, err
	}
	return e, nil
}

type zstdEncoder struct{ enc *zstdenc.Encoder }

func (e zstdEncoder) Encode(dst, src []byte) (int, error) {
	return encoded(e.enc.Encode(dst, src), src)
}

// Windows of an encoder with a dictionary, in bytes. The encoder allocates tables and history for its window, so it
// starts with a small one. Streams longer than the largest window use that.
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
	// EncodeAll appends, and would allocate if dst were short.
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

// fit replaces the encoder if its window is shorter than n bytes and can be longer.
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
		return fmt.Errorf("codec: zstd: %w: %w", errs.ErrUnsupported, err)
	}
	e.enc = enc
	return nil
}

func newZstdDecoder(p Params) (Decoder, error) {
	dec, err := unzstd.NewDecoder(p.Dict)
	if err != nil {
		return nil, zstdDictError(err)
	}
	d := zstdDecoder{dec}
	if unzstd.BatchIsFaster() {
		return zstdBatchDecoder{d}, nil
	}
	return d, nil
}

type zstdDecoder struct {
	dec *unzstd.Decoder
}

// SetDict makes d a [codecs.DictDecoder].
func (d zstdDecoder) SetDict(dict []byte) error {
	if err := d.dec.SetDict(dict); err != nil {
		return zstdDictError(err)
	}
	return nil
}

func zstdDictError(err error) error {
	return fmt.Errorf("codec: zstd: dictionary: %w: %w", ErrCorrupt, err)
}

func (d zstdDecoder) Decode(dst, src []byte) error { return zstdError(d.dec.Decode(dst, src)) }

// DecodePrefix does not compare checksums.
func (d zstdDecoder) DecodePrefix(dst, src []byte, n int) error {
	return zstdError(d.dec.DecodePrefix(dst, src, n))
}

// zstdBatchDecoder is a zstdDecoder that decodes the literals of two frames in one loop.
type zstdBatchDecoder struct{ zstdDecoder }

// BatchesPlanes returns true: the speed of the loop does not depend on the content of the frames.
func (d zstdBatchDecoder) BatchesPlanes() bool { return true }

// DecodeBatch compares the checksums of frames that are decoded completely.
func (d zstdBatchDecoder) DecodeBatch(dst, src [][]byte, n []int) error {
	return zstdError(d.dec.DecodeBatch(dst, src, n))
}

func zstdError(err error) error {
	if err != nil {
		return fmt.Errorf("codec: zstd: %w: %w", ErrCorrupt, err)
	}
	return nil
}
