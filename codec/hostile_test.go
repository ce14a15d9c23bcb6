package codec_test

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

// TestHostileStreams decodes short streams that claim large contents, and checks the memory use.
func TestHostileStreams(t *testing.T) {
	var bomb bytes.Buffer
	w := zlib.NewWriter(&bomb)
	w.Write(make([]byte, 16<<20))
	w.Close()

	tests := []struct {
		name   string
		id     codec.ID
		stream string // hex
	}{
		{"zlib: 16 MiB of zeros", codec.Zlib, hex.EncodeToString(bomb.Bytes())},
		{"zlib: header only", codec.Zlib, "789c"},
		{"zlib: wants a dictionary", codec.Zlib, "78bb000000010300000000 01"},
		{"zlib: reserved block type", codec.Zlib, "789c07"},
		{"zstd: content of 2^62 bytes", codec.Zstd, "28b52ffd e0 0000000000000040 030000"},
		{"zstd: content of 1 GiB", codec.Zstd, "28b52ffd a0 00000040 0300000040"},
		{"zstd: window of 2^41 bytes", codec.Zstd, "28b52ffd 00 ff 0300000040"},
		{"zstd: window of 512 MiB, runs of 128 KiB", codec.Zstd, "28b52ffd 00 98" + strings.Repeat("020010 41", 200) + "030010 41"},
		{"zstd: a block of 2 MiB", codec.Zstd, "28b52ffd 00 58 ffffff 41"},
		{"zstd: a skippable frame of 4 GiB", codec.Zstd, "502a4d18 ffffffff 00"},
		{"zstd: unknown dictionary", codec.Zstd, "28b52ffd 23 12345678 01 090000 41"},
		{"lz4: match of 16 MB", codec.LZ4, "1f41 0100" + strings.Repeat("ff", 65536) + "00 5041414141 41"},
		{"lz4: literals of 16 MB", codec.LZ4HC, "f0" + strings.Repeat("ff", 65536) + "00"},
		{"lz4: distance 0", codec.LZ4, "1141 0000 5041414141 41"},
		{"blosclz: match of 16 MB", codec.BloscLZ, "2041e0" + strings.Repeat("ff", 65536) + "00000041"},
	}
	for _, test := range tests {
		stream, err := hex.DecodeString(strings.ReplaceAll(test.stream, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		d := newDecoder(t, test.id)
		for _, n := range []int{0, 1, 1000, 100_000} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := decode(t, d, stream, n)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Errorf("%s: decodes to %d bytes", test.name, n)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
				t.Errorf("%s: %d bytes of memory for %d", test.name, used, n)
			}
		}
	}
}

// TestNilOutput decodes streams with content to no memory at all, whose address is 0.
func TestNilOutput(t *testing.T) {
	for _, id := range ids {
		for _, kind := range inputKinds {
			stream := encode(t, newEncoder(t, id, 5), input(kind, 1000, 0), 1000)
			if stream == nil {
				continue
			}
			if err := newDecoder(t, id).Decode(nil, stream); !errors.Is(err, codec.ErrCorrupt) {
				t.Errorf("%v, %s: %v, want ErrCorrupt", id, kind, err)
			}
		}
	}
}

// TestZstdFrames decodes frames that C-Blosc2 does not write but the format allows.
func TestZstdFrames(t *testing.T) {
	tests := []struct{ name, stream, want string }{
		{"one byte", "28b52ffd 20 01 090000 41", "A"},
		{"content size in 8 bytes", "28b52ffd e0 0100000000000000 090000 41", "A"},
		{"without content size, window of 1 KiB", "28b52ffd 00 00 090000 41", "A"},
		{"window of 8 MiB", "28b52ffd 00 68 2b0000 41", "AAAAA"},
		{"two frames", "28b52ffd 20 01 090000 41 28b52ffd 20 02 110000 4243", "ABC"},
		{"skippable frame first", "502a4d18 03000000 010203 28b52ffd 20 01 090000 41", "A"},
		{"skippable frame last", "28b52ffd 20 01 090000 41 5f2a4d18 00000000", "A"},
		{"checksum", "28b52ffd 24 01 090000 41 56f9e5a6", "!"},
		{"content size too large", "28b52ffd 20 02 090000 41", "!"},
		{"content size too small", "28b52ffd 20 01 110000 4142", "!"},
		{"reserved bit", "28b52ffd 28 01 090000 41", "!"},
		{"reserved block type", "28b52ffd 20 01 0f0000 41", "!"},
		{"no last block", "28b52ffd 20 01 080000 41", "!"},
	}
	for _, test := range tests {
		stream, err := hex.DecodeString(strings.ReplaceAll(test.stream, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(t, newDecoder(t, codec.Zstd), stream, len(test.want))
		if bad := test.want == "!"; bad != (err != nil) || !bad && string(got) != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

// TestZstdHeader checks that frames have the header of C-Blosc2's: one segment, content size, no checksum.
func TestZstdHeader(t *testing.T) {
	for n, want := range map[int]string{255: "28b52ffd20ff", 0x323: "28b52ffd602302", 100_000: "28b52ffda0a0860100"} {
		for level := 1; level <= 9; level++ {
			src := input("zeros", n, 0)
			dst := make([]byte, n)
			k, err := newEncoder(t, codec.Zstd, level).Encode(dst, src)
			if err != nil || !strings.HasPrefix(hex.EncodeToString(dst[:k]), want) {
				t.Errorf("%d bytes at level %d: %x, %v, want %s", n, level, dst[:min(k, 10)], err, want)
			}
		}
	}
}
