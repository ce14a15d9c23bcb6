// Package fartest has a source of bytes that are far away, for tests. Its own tests read arrays from it by the public
// interface of ndarray: costs, faults, and contexts that end.
package fartest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
)

// Source is a frame.Source that reads many ranges at once. It is safe for concurrent use. Fields may be changed between
// calls, or with the lock held.
type Source struct {
	Data  []byte
	Files map[int64][]byte // chunk files, of Files

	sync.Mutex
	rng    *rand.Rand
	Ranges int           // calls of ReadRanges
	Reads  int           // calls of ReadAtContext
	Bytes  int64         // that were read
	Most   int64         // bytes of the largest call of ReadRanges
	Fail   int           // one read of that many fails, if it is not 0
	FailAt bool          // also of ReadAtContext
	Wait   bool          // reads wait for their context
	Delay  time.Duration // of a call of ReadRanges
	After  int64         // reads of bytes from that offset on wait for their context, if it is not 0
}

// NewSource returns a source with the bytes of a contiguous frame.
func NewSource(data []byte, seed uint64) *Source {
	return &Source{Data: data, rng: rand.New(rand.NewPCG(seed, 1))}
}

// Err is the error of reads that fail.
var Err = errors.New("an error of the source")

// fails reports whether a read fails.
func (s *Source) fails() bool { return s.Fail > 0 && s.rng.IntN(s.Fail) == 0 }

// waits reports whether a read of bytes up to end waits for its context.
func (s *Source) waits(end int64) bool { return s.Wait || s.After > 0 && end > s.After }

// ReadAtContext implements frame.Source.
func (s *Source) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	s.Lock()
	s.Reads++
	s.Bytes += int64(len(p))
	fails, wait := s.FailAt && s.fails(), s.waits(off+int64(len(p)))
	s.Unlock()
	if wait {
		<-ctx.Done()
	}
	if fails {
		return 0, Err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	data, at := s.file(off)
	return bytes.NewReader(data).ReadAt(p, at)
}

// file returns the file that has an offset, and the offset in it.
func (s *Source) file(off int64) (data []byte, at int64) {
	if n := off >> 31; n > 0 {
		return s.Files[n-1], off & (1<<31 - 1)
	}
	return s.Data, off
}

// Files is the Source of a sparse frame.
type Files struct{ *Source }

// ChunkOffset has the file of each chunk at a multiple of 2 GiB.
func (Files) ChunkOffset(n int64) int64 { return (n + 1) << 31 }

// Size implements frame.Source.
func (s *Source) Size() int64 { return int64(len(s.Data)) }

// ReadRanges reads ranges in random order and in random parts.
func (s *Source) ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	s.Lock()
	s.Ranges++
	order, part, wait := s.rng.Perm(len(want)), int64(1+s.rng.IntN(5000)), s.Wait
	all := int64(0)
	for _, w := range want {
		all += w.Len
		wait = wait || s.waits(w.End())
	}
	s.Bytes, s.Most = s.Bytes+all, max(s.Most, all)
	s.Unlock()
	time.Sleep(s.Delay)
	if wait {
		<-ctx.Done()
	}
	for _, i := range order {
		w := want[i]
		data, off := s.file(w.Off)
		if w.Off < 0 || w.Len < 0 || s.Files == nil && w.End() > s.Size() {
			return fmt.Errorf("range %v outside %d bytes", w, s.Size())
		}
		size := min(w.Len, int64(len(data))-off) // less after the end of a chunk file
		for at := int64(0); at < size; at += part {
			s.Lock()
			fails := s.fails()
			s.Unlock()
			if err := ctx.Err(); err != nil {
				return err
			}
			if fails {
				return Err
			}
			b := bytes.Clone(data[off+at : off+min(at+part, size)])
			if err := got(i, at, b); err != nil {
				return err
			}
			clear(b) // got must not retain it
		}
	}
	return nil
}

// Reader is a source that reads many ranges at once.
type Reader interface {
	frame.Source
	ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error
}

// Gap is a Reader that has a gap.
type Gap struct {
	Reader
	Len int64
}

// Gap returns the gap.
func (g Gap) Gap() int64 { return g.Len }

// GapFiles is the Gap of a sparse frame.
type GapFiles struct{ Gap }

// ChunkOffset is that of Files.
func (GapFiles) ChunkOffset(n int64) int64 { return Files{}.ChunkOffset(n) }

// Panic is a source whose ReadRanges panics.
type Panic struct{ *Source }

// ReadRanges panics.
func (Panic) ReadRanges(context.Context, []frame.Range, func(int, int64, []byte) error) error {
	panic("in ReadRanges")
}

// Stored returns a frame as it is stored.
func Stored(t testing.TB, f *frame.Frame) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := f.Save(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// StoredFiles returns the files of a frame as a sparse frame.
func StoredFiles(t testing.TB, f *frame.Frame) (index []byte, chunks map[int64][]byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a")
	s, err := frame.Copy(context.Background(), dir, f, &frame.CreateOptions{Sparse: true, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	chunks = map[int64][]byte{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if e.Name() == "chunks.b2frame" {
			index = b
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(e.Name(), ".chunk"), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		chunks[n] = append(b, make([]byte, n%3*100)...) // bytes after the chunk are not read
	}
	return index, chunks
}
