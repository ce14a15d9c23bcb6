package frame

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/internal/manifest"
)

// fixture is a frame of the test data.
type fixture = manifest.Case

// fixtures returns the frames of a folder of testdata.
func fixtures(t testing.TB, folder string) []fixture {
	t.Helper()
	return slices.DeleteFunc(manifest.Read(t, folder), func(c fixture) bool { return c.Kind == "chunk" })
}

// allFixtures returns the frames of all folders.
func allFixtures(t testing.TB) []fixture {
	return append(fixtures(t, "python-blosc2"), fixtures(t, "legacy")...)
}

// contiguousFixtures returns the bytes of the contiguous frames of at most so many bytes.
func contiguousFixtures(t testing.TB, most int64) (names []string, frames [][]byte) {
	for _, c := range allFixtures(t) {
		fi, err := os.Stat(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		if fi.IsDir() || fi.Size() > most {
			continue
		}
		b, err := os.ReadFile(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		names, frames = append(names, c.File), append(frames, b)
	}
	return names, frames
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// content returns all decoded bytes.
func content(t testing.TB, f *Frame) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		t.Fatalf("%s: %v", f.Path(), err)
	}
	return b.Bytes()
}

// must fails the test at once when there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// verify checks that a frame has no faults.
func verify(t testing.TB, f *Frame) {
	t.Helper()
	must(t, f.Verify(context.Background(), func(err error) error { return err }))
}

func TestFixtures(t *testing.T) {
	for _, c := range allFixtures(t) {
		t.Run(c.File, func(t *testing.T) {
			f, err := Open(c.Path, nil)
			must(t, err)
			defer f.Close()
			must(t, f.Verify(context.Background(), func(err error) error { return err }))
			info := f.Info()
			all := content(t, f)
			if int64(len(all)) != info.NBytes || f.NBytes() != info.NBytes {
				t.Errorf("%d bytes, the header says %d", len(all), info.NBytes)
			}
			if c.Kind != "b2nd" {
				if sum(all) != c.SHA256 || info.NBytes != c.NBytes {
					t.Errorf("%d bytes with other content than %d", info.NBytes, c.NBytes)
				}
			}
			if c.Kind == "schunk" && (info.NumChunks != c.NChunks || info.TypeSize != c.TypeSize || info.ChunkSize != c.ChunkSize) {
				t.Errorf("%+v, want %+v", info, c)
			}
			checkChunks(t, f, c, all)
			checkRanges(t, f, all)
			checkCopies(t, f, all)
		})
	}
}

// checkChunks compares single chunks and blocks with the manifest and with the whole.
func checkChunks(t *testing.T, f *Frame, c fixture, all []byte) {
	at := 0
	for i := range f.NumChunks() {
		b, err := f.ReadChunk(nil, i)
		must(t, err)
		info, err := f.ChunkInfo(i)
		must(t, err)
		if info.NBytes != len(b) || !bytes.Equal(b, all[at:at+len(b)]) {
			t.Fatalf("chunk %d: %+v, decoded %d bytes", i, info, len(b))
		}
		if c.ChunkSHA256 != nil && sum(b) != c.ChunkSHA256[i] {
			t.Errorf("chunk %d has other content", i)
		}
		if c.ChunkSizes != nil && len(b) != c.ChunkSizes[i] {
			t.Errorf("chunk %d has %d bytes, not %d", i, len(b), c.ChunkSizes[i])
		}
		if c.BlockSizes != nil {
			if info.Blocks != len(c.BlockSizes[i]) || !f.Info().VLBlocks {
				t.Errorf("chunk %d: %+v", i, info)
			}
			for k, n := range c.BlockSizes[i] {
				b, err := f.ReadBlock(nil, i, k)
				if err != nil || len(b) != n || sum(b) != c.BlockSHA256[i][k] {
					t.Errorf("block %d of chunk %d: %d bytes, %v", k, i, len(b), err)
				}
			}
		}
		at += len(b)
	}
	if at != len(all) {
		t.Errorf("chunks of %d bytes, %d in all", at, len(all))
	}
}

// checkRanges reads random ranges.
func checkRanges(t *testing.T, f *Frame, all []byte) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(len(all))))
	for range 30 {
		off := rng.IntN(len(all) + 2)
		n := rng.IntN(len(all) + 2 - min(off, len(all)))
		if rng.IntN(2) == 0 {
			n = min(n, 100)
		}
		p := make([]byte, n)
		got, err := f.ReadAt(p, int64(off))
		want := all[min(off, len(all)):min(off+n, len(all))]
		atEnd := off+n > len(all) || off >= len(all)
		if !bytes.Equal(p[:got], want) || atEnd && err != io.EOF || !atEnd && err != nil {
			t.Fatalf("ReadAt(%d bytes, %d) of %d = %d, %v", n, off, len(all), got, err)
		}
	}
}

