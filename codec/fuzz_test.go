package codec_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/codecs"
)

// fuzzDecode decodes arbitrary bytes; decode checks the errors and the guard bytes.
func fuzzDecode(f *testing.F, id codec.ID, dict []byte) {
	for _, line := range records(f, "testdata/streams.txt") {
		if stream := parseBase64(f, line[4]); line[0] == id.String() && len(stream) < 500 {
			f.Add(stream, parseInt(f, line[3]))
		}
	}
	d, err := lookup(f, id).NewDecoder(codec.Params{Dict: dict})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, stream []byte, n int) {
		n = max(0, min(n, 1<<18))
		got, err := decode(t, d, stream, n)
		again, errAgain := decode(t, d, stream, n)
		if (err == nil) != (errAgain == nil) || err == nil && !bytes.Equal(got, again) {
			t.Fatalf("%x to %d: %v, then %v", stream, n, err, errAgain)
		}
		if part, ok := d.(codec.PrefixDecoder); ok {
			want := again
			if errAgain != nil {
				want = nil
			}
			trial.Prefixes(t, n, want, func(dst []byte, n int) bool {
				err := part.DecodePrefix(dst, stream, n)
				if err != nil && !errors.Is(err, codec.ErrCorrupt) {
					t.Fatalf("%x to %d: %v, want ErrCorrupt", stream, n, err)
				}
				return err == nil
			})
		}
		if batch, ok := d.(codecs.BatchDecoder); ok {
			dst := [][]byte{make([]byte, n), make([]byte, n), make([]byte, n)}
			err := batch.DecodeBatch(dst, [][]byte{stream, stream, stream}, []int{n, n, n})
			if (err == nil) != (errAgain == nil) || err != nil && !errors.Is(err, codec.ErrCorrupt) {
				t.Fatalf("%x to %d: %v, at once %v", stream, n, errAgain, err)
			}
			for _, b := range dst {
				if err == nil && !bytes.Equal(b, again) {
					t.Fatalf("%x to %d: other bytes at once", stream, n)
				}
			}
		}
	})
}

func FuzzDecodeBloscLZ(f *testing.F) { fuzzDecode(f, codec.BloscLZ, nil) }
func FuzzDecodeLZ4(f *testing.F)     { fuzzDecode(f, codec.LZ4, nil) }
func FuzzDecodeZlib(f *testing.F)    { fuzzDecode(f, codec.Zlib, nil) }
func FuzzDecodeZstd(f *testing.F)    { fuzzDecode(f, codec.Zstd, nil) }

func FuzzDecodeLZ4Dictionary(f *testing.F) { fuzzDecode(f, codec.LZ4, input("words", 3000, 77)) }
func FuzzDecodeZstdDictionary(f *testing.F) {
	fuzzDecode(f, codec.Zstd, parseBase64(f, records(f, "testdata/dictionaries.txt")[0][2]))
}

// FuzzZstdDictionary makes decoders with arbitrary bytes for a dictionary.
func FuzzZstdDictionary(f *testing.F) {
	lines := records(f, "testdata/dictionaries.txt")
	stream := []byte{}
	for _, line := range lines {
		if line[0] == "dict" {
			f.Add(parseBase64(f, line[2]))
		} else if line[0] == "trained" && line[1] == "zstd" && line[3] == "500" {
			stream = parseBase64(f, line[4])
		}
	}
	f.Fuzz(func(t *testing.T, dict []byte) {
		if d, err := lookup(t, codec.Zstd).NewDecoder(codec.Params{Dict: dict}); err == nil {
			decode(t, d, stream, 500)
		}
	})
}

// FuzzRoundTrip encodes arbitrary bytes with any amount of space.
func FuzzRoundTrip(f *testing.F) {
	for i, id := range ids {
		f.Add(id.Code(), 1+i*2, 100*i, input("mixed", 1000*i, i))
		f.Add(id.Code(), 9-i*2, 1000, input("words", 1000, i))
	}
	type coder struct {
		e codec.Encoder
		d codec.Decoder
	}
	coders := map[codec.ID]map[int]coder{}
	f.Fuzz(func(t *testing.T, code uint8, level, room int, src []byte) {
		id := ids[int(code)%len(ids)]
		level, room = 1+max(0, level)%9, max(0, min(room, 1<<17))
		if coders[id] == nil {
			coders[id] = map[int]coder{}
		}
		c, ok := coders[id][level]
		if !ok {
			c = coder{newEncoder(t, id, level), newDecoder(t, id)}
			coders[id][level] = c
		}
		checkRoundTrip(t, c.e, c.d, src, room)
	})
}
