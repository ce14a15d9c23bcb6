package interop

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// TestMain is also the program that edits with the C library in a separate process, for TestLocking, and the program
// that TestKill kills.
func TestMain(m *testing.M) {
	for env, run := range map[string]func(name string) error{"INTEROP_LOCKED": editLocked, "INTEROP_KILLED": editUntilKilled} {
		name := os.Getenv(env)
		if name == "" {
			continue
		}
		if err := run(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const (
	lockedEdits = 100
	lockedItems = 500
)

// numbered returns a chunk whose items are all the same number, except for the first.
func numbered(n uint32) []byte {
	b := make([]byte, 4*lockedItems)
	for i := range lockedItems {
		binary.LittleEndian.PutUint32(b[4*i:], n)
	}
	b[0]++
	return b
}

// number returns the number of a chunk. It fails if the chunk has parts of several writes.
func number(b []byte) (uint32, error) {
	if len(b) != 4*lockedItems {
		return 0, fmt.Errorf("a chunk of %d bytes", len(b))
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if !bytes.Equal(b, numbered(n)) {
		return 0, fmt.Errorf("parts of several chunks: %x", b)
	}
	return n, nil
}

// editLocked appends chunks with the C library. After each, it replaces the first chunk and reads a random chunk.
func editLocked(name string) error {
	first, _ := strconv.Atoi(os.Getenv("INTEROP_FIRST"))
	rng := rand.New(rand.NewPCG(uint64(first), 1))
	s, err := ref.OpenSChunk(name)
	if err != nil {
		return err
	}
	defer s.Close()
	for i := range lockedEdits {
		if err := s.Append(numbered(uint32(first + i))); err != nil {
			return fmt.Errorf("append %d: %w", i, err)
		}
		b := numbered(uint32(rng.Uint32()))
		if rng.IntN(2) == 0 {
			b = numbered(0) // fewer bytes, which overwrite the chunk in place
		}
		c, err := ref.Compress(b, &ref.CParams{TypeSize: 4, Codec: 1, Level: 5})
		if err != nil {
			return err
		}
		if err := s.UpdateRaw(0, c); err != nil {
			return fmt.Errorf("update %d: %w", i, err)
		}
		b, err = s.Content(rng.IntN(i + 1))
		if err == nil {
			_, err = number(b)
		}
		if err != nil {
			return fmt.Errorf("read %d: %w", i, err)
		}
	}
	return nil
}

// TestLocking edits a frame with two processes of the C library and two Frames of this library at the same time, and
// reads it concurrently. No chunk may be lost or read in part.
func TestLocking(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "frame")
		o := &frame.CreateOptions{Params: chunk.Params{TypeSize: 4, Codec: codecs[1]}, ChunkSize: 4 * lockedItems, Sparse: sparse, Locking: true, NoSync: true}
		f, err := frame.CreateFunc(ctx, name, func(b *frame.Batch) error { return b.Append(ctx, numbered(0)) }, o)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		errs := make(chan error)
		for p := range 2 {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), "BLOSC_LOCKING=1", "INTEROP_LOCKED="+name, fmt.Sprintf("INTEROP_FIRST=%d", 1000*(p+1)))
			go func() {
				if out, err := c.CombinedOutput(); err != nil {
					errs <- fmt.Errorf("%w: %s", err, out)
					return
				}
				errs <- nil
			}()
		}
		for g := range 2 {
			e, err := frame.Edit(ctx, name, &frame.OpenOptions{Locking: true, NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			go func() { errs <- appendLocked(e, 1000*(g+3)) }()
		}
		for range 4 {
			if err := <-errs; err != nil {
				t.Error(sparse, err)
			}
		}
		if _, err := f.Refresh(ctx); err != nil {
			t.Fatal(err)
		}
		seen := map[uint32]int{}
		s, err := ref.OpenSChunk(name)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for i := range f.NumChunks() {
			ours, err := f.ReadChunk(ctx, nil, i)
			if err != nil {
				t.Fatal(err)
			}
			if theirs, err := s.Content(i); err != nil || !bytes.Equal(ours, theirs) {
				t.Errorf("chunk %d differs: %v", i, err)
			}
			n, err := number(ours)
			if err != nil {
				t.Error(i, err)
			}
			if i > 0 {
				seen[n]++
			}
		}
		for p := range 4 {
			for i := range lockedEdits {
				if n := uint32(1000*(p+1) + i); seen[n] != 1 {
					t.Errorf("sparse %v: chunk %d is there %d times", sparse, n, seen[n])
				}
			}
		}
		if len(seen) != 4*lockedEdits || s.Len() != f.NumChunks() {
			t.Errorf("sparse %v: %d chunks, %d in the reference, %d numbers", sparse, f.NumChunks(), s.Len(), len(seen))
		}
	}
}

// appendLocked appends chunks, and reads others.
func appendLocked(f *frame.Frame, first int) error {
	rng := rand.New(rand.NewPCG(uint64(first), 2))
	for i := range lockedEdits {
		if err := f.Append(ctx, numbered(uint32(first+i))); err != nil {
			return fmt.Errorf("append %d: %w", i, err)
		}
		for _, at := range []int{0, rng.IntN(f.NumChunks())} {
			b, err := f.ReadChunk(ctx, nil, at)
			if err == nil {
				_, err = number(b)
			}
			if err != nil {
				return fmt.Errorf("read %d of %d: %w", at, f.NumChunks(), err)
			}
		}
	}
	return nil
}

// TestFollow lets the C library edit frames that this library has open, which then refreshes them.
func TestFollow(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "frame")
		o := &frame.CreateOptions{Params: chunk.Params{TypeSize: 4}, ChunkSize: 4 * lockedItems, Sparse: sparse, NoSync: true}
		f, err := frame.CreateFunc(ctx, name, func(b *frame.Batch) error { return b.Append(ctx, numbered(0)) }, o)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		compress := func(n uint32) []byte {
			c, err := ref.Compress(numbered(n), &ref.CParams{TypeSize: 4, Codec: 1, Level: 5})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		for i, edit := range []func(s *ref.SChunk) error{
			func(s *ref.SChunk) error { return s.Append(numbered(1)) },
			func(s *ref.SChunk) error { return s.UpdateRaw(0, compress(1<<30+12345)) },
			func(s *ref.SChunk) error { return s.InsertRaw(1, compress(77)) },
			func(s *ref.SChunk) error { return s.Delete(0) },
			func(s *ref.SChunk) error { return s.SetVLMeta("a", []byte("b")) },
			func(s *ref.SChunk) error { return s.SetVLMeta("a", []byte("c")) },
		} {
			s, err := ref.OpenSChunk(name)
			if err == nil {
				err = edit(s)
			}
			if err != nil {
				t.Fatal(i, err)
			}
			want, err := s.Dump()
			s.Close()
			if err != nil {
				t.Fatal(i, err)
			}
			if changed, err := f.Refresh(ctx); err != nil || !changed {
				t.Errorf("sparse %v, edit %d: changed %v: %v", sparse, i, changed, err)
			}
			got := make([]byte, f.Info().NBytes)
			if _, err := f.Content(ctx).ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
				t.Errorf("sparse %v, edit %d: other content: %v", sparse, i, err)
			}
			if changed, err := f.Refresh(ctx); err != nil || changed {
				t.Errorf("sparse %v, edit %d, again: changed %v: %v", sparse, i, changed, err)
			}
			if err := f.Append(ctx, numbered(uint32(i))); err != nil { // where the C library has written
				t.Error(err)
			}
		}
		if v, err := f.VLMeta("a"); err != nil || string(v) != "c" {
			t.Error(v, err)
		}
	}
}

// TestFollowArray lets the C library resize and fill an array that is open.
func TestFollowArray(t *testing.T) {
	name := filepath.Join(t.TempDir(), "array")
	a, err := ndarray.Create(t.Context(), name, []int64{6, 5}, make([]int32, 30), &ndarray.CreateOptions{Chunks: []int64{4, 4}, Blocks: []int64{2, 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, rows := range []int64{9, 2, 30} {
		r, err := ref.OpenArray(name)
		if err == nil {
			err = r.Resize([]int64{rows, 5})
		}
		if err == nil {
			err = r.SetSlice([]int64{1, 1}, []int64{2, 5}, bytes.Repeat([]byte{byte(rows)}, 16))
		}
		if err != nil {
			t.Fatal(err)
		}
		want, err := r.Dump()
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		if changed, err := a.Refresh(ctx); err != nil || !changed || a.Shape()[0] != rows {
			t.Error(changed, err, a.Shape())
		}
		got := make([]byte, a.Size()*4)
		if err := a.ReadBytes(t.Context(), got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d rows: other items: %v", rows, err)
		}
		if changed, err := a.Refresh(ctx); err != nil || changed {
			t.Error(changed, err)
		}
	}
}
