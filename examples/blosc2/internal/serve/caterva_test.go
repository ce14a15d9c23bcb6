package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// TestCaterva checks the answers that C2Array of python-blosc2 uses: its __init__ reads api/info with the keys below,
// and makes blosc2.CParams of cparams. It reads slices with api/fetch, chunks with api/chunk, and ranges of the frame.
func TestCaterva(t *testing.T) {
	c := testConfig()
	c.Attribute = writeLength
	s := newServer(t, fixturesDir, c)
	for _, p := range []string{"python-blosc2/vlmeta.b2nd", "python-blosc2/edited_sframe", "stores/tree.b2z/img/level0"} {
		a := openFixture(t, p)
		var info struct {
			Shape, Chunks, Blocks []int64
			DType, MTime          string
			SChunk                struct {
				NBytes, CBytes, BlockSize int64
				CRatio                    float64
				VLMeta                    map[string]any
				CParams                   map[string]any
			}
		}
		if err := json.Unmarshal([]byte(get(t, s, "/api/info/"+p)), &info); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(info.Shape, a.Shape()) || !slices.Equal(info.Chunks, a.Chunks()) || !slices.Equal(info.Blocks, a.Blocks()) || info.DType != a.DType().String() ||
			info.MTime == "" || info.SChunk.NBytes != a.Frame().Info().NBytes || info.SChunk.CRatio <= 0 || info.SChunk.BlockSize <= 0 || len(info.SChunk.VLMeta) != len(a.Frame().VLMetaNames()) {
			t.Errorf("%s: %+v", p, info)
		}
		for _, key := range []string{"codec", "codec_meta", "clevel", "use_dict", "typesize", "nthreads", "blocksize", "splitmode", "filters", "filters_meta", "tuner"} {
			if _, ok := info.SChunk.CParams[key]; !ok || len(info.SChunk.CParams) != 11 {
				t.Errorf("%s: no %s in %v", p, key, info.SChunk.CParams)
			}
		}
		raw, err := a.Frame().ReadRaw(t.Context(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := get(t, s, "/api/chunk/"+p+"?nchunk=0"); got != string(raw) {
			t.Errorf("%s: chunk 0 differs", p)
		}
		// The texts that slice_to_string makes of (), a[2:5], a[3], a[-1, 1:3] and a[:, 4:].
		for _, sel := range []string{"", "2:5", "3", "-1, 1:3", ":, 4:"} {
			frame := get(t, s, "/api/fetch/"+p+"?slice_="+url.QueryEscape(sel))
			b, err := ndarray.OpenBytes([]byte(frame), nil)
			if err != nil {
				t.Fatalf("%s[%s]: %v", p, sel, err)
			}
			index, err := parseSelection(sel)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := items(t, b), items(t, a, index...); !slices.Equal(got, want) || b.DType().String() != a.DType().String() {
				t.Errorf("%s[%s] differs", p, sel)
			}
		}
	}
	stored, err := os.ReadFile(filepath.Join(fixturesDir, "python-blosc2/vlmeta.b2nd"))
	if err != nil {
		t.Fatal(err)
	}
	if got := body(t, ask(t, s, "GET", "/api/fetch/python-blosc2/vlmeta.b2nd", "Range", "bytes=0-86"), 206); got != string(stored[:87]) {
		t.Errorf("%q", got)
	}
}

// writeLength writes the length of an attribute.
func writeLength(w *bufio.Writer, content []byte, check func(int64) error) error {
	err := check(int64(len(content)))
	if err == nil {
		fmt.Fprint(w, len(content))
	}
	return err
}

// items returns the bytes of a selection.
func items(t *testing.T, a *ndarray.Array, sel ...ndarray.Index) []byte {
	t.Helper()
	shape, err := a.SelectionShape(sel...)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := byteCount(shape, a.DType().Size)
	b := make([]byte, n)
	if err := a.ReadBytes(t.Context(), b, sel...); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFetchLossy fetches selections of arrays whose codec or filter is lossy. They have the items of the array, which
// encoding with the same parameters would change again.
func TestFetchLossy(t *testing.T) {
	dir := t.TempDir()
	data := make([]float32, 100*100)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = float32(100*math.Sin(float64(i)/37) + r.Float64())
	}
	whole := make([]int32, len(data))
	for i := range whole {
		whole[i] = int32(r.Uint32())
	}
	for name, o := range map[string]ndarray.CreateOptions{
		"zfp_acc":    {Codec: codec.ZFPAcc},
		"zfp_prec":   {Codec: codec.ZFPPrec, CodecMeta: 12},
		"zfp_rate":   {Codec: codec.ZFPRate, CodecMeta: 30},
		"ndmean":     {Filters: []chunk.Filter{chunk.NDMean.With(4), chunk.Shuffle}},
		"trunc_prec": {Filters: []chunk.Filter{chunk.TruncPrec.With(12), chunk.Shuffle}},
		"int_trunc":  {Filters: []chunk.Filter{chunk.IntTrunc.With(12)}},
		"ndcell":     {Filters: []chunk.Filter{chunk.NDCell.With(4)}},
		"plain":      {Codec: codec.LZ4, Filters: []chunk.Filter{chunk.Delta, chunk.BitShuffle}},
	} {
		o.Chunks, o.Blocks, o.NoSync = []int64{50, 50}, []int64{20, 20}, true
		var a *ndarray.Array
		var err error
		if file := filepath.Join(dir, name+".b2nd"); name == "int_trunc" {
			a, err = ndarray.Create(t.Context(), file, []int64{100, 100}, whole, &o)
		} else {
			a, err = ndarray.Create(t.Context(), file, []int64{100, 100}, data, &o)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		s := newServer(t, dir, testConfig())
		for _, sel := range []string{":", "3:91,7:90", "::-2,3:"} {
			index, err := parseSelection(sel)
			if err != nil {
				t.Fatal(err)
			}
			b, err := ndarray.OpenBytes([]byte(get(t, s, "/api/fetch/"+name+".b2nd?slice_="+sel)), nil)
			if err != nil {
				t.Fatalf("%s[%s]: %v", name, sel, err)
			}
			if !slices.Equal(items(t, b), items(t, a, index...)) {
				t.Errorf("%s[%s] differs", name, sel)
			}
			if p := b.Frame().Info().Params; !keepsBytes(p) || name == "plain" && p.Codec != codec.LZ4 {
				t.Errorf("%s[%s]: %+v", name, sel, p)
			}
		}
	}
}

// TestFetchSparse fetches a sparse frame: the bytes of its contiguous form, without ranges. HEAD does not make them.
func TestFetchSparse(t *testing.T) {
	dir := t.TempDir()
	a, err := ndarray.Create(t.Context(), filepath.Join(dir, "s.b2nd"), []int64{2, 3}, []int32{1, 2, 3, 4, 5, 6}, &ndarray.CreateOptions{
		Sparse: true, NoSync: true, Attrs: map[string]any{"author": "Ada"}, Meta: []meta.Layer{{Name: "proj", Content: []byte{1}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var saved bytes.Buffer
	if _, err := a.Save(t.Context(), &saved); err != nil {
		t.Fatal(err)
	}
	want := saved.String()
	c := testConfig()
	s := newServer(t, dir, c)
	const uri = "/api/fetch/s.b2nd"
	answer := ask(t, s, "GET", uri)
	if got := body(t, answer, 200); got != want {
		t.Errorf("%d bytes, which are not those of the frame of %d bytes", len(got), len(want))
	}
	if r := ask(t, s, "GET", uri, "Range", "bytes=3-86"); body(t, r, 200) != want || r.Header.Get("Accept-Ranges") != "" || r.ContentLength != int64(len(want)) {
		t.Errorf("range: %v", r)
	}
	tag := answer.Header.Get("ETag")
	s.memory.used.Add(s.memory.max)
	got := ask(t, s, "HEAD", uri)
	s.memory.give(s.memory.max)
	if h := got.Header; got.StatusCode != 200 || got.ContentLength != -1 || h.Get("Accept-Ranges") != "" || tag == "" || h.Get("ETag") != tag {
		t.Errorf("HEAD: %v", got)
	}
	body(t, ask(t, s, "GET", uri, "If-None-Match", tag), 304)
	b, err := ndarray.OpenBytes([]byte(get(t, s, uri+"?slice_=")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if names := b.Frame().VLMetaNames(); !slices.Equal(names, []string{"author"}) || !slices.Equal(items(t, b), items(t, a)) {
		t.Errorf("attributes %v", names)
	}
	c.Limits.Result = int64(len(want)) - 1
	body(t, ask(t, newServer(t, dir, c), "GET", uri), 413)
	s.memory.used.Add(s.memory.max)
	body(t, ask(t, s, "GET", uri), 503)
	s.memory.give(s.memory.max)
	get(t, s, uri)
}

// TestManyAttributes has attributes that are within the limit one by one, but not together.
func TestManyAttributes(t *testing.T) {
	dir := t.TempDir()
	a, err := ndarray.Zeros(t.Context(), filepath.Join(dir, "a.b2nd"), []int64{3}, "<i4", &ndarray.CreateOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x", "y", "z"} {
		err = errors.Join(err, a.SetAttr(t.Context(), name, make([]byte, 500_000)))
	}
	if err := errors.Join(err, a.Close()); err != nil {
		t.Fatal(err)
	}
	for limit, code := range map[int64]int{1 << 20: 413, 2 << 20: 200} {
		c := testConfig()
		c.Limits.Result = limit
		c.Attribute = writeLength
		body(t, ask(t, newServer(t, dir, c), "GET", "/api/info/a.b2nd"), code)
	}
}
