package meta

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/internal/errs"
)

// sectionStart is the offset of the section in a frame header.
const sectionStart = 87

// golden is one frame of testdata/headers.json: its header and trailer, and C-Blosc2's interpretation of them.
type golden struct {
	Name, Header, Trailer string
	TypeSize              int
	Metalayers            map[string]string
	VLMeta                []string
	Array                 *struct {
		Shape          []int64
		Chunks, Blocks []int32
		DType          string
	}
}

func goldens(t testing.TB) []golden {
	t.Helper()
	text, err := os.ReadFile("testdata/headers.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Fatalf("%d goldens", len(all))
	}
	return all
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGoldenHeaders(t *testing.T) {
	for _, g := range goldens(t) {
		header := unhex(t, g.Header)
		layers, err := ParseHeader(header, sectionStart)
		if err != nil {
			t.Errorf("%s: %v", g.Name, err)
			continue
		}
		got := map[string]string{}
		for _, l := range layers {
			got[l.Name] = hex.EncodeToString(l.Content)
		}
		if len(layers) != len(got) || len(got) != len(g.Metalayers) || len(got) > 0 && !reflect.DeepEqual(got, g.Metalayers) {
			t.Errorf("%s: layers %v, want %v", g.Name, got, g.Metalayers)
		}
		again, err := AppendHeader(slices.Clone(header[:sectionStart]), layers)
		if err != nil || !bytes.Equal(again, header) {
			t.Errorf("%s: written again (%v)\n%x\nwant\n%x", g.Name, err, again, header)
		}
	}
}

func TestGoldenTrailers(t *testing.T) {
	for _, g := range goldens(t) {
		trailer := unhex(t, g.Trailer)
		layers, err := ParseTrailer(trailer)
		if err != nil {
			t.Errorf("%s: %v", g.Name, err)
			continue
		}
		var got []string
		for _, l := range layers {
			got = append(got, l.Name)
			// Each content is one chunk, and a chunk holds its own size.
			if n := len(l.Content); n < 32 || int(l.Content[12])|int(l.Content[13])<<8 != n {
				t.Errorf("%s: %s is not a chunk: %x", g.Name, l.Name, l.Content)
			}
		}
		if !slices.Equal(got, g.VLMeta) {
			t.Errorf("%s: layers %v, want %v", g.Name, got, g.VLMeta)
		}
		again, err := AppendTrailer([]byte("before"), layers)
		if err != nil || !bytes.Equal(again, append([]byte("before"), trailer...)) {
			t.Errorf("%s: written again (%v)\n%x\nwant\n%x", g.Name, err, again, trailer)
		}
	}
}

// The complete frame of the format description, field by field.
func TestDescribedFrame(t *testing.T) {
	record, err := (&Array{Shape: []int64{2, 3}, ChunkShape: []int32{2, 2}, BlockShape: []int32{1, 2}, DType: "<i2"}).Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := unhex(t, "97 00 02 92 d30000000000000002 d30000000000000003 92 d200000002 d200000002 92 d200000001 d200000002 00 db00000003 3c6932")
	if !bytes.Equal(record, want) {
		t.Fatalf("record\n%x\nwant\n%x", record, want)
	}
	header, err := AppendHeader(make([]byte, sectionStart), []Layer{{"b2nd", record}, {"m", []byte{5}}})
	if err != nil {
		t.Fatal(err)
	}
	want = unhex(t, "93 cd 0018 de 0002 a4 62326e64 d2 00000072 a1 6d d2 000000ac dc 0002 c6 00000035"+hex.EncodeToString(record)+"c6 00000001 05")
	if len(header) != 0xb2 || !bytes.Equal(header[sectionStart:], want) {
		t.Fatalf("section\n%x\nwant\n%x", header[sectionStart:], want)
	}
	chunk := unhex(t, "05010701 02000000 02000000 22000000 0000000000 01 05 000000000000000000 a176")
	trailer, err := AppendTrailer(nil, []Layer{{"k", chunk}})
	if err != nil {
		t.Fatal(err)
	}
	want = unhex(t, "94 01 93 cd 000d de 0001 a1 6b d2 00000013 dc 0001 c6 00000022"+hex.EncodeToString(chunk)+"ce 00000051 d8 00"+strings.Repeat("00", 16))
	if !bytes.Equal(trailer, want) {
		t.Fatalf("trailer\n%x\nwant\n%x", trailer, want)
	}
	if empty, _ := AppendTrailer(nil, nil); !bytes.Equal(empty, unhex(t, "94 01 93 cd 0006 de 0000 dc 0000 ce 00000023 d8 00"+strings.Repeat("00", 16))) {
		t.Fatalf("empty trailer %x", empty)
	}
}

func namedLayers(n, nameLen int) []Layer {
	layers := make([]Layer, n)
	for i := range layers {
		name := fmt.Sprintf("%d", i) + strings.Repeat("x", nameLen)
		layers[i] = Layer{Name: name[:nameLen], Content: bytes.Repeat([]byte{byte(i)}, i*i)}
	}
	return layers
}

func TestWriteLimits(t *testing.T) {
	for _, c := range []struct {
		what   string
		layers []Layer
		want   error
	}{
		{"none", nil, nil},
		{"16 layers with names of 31 bytes", namedLayers(16, 31), nil},
		{"17 layers", namedLayers(17, 4), ErrTooLarge},
		{"a name of one byte", []Layer{{Name: "\x00"}}, nil},
		{"a name of 31 bytes of any value", []Layer{{Name: strings.Repeat("\xff", 31)}}, nil},
		{"a name of 32 bytes", []Layer{{Name: strings.Repeat("n", 32)}}, errs.ErrParam},
		{"an empty name", []Layer{{Name: "", Content: []byte{1}}, {Name: "a"}}, nil},
		{"a name twice", []Layer{{Name: "a"}, {Name: "b"}, {Name: "a"}}, errs.ErrParam},
	} {
		fixed := bytes.Repeat([]byte{0xee}, sectionStart)
		header, err := AppendHeader(fixed, c.layers)
		trailer, terr := AppendTrailer(fixed, c.layers)
		if c.want != nil {
			if !errors.Is(err, c.want) || !errors.Is(terr, c.want) {
				t.Errorf("%s: errors %v, %v, want %v", c.what, err, terr, c.want)
			}
			if !bytes.Equal(header, fixed) || !bytes.Equal(trailer, fixed) {
				t.Errorf("%s: written despite the error", c.what)
			}
			continue
		}
		if err != nil || terr != nil {
			t.Errorf("%s: %v, %v", c.what, err, terr)
			continue
		}
		got, err := ParseHeader(header, sectionStart)
		if err != nil || !sameLayers(got, c.layers) {
			t.Errorf("%s: header %v, %v", c.what, got, err)
		}
		got, err = ParseTrailer(trailer[sectionStart:])
		if err != nil || !sameLayers(got, c.layers) {
			t.Errorf("%s: trailer %v, %v", c.what, got, err)
		}
	}
}

func sameLayers(a, b []Layer) bool {
	return slices.EqualFunc(a, b, func(x, y Layer) bool {
		return x.Name == y.Name && bytes.Equal(x.Content, y.Content)
	})
}

// The trailer has the largest number of metalayers that readers accept. The test builds it, because AppendTrailer
// rejects it.
func bigTrailer(n int) []byte {
	b := []byte{0x94, 1}
	b = appendSection(b, 0, 0, numberedLayers(n))
	b = appendUint32(b, markUint32, len(b)+trailerSuffix)
	return append(append(b, markFixExt16), make([]byte, 17)...)
}

func numberedLayers(n int) []Layer {
	layers := make([]Layer, n)
	for i := range layers {
		layers[i] = Layer{Name: fmt.Sprintf("layer %d", i), Content: []byte{byte(i), byte(i >> 8)}}
	}
	return layers
}

func TestReadLimits(t *testing.T) {
	layers, err := ParseTrailer(bigTrailer(MaxVLLayersRead))
	if err != nil || !sameLayers(layers, numberedLayers(MaxVLLayersRead)) {
		t.Errorf("%d layers: %d read, %v", MaxVLLayersRead, len(layers), err)
	}
	_, err = ParseTrailer(bigTrailer(MaxVLLayersRead + 1))
	if !errors.Is(err, ErrTooLarge) || !errors.Is(err, ErrCorrupt) {
		t.Errorf("one metalayer more: %v", err)
	}
	header := appendSection(make([]byte, sectionStart), 0, 1, numberedLayers(MaxLayers+1))
	_, err = ParseHeader(header, sectionStart)
	if !errors.Is(err, ErrTooLarge) || !errors.Is(err, ErrCorrupt) {
		t.Errorf("header with 17 layers: %v", err)
	}
}

// layersOf makes metalayers from names and contents in turn.
func layersOf(s ...string) []Layer {
	var layers []Layer
	for i := 0; i < len(s); i += 2 {
		layers = append(layers, Layer{Name: s[i], Content: []byte(s[i+1])})
	}
	return layers
}

func TestTolerance(t *testing.T) {
	base, err := AppendHeader(make([]byte, sectionStart), layersOf("one", "1", "two", "22"))
	if err != nil {
		t.Fatal(err)
	}
	first, second := sectionStart+7+5, sectionStart+7+9+5 // of the position fields
	for _, c := range []struct {
		what string
		edit func(b []byte)
		want []Layer // nil: rejected
	}{
		{"idx_size and markers ignored", func(b []byte) { copy(b[sectionStart:], "\x00\x00\x00\x00"); b[len(b)-16] = 0 }, layersOf("one", "1", "two", "22")},
		{"contents shared", func(b []byte) { b[second+3] = b[first+3] }, layersOf("one", "1", "two", "1")},
		{"contents swapped", func(b []byte) { b[first+3], b[second+3] = b[second+3], b[first+3] }, layersOf("one", "22", "two", "1")},
		{"name repeated", func(b []byte) { copy(b[sectionStart+7+9+1:], "one") }, layersOf("one", "1", "one", "22")},
		{"map marker", func(b []byte) { b[sectionStart+4] = 0xdf }, nil},
		{"name marker", func(b []byte) { b[sectionStart+7] = 0xc3 }, nil},
		{"position marker", func(b []byte) { b[first-1] = 0xce }, nil},
		{"negative position", func(b []byte) { b[first] = 0x80 }, nil},
		{"position past the end", func(b []byte) { b[first+2] = 1 }, nil},
		{"content marker", func(b []byte) { b[len(b)-7] = 0xc5 }, nil},
		{"content past the end", func(b []byte) { b[len(b)-3] = 3 }, nil},
		{"content of 4 GiB", func(b []byte) { copy(b[len(b)-6:], "\xff\xff\xff\xff") }, nil},
	} {
		b := slices.Clone(base)
		c.edit(b)
		if bytes.Equal(b, base) {
			t.Errorf("%s: the edit changed nothing", c.what)
		}
		got, err := ParseHeader(b, sectionStart)
		if c.want == nil {
			if !errors.Is(err, ErrCorrupt) || got != nil {
				t.Errorf("%s: %v, %v", c.what, got, err)
			}
		} else if err != nil || !sameLayers(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.what, got, err, c.want)
		}
	}
	for _, start := range []int{-1, len(base) + 1, 1 << 30} {
		if _, err := ParseHeader(base, start); !errors.Is(err, ErrCorrupt) {
			t.Errorf("start %d: %v", start, err)
		}
	}
}

