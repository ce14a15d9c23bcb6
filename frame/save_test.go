package frame

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
)

// failAfter is a writer that fails after n bytes.
type failAfter struct{ n int64 }

var errFull = errors.New("full")

func (w *failAfter) Write(p []byte) (int, error) {
	if int64(len(p)) > w.n {
		n := int(w.n)
		w.n = 0
		return n, errFull
	}
	w.n -= int64(len(p))
	return len(p), nil
}

// TestSave saves frames of each kind of storage, with dead bytes, chunks that are referenced twice, special values and
// checksums. The result is the same for all, has no dead bytes, and holds the same.
func TestSave(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	for _, checksums := range []bool{false, true} {
		var first []byte
		for kind, o := range map[string]*CreateOptions{
			"memory": {}, "file": {}, "sparse": {Sparse: true},
		} {
			name := ""
			if kind != "memory" {
				name = filepath.Join(dir, kind)
			}
			o.Checksums, o.Overwrite, o.Params, o.ChunkSize = checksums, true, chunk.Params{TypeSize: 4}, 400
			f, err := CreateFunc(ctx, name, func(b *Batch) error {
				for i := range 10 {
					if err := b.Append(ctx, noise(500 + i)[:400]); err != nil {
						return err
					}
				}
				return errors.Join(b.Append(ctx, make([]byte, 400)), b.Append(ctx, noise(120)), b.SetVLMeta("v", []byte("abc")))
			}, o)
			must(t, err)
			must(t, one(f).Delete(3))
			must(t, one(f).Update(5, noise(400)))
			var b bytes.Buffer
			n, err := f.Save(ctx, &b)
			if err != nil || n != int64(b.Len()) {
				t.Fatalf("%s: %d bytes of %d, %v", kind, n, b.Len(), err)
			}
			if first == nil {
				first = b.Bytes()
			}
			if !bytes.Equal(b.Bytes(), first) {
				t.Errorf("%s: other bytes than of another storage", kind)
			}
			g, err := OpenBytes(b.Bytes(), &OpenOptions{Verify: true})
			must(t, err)
			verify(t, g)
			if dead, err := g.DeadBytes(ctx); dead != 0 || err != nil || g.Info().Checksums != checksums {
				t.Errorf("%s: %d dead bytes, %v, checksums %v", kind, dead, err, g.Info().Checksums)
			}
			if x, y := content(t, f), content(t, g); !bytes.Equal(x, y) {
				t.Errorf("%s: other content", kind)
			}
			for at := int64(0); at < n; at += n / 7 {
				if done, err := f.Save(ctx, &failAfter{at}); !errors.Is(err, errFull) || done != at {
					t.Errorf("%s: a writer that fails after %d bytes: %d, %v", kind, at, done, err)
				}
			}
			must(t, f.Close())
		}
	}
}

// TestSaveMemory checks that saving does not hold the frame.
func TestSaveMemory(t *testing.T) {
	ctx := t.Context()
	const size, chunks = 1 << 16, 400
	f, err := Create(ctx, filepath.Join(t.TempDir(), "x"), &CreateOptions{NoSync: true, Params: chunk.Params{Level: codec.NoCompression}})
	must(t, err)
	defer f.Close()
	must(t, f.edit(ctx, func(b *Batch) error {
		for range chunks {
			if err := b.Append(ctx, noise(size)); err != nil {
				return err
			}
		}
		return nil
	}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := f.Save(ctx, io.Discard)
	runtime.ReadMemStats(&after)
	must(t, err)
	// One read buffer is allocated for each chunk, one after the other, and freed.
	if n < size*chunks || after.HeapSys > before.HeapSys+size*chunks/2 {
		t.Errorf("%d bytes saved with a heap of %d bytes, %d before", n, after.HeapSys, before.HeapSys)
	}
}
