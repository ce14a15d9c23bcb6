package coder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/manifest"
)

// fixture is a chunk of the test data.
type fixture struct {
	manifest.Case
	data []byte
}

// fixtures returns the bare chunks of a folder of testdata.
func fixtures(t testing.TB, folder string) []fixture {
	t.Helper()
	var out []fixture
	for _, c := range manifest.Read(t, folder) {
		if c.Kind != "chunk" {
			continue
		}
		data, err := os.ReadFile(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fixture{c, data})
	}
	return out
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func TestFixtures(t *testing.T) {
	for folder, want := range map[string]int{"python-blosc2": 67, "blosc1": 126} {
		all := fixtures(t, folder)
		if len(all) != want {
			t.Errorf("%s: %d chunks, want %d", folder, len(all), want)
		}
		for _, c := range all {
			for _, workers := range []int{1, 3} {
				got, err := Decode([]byte("head"), c.data, &Options{Concurrency: workers})
				if err != nil {
					t.Errorf("%s: %v", c.File, err)
					continue
				}
				if sum(got[4:]) != c.SHA256 || int64(len(got)-4) != c.NBytes {
					t.Errorf("%s: %d bytes decode to other content", c.File, len(got)-4)
				}
				readBlocks(t, c, got[4:])
			}
		}
	}
}

// readBlocks decodes single blocks through an io.ReaderAt and compares them with the whole.
func readBlocks(t *testing.T, c fixture, whole []byte) {
	t.Helper()
	p := NewPool(nil)
	w := p.Get()
	pad := append(bytes.Repeat([]byte{0xaa}, 100), c.data...)
	for _, want := range []float64{0.1, 1} {
		var r Reader
		if err := w.OpenAt(&r, bytes.NewReader(pad), 100, int64(len(c.data)), 0, want); err != nil {
			t.Errorf("%s: %v", c.File, err)
			return
		}
		for k := r.NumBlocks - 1; k >= 0; k-- {
			b := make([]byte, r.BlockLen(k))
			if err := w.DecodeBlock(b, &r, k); err != nil {
				t.Errorf("%s: %v", c.File, err)
			}
			if at := r.BlockOffset(k); !bytes.Equal(b, whole[at:at+len(b)]) {
				t.Errorf("%s: block %d alone differs from the whole", c.File, k)
			}
		}
	}
}

// plugins returns user codecs and user filters as options have them.
func plugins(list ...any) Plugins {
	var codecs []codec.Codec
	var filters []UserFilter
	for _, p := range list {
		switch p := p.(type) {
		case codec.Codec:
			codecs = append(codecs, p)
		case UserFilter:
			filters = append(filters, p)
		}
	}
	p, err := NewPlugins(codecs, filters)
	if err != nil {
		panic(err)
	}
	return p
}
