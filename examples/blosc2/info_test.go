package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// TestInfoMatchesC compares the JSON with the output of a program that uses C-Blosc2 3.3. The program does not know
// arrays whose metalayer has six elements, so its output for them lacks the keys of arrays.
func TestInfoMatchesC(t *testing.T) {
	f, err := os.Open("testdata/info.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		want := lines.Text()
		var head struct{ Path string }
		if err := json.Unmarshal([]byte(want), &head); err != nil {
			t.Fatal(err)
		}
		got := must(t, "", "info", "-json", head.Path)
		if i := strings.Index(got, `,"codec":`); i > 0 { // the keys that only this program prints
			got = got[:i] + "}\n"
		}
		if strings.Contains(head.Path, "draft6") {
			i := strings.Index(got, `,"ndim"`)
			if i < 0 || !strings.Contains(got[i:], `"shape":[`) {
				t.Errorf("%s: no array: %s", head.Path, got)
				continue
			}
			got = got[:i] + "}\n"
		}
		var one, two bytes.Buffer // the outputs differ in escapes
		if json.Compact(&one, []byte(got)) != nil || json.Compact(&two, []byte(want)) != nil || one.String() != two.String() {
			t.Errorf("%s\n got %swant %s", head.Path, got, want)
		}
	}
	if lines.Err() != nil || n < 240 {
		t.Errorf("%d lines: %v", n, lines.Err())
	}
}

func TestInfoText(t *testing.T) {
	for path, words := range map[string][]string{
		"python-blosc2/meta.b2nd": {
			"array, contiguous file", "shape            (20, 20)", "chunks           (10, 10)", "blocks           (5, 5)",
			"dtype            <i4\n", "(1,600 bytes) in 4 chunks", "ratio 1.754", "zstd, level 5", "filters          shuffle\n",
			`metalayer author "fixture"`, `{"alpha": 1, "beta": [1.5, 2]}`,
		},
		"python-blosc2/vlmeta.b2nd":                    {`vlmeta str        "héllo"`, "vlmeta float      2.5", `[1, "two", 3.0, null, true]`, "xxx ..."},
		"python-blosc2/trunc_prec_neg_f8.b2nd":         {"trunc_prec(20), shuffle"},
		"python-blosc2/zfp_acc_2d_f4.b2nd":             {"zfp_acc"},
		"python-blosc2/schunk_append_s":                {"super-chunk, sparse directory", "chunk size 3.91 KiB (4,000 bytes)"},
		"legacy/legacy_caterva_2d_s.b2nd":              {"none, read as |S4"},
		"legacy/legacy_b2nd_draft6_2d_c.b2nd":          {"int32, read as <i4"},
		"legacy/vl_zstd_dict_s.b2frame":                {"zstd, dictionaries, level 5", "block size  varies by block"},
		"legacy/varchunks_c.b2frame":                   {"chunk size  varies by chunk"},
		"python-blosc2/schunk_empty.b2frame":           {"chunk size  set by the first chunk"},
		"python-blosc2/chunk_zlib_bitshuffle_12.chunk": {"chunk, format 5", "codec       zlib", "filters     bitshuffle"},
		"blosc1/blosc1_snappy_f1_ts4.chunk":            {"chunk, format 2", "codec       snappy", "(21,314 bytes) in 2 blocks"},
	} {
		got := strings.ReplaceAll(must(t, "", "info", fixturesDir+"/"+path), "  \n", "\n")
		for _, w := range words {
			if !strings.Contains(squeeze(got), squeeze(w)) {
				t.Errorf("%s: %q is missing in\n%s", path, w, got)
			}
		}
	}
}

// squeeze replaces several spaces by one.
func squeeze(s string) string {
	for strings.Contains(s, "  ") {
		s = strings.ReplaceAll(s, "  ", " ")
	}
	return s
}

func TestInfoChunkJSON(t *testing.T) {
	for _, folder := range []string{"python-blosc2", "blosc1"} {
		n := 0
		for _, c := range fixtures(t, folder) {
			if c.Kind != "chunk" {
				continue
			}
			n++
			var got chunkFields
			if err := json.Unmarshal([]byte(must(t, "", "info", "-json", c.Path)), &got); err != nil {
				t.Fatal(err)
			}
			fi, err := os.Stat(c.Path)
			if err != nil {
				t.Fatal(err)
			}
			if int64(got.NBytes) != c.NBytes || got.TypeSize != c.TypeSize || int64(got.CBytes) != fi.Size() || got.Path != c.Path {
				t.Errorf("%s: %+v", c.File, got)
			}
			for code, name := range []string{"_blosclz_", "_lz4_", "_lz4hc_", "_snappy_", "_zlib_", "_zstd_"} {
				// Blosc1 chunks do not distinguish lz4 and lz4hc.
				if strings.Contains(c.File, name) && int(got.CompCode) != code && !(code == 2 && folder == "blosc1") {
					t.Errorf("%s: compcode %d", c.File, got.CompCode)
				}
			}
		}
		if n == 0 {
			t.Errorf("no chunks in %s", folder)
		}
	}
}

// TestInfoManyChunks prints chunks in pages: all of them, and those that a full disk has room for.
func TestInfoManyChunks(t *testing.T) {
	array := func(chunks int64) string {
		path := filepath.Join(t.TempDir(), "a.b2nd")
		a, err := ndarray.Zeros(t.Context(), path, []int64{chunks}, "|u1", &ndarray.CreateOptions{Chunks: []int64{1}})
		if err == nil {
			err = a.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	const n = 2*chunkRows + 5
	_, table, _ := strings.Cut(must(t, "", "info", "-chunks", array(n)), "\n\n")
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if len(lines) != n+1 || !strings.HasPrefix(lines[0], "chunk  grid ") {
		t.Fatalf("%d lines, the first is %q", len(lines), lines[0])
	}
	for i, line := range lines[1:] {
		if want := fmt.Sprintf("%5d  (%d,)", i, i); !strings.HasPrefix(line, want) || !strings.HasSuffix(line, "  zeros") {
			t.Fatalf("%q, want %q and zeros", line, want)
		}
	}
	many := array(1 << 20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	code := run(t.Context(), []string{"info", "-chunks", many}, strings.NewReader(""), fullDisk{}, io.Discard)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; code != 1 || got > 64<<20 {
		t.Errorf("exit %d, %d bytes of memory", code, got)
	}
}

// TestInfoJSONErrors expects the error of an attribute that cannot be decoded, and null only for an attribute that is
// null.
func TestInfoJSONErrors(t *testing.T) {
	a := newArray(t)
	must(t, "", "vlmeta", a, "set", "nothing", "null")
	if out := must(t, "", "info", "-json", a); strings.Contains(out, "_errors") {
		t.Errorf("%s", out)
	}
	must(t, "", "vlmeta", "-hex", a, "set", "broken", "91")
	var info struct {
		Attrs  map[string]any
		Errors map[string]string `json:"attrs_errors"`
	}
	out := must(t, "", "info", "-json", a)
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		t.Fatal(err)
	}
	nothing, ok := info.Attrs["nothing"]
	_, decoded := info.Attrs["broken"]
	if !ok || nothing != nil || decoded || !strings.Contains(info.Errors["broken"], "unmarshal") || len(info.Errors) != 1 {
		t.Errorf("%s", out)
	}
}
