package attack

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/frame"
)

// TestOriginals takes each original apart, puts it together, and reads it: without a mutation it is intact.
func TestOriginals(t *testing.T) {
	dir := t.TempDir()
	list, err := originals(dir)
	if err != nil {
		t.Fatal(err)
	}
	frames, chunks, sealed := 0, 0, 0
	for _, o := range list {
		if o.model == nil {
			chunks++
			continue
		}
		frames++
		for _, sign := range []bool{false, true} {
			m := o.model.clone()
			m.sign = sign
			if sign && m.index != nil && len(m.entries) > 0 {
				m.index = nil // the same entries, encoded again
			}
			p := filepath.Join(dir, "x")
			built, err := m.build()
			if err != nil {
				t.Fatalf("%s: %v", o.name, err)
			}
			mu := &Mutant{Sparse: m.sparse, files: []file{{parts: *built}}}
			if m.sparse {
				mu.files = m.sparseFiles(built)
			}
			if err := mu.Write(p, dir); err != nil {
				t.Fatal(err)
			}
			f, err := frame.Open(t.Context(), p, &frame.OpenOptions{Verify: true})
			if err != nil {
				t.Fatalf("%s: %v", o.name, err)
			}
			if o.sealed {
				sealed++
			}
			if f.Info().Checksums != o.sealed {
				t.Errorf("%s: checksums %v", o.name, !o.sealed)
			}
			for i, want := range o.data {
				if got, err := f.ReadChunk(t.Context(), nil, i); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, chunk %d: %v", o.name, i, err)
				}
			}
			if o.sealed {
				if err := f.Verify(t.Context(), func(err error) error { return err }); err != nil {
					t.Errorf("%s: %v", o.name, err)
				}
			}
			f.Close()
			os.RemoveAll(p)
		}
	}
	if frames < 60 || chunks < 30 || sealed < 30 {
		t.Errorf("%d frames, %d chunks, %d with checksums", frames, chunks, sealed)
	}
	t.Logf("%d frames, %d chunks, %d with checksums", frames, chunks, sealed)
}
