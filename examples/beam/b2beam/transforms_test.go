package b2beam_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/examples/beam/b2beam"
	"github.com/goblosc/blosc2/ndarray"
)

func init() {
	beam.RegisterFunction(double)
	beam.RegisterFunction(failOnce)
	beam.RegisterFunction(minus)
	beam.RegisterFunction(shrink)
}

// double returns twice the items, as float64.
func double(ctx context.Context, _ b2beam.Key, t b2beam.Tile) (b2beam.Tile, error) {
	x, err := b2beam.Items[float64](ctx, t)
	if err != nil {
		return t, err
	}
	for i := range x {
		x[i] *= 2
	}
	return b2beam.WithItems(ctx, t, x)
}

var failures atomic.Int64 // that failOnce is to return

var errOnce = errors.New("the test fails")

// failOnce returns the tile, or an error for one tile.
func failOnce(_ context.Context, k b2beam.Key, t b2beam.Tile) (b2beam.Tile, error) {
	if k.Start[0] == 8 && failures.Add(-1) >= 0 {
		return t, errOnce
	}
	return t, nil
}

// minus returns a - b, whose rows are repeated.
func minus(ctx context.Context, _ b2beam.Key, a, b b2beam.Tile) (b2beam.Tile, error) {
	x, err := b2beam.Items[float32](ctx, a)
	if err != nil {
		return a, err
	}
	y, err := b2beam.Items[float32](ctx, b)
	if err != nil {
		return a, err
	}
	for i := range x {
		x[i] -= y[i%len(y)]
	}
	return b2beam.WithItems(ctx, a, x)
}

