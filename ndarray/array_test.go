package ndarray

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/goblosc/blosc2/internal/manifest"
)

// fixture is an array of the test data.
type fixture struct{ manifest.Case }

// fixtures returns the arrays of a folder of testdata.
func fixtures(t testing.TB, folder string) []fixture {
	t.Helper()
	var out []fixture
	for _, c := range manifest.Read(t, folder) {
		if c.Kind == "b2nd" {
			out = append(out, fixture{c})
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
				a, err := Open(c.Path, nil)
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
