package zstd

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// oracle is the decoder of another library.
type oracle struct{ d *zstd.Decoder }

func newOracle(t testing.TB, dict []byte) oracle {
	t.Helper()
	options := []zstd.DOption{
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true),
		zstd.IgnoreChecksum(true), // a fuzzer does not find them
	}
	if len(dict) >= 8 && bytes.HasPrefix(dict, []byte{0x37, 0xa4, 0x30, 0xec}) {
		options = append(options, zstd.WithDecoderDicts(dict))
	} else if len(dict) > 0 {
		options = append(options, zstd.WithDecoderDictRaw(0, dict))
	}
	d, err := zstd.NewReader(nil, options...)
	if err != nil {
		t.Fatal(err)
	}
	return oracle{d}
}

// decode expands src to exactly n bytes.
func (o oracle) decode(src []byte, n int) ([]byte, error) {
	out, err := o.d.DecodeAll(src, make([]byte, 0, n))
	if err == nil && len(out) < n {
		err = errShorter
	}
	if err == nil && len(out) > n {
		err = errLonger
	}
	return out, err
}

// form describes a frame to be made.
type form struct{ checksum, single bool }

// encoders are those that encode made so far: they are large.
var encoders = map[zstd.EncoderLevel]map[form]*zstd.Encoder{}

// encode makes a frame.
func encode(t testing.TB, level zstd.EncoderLevel, f form, src []byte) []byte {
	t.Helper()
	if encoders[level] == nil {
		encoders[level] = map[form]*zstd.Encoder{}
	}
	if encoders[level][f] == nil {
		encoders[level][f] = newEncoder(t, level, f)
	}
	return encoders[level][f].EncodeAll(src, nil)
}

func newEncoder(t testing.TB, level zstd.EncoderLevel, f form, options ...zstd.EOption) *zstd.Encoder {
	t.Helper()
	e, err := zstd.NewWriter(nil, append([]zstd.EOption{
		zstd.WithEncoderLevel(level),
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(128 << 10),
		zstd.WithEncoderCRC(f.checksum),
		zstd.WithSingleSegment(f.single),
		zstd.WithZeroFrames(true),
		zstd.WithLowerEncoderMem(true),
		zstd.WithAllLitEntropyCompression(true),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
