package codec_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/manifest"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
)

// snappySamples returns streams of the library with their contents.
func snappySamples() (streams, contents [][]byte) {
	for i, kind := range inputKinds {
		for _, n := range []int{1, 59, 60, 61, 300, 5000, 70000} {
			src := input(kind, n, i)
			streams, contents = append(streams, snappy.Encode(nil, src)), append(contents, src)
		}
	}
	return streams, contents
}

func TestSnappy(t *testing.T) {
	d := newDecoder(t, codec.Snappy)
	streams, contents := snappySamples()
	for i, stream := range streams {
		want := contents[i]
		if got, err := decode(t, d, stream, len(want)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: other content, %v", len(want), err)
		}
		for _, n := range []int{0, len(want) - 1, len(want) + 1, 2 * len(want), 1 << 20} {
			if _, err := decode(t, d, stream, n); err == nil && n != len(want) {
				t.Errorf("%d bytes decode to %d", len(want), n)
			}
		}
		if len(want) > 400 {
			continue
		}
		for k := range stream {
			if _, err := decode(t, d, stream[:k], len(want)); err == nil {
				t.Errorf("%d of %d bytes decode", k, len(stream))
			}
			altered := bytes.Clone(stream)
			for _, x := range []byte{1, 2, 4, 0x80, 0xff} {
				altered[k] = stream[k] ^ x
				decode(t, d, altered, len(want))
			}
		}
	}
	if _, err := lookup(t, codec.Snappy).NewEncoder(codec.Params{Level: 5}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("encoder: %v, want errors.ErrUnsupported", err)
	}
}

// TestSnappyHostile decodes streams that claim large contents, and a stream of S2, which has a token that Snappy does
// not have.
func TestSnappyHostile(t *testing.T) {
	d := newDecoder(t, codec.Snappy)
	for _, test := range []string{
		"", "80", "ffffffff0f", "ffffffffff01", "80808080808000", "e80700", "e807f4e70741", "e807feffffff41", "e807 00 41 fe0100",
		"e807 00 41 fe0000", "e807 00 41 ffffffffff", "e807 00 41 fdff", "01", "0200 41",
	} {
		stream, err := hex.DecodeString(strings.ReplaceAll(test, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 2, 1000} {
			if _, err := decode(t, d, stream, n); err == nil {
				t.Errorf("%s decodes to %d bytes", test, n)
			}
		}
	}
	src := bytes.Repeat([]byte("abcdefgh1"), 3000)
	stream := s2.EncodeBest(nil, src)
	if _, err := decode(t, d, stream, len(src)); err == nil {
		t.Error("a stream of S2 with its own tokens decodes")
	}
}

// TestSnappyBlosc1 decodes the streams of chunks that C-Blosc 1.21 wrote without filter.
func TestSnappyBlosc1(t *testing.T) {
	d := newDecoder(t, codec.Snappy)
	chunks, streams := 0, 0
	for _, c := range manifest.Read(t, "blosc1") {
		if !strings.HasPrefix(c.File, "blosc1_snappy_f0") {
			continue
		}
		b, err := os.ReadFile(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		word := func(at int) int { return int(int32(binary.LittleEndian.Uint32(b[at:]))) }
		nbytes, blockSize := word(4), word(8)
		var all []byte
		if b[2]&2 != 0 { // stored
			all, nbytes = b[16:], 0
		}
		for k := 0; k*blockSize < nbytes; k++ {
			n := min(blockSize, nbytes-k*blockSize)
			parts := 1
			if b[2]&0x10 == 0 && n == blockSize {
				parts = int(b[3])
			}
			at := word(16 + 4*k)
			for range parts {
				size := word(at)
				stream := b[at+4:][:size]
				at += 4 + size
				if size == n/parts {
					all = append(all, stream...)
					continue
				}
				got, err := decode(t, d, stream, n/parts)
				if err != nil {
					t.Fatalf("%s: %v", c.File, err)
				}
				all = append(all, got...)
				streams++
			}
		}
		if sum := sha256.Sum256(all); hex.EncodeToString(sum[:]) != c.SHA256 {
			t.Errorf("%s: other content", c.File)
		}
		chunks++
	}
	if chunks != 7 || streams < 7 {
		t.Errorf("%d chunks, %d streams", chunks, streams)
	}
}

func TestSnappyNoAllocations(t *testing.T) {
	d, src := newDecoder(t, codec.Snappy), input("words", 30000, 1)
	stream, dst := snappy.Encode(nil, src), make([]byte, len(src))
	if n := testing.AllocsPerRun(5, func() { d.Decode(dst, stream) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDecodeSnappy(f *testing.F) {
	streams, contents := snappySamples()
	for i, stream := range streams {
		if len(stream) < 500 {
			f.Add(stream, len(contents[i]))
		}
	}
	d := newDecoder(f, codec.Snappy)
	f.Fuzz(func(t *testing.T, stream []byte, n int) {
		n = max(0, min(n, 1<<18))
		got, err := decode(t, d, stream, n)
		if err != nil {
			return
		}
		want, err := snappy.Decode(nil, stream)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%x to %d: differs from the library's, %v", stream, n, err)
		}
	})
}

func BenchmarkDecodeSnappy(b *testing.B) {
	src := benchInput(benchSize)
	stream, dst := snappy.Encode(nil, src), make([]byte, len(src))
	d := newDecoder(b, codec.Snappy)
	b.Run("shuffled", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			if err := d.Decode(dst, stream); err != nil {
				b.Fatal(err)
			}
		}
	})
}