// Every truncated input is rejected, and every flipped bit yields metalayers inside the input or a clear error.
func TestHostileSections(t *testing.T) {
	for _, g := range goldens(t) {
		header, trailer := unhex(t, g.Header), unhex(t, g.Trailer)
		layers, _ := ParseHeader(header, sectionStart)
		for n := range header {
			// A header without metalayers can lose the count of the contents, which no reader checks.
			got, err := ParseHeader(header[:n:n], sectionStart)
			if err == nil && (len(layers) > 0 || n < sectionStart+7 || len(got) > 0) {
				t.Errorf("%s: header cut to %d bytes gave %v", g.Name, n, got)
			}
			if err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: header cut to %d bytes: %v", g.Name, n, err)
			}
		}
		for n := range trailer {
			if got, err := ParseTrailer(trailer[:n:n]); !errors.Is(err, ErrCorrupt) || got != nil {
				t.Errorf("%s: trailer cut to %d bytes: %v, %v", g.Name, n, got, err)
			}
		}
		flip(header, func() {
			checkSection(t, header, func(b []byte) ([]Layer, error) { return ParseHeader(b, sectionStart) })
		})
		flip(trailer, func() { checkSection(t, trailer, ParseTrailer) })
	}
}

// flip calls f with each bit of b flipped, and with each byte set to a few special values.
func flip(b []byte, f func()) {
	for i, old := range b {
		for bit := range 8 {
			b[i] = old ^ 1<<bit
			f()
		}
		for _, v := range []byte{0, 0xff, 0x7f, 0x80} {
			b[i] = v
			f()
		}
		b[i] = old
	}
}

