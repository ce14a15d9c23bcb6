package coder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

type fixture struct {
	File   string
	Kind   string
	SHA256 string
	NBytes int
	data   []byte
}

// fixtures returns the bare chunks of a folder of testdata.
func fixtures(t testing.TB, folder string) []fixture {
	t.Helper()
	dir := filepath.Join("..", "..", "testdata", folder)
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Cases []fixture }
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	var out []fixture
	for _, c := range m.Cases {
		if c.Kind != "chunk" {
			continue
		}
		if c.data, err = os.ReadFile(filepath.Join(dir, c.File)); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
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
				if sum(got[4:]) != c.SHA256 || len(got)-4 != c.NBytes {
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
		for k := r.NumBlocks() - 1; k >= 0; k-- {
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
