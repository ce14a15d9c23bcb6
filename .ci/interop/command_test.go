package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/manifest"
	"github.com/goblosc/blosc2/ndarray"
)

const (
	checkout = "../.."
	peer     = "../../../shared/peer" // folder of b2check.c, which prints what the reference reads
)

// programs builds the command blosc2 and the reference's b2check.
func programs(t *testing.T) (command, b2check string) {
	t.Helper()
	source := filepath.Join(peer, "b2check.c")
	dir := t.TempDir()
	command, b2check = filepath.Join(dir, "blosc2"), filepath.Join(dir, "b2check")
	build := exec.Command("go", "build", "-o", command, ".")
	build.Dir = filepath.Join(checkout, "examples", "blosc2")
	build.Env = append(os.Environ(), "GOWORK=", "CGO_ENABLED=0") // the file beside its go.mod; as in step modules
	for _, c := range []*exec.Cmd{build, exec.Command("cc", "-O1", "-o", b2check, source, "-lblosc2")} {
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, out)
		}
	}
	return command, b2check
}

// output runs a program and returns what it prints.
func output(name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %v: %v: %s", filepath.Base(name), args, err, stderr.String())
	}
	return out, nil
}

// info returns the object that a program prints.
func info(name string, args ...string) (map[string]any, error) {
	out, err := output(name, args...)
	if err != nil {
		return nil, err
	}
	var v map[string]any
	if err := json.Unmarshal(out, &v); err != nil {
		return nil, fmt.Errorf("%s: %v in %s", filepath.Base(name), err, out)
	}
	for _, key := range []string{"codec", "filter_names", "data_bytes", "padding_bytes", "meta", "meta_errors", "attrs", "attrs_errors"} {
		delete(v, key) // which only the command prints
	}
	return v, nil
}

// fixture is a frame of the test data.
type fixture struct{ manifest.Case }

func (f fixture) String() string { return f.File }

// fixtures returns the frames of the test data.
func fixtures(t *testing.T) []fixture {
	t.Helper()
	var all []fixture
	for _, folder := range []string{"python-blosc2", "legacy"} {
		for _, c := range manifest.Read(t, folder) {
			if c.Kind != "chunk" { // b2check opens frames
				c.File = c.Path
				all = append(all, fixture{c})
			}
		}
	}
	return all
}

// geometry lists the keys that b2check prints only if the reference can open the frame as an array.
var geometry = []string{"ndim", "shape", "chunks", "blocks", "dtype", "dtype_format"}

// TestCommandInfo compares the output of "blosc2 info -json" and of the reference for the test data.
func TestCommandInfo(t *testing.T) {
	command, b2check := programs(t)
	all := fixtures(t)
	var agree atomic.Int64
	inParallel(t, all, func(t *testing.T, _ *rand.Rand, _ string, c fixture) error {
		ours, err := info(command, "info", "-json", c.File)
		if err != nil {
			return err
		}
		theirs, err := info(b2check, "info", c.File)
		if err != nil {
			return err
		}
		if c.ReferenceOpens != nil && !*c.ReferenceOpens { // as an array
			for _, k := range geometry {
				delete(ours, k)
			}
		}
		if !reflect.DeepEqual(ours, theirs) {
			return fmt.Errorf("info differs\nGo %.1500v\nC  %.1500v", ours, theirs)
		}
		agree.Add(1)
		return nil
	})
	t.Logf("%d of %d frames agree", agree.Load(), len(all))
	if agree.Load() < 200 {
		t.Error("too few frames were compared")
	}
}

// TestCommandOnArrays compares the output of blosc2 and of the reference, info and content, for arrays of this library.
func TestCommandOnArrays(t *testing.T) {
	command, b2check := programs(t)
	var some []*arrayCase
	for _, c := range arrayCases(t, 1000) {
		if c.store != "memory" && len(some) < testCases(80) {
			some = append(some, c)
		}
	}
	inParallel(t, some, func(t *testing.T, rng *rand.Rand, dir string, c *arrayCase) error {
		items := content(rng, c.kind, c.nbytes(), c.ours.TypeSize)
		path := c.path(dir, "array")
		a, err := ndarray.CreateBytes(ctx, path, c.shape, c.dtype(), items, c.options(rng))
		if err != nil {
			return err
		}
		defer a.Close()
		l, err := layer(rng, 1, rng.IntN(len(valueKinds)))
		if err != nil {
			return err
		}
		if err := inBatch(a.Frame(), func(b *frame.Batch) error { return b.SetVLMeta(l.Name, l.Content) }); err != nil {
			return err
		}
		ours, err := info(command, "info", "-json", path)
		if err != nil {
			return err
		}
		theirs, err := info(b2check, "info", path)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(ours, theirs) {
			return fmt.Errorf("info differs\nGo %.1500v\nC  %.1500v", ours, theirs)
		}
		got, err := output(command, "dump", path)
		if err != nil || has(c.ours.Filters, chunk.Delta) || len(items) == 0 {
			return err
		}
		want, err := output(b2check, "dump", path)
		if err != nil {
			return err
		}
		return sameBytes(got, want)
	})
	if !t.Failed() {
		t.Logf("%d arrays agree", len(some))
	}
}
