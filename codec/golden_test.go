package codec_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

// records reads the fields of the lines of a file that are not comments.
func records(t testing.TB, name string) (lines [][]string) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(bytes.NewReader(content))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if !strings.HasPrefix(s.Text(), "#") {
			lines = append(lines, strings.Fields(s.Text()))
		}
	}
	if s.Err() != nil || len(lines) == 0 {
		t.Fatalf("%s: %d lines, %v", name, len(lines), s.Err())
	}
	return lines
}

func parseID(t testing.TB, name string) codec.ID {
	t.Helper()
	for _, id := range ids {
		if id.String() == name {
			return id
		}
	}
	t.Fatalf("no codec %q", name)
	return 0
}

func parseInt(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func parseBase64(t testing.TB, s string) []byte {
	t.Helper()
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSameStreams compares the streams of the encoders that match a C library with digests of the library's streams.
func TestSameStreams(t *testing.T) {
	encoders := map[string]codec.Encoder{}
	step := 1
	if brief() {
		step = 13
	}
	for i, line := range records(t, "testdata/digests.txt") {
		if i%step != 0 {
			continue
		}
		name, level, kind, want := line[0], parseInt(t, line[1]), line[2], strings.Join(line[3:], " ")
		key := name + line[1]
		if encoders[key] == nil {
			encoders[key] = newEncoder(t, parseID(t, name), level)
		}
		e := encoders[key]
		got := digest(func(src []byte, _, room int) []byte {
			dst := make([]byte, room)
			n, err := e.Encode(dst, src)
			if err != nil {
				return nil
			}
			return dst[:n]
		}, kind, level, name == "lz4hc" || name == "zlib")
		if got != want {
			t.Errorf("%s, level %d, %s: %s, want %s", name, level, kind, got, want)
		}
	}
}

// TestDecodeStreams decodes streams of C libraries.
func TestDecodeStreams(t *testing.T) {
	seen := map[codec.ID]int{}
	for _, line := range records(t, "testdata/streams.txt") {
		id, level, kind, n, stream := parseID(t, line[0]), parseInt(t, line[1]), line[2], parseInt(t, line[3]), parseBase64(t, line[4])
		got, err := decode(t, newDecoder(t, id), stream, n)
		if err != nil || !bytes.Equal(got, input(kind, n, level)) {
			t.Errorf("%v, level %d, %s: wrong content: %v", id, level, kind, err)
		}
		seen[id] |= 1 << level
	}
	for _, id := range ids {
		if seen[id] != 1<<10-2 {
			t.Errorf("%v: only levels %b", id, seen[id])
		}
	}
}

// TestDecodeDictionaries decodes streams of C libraries with their dictionaries, and without.
func TestDecodeDictionaries(t *testing.T) {
	dicts := map[string][]byte{}
	text := input("words", 60000, 77)
	streams := 0
	for _, line := range records(t, "testdata/dictionaries.txt") {
		if line[0] == "dict" {
			dicts[line[1]] = parseBase64(t, line[2])
			continue
		}
		id, n, stream := parseID(t, line[1]), parseInt(t, line[3]), parseBase64(t, line[4])
		want := text[len(text)-n:]
		dict := dicts[line[0]]
		d, err := lookup(t, id).NewDecoder(codec.Params{Dict: dict})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := decode(t, d, stream, n); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v, %s dictionary, %d bytes: wrong content: %v", id, line[0], n, err)
			}
		}
		if got, err := decode(t, newDecoder(t, id), stream, n); err == nil && bytes.Equal(got, want) {
			t.Errorf("%v, %s dictionary, %d bytes: decodes without it", id, line[0], n)
		}
		if id != codec.Zstd { // only the last 64 KiB matter
			d, err := lookup(t, id).NewDecoder(codec.Params{Dict: append(make([]byte, 100_000), dict...)})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := decode(t, d, stream, n); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v, %s dictionary with more before, %d bytes: wrong content: %v", id, line[0], n, err)
			}
		}
		for k := range stream[:min(len(stream), 300)] {
			altered := bytes.Clone(stream)
			altered[k] ^= 0x41
			decode(t, d, altered, n)
			decode(t, d, stream[:k], n)
		}
		streams++
	}
	if len(dicts) != 2 || streams != 18 {
		t.Errorf("%d dictionaries, %d streams", len(dicts), streams)
	}
}

// TestCorruptDictionary gives the decoders invalid dictionaries.
func TestCorruptDictionary(t *testing.T) {
	trained := parseBase64(t, records(t, "testdata/dictionaries.txt")[0][2])
	for n := range 200 {
		altered := bytes.Clone(trained)
		altered[4+n] ^= 0xff
		for _, dict := range [][]byte{trained[:n], altered} {
			for _, id := range ids {
				d, err := lookup(t, id).NewDecoder(codec.Params{Dict: dict})
				if err != nil {
					if id != codec.Zstd {
						t.Errorf("%v: %v", id, err)
					}
					continue
				}
				decode(t, d, []byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, 9, 1, 2, 3, 4, 5, 6, 7, 8}, 9)
			}
		}
	}
	if _, err := lookup(t, codec.Zstd).NewDecoder(codec.Params{Dict: trained[:100]}); err == nil {
		t.Error("half a dictionary is accepted")
	}
}