// TestMap reads, maps and writes. The result must be the array of ndarray.Map, and its files those of one writer.
func TestMap(t *testing.T) {
	ctx := context.Background()
	f := create(t, "x", []int64{20, 15, 7}, []int64{8, 4, 7})
	out := t.TempDir()
	o := &ndarray.CreateOptions{Chunks: []int64{8, 4, 7}, Attrs: map[string]any{"units": "K", "n": int64(3)}}
	counters := mustRun(t, func(s beam.Scope) {
		tiles := b2beam.Read(s, []b2beam.File{f}, &b2beam.ReadOptions{Tile: []int64{8, 8, -1}})
		b2beam.Write(s, out, b2beam.Map(s, double, tiles), o)
	})
	a := open(t, f.Path)
	want, err := ndarray.Map(ctx, "", a, func(out []float64, in ndarray.Tile[float32]) error {
		for i, x := range in.Items {
			out[i] = 2 * float64(x)
		}
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := open(t, filepath.Join(out, "x.b2nd"))
	equal(t, got, want)
	var units string
	var n int64
	if err := errors.Join(got.Attr("units", &units), got.Attr("n", &n)); err != nil || units != "K" || n != 3 {
		t.Errorf("attributes %q, %d, %v", units, n, err)
	}
	if c := counters; c["tiles_read"] != 6 || c["bytes_read"] != 20*15*7*4 || c["chunks_written"] != 12 || c["bytes_written"] != 20*15*7*8 || c["arrays_finished"] != 1 {
		t.Errorf("counters %v", c)
	}

	alone := filepath.Join(t.TempDir(), "x.b2nd")
	r, err := ndarray.CreateRegions(ctx, alone, want.Shape(), "<f8", o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := errors.Join(r.WriteBytes(ctx, items(t, want)), r.Finish(ctx)); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(files(t, got.Frame().Path()), files(t, alone)) {
		t.Error("the files are not those of one writer")
	}
}

// TestRetries writes each tile twice, as two workers may, after a run that has failed in the middle.
func TestRetries(t *testing.T) {
	f := create(t, "x", []int64{40, 6}, []int64{4, 6})
	out := t.TempDir()
	pipeline := func(s beam.Scope) {
		tiles := b2beam.Map(s, failOnce, b2beam.Read(s, []b2beam.File{f}, nil))
		for range 2 {
			b2beam.Write(s, out, tiles, &ndarray.CreateOptions{Chunks: []int64{4, 6}})
		}
	}
	failures.Store(1)
	if _, err := run(t, pipeline); err == nil || !strings.Contains(err.Error(), errOnce.Error()) {
		t.Fatalf("error %v, want that of the function", err)
	}
	path := filepath.Join(out, "x.b2nd")
	if a, err := ndarray.Open(context.Background(), path, nil); err == nil {
		a.Close()
		t.Fatal("an array that is not complete can be opened")
	}
	mustRun(t, pipeline)
	first := files(t, path)
	equal(t, open(t, path), open(t, f.Path))
	mustRun(t, pipeline) // late duplicates
	if !maps.Equal(files(t, path), first) {
		t.Error("the second run changed the array")
	}
	mustRun(t, func(s beam.Scope) {
		b2beam.Write(s, out, b2beam.Read(s, []b2beam.File{f}, nil), &ndarray.CreateOptions{Chunks: []int64{4, 6}, Sparse: true})
	})
	for name, o := range map[string]ndarray.CreateOptions{
		"chunks":     {Chunks: []int64{8, 6}},
		"blocks":     {Chunks: []int64{4, 6}, Blocks: []int64{2, 6}},
		"level":      {Chunks: []int64{4, 6}, Level: 9},
		"checksums":  {Chunks: []int64{4, 6}, Checksums: true},
		"attributes": {Chunks: []int64{4, 6}, Attrs: map[string]any{"units": "K"}},
	} {
		_, err := run(t, func(s beam.Scope) {
			b2beam.Write(s, out, b2beam.Read(s, []b2beam.File{f}, &b2beam.ReadOptions{Tile: []int64{8, 6}}), &o)
		})
		if err == nil || !strings.Contains(err.Error(), "is finished, with another") || !maps.Equal(files(t, path), first) {
			t.Errorf("error %v for a finished array with other %s", err, name)
		}
	}
	other := create(t, "x", []int64{40, 6}, []int64{40, 6})
	_, err := run(t, func(s beam.Scope) {
		tiles := b2beam.Map(s, double, b2beam.Read(s, []b2beam.File{other}, nil))
		b2beam.Write(s, out, tiles, &ndarray.CreateOptions{Chunks: []int64{4, 6}})
	})
	if err == nil || !maps.Equal(files(t, path), first) {
		t.Errorf("error %v for an array that exists with another dtype", err)
	}
}

// TestRechunk moves items to other chunks, through the shuffle.
func TestRechunk(t *testing.T) {
	f := create(t, "x", []int64{30, 11, 9}, []int64{1, 11, 9})
	out := t.TempDir()
	chunks := []int64{-1, 4, 3}
	pipeline := func(dir string, memory int64) func(s beam.Scope) {
		return func(s beam.Scope) {
			tiles := b2beam.Read(s, []b2beam.File{f}, &b2beam.ReadOptions{MaxTile: 3000})
			tiles = b2beam.Rechunk(s, tiles, b2beam.RechunkOptions{Chunks: chunks, MaxMemory: memory})
			b2beam.Write(s, dir, tiles, &ndarray.CreateOptions{Chunks: chunks})
		}
	}
	mustRun(t, pipeline(out, 8000))
	got := open(t, filepath.Join(out, "x.b2nd"))
	equal(t, got, open(t, f.Path))
	if c := got.Chunks(); c[0] != 30 || c[1] != 4 || c[2] != 3 {
		t.Errorf("chunks %v", c)
	}
	if _, err := run(t, pipeline(t.TempDir(), 2000)); err == nil || !strings.Contains(err.Error(), `array "x", tile [0 0 0]`) {
		t.Errorf("error %v, want one for a limit below a tile", err)
	}
}

// TestRechunkStored copies two arrays in stages. The memory is the least that a chunk needs.
func TestRechunkStored(t *testing.T) {
	ctx := context.Background()
	in := []b2beam.File{create(t, "x", []int64{32, 4, 4}, []int64{1, 4, 4}), create(t, "y", []int64{32, 4, 4}, []int64{1, 4, 4}), create(t, "z", []int64{5}, []int64{2})}
	out, temp := t.TempDir(), t.TempDir()
	rechunk := func(files []b2beam.File, dir string, memory int64, chunks ...int64) map[string]int64 {
		return mustRun(t, func(s beam.Scope) {
			if _, err := b2beam.RechunkStored(ctx, s, files, dir, temp, b2beam.RechunkOptions{Chunks: chunks, MaxMemory: memory}, &ndarray.CreateOptions{NoSync: true}); err != nil {
				t.Fatal(err)
			}
		})
	}
	c := rechunk(in[:2], out, 128, -1, 1, 1)
	plan, err := ndarray.PlanRechunk([]int64{32, 4, 4}, 4, []int64{1, 4, 4}, []int64{32, 1, 1}, 128)
	if err != nil {
		t.Fatal(err)
	}
	if n := int64(2 * len(plan)); len(plan) < 2 || c["arrays_finished"] != n || c["bytes_written"] != n*32*4*4*4 {
		t.Errorf("%d stages, counters %v", len(plan), c)
	}
	for _, f := range in[:2] {
		got := open(t, filepath.Join(out, f.Name+".b2nd"))
		equal(t, got, open(t, f.Path))
		if n := got.Chunks(); n[0] != 32 || n[1] != 1 {
			t.Errorf("chunks %v", n)
		}
	}
	if left := files(t, temp); len(left) > 0 {
		t.Errorf("%d files are left of the stages", len(left))
	}
	rechunk(in[2:], out, 0, 3)
	equal(t, open(t, filepath.Join(out, "z.b2nd")), open(t, in[2].Path))
	_, s := beam.NewPipelineWithRoot()
	_, err = b2beam.RechunkStored(ctx, s, in, out, temp, b2beam.RechunkOptions{Chunks: []int64{-1, 1, 1}, MaxMemory: 100}, nil)
	if !errors.Is(err, ndarray.ErrTooLarge) || !strings.Contains(err.Error(), `array "x"`) {
		t.Errorf("error %v for a limit below a chunk", err)
	}
}

// TestSharedTemp copies two arrays with one name in one pipeline, with one folder for the arrays between the stages.
func TestSharedTemp(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	var in [2]b2beam.File
	for i := range in {
		in[i] = b2beam.File{Name: "x", Path: filepath.Join(dir, fmt.Sprintf("x%d.b2nd", i))}
		a, err := ndarray.Full(ctx, in[i].Path, []int64{32, 4, 4}, float32(i+1), &ndarray.CreateOptions{Chunks: []int64{1, 4, 4}})
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
	}
	out := func(i int) string { return filepath.Join(dir, fmt.Sprintf("out%d", i)) }
	mustRun(t, func(s beam.Scope) {
		for i, f := range in {
			o := b2beam.RechunkOptions{Chunks: []int64{-1, 1, 1}, MaxMemory: 128}
			if _, err := b2beam.RechunkStored(ctx, s, []b2beam.File{f}, out(i), filepath.Join(dir, "temp"), o, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
	for i, f := range in {
		equal(t, open(t, filepath.Join(out(i), "x.b2nd")), open(t, f.Path))
	}
	if left := files(t, filepath.Join(dir, "temp")); len(left) > 0 {
		t.Errorf("%d files are left of the stages", len(left))
	}
}

// TestZip subtracts an array from itself, and the mean over files of equal shape from each file.
func TestZip(t *testing.T) {
	ctx := context.Background()
	parts := []b2beam.File{create(t, "a", []int64{4, 6, 5}, []int64{2, 3, 5}), create(t, "b", []int64{4, 6, 5}, []int64{2, 3, 5})}
	joined, err := b2beam.Concat(ctx, "all", 0, parts)
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	mustRun(t, func(s beam.Scope) {
		tiles := b2beam.Read(s, joined, nil)
		o := &ndarray.CreateOptions{Chunks: []int64{2, 3, 5}}
		b2beam.Write(s, filepath.Join(out, "zero"), b2beam.Zip(s, minus, tiles, tiles, nil), o)
		first := b2beam.Reduce(s, ndarray.OpMin, tiles, &ndarray.ReduceOptions{Axes: []int{0}, KeepDims: true})
		b2beam.Write(s, filepath.Join(out, "above"), b2beam.Zip(s, minus, tiles, first, &b2beam.ZipOptions{Broadcast: []int{0}}), o)
	})
	all, err := ndarray.Concat(ctx, "", 0, []ndarray.Reader{open(t, parts[0].Path), open(t, parts[1].Path)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	zero, err := ndarray.Zeros(ctx, "", all.Shape(), "<f4", nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, open(t, filepath.Join(out, "zero", "all.b2nd")), zero)
	low, err := ndarray.Reduce(ctx, all, ndarray.OpMin, &ndarray.ReduceOptions{Axes: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	x, errX := ndarray.Read[float32](ctx, all)
	y, errY := ndarray.Read[float32](ctx, low)
	if errX != nil || errY != nil {
		t.Fatal(errX, errY)
	}
	for i := range x {
		x[i] -= y[i%len(y)]
	}
	want, err := ndarray.Create(ctx, "", all.Shape(), x, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, open(t, filepath.Join(out, "above", "all.b2nd")), want)
	other := create(t, "all", []int64{8, 6, 4}, []int64{2, 3, 4})
	_, err = run(t, func(s beam.Scope) {
		b2beam.Zip(s, minus, b2beam.Read(s, joined, nil), b2beam.Read(s, []b2beam.File{other}, nil), nil)
	})
	if err == nil || !strings.Contains(err.Error(), `array "all", tile [`) {
		t.Errorf("error %v for arrays of two shapes", err)
	}
}

// shrink returns a tile of another shape.
func shrink(_ context.Context, _ b2beam.Key, t b2beam.Tile) (b2beam.Tile, error) {
	t.Shape, t.Data = []int64{1, t.Shape[1]}, t.Data[:4*t.Shape[1]]
	return t, nil
}

// TestErrors checks that errors name array and tile.
func TestErrors(t *testing.T) {
	f := create(t, "x", []int64{12, 6}, []int64{4, 6})
	for name, c := range map[string]struct {
		want  string
		build func(s beam.Scope, tiles beam.PCollection)
	}{
		"part of a chunk": {`array "x", tile [`, func(s beam.Scope, tiles beam.PCollection) {
			b2beam.Write(s, t.TempDir(), tiles, &ndarray.CreateOptions{Chunks: []int64{5, 6}, NoSync: true})
		}},
		"shape": {`array "x", tile [`, func(s beam.Scope, tiles beam.PCollection) { b2beam.Map(s, shrink, tiles) }},
		"axis": {`array "x", tile [`, func(s beam.Scope, tiles beam.PCollection) {
			b2beam.Reduce(s, ndarray.OpMax, tiles, &ndarray.ReduceOptions{Axes: []int{-3}})
		}},
		"twice": {`array "x", tile [0 0]: the tiles have`, func(s beam.Scope, tiles beam.PCollection) {
			b2beam.Reduce(s, ndarray.OpSum, beam.Flatten(s, tiles, tiles), nil)
		}},
		"written twice": {`array "x": `, func(s beam.Scope, tiles beam.PCollection) {
			b2beam.Write(s, t.TempDir(), beam.Flatten(s, tiles, tiles), &ndarray.CreateOptions{Chunks: []int64{4, 6}})
		}},
		"overlap and gap": {`twice, and leave a gap`, func(s beam.Scope, _ beam.PCollection) {
			g := f
			g.Start, g.Of = []int64{0, 0}, []int64{24, 6}
			b2beam.Rechunk(s, b2beam.Read(s, []b2beam.File{g, g}, nil), b2beam.RechunkOptions{Chunks: []int64{-1, -1}})
		}},
		"overlap and gap in Reduce": {`twice, and leave a gap`, func(s beam.Scope, _ beam.PCollection) {
			g := f
			g.Start, g.Of = []int64{0, 0}, []int64{24, 6}
			b2beam.Reduce(s, ndarray.OpSum, b2beam.Read(s, []b2beam.File{g, g}, nil), nil)
		}},
		"no start": {`items of shape [12 6] at [] of an array of shape [24 6]`, func(s beam.Scope, _ beam.PCollection) {
			b2beam.Read(s, []b2beam.File{{Name: "x", Path: f.Path, Of: []int64{24, 6}}}, nil)
		}},
		"foreign folder": {"x.b2nd is not an array that Write began", func(s beam.Scope, tiles beam.PCollection) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "x.b2nd"), 0o777); err != nil {
				t.Fatal(err)
			}
			b2beam.Write(s, dir, tiles, nil)
		}},
		"no file": {`array "gone"`, func(s beam.Scope, _ beam.PCollection) {
			b2beam.Read(s, []b2beam.File{{Name: "gone", Path: f.Path + ".gone"}}, nil)
		}},
		"name": {`array "../y"`, func(s beam.Scope, _ beam.PCollection) {
			b2beam.Write(s, t.TempDir(), b2beam.Read(s, []b2beam.File{{Name: "../y", Path: f.Path}}, nil), nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, func(s beam.Scope) { c.build(s, b2beam.Read(s, []b2beam.File{f}, nil)) })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %s", err, c.want)
			}
		})
	}
}

// TestGlob lists files below a folder whose name looks like a pattern.
func TestGlob(t *testing.T) {
	root := filepath.Join(t.TempDir(), "run[1]")
	for _, name := range []string{"b/x.b2nd", "a/x.b2nd", "a/y.npy", "[ab]/x.b2nd", "z.b2nd"} {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string][]string{
		"[ab]/*.b2nd": {"a/x", "b/x"}, "./*.b2nd": {"z"}, "a//?.*": {"a/x", "a/y"}, "*": {"[ab]", "a", "b", "z"}, "none/*": nil,
	} {
		files, err := b2beam.Glob(root, pattern)
		if want == nil {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v, want ErrNotExist", pattern, err)
			}
			continue
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
			if _, err := os.Stat(f.Path); err != nil {
				t.Error(err)
			}
		}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: %q, %v, want %q", pattern, names, err, want)
		}
	}
	if _, err := b2beam.Glob(root, "["); !errors.Is(err, path.ErrBadPattern) {
		t.Errorf("bad pattern: %v", err)
	}
}

// TestURL reads an array over HTTP, a damaged one, and one that is replaced after its version is known: the error names
// array and tile.
func TestURL(t *testing.T) {
	f := create(t, "x", []int64{20, 50}, []int64{5, 50})
	b, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte(nil), b...)
	for i := len(b) / 3; i < len(b)*2/3; i++ {
		damaged[i] ^= 0x55
	}
	var replaced atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		etag, content := `"1"`, b
		switch {
		case r.URL.Path == "/damaged.b2nd":
			content = damaged
		case r.URL.Path == "/replaced.b2nd" && replaced.Swap(true):
			etag = `"2"`
		}
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(content)))
	}))
	defer server.Close()
	good := b2beam.File{Name: "good", Path: server.URL + "/good.b2nd"}
	parts, err := b2beam.Concat(t.Context(), "all", 0, []b2beam.File{good})
	if err != nil || parts[0].Version != `"1"` {
		t.Errorf("Concat: %v, %v, want the version", parts, err)
	}
	good.Version = `"0"`
	if _, err := b2beam.Concat(t.Context(), "all", 0, []b2beam.File{good}); !errors.Is(err, ndarray.ErrChanged) {
		t.Errorf("Concat of another version: %v, want ErrChanged", err)
	}
	read := func(name, out string) error {
		_, err := run(t, func(s beam.Scope) {
			tiles := b2beam.Read(s, []b2beam.File{{Name: name, Path: server.URL + "/" + name + ".b2nd"}}, nil)
			b2beam.Write(s, out, tiles, &ndarray.CreateOptions{Chunks: []int64{5, 50}})
		})
		return err
	}
	out := t.TempDir()
	if err := read("good", out); err != nil {
		t.Fatal(err)
	}
	equal(t, open(t, filepath.Join(out, "good.b2nd")), open(t, f.Path))
	if err := read("damaged", out); err == nil || !strings.Contains(err.Error(), `array "damaged", tile [`) {
		t.Errorf("error %v, want one with array and tile", err)
	}
	if err := read("replaced", out); err == nil || !strings.Contains(err.Error(), `array "replaced", tile [`) || !strings.Contains(err.Error(), ndarray.ErrChanged.Error()) {
		t.Errorf("error %v, want ErrChanged with array and tile", err)
	}
}

