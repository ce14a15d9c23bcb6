package codec_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/race"
)

// dictIDs lists the codecs that take a dictionary.
var dictIDs = []codec.ID{codec.LZ4, codec.LZ4HC, codec.Zstd}

// pieces cuts b into pieces of n bytes; the last one is shorter.
func pieces(b []byte, n int) (out [][]byte) {
	for len(b) > 0 {
		k := min(n, len(b))
		out, b = append(out, b[:k]), b[k:]
	}
	return out
}

func train(t testing.TB, id codec.ID, samples [][]byte, max int) []byte {
	t.Helper()
	return lookup(t, id).(codecs.Trainer).TrainDict(samples, max)
}

func TestDictionaryRoundTrip(t *testing.T) {
	text := input("words", 120000, 5)
	inputs := pieces(text[60000:], 1500)
	for _, n := range []int{0, 1, 11, 12, 13, 14, 40, 100, 30000} {
		inputs = append(inputs, text[60000:60000+n], text[100:100+n]) // the second is in the raw dictionaries
	}
	brief := brief()
	if brief {
		inputs = inputs[30:]
	}
	for _, kind := range inputKinds {
		inputs = append(inputs, input(kind, 5000, 1))
		if !brief {
			inputs = append(inputs, input(kind, 140000, 2))
		}
	}
	for _, id := range dictIDs {
		dicts := map[string][]byte{
			"trained": train(t, id, pieces(text[:60000], 1500), 6000),
			"short":   text[:10],
			"one":     {'a'},
			"raw":     text[:32768],
			"large":   text[:100000],
		}
		for name, dict := range dicts {
			for level := 1; level <= 9; level++ {
				if level%4 != 1 && (brief || name != "trained") || level == 5 && brief {
					continue
				}
				e, err := lookup(t, id).NewEncoder(codec.Params{Level: level, Dict: dict})
				if err != nil {
					t.Fatal(err)
				}
				d, err := lookup(t, id).NewDecoder(codec.Params{Dict: dict})
				if err != nil {
					t.Fatal(err)
				}
				plain := newEncoder(t, id, level)
				total, without := 0, 0
				for _, src := range inputs {
					stream := checkRoundTrip(t, e, d, src, len(src))
					n := len(stream)
					for _, room := range []int{n / 2, n - 1, n, n + 1, n + 30} {
						if room >= 0 && len(src) < 2000 {
							if got := checkRoundTrip(t, e, d, src, room); got != nil && !bytes.Equal(got, stream) {
								t.Errorf("%v-%d, %s dictionary: %d bytes in %d bytes of space: a different stream", id, level, name, len(src), room)
							}
						}
					}
					if len(src) == 1500 {
						total += sizeOr(stream, src)
						without += sizeOr(encode(t, plain, src, len(src)), src)
					}
				}
				if name == "trained" || name == "raw" {
					if total > without*9/10 {
						t.Errorf("%v-%d, %s dictionary: %d bytes, %d without", id, level, name, total, without)
					}
				}
			}
		}
	}
}

func sizeOr(stream, src []byte) int {
	if stream == nil {
		return len(src)
	}
	return len(stream)
}

// TestDictionaryMatters checks that a stream with a dictionary does not decode without it or with another one.
func TestDictionaryMatters(t *testing.T) {
	text := input("words", 60000, 5)
	for _, id := range dictIDs {
		dict := train(t, id, pieces(text[:50000], 1000), 10000)
		e, err := lookup(t, id).NewEncoder(codec.Params{Level: 5, Dict: dict})
		if err != nil {
			t.Fatal(err)
		}
		src := text[50000:51000]
		stream := encode(t, e, src, len(src))
		other := bytes.Clone(dict)
		for i := len(other) / 2; i < len(other); i++ {
			other[i] ^= 1
		}
		for _, wrong := range [][]byte{nil, other} {
			d, err := lookup(t, id).NewDecoder(codec.Params{Dict: wrong})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := decode(t, d, stream, len(src)); err == nil && bytes.Equal(got, src) {
				t.Errorf("%v: decodes with a dictionary of %d bytes that is not its own", id, len(wrong))
			}
		}
	}
}

