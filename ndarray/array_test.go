package ndarray

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

type fixture struct {
	File     string
	Kind     string
	SHA256   string
	NBytes   int64
	Shape    []int64
	Chunks   []int32
	Blocks   []int32
	DType    *string
	ItemSize int
	Slices   []struct {
		Start, Stop, Step []int64
		Shape             []int64
		SHA256            string
	}
	CParams map[string]string
	path    string
}

// fixtures returns the arrays of a folder of testdata.
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
		if c.Kind == "b2nd" {
			c.path = filepath.Join(dir, c.File)
			out = append(out, c)
		}
	}
	return out
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func TestFixtures(t *testing.T) {
	ctx := context.Background()
	for folder, want := range map[string]int{"python-blosc2": 202, "legacy": 18} {
		cases := fixtures(t, folder)
		if len(cases) != want {
			t.Errorf("%s: %d arrays, want %d", folder, len(cases), want)
		}
		for _, c := range cases {
			t.Run(c.File, func(t *testing.T) {
				a, err := Open(c.path, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				b := make([]byte, c.NBytes)
				err = a.ReadBytes(ctx, b)
				if err != nil {
					t.Fatal(err)
				}
				if sum(b) != c.SHA256 {
					t.Error("other content")
				}
				for i, s := range c.Slices {
					sel := make([]Index, len(s.Start))
					n := int64(c.ItemSize)
					for k := range sel {
						sel[k] = Step(s.Start[k], s.Stop[k], s.Step[k])
						n *= s.Shape[k]
					}
					b := make([]byte, n)
					if err := a.ReadBytes(ctx, b, sel...); err != nil {
						t.Errorf("slice %d %v: %v", i, sel, err)
					} else if sum(b) != s.SHA256 {
						t.Errorf("slice %d %v: other content", i, sel)
					}
				}
			})
		}
	}
}