// TestFolderBytes checks that folders whose names are not UTF-8 are refused.
func TestFolderBytes(t *testing.T) {
	f := create(t, "x", []int64{4, 6}, []int64{4, 6})
	dir := t.TempDir()
	bad := filepath.Join(dir, "out-\xe9")
	_, s := beam.NewPipelineWithRoot()
	for _, folders := range [][2]string{{bad, dir}, {dir, bad}} {
		o := b2beam.RechunkOptions{Chunks: []int64{-1, 1}}
		if _, err := b2beam.RechunkStored(t.Context(), s, []b2beam.File{f}, folders[0], folders[1], o, nil); !errors.Is(err, ndarray.ErrParam) {
			t.Errorf("RechunkStored: error %v, want ErrParam", err)
		}
	}
	defer func() {
		if !strings.Contains(fmt.Sprint(recover()), "is not UTF-8") {
			t.Error("Write does not panic")
		}
	}()
	b2beam.Write(s, bad, b2beam.Read(s, []b2beam.File{f}, nil), nil)
}

// TestPartsAgain checks that parts of an array are not joined as if they were arrays.
func TestPartsAgain(t *testing.T) {
	f := create(t, "x", []int64{4, 6}, []int64{4, 6})
	parts, err := b2beam.Concat(t.Context(), "y", 0, []b2beam.File{f, f})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b2beam.Concat(t.Context(), "z", 1, parts); !errors.Is(err, ndarray.ErrParam) {
		t.Errorf("error %v, want ErrParam", err)
	}
}

// TestDDof checks that Reduce does not ignore a DDof.
func TestDDof(t *testing.T) {
	defer func() {
		if !strings.Contains(fmt.Sprint(recover()), "DDof of 1 does not apply") {
			t.Error("Reduce does not panic")
		}
	}()
	_, s := beam.NewPipelineWithRoot()
	b2beam.Reduce(s, ndarray.OpMean, b2beam.Read(s, nil, nil), &ndarray.ReduceOptions{DDof: 1})
}
