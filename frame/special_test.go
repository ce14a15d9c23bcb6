package frame

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
)

// A frame of one special value has the block size of its chunks, also when that was automatic, as C-Blosc2 writes it.
func TestFillSpecialBlockSize(t *testing.T) {
	for _, c := range []struct{ typeSize, blockSize, chunkSize, want int }{
		{4, 0, 132, 132}, {8, 0, 1 << 20, 512 << 10}, {4, 64, 132, 64}, {4, 4096, 132, 132}, {12, 0, 4020, 4020},
	} {
		o := &Options{ChunkSize: c.chunkSize, CParams: chunk.CParams{TypeSize: c.typeSize, BlockSize: c.blockSize}}
		f, err := CreateMemory(o, func(b *Batch) error { return b.FillSpecial(int64(10*c.typeSize), chunk.Zeros) })
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Info().BlockSize; got != c.want {
			t.Errorf("%+v: block size %d", c, got)
		}
		f.Close()
	}
}

// C-Blosc2 does not open a sparse frame whose chunk files have a number above the size of all chunks less 32, so
// numbers must stay small however often a small chunk is written.
func TestSparseNumbers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	f, err := Create(name, &Options{Sparse: true, NoSync: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	check := func() {
		t.Helper()
		s := f.snap.Load()
		for i, e := range s.index.list {
			if int64(e) > s.cbytes-coder.HeaderSize {
				t.Fatalf("chunk %d of %d is file %d, with %d bytes in all", i, s.index.n, e, s.cbytes)
			}
			if p, err := f.ReadChunk(nil, i); err != nil || len(p) != 2 {
				t.Fatal(p, err)
			}
		}
	}
	for range 50 {
		if err := f.Append([]byte("ab")); err != nil {
			t.Fatal(err)
		}
		check()
	}
	for i := range 50 { // each is written twice in its batch
		b, err := f.Begin(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{"bc", "cd"} {
			if err := b.Update(i, []byte(p)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		check()
	}
	for f.NumChunks() > 1 {
		if err := f.Delete(0); err != nil {
			t.Fatal(err)
		}
		check()
	}
	v, err := f.View() // its file must stay
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		if err := f.Update(0, []byte("de")); err != nil {
			t.Fatal(err)
		}
		check()
	}
	if p, err := f.readChunkOf(v.s); string(p) != "cd" || err != nil {
		t.Errorf("the view has %q now, %v", p, err)
	}
	v.Release()
	if err := f.Update(0, []byte("ef")); err != nil {
		t.Fatal(err)
	}
	if all, err := os.ReadDir(name); err != nil || len(all) != 2 {
		t.Errorf("%d files, %v", len(all), err)
	}
}

func (f *Frame) readChunkOf(s *snapshot) ([]byte, error) {
	raw, err := f.rawChunk(nil, s, 0)
	if err != nil {
		return nil, err
	}
	return f.plain.Decode(nil, raw)
}
