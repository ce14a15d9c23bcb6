package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// TestChecksums creates frames with checksums, changes a byte of an uncompressed chunk, and expects verify to report
// the chunk. Copies keep the checksums.
func TestChecksums(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 4))
	raw := make([]byte, 8000)
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	array, plain := filepath.Join(dir, "a.b2nd"), filepath.Join(dir, "p.b2frame")
	must(t, string(raw), "create", "-shape", "1000", "-dtype", "<i8", "-chunks", "100", "-blocks", "50", "-checksums", array)
	must(t, string(raw), "create", "-chunksize", "800", "-checksums", plain)
	for i, from := range []string{array, plain} {
		for _, args := range [][]string{{}, {"-codec", "lz4"}, {"-chunksize", "1600"}, {"-chunks", "200"}} {
			if len(args) > 0 && (args[0] == "-chunksize") != (i == 1) && args[0] != "-codec" {
				continue
			}
			to := filepath.Join(dir, "copy"+strings.Join(args, ""))
			must(t, "", append(append([]string{"copy", "-overwrite"}, args...), from, to)...)
			must(t, "", "verify", to)
			b, err := os.ReadFile(to)
			if err != nil {
				t.Fatal(err)
			}
			at := strings.Index(string(b), string(raw[4010:4020]))
			if at < 0 {
				t.Fatal("no stored bytes")
			}
			b[at] ^= 4
			if err := os.WriteFile(to, b, 0o666); err != nil {
				t.Fatal(err)
			}
			code, out, _ := call(t, "", "verify", to)
			n := "5"
			if len(args) > 0 && strings.HasPrefix(args[0], "-chunk") {
				n = "2"
			}
			if want := "chunk " + n + " at byte "; code != 1 || !strings.Contains(string(out), want) || !strings.Contains(string(out), "checksum") {
				t.Errorf("copy %v of %s: exit %d, %s, want %s", args, from, code, out, want)
			}
		}
	}
}

// TestCopyBlockTable copies a frame with a block table. Copies have one, too.
func TestCopyBlockTable(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a.b2frame"), filepath.Join(dir, "b.b2frame")
	f, err := frame.CreateFunc(t.Context(), from, func(b *frame.Batch) error {
		return b.Append(t.Context(), []byte(strings.Repeat("some text ", 800)))
	}, &frame.CreateOptions{ChunkSize: 8000, BlockTable: true})
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, args := range [][]string{{}, {"-codec", "lz4"}, {"-chunksize", "1600"}} {
		must(t, "", append(append([]string{"copy", "-overwrite"}, args...), from, to)...)
		f, err := frame.Open(t.Context(), to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !f.Info().BlockTable {
			t.Errorf("copy %v: no block table", args)
		}
		f.Close()
	}
}

// TestCopyNames copies a super-chunk and an array with a metalayer whose name a new frame cannot have. Copies keep it.
func TestCopyNames(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a.b2nd"), filepath.Join(dir, "b.b2nd")
	layers := []meta.Layer{{Name: "good", Content: []byte{1}}, {Name: "a.b", Content: []byte{2}}}
	f, err := frame.CreateFunc(t.Context(), from, func(b *frame.Batch) error {
		return b.Append(t.Context(), make([]byte, 1000))
	}, &frame.CreateOptions{ChunkSize: 500, Meta: layers})
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	a, err := ndarray.Zeros(t.Context(), from+"2", []int64{1000}, "<i4", &ndarray.CreateOptions{Meta: layers})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	for _, c := range [][]string{{from}, {from, "-codec", "lz4"}, {from, "-chunksize", "100"}, {from + "2"}, {from + "2", "-codec", "lz4"}, {from + "2", "-chunks", "10"}} {
		stored := bytes.ReplaceAll([]byte(readFile(t, c[0])), []byte("a.b"), []byte("a\x00b"))
		if err := os.WriteFile(c[0], stored, 0o666); err != nil {
			t.Fatal(err)
		}
		must(t, "", append(append([]string{"copy", "-overwrite"}, c[1:]...), c[0], to)...)
		f, err := frame.Open(t.Context(), to, nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, l := range f.Meta() {
			if l.Name != "b2nd" {
				names = append(names, l.Name)
			}
		}
		if !slices.Equal(names, []string{"good", "a\x00b"}) {
			t.Errorf("copy of %v: metalayers %q", c, names)
		}
		f.Close()
	}
}
