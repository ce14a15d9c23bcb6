package interop

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/ndarray"
)

// inParallel calls f with each case, its own random generator and a separate directory, on several goroutines.
func inParallel[T any](t *testing.T, all []T, f func(t *testing.T, rng *rand.Rand, dir string, c T) error) {
	t.Helper()
	var fails atomic.Int32
	t.Run("cases", func(t *testing.T) {
		for s := range shards {
			t.Run(fmt.Sprintf("shard%d", s), func(t *testing.T) {
				t.Parallel()
				root := t.TempDir()
				for i := s; i < len(all) && fails.Load() < mostFails; i += shards {
					dir := fmt.Sprintf("%s/%d", root, i)
					if err := os.Mkdir(dir, 0o777); err != nil {
						t.Fatal(err)
					}
					if err := f(t, rand.New(rand.NewPCG(*seed, uint64(i))), dir, all[i]); err != nil {
						fails.Add(1)
						t.Errorf("case %d of seed %d, %v: %v", i, *seed, all[i], err)
					}
					os.RemoveAll(dir)
				}
			})
		}
	})
}

// TestArraysWritten writes arrays with this library. The reference must read the same sizes, parameters, metalayers,
// items and slices.
func TestArraysWritten(t *testing.T) {
	all := arrayCases(t, testCases(500))
	var layered atomic.Int64
	inParallel(t, all, func(t *testing.T, rng *rand.Rand, dir string, c *arrayCase) error {
		var err error
		if c.meta, err = layers(rng, rng.IntN(len(valueKinds)), rng.IntN(4)); err != nil {
			return err
		}
		vl, err := layers(rng, rng.IntN(len(valueKinds)), rng.IntN(4))
		if err != nil {
			return err
		}
		items := content(rng, c.kind, c.nbytes(), c.ours.TypeSize)
		a, err := ndarray.CreateBytes(ctx, c.path(dir, "ours"), c.shape, c.dtype(), items, c.options(rng))
		if err != nil {
			return err
		}
		defer a.Close()
		for _, l := range vl {
			if err := inBatch(a.Frame(), func(b *frame.Batch) error { return b.SetVLMeta(l.Name, l.Content) }); err != nil {
				return err
			}
		}
		layered.Add(int64(len(vl) + len(c.meta)))
		return c.theyRead(rng, a, items)
	})
	if !t.Failed() {
		t.Logf("%d arrays with %d metalayers agree", len(all), layered.Load())
	}
}

// TestArraysRead reads arrays that the reference wrote with one to four threads, from files, memory and readers, whole
// and in slices.
func TestArraysRead(t *testing.T) {
	all := arrayCases(t, testCases(500))
	inParallel(t, all, func(t *testing.T, rng *rand.Rand, dir string, c *arrayCase) error {
		var err error
		if c.meta, err = layers(rng, rng.IntN(len(valueKinds)), rng.IntN(4)); err != nil {
			return err
		}
		vl, err := layers(rng, rng.IntN(len(valueKinds)), rng.IntN(4))
		if err != nil {
			return err
		}
		items := content(rng, c.kind, c.nbytes(), c.ours.TypeSize)
		p := c.reference(c.path(dir, "theirs"))
		p.Threads = 1 + rng.IntN(4)
		r, err := ref.ArrayOf(p, items)
		if err != nil {
			return err
		}
		defer r.Close()
		for _, l := range vl {
			if err := r.SChunk().SetVLMeta(l.Name, l.Content); err != nil {
				return err
			}
		}
		return c.weRead(rng, r, items)
	})
	if !t.Failed() {
		t.Logf("%d arrays agree", len(all))
	}
}

