package frame

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/manifest"
)

// TestBlosc1Chunks puts chunks of C-Blosc 1 into frames, in memory, in files and in directories, and reads them there.
func TestBlosc1Chunks(t *testing.T) {
	cases := manifest.Read(t, "blosc1")
	if len(cases) != 126 {
		t.Fatalf("%d chunks of Blosc1, want 126", len(cases))
	}
	for i, c := range cases {
		raw, err := os.ReadFile(c.Path)
		must(t, err)
		o := &Options{CParams: chunk.CParams{TypeSize: c.TypeSize}, Sparse: i%3 == 1, NoSync: true}
		fill := func(b *Batch) error {
			if err := b.AppendChunk(raw); err != nil {
				return err
			}
			return b.AppendChunk(raw)
		}
		var f *Frame
		if i%3 == 2 {
			f, err = CreateMemory(o, fill)
		} else {
			f, err = Create(filepath.Join(t.TempDir(), "f"), o, fill)
		}
		must(t, err)
		got := make([]byte, 2*c.NBytes)
		if n, err := f.ReadAt(got, 0); n != len(got) || err != nil {
			t.Fatalf("%s: %d bytes read: %v", c.File, n, err)
		}
		if sum(got[:c.NBytes]) != c.SHA256 || !bytes.Equal(got[:c.NBytes], got[c.NBytes:]) {
			t.Errorf("%s: other content", c.File)
		}
		info, err := f.ChunkInfo(1)
		must(t, err)
		last, err := f.ReadBlock(nil, 1, info.Blocks-1)
		must(t, err)
		if !bytes.HasSuffix(got, last) || len(last) == 0 {
			t.Errorf("%s: the last block alone differs", c.File)
		}
		must(t, f.Close())
	}
}
