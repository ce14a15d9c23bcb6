package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/adler32"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/race"
)

// ids lists the codecs of the package.
var ids = []codec.ID{codec.BloscLZ, codec.LZ4, codec.LZ4HC, codec.Zlib, codec.Zstd}

// sizes lists sizes around the limits of the encoders and of their copy loops.
var sizes = []int{
	0, 1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18, 24, 31, 32, 33, 63, 64, 65, 66, 67, 100, 127, 128, 129, 255, 256,
	257, 511, 512, 513, 1000, 1023, 1024, 1025, 4095, 4096, 4097, 10000, 65535, 65536, 65537, 131071, 131072, 131073,
}

func lookup(t testing.TB, id codec.ID) codec.Codec {
	t.Helper()
	c, err := codec.Set{}.ByID(id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newEncoder(t testing.TB, id codec.ID, level int) codec.Encoder {
	t.Helper()
	e, err := lookup(t, id).NewEncoder(codec.Params{Level: level})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newDecoder(t testing.TB, id codec.ID) codec.Decoder {
	t.Helper()
	d, err := lookup(t, id).NewDecoder(codec.Params{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const guard = 64 // bytes on each side of an output

// guarded returns n bytes with guard bytes on both sides, within the capacity of the slice, and a function that reports
// whether the guard bytes are unchanged.
func guarded(n int) (b []byte, intact func() bool) {
	all := bytes.Repeat([]byte{0xa5}, n+2*guard)
	return all[guard : guard+n], func() bool {
		for i := range guard {
			if all[i] != 0xa5 || all[len(all)-1-i] != 0xa5 {
				return false
			}
		}
		return true
	}
}

// encode returns a new stream, or nil if src is incompressible. It fails the test for any other error and for bytes
// written outside the first room bytes of the output.
func encode(t *testing.T, e codec.Encoder, src []byte, room int) []byte {
	t.Helper()
	dst, intact := guarded(room)
	saved := bytes.Clone(src)
	n, err := e.Encode(dst, src)
	if !intact() {
		t.Fatalf("%d bytes into %d: wrote outside", len(src), room)
	}
	if !bytes.Equal(src, saved) {
		t.Fatalf("%d bytes into %d: changed the input", len(src), room)
	}
	if err != nil {
		if n != 0 || !errors.Is(err, codec.ErrIncompressible) {
			t.Fatalf("%d bytes into %d: %d, %v", len(src), room, n, err)
		}
		return nil
	}
	if n <= 0 || n > room || n >= len(src) {
		t.Fatalf("%d bytes into %d: stream of %d bytes", len(src), room, n)
	}
	return bytes.Clone(dst[:n])
}

// decode returns the content of a stream. It fails the test for an error other than ErrCorrupt and for bytes written
// outside the output.
func decode(t *testing.T, d codec.Decoder, stream []byte, n int) ([]byte, error) {
	t.Helper()
	dst, intact := guarded(n)
	saved := bytes.Clone(stream)
	err := d.Decode(dst, stream)
	if !intact() {
		t.Fatalf("%d bytes to %d: wrote outside", len(stream), n)
	}
	if !bytes.Equal(stream, saved) {
		t.Fatalf("%d bytes to %d: changed the stream", len(stream), n)
	}
	if err != nil && !errors.Is(err, codec.ErrCorrupt) {
		t.Fatalf("%d bytes to %d: %v, want ErrCorrupt", len(stream), n, err)
	}
	return dst, err
}

func checkRoundTrip(t *testing.T, e codec.Encoder, d codec.Decoder, src []byte, room int) []byte {
	t.Helper()
	stream := encode(t, e, src, room)
	if stream != nil {
		if got, err := decode(t, d, stream, len(src)); err != nil || !bytes.Equal(got, src) {
			t.Fatalf("%d bytes into %d: stream of %d bytes does not decode: %v", len(src), room, len(stream), err)
		}
	}
	return stream
}

// brief reports whether there is little time.
func brief() bool { return testing.Short() || race.Enabled }

// forEachLevel runs f for each codec and level; only three levels in short mode. Several run at the same time.
func forEachLevel(t *testing.T, f func(t *testing.T, id codec.ID, level int)) {
	eachLevel(t, func(t *testing.T, id codec.ID, level int) {
		t.Parallel()
		f(t, id, level)
	})
}

// eachLevel is forEachLevel, but runs one test after the other.
func eachLevel(t *testing.T, f func(t *testing.T, id codec.ID, level int)) {
	for _, id := range ids {
		for level := 1; level <= 9; level++ {
			if testing.Short() && level%4 != 1 {
				continue
			}
			t.Run(fmt.Sprintf("%v-%d", id, level), func(t *testing.T) { f(t, id, level) })
		}
	}
}

func TestRoundTrip(t *testing.T) {
	forEachLevel(t, func(t *testing.T, id codec.ID, level int) {
		e, d := newEncoder(t, id, level), newDecoder(t, id)
		for _, kind := range inputKinds {
			streams := 0
			for i, size := range sizes {
				if size > 20000 && (i+level+len(kind))%8 != 0 {
					continue
				}
				if checkRoundTrip(t, e, d, input(kind, size, i), size) != nil {
					streams++
				}
			}
			if kind == "zeros" && streams < 10 {
				t.Errorf("%s: only %d streams", kind, streams)
			}
			if kind == "noise" && streams > 0 {
				t.Errorf("%s: %d streams", kind, streams)
			}
		}
	})
}

func TestRoundTripLarge(t *testing.T) {
	size := 1 << 20
	if brief() {
		size = 1 << 18
	}
	for _, id := range ids {
		for _, level := range []int{1, 5, 9} {
			e, d := newEncoder(t, id, level), newDecoder(t, id)
			for _, kind := range []string{"zeros", "words"} {
				if checkRoundTrip(t, e, d, input(kind, size, level), size) == nil && kind == "zeros" {
					t.Errorf("%v-%d: %s: no stream", id, level, kind)
				}
			}
		}
	}
}

// TestRoom encodes with more and with less space than the stream needs.
func TestRoom(t *testing.T) {
	largest := 20000
	if brief() {
		largest = 5000
	}
	forEachLevel(t, func(t *testing.T, id codec.ID, level int) {
		e, d := newEncoder(t, id, level), newDecoder(t, id)
		for _, kind := range []string{"words", "runs", "shuffled"} {
			for _, size := range []int{100, 1000, largest} {
				src := input(kind, size, level)
				want := checkRoundTrip(t, e, d, src, 2*size+1000)
				if want == nil {
					if size == largest && id != codec.BloscLZ {
						t.Errorf("%s: %d bytes: no stream", kind, size)
					}
					continue
				}
				n := len(want)
				for _, room := range []int{size + 1, size, n + 16, n + 15, n + 1, n, n - 1, n - 2, n - 15, n - 16, n / 2, 66, 65, 16, 1, 0} {
					if room < 0 {
						continue
					}
					got := checkRoundTrip(t, e, d, src, room)
					if room < n-16 && got != nil {
						t.Errorf("%s: %d bytes into %d: a stream, although it needs %d", kind, size, room, n)
					}
					// BloscLZ requires 66 bytes.
					if room > n+16 && got == nil && (id != codec.BloscLZ || room >= 66) {
						t.Errorf("%s: %d bytes into %d: no stream, although it needs %d", kind, size, room, n)
					}
				}
			}
		}
	})
}

// TestDeterministic checks that a stream does not depend on earlier calls of the encoder.
func TestDeterministic(t *testing.T) {
	forEachLevel(t, func(t *testing.T, id codec.ID, level int) {
		e := newEncoder(t, id, level)
		var inputs, want [][]byte
		for i, kind := range inputKinds {
			if brief() {
				i = min(i, 5)
			}
			src := input(kind, 500<<i, i)
			inputs = append(inputs, src)
			want = append(want, encode(t, newEncoder(t, id, level), src, len(src)))
		}
		for i := range 3 * len(inputs) {
			k := i * 7 % len(inputs)
			if i%4 == 0 {
				encode(t, e, inputs[k], len(inputs[k])/20) // probably without success
			}
			if got := encode(t, e, inputs[k], len(inputs[k])); !bytes.Equal(got, want[k]) {
				t.Fatalf("%s: %d bytes in a used encoder, %d in a new one", inputKinds[k], len(got), len(want[k]))
			}
		}
	})
}

// samples returns some short streams of a codec with their contents.
func samples(t testing.TB, id codec.ID) (streams, contents [][]byte) {
	e := newEncoder(t, id, 5)
	for i, kind := range []string{"words", "runs", "far", "zeros", "shuffled", "mixed"} {
		src := input(kind, []int{500, 3000, 100}[i%3], i)
		dst := make([]byte, len(src))
		if n, err := e.Encode(dst, src); err == nil {
			streams = append(streams, dst[:n])
			contents = append(contents, src)
		}
	}
	if len(streams) < 2 {
		t.Fatalf("%v: %d samples", id, len(streams))
	}
	return streams, contents
}

func TestDecodeWrongLength(t *testing.T) {
	for _, id := range ids {
		d := newDecoder(t, id)
		streams, contents := samples(t, id)
		for i, stream := range streams {
			size := len(contents[i])
			for _, n := range []int{0, 1, size - 17, size - 16, size - 1, size + 1, size + 16, size + 17, 2 * size, 1 << 20} {
				if _, err := decode(t, d, stream, n); err == nil {
					t.Errorf("%v: stream of %d bytes decodes to %d", id, size, n)
				}
			}
			if got, err := decode(t, d, stream, size); err != nil || !bytes.Equal(got, contents[i]) {
				t.Errorf("%v: a valid stream after corrupt ones: %v", id, err)
			}
		}
	}
}

func TestDecodeTruncated(t *testing.T) {
	for _, id := range ids {
		d := newDecoder(t, id)
		streams, contents := samples(t, id)
		for i, stream := range streams {
			for n := range stream {
				if _, err := decode(t, d, stream[:n], len(contents[i])); err == nil {
					t.Errorf("%v: %d of %d bytes decode", id, n, len(stream))
				}
			}
		}
		if _, err := decode(t, d, nil, 0); err == nil {
			t.Errorf("%v: an empty stream decodes", id)
		}
	}
}

func TestDecodeTrailing(t *testing.T) {
	for _, id := range ids {
		d := newDecoder(t, id)
		streams, contents := samples(t, id)
		for i, stream := range streams {
			for _, more := range [][]byte{{0}, {1, 2, 3}, {0x28, 0xb5, 0x2f, 0xfd}, make([]byte, 100)} {
				_, err := decode(t, d, append(stream[:len(stream):len(stream)], more...), len(contents[i]))
				// As in the C library, decoding stops at the end of a zlib stream.
				if id == codec.Zlib && err != nil || id != codec.Zlib && err == nil {
					t.Errorf("%v: stream and %x: %v", id, more, err)
				}
			}
		}
	}
}

func TestDecodeAltered(t *testing.T) {
	step := 1
	if brief() {
		step = 3 // every third bit
	}
	for _, id := range ids {
		d := newDecoder(t, id)
		streams, contents := samples(t, id)
		failed := 0
		for i, stream := range streams {
			altered := bytes.Clone(stream)
			for j := range stream {
				for bit := j % step; bit < 8; bit += step {
					altered[j] ^= 1 << bit
					if got, err := decode(t, d, altered, len(contents[i])); err != nil {
						failed++
					} else if id == codec.Zlib && adler32.Checksum(got) != adler32.Checksum(contents[i]) {
						t.Errorf("zlib: content with another Adler-32")
					}
					altered[j] = stream[j]
				}
				altered[j] = 0xff
				decode(t, d, altered, len(contents[i]))
				altered[j] = stream[j]
			}
			if got, err := decode(t, d, stream, len(contents[i])); err != nil || !bytes.Equal(got, contents[i]) {
				t.Errorf("%v: a valid stream after altered ones: %v", id, err)
			}
		}
		if failed == 0 {
			t.Errorf("%v: no alteration was detected", id)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector makes pools drop memory")
	}
	eachLevel(t, func(t *testing.T, id codec.ID, level int) {
		e, d := newEncoder(t, id, level), newDecoder(t, id)
		for _, size := range []int{1000, 30000, 150000} {
			if size > 100000 && level%4 != 1 {
				continue
			}
			src := input("words", size, 3)
			noise := input("noise", size, 3)
			dst, out := make([]byte, size), make([]byte, size)
			var n int
			encode := func() { n, _ = e.Encode(dst, src) }
			for range 3 { // the libraries' tables grow with the first streams
				encode()
				e.Encode(dst, noise)
			}
			if got := testing.AllocsPerRun(2, encode); got > 0 {
				t.Errorf("encoding %d bytes: %v allocations", size, got)
			}
			if got := testing.AllocsPerRun(2, func() { e.Encode(dst, noise) }); got > 0 {
				t.Errorf("encoding %d bytes of noise: %v allocations", size, got)
			}
			if encode(); n == 0 {
				if id != codec.BloscLZ {
					t.Errorf("no stream of %d bytes", size)
				}
				continue
			}
			for range 3 {
				d.Decode(out, dst[:n])
			}
			if got := testing.AllocsPerRun(2, func() { d.Decode(out, dst[:n]) }); got > 0 {
				t.Errorf("decoding %d bytes: %v allocations", size, got)
			}
		}
	})
}