// checkCopies copies a frame to all kinds of storage and compares.
func checkCopies(t *testing.T, f *Frame, all []byte) {
	ctx, dir := context.Background(), t.TempDir()
	flat, err := f.Copy(ctx, filepath.Join(dir, "flat"), &Options{NoSync: true})
	must(t, err)
	same(t, f, flat, all)
	sparse, err := flat.Copy(ctx, filepath.Join(dir, "sparse"), &Options{Sparse: true, NoSync: true})
	must(t, err)
	same(t, f, sparse, all)
	again, err := sparse.Copy(ctx, filepath.Join(dir, "again"), &Options{NoSync: true})
	must(t, err)
	must(t, flat.Close())
	must(t, sparse.Close())
	must(t, again.Close())
	b, err := os.ReadFile(filepath.Join(dir, "flat"))
	must(t, err)
	b2, err := os.ReadFile(filepath.Join(dir, "again"))
	must(t, err)
	mem, err := f.AppendTo([]byte("abc"))
	must(t, err)
	if !bytes.Equal(b, b2) || string(mem) != "abc"+string(b) {
		t.Error("copies differ by the way that they took")
	}
	m, err := FromBytes(b, nil)
	must(t, err)
	same(t, f, m, all)

	// At an offset in another file, with something behind.
	name := filepath.Join(dir, "inside")
	must(t, os.WriteFile(name, []byte(strings.Repeat("x", 77)+string(b)+"tail"), 0o666))
	in, err := Open(name, &Options{Offset: 77})
	must(t, err)
	same(t, f, in, all)
	must(t, in.Close())
	if _, err := Edit(name, &Options{Offset: 77}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("editing with something behind: %v", err)
	}
	r, err := NewReader(struct{ io.ReaderAt }{bytes.NewReader(b)}, int64(len(b)), nil)
	must(t, err)
	same(t, f, r, all)
}

// same compares two frames.
func same(t *testing.T, want, got *Frame, all []byte) {
	t.Helper()
	verify(t, got)
	if b := content(t, got); !bytes.Equal(b, all) {
		t.Fatalf("%s: other content", got.Path())
	}
	x, y := want.Info(), got.Info()
	x.Sparse, x.CBytes, x.FrameLen, x.Version = y.Sparse, y.CBytes, y.FrameLen, y.Version
	if a, b := describe(want, x), describe(got, y); a != b {
		t.Fatalf("%s\n%s", a, b)
	}
}

// describe returns what is said of a frame besides its content.
func describe(f *Frame, info Info) string {
	var b strings.Builder
	j, _ := json.Marshal(info)
	b.Write(j)
	for _, l := range f.Meta() {
		b.WriteString(" " + l.Name + "=" + hex.EncodeToString(l.Content))
	}
	for _, name := range f.VLMetaNames() {
		v, err := f.VLMeta(name)
		b.WriteString(" " + name + "=" + hex.EncodeToString(v))
		if err != nil {
			b.WriteString(err.Error())
		}
	}
	return b.String()
}

// TestFixtureLayers checks that the layers that the manifest names are there.
func TestFixtureLayers(t *testing.T) {
	n := 0
	for _, c := range allFixtures(t) {
		f, err := Open(c.Path, nil)
		must(t, err)
		for name := range c.VLMeta {
			if v, err := f.VLMeta(name); err != nil || len(v) == 0 {
				t.Errorf("%s: %s: %v", c.File, name, err)
			}
			n++
		}
		for name := range c.Meta {
			if v, err := f.MetaLayer(name); err != nil || len(v) == 0 {
				t.Errorf("%s: %s: %v", c.File, name, err)
			}
			n++
		}
		if _, err := f.VLMeta("no such"); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		if _, err := f.MetaLayer("no such"); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		must(t, f.Close())
	}
	if n < 5 {
		t.Errorf("only %d layers", n)
	}
}