func TestTrainDict(t *testing.T) {
	all := 200000
	if brief() {
		all = 60000
	}
	text := input("words", all, 7)
	same := bytes.Repeat([]byte{7}, 20000)
	tests := []struct {
		name    string
		samples [][]byte
		max     int
	}{
		{"words", pieces(text, 2000), 8000},
		{"words, small", pieces(text, 2000), 700},
		{"words, smallest", pieces(text, 2000), codecs.MinDict},
		{"words, too small", pieces(text, 2000), codecs.MinDict - 1},
		{"words, more than the format allows", pieces(text, 2000), 1 << 20},
		{"negative", pieces(text, 2000), -1},
		{"short samples", pieces(text, 9), 8000},
		{"shorter samples", pieces(text, 3), 8000},
		{"one sample", [][]byte{text}, 8000},
		{"no sample", nil, 8000},
		{"empty samples", make([][]byte, 10), 8000},
		{"noise", pieces(input("noise", 100000, 1), 1000), 8000},
		{"one byte", pieces(same, 1000), 8000},
		{"ramp", pieces(input("ramp", 100000, 1), 1000), 8000},
		{"shuffled", pieces(input("shuffled", all*3/2, 1), 1000), 32768},
		{"mixed", pieces(input("mixed", all*3/2, 1), 5000), 20000},
	}
	for _, test := range tests {
		for _, id := range dictIDs {
			dict := train(t, id, test.samples, test.max)
			if dict != nil && (len(dict) < codecs.MinDict || len(dict) > min(test.max, codecs.MaxDict)) {
				t.Errorf("%v, %s: %d bytes", id, test.name, len(dict))
			}
			if again := train(t, id, test.samples, test.max); !bytes.Equal(again, dict) {
				t.Errorf("%v, %s: a different dictionary from the same samples", id, test.name)
			}
			if id != codec.Zstd {
				all := bytes.Join(test.samples, nil)
				if n := min(test.max, codecs.MaxDict, len(all)); n >= codecs.MinDict && !bytes.Equal(dict, all[:n]) {
					t.Errorf("%v, %s: not the start of the samples", id, test.name)
				}
			}
			if test.name == "words" && len(dict) < 4000 {
				t.Errorf("%v: %d bytes of words", id, len(dict))
			}
			if dict == nil {
				continue
			}
			e, err := lookup(t, id).NewEncoder(codec.Params{Level: 1, Dict: dict})
			if err != nil {
				t.Fatalf("%v, %s: %v", id, test.name, err)
			}
			d, err := lookup(t, id).NewDecoder(codec.Params{Dict: dict})
			if err != nil {
				t.Fatalf("%v, %s: %v", id, test.name, err)
			}
			for i, s := range test.samples {
				if i < 5 {
					checkRoundTrip(t, e, d, s, len(s))
				}
			}
		}
	}
	trained := train(t, codec.Zstd, pieces(text, 2000), 8000)
	if !bytes.HasPrefix(trained, []byte{0x37, 0xa4, 0x30, 0xec}) {
		t.Error("dictionary of Zstd without tables")
	}
	if id := binary.LittleEndian.Uint32(trained[4:]); id < 1<<15 || id >= 1<<31 {
		t.Errorf("dictionary %d, which is reserved", id)
	}
	for _, id := range []codec.ID{codec.BloscLZ, codec.Zlib, codec.Snappy, codec.NDLZ} {
		if codecs.Of(lookup(t, id)).Dict {
			t.Errorf("%v has dictionaries", id)
		}
	}
}

// TestInvalidDictionary gives the encoder dictionaries of Zstd that have a header and nothing valid after it.
func TestInvalidDictionary(t *testing.T) {
	dict := train(t, codec.Zstd, pieces(input("words", 100000, 7), 2000), 8000)
	for _, bad := range [][]byte{dict[:8], dict[:100], append(bytes.Clone(dict[:8]), make([]byte, 500)...)} {
		if _, err := lookup(t, codec.Zstd).NewEncoder(codec.Params{Level: 5, Dict: bad}); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%d bytes: %v, want errors.ErrUnsupported", len(bad), err)
		}
	}
}

func TestDictionaryNoAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector makes pools drop memory")
	}
	text := input("words", 100000, 5)
	for _, id := range dictIDs {
		for _, level := range []int{1, 5, 9} {
			dict := train(t, id, pieces(text[:60000], 1000), 8000)
			e, err := lookup(t, id).NewEncoder(codec.Params{Level: level, Dict: dict})
			if err != nil {
				t.Fatal(err)
			}
			d, err := lookup(t, id).NewDecoder(codec.Params{Dict: dict})
			if err != nil {
				t.Fatal(err)
			}
			src := text[60000:90000]
			dst, out := make([]byte, len(src)), make([]byte, len(src))
			n := 0
			both := func() {
				n, _ = e.Encode(dst, src)
				d.Decode(out, dst[:n])
			}
			both()
			both()
			if got := testing.AllocsPerRun(3, both); got > 0 || n == 0 {
				t.Errorf("%v-%d: %v allocations, stream of %d bytes", id, level, got, n)
			}
		}
	}
}

// FuzzDictionary trains dictionaries, and encodes and decodes with them.
func FuzzDictionary(f *testing.F) {
	for i, id := range dictIDs {
		f.Add(uint8(i), 500, 3000, input("words", 9000, int(id)), input("words", 500, int(id)))
		f.Add(uint8(i), 50, 300, input("mixed", 3000, int(id)), input("mixed", 500, int(id)))
	}
	f.Fuzz(func(t *testing.T, which uint8, size, max int, samples, src []byte) {
		id := dictIDs[int(which)%len(dictIDs)]
		dict := train(t, id, pieces(samples, 1+size&0xffff), max)
		if dict == nil {
			return
		}
		e, err := lookup(t, id).NewEncoder(codec.Params{Level: 1 + int(which)%9, Dict: dict})
		if err != nil {
			t.Fatal(err)
		}
		d, err := lookup(t, id).NewDecoder(codec.Params{Dict: dict})
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, e, d, src, len(src))
	})
}

func BenchmarkTrainDict(b *testing.B) {
	samples := pieces(benchInput(benchSize), 4096)
	for _, id := range dictIDs {
		b.Run(id.String(), func(b *testing.B) {
			b.SetBytes(benchSize)
			b.ReportAllocs()
			for b.Loop() {
				train(b, id, samples, codecs.MaxDict)
			}
		})
	}
}

func BenchmarkEncodeDictionary(b *testing.B) {
	text := input("words", 100000, 5)
	src := text[80000:84096]
	for _, id := range dictIDs {
		for _, level := range []int{1, 5, 9} {
			b.Run(fmt.Sprintf("%v-%d", id, level), func(b *testing.B) {
				dict := train(b, id, pieces(text[:80000], 4096), 16384)
				e, err := lookup(b, id).NewEncoder(codec.Params{Level: level, Dict: dict})
				if err != nil {
					b.Fatal(err)
				}
				dst := make([]byte, len(src))
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					n, _ = e.Encode(dst, src)
				}
				b.ReportMetric(float64(len(src))/float64(n), "ratio")
			})
		}
	}
}

func Example_dictionary() {
	// Short streams contain few repetitions. Streams that resemble each other can refer to a dictionary instead.
	text := input("words", 40000, 1)
	blocks := pieces(text, 500)
	dict := text[:4000]
	c, err := codec.Set{}.ByID(codec.LZ4)
	if err != nil {
		panic(err)
	}
	total := 0
	for _, p := range []codec.Params{{Level: 5}, {Level: 5, Dict: dict}} {
		e, err := c.NewEncoder(p)
		if err != nil {
			panic(err)
		}
		before := total
		total = 0
		for _, block := range blocks {
			n, err := e.Encode(make([]byte, len(block)), block)
			if err != nil {
				n = len(block)
			}
			total += n
		}
		if before > 0 {
			fmt.Println(len(dict), "bytes of dictionary, less than two thirds of the size:", total < before*2/3)
		}
	}
	// Output: 4000 bytes of dictionary, less than two thirds of the size: true
}
