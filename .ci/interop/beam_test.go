package interop

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/ndarray"
)

// TestBeam lets C-Blosc2 read every item of an array that a Beam pipeline of two stages has written, chunk by chunk.
func TestBeam(t *testing.T) {
	dir := t.TempDir()
	program, out := filepath.Join(dir, "rechunk"), filepath.Join(dir, "out")
	build := exec.Command("go", "build", "-o", program, "./rechunk")
	build.Dir = filepath.Join(checkout, "examples", "beam")
	build.Env = append(os.Environ(), "GOWORK=", "CGO_ENABLED=0") // the file beside its go.mod; as in step modules
	run := exec.Command(program, "-out", out, "-chunks", "-1,8,8", "-max-memory", "500000")
	for _, c := range []*exec.Cmd{build, run} {
		if b, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, b)
		}
	}
	sample, err := ndarray.Open(ctx, filepath.Join(out, "sample", "t2m.b2nd"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sample.Close()
	want := make([]byte, sample.NBytes())
	if err := sample.ReadBytes(ctx, want); err != nil {
		t.Fatal(err)
	}
	a, err := ref.OpenArray(filepath.Join(out, "t2m.b2nd"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got, err := a.Dump(); err != nil || !bytes.Equal(got, want) {
		t.Errorf("C-Blosc2 reads other items, %v", err)
	}
	x, err := a.Info()
	if err != nil {
		t.Fatal(err)
	}
	if g := x.Geometry; g.Chunks[0] != 60*24 || g.Chunks[1] != 8 || g.Chunks[2] != 8 || g.DType != sample.DType().String() {
		t.Errorf("%+v", g)
	}
	copied, err := ndarray.Open(ctx, filepath.Join(out, "t2m.b2nd"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if err := copied.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
}