// testCases returns the number of cases to run: n, or a tenth of it in short tests.
func testCases(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// theyRead opens an array of this library with the reference and compares everything that the reference reads.
func (c *arrayCase) theyRead(rng *rand.Rand, a *ndarray.Array, items []byte) error {
	r, err := open(a)
	if err != nil {
		return err
	}
	defer r.Close()
	ours, err := arrayInfoOf(a)
	if err != nil {
		return err
	}
	theirs, err := r.Info()
	if err != nil {
		return err
	}
	if c.store == "memory" { // without the dead bytes that the metalayers left
		ours.CBytes = theirs.CBytes
	}
	if err := sameInfo(ours, theirs); err != nil {
		return err
	}
	for _, l := range c.meta {
		if !bytes.Equal(theirs.Metalayers[l.Name], l.Content) {
			return fmt.Errorf("metalayer %s has other content", l.Name)
		}
	}
	return c.sameItems(rng, a, r, items)
}

// open opens an array with the reference.
func open(a *ndarray.Array) (*ref.Array, error) {
	if path := a.Frame().Path(); path != "" {
		return ref.OpenArray(path)
	}
	b, err := saved(a.Frame())
	if err != nil {
		return nil, err
	}
	return ref.ArrayFrom(b)
}

// sameItems reads an array with both libraries, whole and in slices.
func (c *arrayCase) sameItems(rng *rand.Rand, a *ndarray.Array, r *ref.Array, items []byte) error {
	want := items
	got := make([]byte, len(items))
	if err := a.ReadBytes(ctx, got); err != nil {
		return err
	}
	if lossy(c.ours.Filters) { // only uncompressed chunks keep all bits
		want = got
		if err := sameBytes(truncated(got, c.ours), truncated(items, c.ours)); err != nil {
			return fmt.Errorf("this library reads: %w", err)
		}
	}
	if err := sameBytes(got, want); err != nil {
		return fmt.Errorf("this library reads: %w", err)
	}
	if len(items) == 0 {
		return nil
	}
	if err := sameChunks(a.Frame(), r.SChunk()); err != nil {
		return err
	}
	delta := has(c.ours.Filters, chunk.Delta) // then the reference misreads parts of chunks
	if !delta {
		theirs, err := r.Dump()
		if err != nil {
			return err
		}
		if err := sameBytes(theirs, want); err != nil {
			return fmt.Errorf("the reference reads: %w", err)
		}
	}
	for range 4 {
		b := randomBox(rng, c.shape)
		want := b.of(want, c.shape, c.ours.TypeSize)
		got := make([]byte, len(want))
		if err := a.ReadBytes(ctx, got, b.sel()...); err != nil {
			return err
		}
		if err := sameBytes(got, want); err != nil {
			return fmt.Errorf("this library reads %v: %w", b, err)
		}
		if delta {
			continue
		}
		theirs, err := r.Slice(b.first, b.stop)
		if err != nil {
			return err
		}
		if err := sameBytes(theirs, want); err != nil {
			return fmt.Errorf("the reference reads %v: %w", b, err)
		}
	}
	return nil
}

// sameChunks compares the content of each chunk, padding included.
func sameChunks(f *frame.Frame, s *ref.SChunk) error {
	if f.NumChunks() != s.Len() {
		return fmt.Errorf("%d chunks, %d in the reference", f.NumChunks(), s.Len())
	}
	var got []byte
	for i := range s.Len() {
		want, err := s.Content(i)
		if err != nil {
			return err
		}
		if got, err = f.ReadChunk(ctx, got[:0], i); err != nil {
			return err
		}
		if err := sameBytes(got, want); err != nil {
			return fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	return nil
}

// weRead opens an array of the reference in every way that this library offers, and compares everything it reads.
func (c *arrayCase) weRead(rng *rand.Rand, r *ref.Array, items []byte) error {
	theirs, err := r.Info()
	if err != nil {
		return err
	}
	var ways []*ndarray.Array
	defer func() {
		for _, a := range ways {
			a.Close()
		}
	}()
	add := func(a *ndarray.Array, err error) error {
		if err == nil {
			ways = append(ways, a)
		}
		return err
	}
	o := &ndarray.OpenOptions{Concurrency: 1 + rng.IntN(3)}
	if theirs.Path != "" {
		if err := add(ndarray.Open(ctx, theirs.Path, o)); err != nil {
			return err
		}
	}
	b, err := c.contiguous(r, theirs.Path)
	if err != nil {
		return err
	}
	if b == nil {
		return c.compare(rng, ways, r, theirs, items)
	}
	if err := add(ndarray.OpenBytes(b, o)); err != nil {
		return err
	}
	before := rng.IntN(100)
	file := slices.Concat(make([]byte, before), b, []byte("behind"))
	part := io.NewSectionReader(bytes.NewReader(file), int64(before), int64(len(file)-before))
	if err := add(ndarray.OpenReaderAt(ctx, part, part.Size(), o)); err != nil {
		return err
	}
	return c.compare(rng, ways, r, theirs, items)
}

// contiguous returns the array of the reference as a contiguous frame. It returns nil for a directory with items larger
// than 255 bytes, whose item size the reference loses in the conversion.
func (c *arrayCase) contiguous(r *ref.Array, path string) ([]byte, error) {
	switch {
	case c.store == "file":
		return os.ReadFile(path)
	case c.store == "directory" && c.ours.TypeSize > coder.MaxTypeSize:
		return nil, nil
	}
	return r.Frame()
}

// compare compares an array of the reference with the results of each way to read it.
func (c *arrayCase) compare(rng *rand.Rand, ways []*ndarray.Array, r *ref.Array, theirs *ref.Info, items []byte) error {
	for i, a := range ways {
		ours, err := arrayInfoOf(a)
		if err == nil {
			err = sameInfo(ours, theirs)
		}
		if err == nil {
			err = c.sameItems(rng, a, r, items)
		}
		if err != nil {
			return fmt.Errorf("way %d: %w", i, err)
		}
	}
	return nil
}
