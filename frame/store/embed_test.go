package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// noise returns an array of n random bytes, and the bytes.
func noise(t testing.TB, n int, seed uint64) (*ndarray.Array, []byte) {
	t.Helper()
	rng, data := rand.New(rand.NewPCG(seed, 1)), make([]byte, n)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	a, err := ndarray.Create(t.Context(), "", []int64{int64(n)}, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a, data
}

// saved returns the bytes of the frame of an array.
func saved(t testing.TB, a *ndarray.Array) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := a.Frame().Save(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readNoise reports whether the leaf /a is the array with some bytes.
func readNoise(ctx context.Context, s *Store, want []byte) (same bool, err error) {
	a, err := s.Array(ctx, "/a")
	if err != nil {
		return false, err
	}
	defer a.Close()
	got, err := ndarray.Read[byte](ctx, a)
	return bytes.Equal(got, want), err
}

// TestPutWhileOpen puts leaves into an embed store that another Store has opened. A Put completes the last chunk
// elsewhere, and the next one overwrites the old one: with leaves of one and a half chunks by a chunk of the same size,
// which decodes without an error. Chunks that were complete are not overwritten.
func TestPutWhileOpen(t *testing.T) {
	ctx := t.Context()
	probe, _ := noise(t, 9000, 1)
	half := 9000 + 8192*3/2 - len(saved(t, probe))
	whole := 9000 + 8192*2 - len(saved(t, probe))
	for _, name := range []string{"x.b2e", "x.b2d"} {
		for n, kept := range map[int]bool{3000: false, half: false, whole: true} {
			name, o := filepath.Join(t.TempDir(), name), &CreateOptions{}
			if filepath.Ext(name) == ".b2d" {
				o.Threshold = 1 << 20
			}
			w, err := Create(ctx, name, o)
			if err != nil {
				t.Fatal(err)
			}
			a, want := noise(t, n, 1)
			if err := w.Put(ctx, "/a", a.Frame()); err != nil {
				t.Fatal(err)
			}
			r, err := Open(ctx, name, nil) // before the other edits
			if err != nil {
				t.Fatal(err)
			}
			if same, err := readNoise(ctx, r, want); !same || err != nil {
				t.Errorf("%s, %d bytes: %v, %v", name, n, same, err)
			}
			for i := range 3 {
				b, _ := noise(t, n, uint64(i)+2)
				if err := w.Put(ctx, fmt.Sprint("/b", i), b.Frame()); err != nil {
					t.Fatal(err)
				}
				same, err := readNoise(ctx, r, want)
				if kept && (!same || err != nil) || !kept && !errors.Is(err, frame.ErrChanged) {
					t.Errorf("%s, %d bytes, %d puts: %v, %v", name, n, i+1, same, err)
				}
				if same, err := readNoise(ctx, w, want); !same || err != nil {
					t.Errorf("%s, %d bytes, %d puts, the other Store: %v, %v", name, n, i+1, same, err)
				}
			}
			r.Close()
			w.Close()
		}
	}
}

// TestEmbedInArray reads embed stores whose bytes are an array, with and without padding in its chunks.
func TestEmbedInArray(t *testing.T) {
	ctx := t.Context()
	a, want := noise(t, 3000, 4)
	raw := saved(t, a)
	marker, err := meta.Marshal(map[string]any{"version": 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, blocks := range []int64{500, 300} {
		b, err := ndarray.Create(ctx, "", []int64{int64(len(raw))}, raw, &ndarray.CreateOptions{Chunks: []int64{1000}, Blocks: []int64{blocks},
			Meta: []meta.Layer{{Name: "b2embed", Content: marker}}, Attrs: map[string]any{embedLayer: map[string]any{
				"embed_map": map[string]any{"/a": map[string]any{"offset": 0, "length": len(raw)}}, "current_offset": len(raw)}}})
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "x.b2e")
		if err := os.WriteFile(name, saved(t, b), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Edit(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := readNoise(ctx, s, want); !same || err != nil {
			t.Errorf("blocks of %d bytes: %v, %v", blocks, same, err)
		}
		if err := s.Put(ctx, "/b", a.Frame()); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("blocks of %d bytes: Put: %v", blocks, err)
		}
		if err := s.Delete(ctx, "/a"); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("blocks of %d bytes: Delete: %v", blocks, err)
		}
		s.Close()
	}
}

// cutSystem has files of which one read finds nothing, as if another process had truncated and extended them.
type cutSystem struct {
	storage.System
	from int64 // of the read
	left *int  // reads until then
}

func (s cutSystem) Open(name string, flag int, mode fs.FileMode) (storage.File, error) {
	f, err := s.System.Open(name, flag, mode)
	if err != nil {
		return nil, err
	}
	return cutFile{f, s}, nil
}

type cutFile struct {
	storage.File
	s cutSystem
}

func (f cutFile) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.s.from {
		if *f.s.left--; *f.s.left == 0 {
			return 0, io.EOF
		}
	}
	return f.File.ReadAt(p, off)
}

// TestEmbedTruncated opens an embed store while an edit of another process truncates its file, and the next edit makes
// it as long as before.
func TestEmbedTruncated(t *testing.T) {
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "x.b2e")
	w, err := Create(ctx, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, want := noise(t, 3000, 1)
	if err := w.Put(ctx, "/a", a.Frame()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	done := false
	for i := 1; !done; i++ {
		left := i
		s, err := Open(ctx, name, &OpenOptions{sys: cutSystem{storage.OS(), 87, &left}})
		if err != nil {
			t.Fatalf("read %d finds nothing: %v", i, err)
		}
		done, left = left > 0, 0
		if same, err := readNoise(ctx, s, want); !same || err != nil {
			t.Errorf("read %d found nothing: %v, %v", i, same, err)
		}
		s.Close()
	}
}