func checkSection(t *testing.T, b []byte, parse func([]byte) ([]Layer, error)) {
	layers, err := parse(b)
	if err != nil {
		if !errors.Is(err, ErrCorrupt) || layers != nil || !strings.HasPrefix(err.Error(), "meta: ") {
			t.Errorf("%x: %v, %v", b, layers, err)
		}
		return
	}
	for _, l := range layers {
		if len(l.Name) > MaxNameLen || len(l.Content) > len(b) || cap(l.Content) != len(l.Content) {
			t.Errorf("%x: layer %q of %d bytes", b, l.Name, len(l.Content))
		}
	}
}

func FuzzHeader(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(unhex(f, g.Header))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkSection(t, b, func(b []byte) ([]Layer, error) { return ParseHeader(b, sectionStart) })
		layers, err := ParseHeader(b, sectionStart)
		if err != nil {
			return
		}
		// Everything that can be written must read back the same.
		again, err := AppendHeader(b[:sectionStart:sectionStart], layers)
		if err != nil {
			if !errors.Is(err, ErrTooLarge) && !errors.Is(err, errs.ErrParam) {
				t.Fatal(err)
			}
			return
		}
		if got, err := ParseHeader(again, sectionStart); err != nil || !sameLayers(got, layers) {
			t.Fatalf("%v, %v, want %v", got, err, layers)
		}
	})
}

func FuzzTrailer(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(unhex(f, g.Trailer))
	}
	f.Add(bigTrailer(20))
	f.Fuzz(func(t *testing.T, b []byte) {
		checkSection(t, b, ParseTrailer)
		layers, err := ParseTrailer(b)
		if err != nil {
			return
		}
		again, err := AppendTrailer(nil, layers)
		if err != nil {
			if !errors.Is(err, ErrTooLarge) && !errors.Is(err, errs.ErrParam) {
				t.Fatal(err)
			}
			return
		}
		if got, err := ParseTrailer(again); err != nil || !sameLayers(got, layers) {
			t.Fatalf("%v, %v, want %v", got, err, layers)
		}
	})
}

func BenchmarkSection(b *testing.B) {
	for _, n := range []int{1, 16} {
		header, err := AppendHeader(make([]byte, sectionStart), namedLayers(n, 8))
		if err != nil {
			b.Fatal(err)
		}
		layers, _ := ParseHeader(header, sectionStart)
		b.Run(fmt.Sprintf("parse/%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(header)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseHeader(header, sectionStart); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("append/%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(header)))
			b.ReportAllocs()
			dst := make([]byte, sectionStart, len(header))
			for b.Loop() {
				if _, err := AppendHeader(dst, layers); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
