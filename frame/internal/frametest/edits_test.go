package frametest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
)

// TestSparseNumbersInBatch updates a chunk so often that a batch needs the numbers of chunk files that it has freed.
// The other chunks that it has added stay.
func TestSparseNumbersInBatch(t *testing.T) {
	ctx := t.Context()
	f, err := frame.CreateFunc(ctx, filepath.Join(t.TempDir(), "x"), func(b *frame.Batch) error {
		for _, s := range []string{"a0", "b0", "c0"} {
			if err := b.Append(ctx, []byte(s)); err != nil {
				return err
			}
		}
		for range 60 {
			if err := b.Update(ctx, 0, []byte("a1")); err != nil {
				return err
			}
		}
		return nil
	}, &frame.CreateOptions{Sparse: true, Checksums: true, NoSync: true})
	must(t, err)
	for i, want := range []string{"a1", "b0", "c0"} {
		if p, err := f.ReadChunk(ctx, nil, i); err != nil || string(p) != want {
			t.Errorf("chunk %d: %q, %v, want %q", i, p, err, want)
		}
	}
	must(t, f.Verify(ctx, nil))
	must(t, f.Close())
}

// TestMemoryRace reads and writes a Memory at the same time.
func TestMemoryRace(t *testing.T) {
	m := frame.NewMemory(make([]byte, 100))
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 100 {
			m.WriteAt([]byte{1, 2, 3}, 5)
		}
	})
	p := make([]byte, 50)
	for range 100 {
		m.ReadAt(p, 0)
	}
	wg.Wait()
}

// TestBeginAfterReclaim fails the commit by which Begin moves the trailer of an empty frame.
func TestBeginAfterReclaim(t *testing.T) {
	ctx, failed := t.Context(), errors.New("sync failed")
	s := &failingSync{err: failed}
	f, err := frame.Create(ctx, "", &frame.CreateOptions{Storage: s})
	must(t, err)
	must(t, f.Append(ctx, noise(1000)))
	held, err := f.Engine().View(ctx)
	must(t, err)
	must(t, change(f, func(b *frame.Batch) error { return b.Delete(0) }))
	held.Release()
	s.left = 2
	for range 2 {
		if err := f.Append(ctx, noise(1000)); !errors.Is(err, failed) {
			t.Errorf("%v, want the error of the commit", err)
		}
	}
}

// failingSync is a Memory whose call of Sync number left fails.
type failingSync struct {
	frame.Memory
	left int
	err  error
}

func (s *failingSync) Sync() error {
	if s.left--; s.left == 0 {
		return s.err
	}
	return nil
}

// TestRawNaNs adds a chunk of NaNs whose items have another size than those of the frame: the index cannot represent
// it.
func TestRawNaNs(t *testing.T) {
	f, err := frame.Create(t.Context(), "", &frame.CreateOptions{Params: chunk.Params{TypeSize: 4}})
	must(t, err)
	c, err := chunk.EncodeSpecial(nil, chunk.NaNs, 64, nil, chunk.Params{TypeSize: 8})
	must(t, err)
	want, err := chunk.Decode(nil, c)
	must(t, err)
	must(t, change(f, func(b *frame.Batch) error { return b.AppendRaw(t.Context(), c) }))
	if got, err := f.ReadChunk(t.Context(), nil, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, %v, want %x", got, err, want)
	}
}

// TestUpdateDamaged replaces a chunk whose header is damaged, or whose file is missing, and edits more in the same
// batch.
func TestUpdateDamaged(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		ctx, name := t.Context(), filepath.Join(t.TempDir(), "x.b2frame")
		f, err := frame.Create(ctx, name, &frame.CreateOptions{Sparse: sparse, ChunkSize: 1000, NoSync: true})
		must(t, err)
		for range 3 {
			must(t, f.Append(ctx, noise(1000)))
		}
		c, err := f.ChunkInfo(ctx, 1)
		must(t, err)
		must(t, f.Close())
		if sparse {
			must(t, os.Remove(filepath.Join(name, chunkFile(c.Off))))
		} else {
			b, err := os.ReadFile(name)
			must(t, err)
			b[c.Off] = 0xff // the version
			must(t, os.WriteFile(name, b, 0o666))
		}
		f, err = frame.Edit(ctx, name, nil)
		must(t, err)
		want := [][]byte{noise(1000), small(1000), noise(1000)}
		must(t, change(f, func(b *frame.Batch) error {
			if err := b.Update(ctx, 1, want[1]); err != nil {
				return err
			}
			return b.Append(ctx, want[1])
		}))
		must(t, f.Append(ctx, want[0]))
		for i, want := range append(want, want[1], want[0]) {
			if got, err := f.ReadChunk(ctx, nil, i); err != nil || !bytes.Equal(got, want) {
				t.Errorf("sparse %v, chunk %d: %v", sparse, i, err)
			}
		}
		must(t, f.Verify(ctx, nil))
		must(t, change(f, func(b *frame.Batch) error { return b.Delete(1) }))
		must(t, f.Compact(ctx))
		must(t, f.Verify(ctx, nil))
		must(t, f.Close())
	}
}

// noise returns n bytes that do not compress.
func noise(n int) []byte {
	b, r := make([]byte, n), rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
