package frame

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
	File      string
	Kind      string
	SHA256    string
	NBytes    int64
	NChunks   int
	TypeSize  int
	ChunkSize int
	Path      string
}

// fixtures returns the frames of a folder of testdata.
func fixtures(t testing.TB, folder string) []fixture {
	t.Helper()
	dir := filepath.Join("..", "testdata", folder)
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
		if c.Kind == "chunk" {
			continue
		}
		c.Path = filepath.Join(dir, c.File)
		out = append(out, c)
	}
	return out
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func TestOpenFixtures(t *testing.T) {
	for _, folder := range []string{"python-blosc2", "legacy"} {
		for _, c := range fixtures(t, folder) {
			f, err := Open(c.Path, nil)
			if err != nil {
				t.Errorf("%s: %v", c.File, err)
				continue
			}
			if c.Kind == "schunk" {
				var b bytes.Buffer
				if _, err := f.WriteTo(&b); err != nil || sum(b.Bytes()) != c.SHA256 {
					t.Errorf("%s: other content (%v)", c.File, err)
				}
			}
			f.Close()
		}
	}
}

func TestCreateAppend(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "x.b2frame")
		f, err := Create(name, &Options{Sparse: sparse}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for i := range 20 {
			p := bytes.Repeat([]byte{byte(i)}, 1000)
			p[i] = 77
			want = append(want, p...)
			if err := f.Append(p); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.SetVLMeta("a", []byte("hello")); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if f, err = Open(name, nil); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if n, err := f.ReadAt(got, 0); n != len(want) || err != nil || !bytes.Equal(got, want) {
			t.Errorf("read %d bytes: %v", n, err)
		}
		if v, err := f.VLMeta("a"); string(v) != "hello" || err != nil {
			t.Error(string(v), err)
		}
		t.Logf("%+v", f.Info())
	}
}
