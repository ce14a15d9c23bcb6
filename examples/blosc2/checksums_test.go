package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
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
