package frametest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
)

// holeSource is a frame with a hole after its header.
type holeSource struct {
	b    []byte
	head int64
	hole int64
	read atomic.Int64
}

func (s *holeSource) Size() int64 { return int64(len(s.b)) + s.hole }

func (s *holeSource) ReadAtContext(_ context.Context, p []byte, off int64) (int, error) {
	for i := range p {
		switch at := off + int64(i); {
		case at < s.head:
			p[i] = s.b[at]
		case at < s.head+s.hole:
			p[i] = 0
		default:
			p[i] = s.b[at-s.hole]
		}
	}
	s.read.Add(int64(len(p)))
	return len(p), nil
}

// openHole opens a frame of 2^52 zeros with a hole of some bytes.
func openHole(t *testing.T, hole int64) (*frame.Frame, *holeSource) {
	zeros, err := frame.CreateFunc(t.Context(), "", func(b *frame.Batch) error {
		return b.Engine().FillSpecial(1<<52, chunk.Zeros)
	}, &frame.CreateOptions{ChunkSize: 1 << 30})
	must(t, err)
	defer zeros.Close()
	var w bytes.Buffer
	_, err = zeros.Save(t.Context(), &w)
	must(t, err)
	src := &holeSource{b: w.Bytes(), hole: hole}
	src.head = int64(binary.BigEndian.Uint32(src.b[11:]))
	for _, at := range []int{16, 39} { // the lengths of the frame and of its chunks
		binary.BigEndian.PutUint64(src.b[at:], binary.BigEndian.Uint64(src.b[at:])+uint64(hole))
	}
	f, err := frame.OpenSource(t.Context(), src, nil)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	src.read.Store(0)
	return f, src
}

// TestEvidenceInHole asks for more memory than a frame justifies, of which nearly all is a hole.
func TestEvidenceInHole(t *testing.T) {
	for _, x := range []struct {
		hole, n, most int64
	}{
		{0, 1 << 40, 0}, // more than all bytes of the frame justify
		{1 << 40, 1 << 53, 0},
		{1 << 40, 1 << 50, coder.EvidenceLook},
		{1 << 50, math.MaxInt64, 0},
		{1 << 50, 1 << 58, coder.EvidenceLook},
	} {
		f, src := openHole(t, x.hole)
		err := f.CheckAlloc(x.n)
		if !errors.Is(err, frame.ErrTooLarge) || src.read.Load() > x.most {
			t.Errorf("%d bytes for a hole of %d: %d bytes read, want at most %d, %v", x.n, x.hole, src.read.Load(), x.most, err)
		}
	}
}

// farFiles is a Source of one file, or of the files of a sparse frame. It can be told to fail.
type farFiles struct {
	files [][]byte // file k is at offset k << 32
	calls atomic.Int64
	fail  func(ctx context.Context, file int64) error
}

func (s *farFiles) Size() int64 { return int64(len(s.files[0])) }

func (s *farFiles) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	s.calls.Add(1)
	return s.read(ctx, p, off)
}

func (s *farFiles) read(ctx context.Context, p []byte, off int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if s.fail != nil {
		if err := s.fail(ctx, off>>32); err != nil {
			return 0, err
		}
	}
	if file := s.files[off>>32]; off&(1<<32-1) < int64(len(file)) {
		if n := copy(p, file[off&(1<<32-1):]); n == len(p) {
			return n, nil
		}
		return copy(p, file[off&(1<<32-1):]), io.EOF
	}
	return 0, io.EOF
}

// farRanges is a farFiles that reads many ranges at once, some of them in parts.
type farRanges struct{ farFiles }

func (s *farRanges) ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	s.calls.Add(1)
	for i, x := range want {
		b := make([]byte, x.Len)
		n, err := s.read(ctx, b, x.Off)
		if err != nil && err != io.EOF {
			return err
		}
		for at := 0; at < n; at += 5000 {
			if err := got(i, int64(at), b[at:min(n, at+5000)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// farDir is a farRanges of a sparse frame.
type farDir struct{ farRanges }

func (s *farDir) ChunkOffset(n int64) int64 { return (n + 1) << 32 }

// openFar opens a frame of 1.2 MB of noise in 20 chunks: from a source without ReadRanges, with it, and a sparse frame.
func openFar(t *testing.T, kind string, o *frame.OpenOptions) (*frame.Frame, *farFiles) {
	name := filepath.Join(t.TempDir(), "far")
	rng := rand.New(rand.NewPCG(1, 2))
	f, err := frame.CreateFunc(t.Context(), name, func(b *frame.Batch) error {
		for range 20 {
			c := make([]byte, 60_000)
			for i := range c {
				c[i] = byte(rng.Uint32())
			}
			if err := b.Append(t.Context(), c); err != nil {
				return err
			}
		}
		return nil
	}, &frame.CreateOptions{Sparse: kind == "files", NoSync: true})
	must(t, err)
	must(t, f.Close())
	var files [][]byte
	for k := -1; k < 20; k++ {
		path := name
		if kind == "files" && k < 0 {
			path = filepath.Join(name, "chunks.b2frame")
		} else if kind == "files" {
			path = filepath.Join(name, fmt.Sprintf("%08X.chunk", k))
		} else if k >= 0 {
			break
		}
		b, err := os.ReadFile(path)
		must(t, err)
		files = append(files, b)
	}
	plain, ranges, dir := &farFiles{files: files}, &farRanges{farFiles{files: files}}, &farDir{farRanges{farFiles{files: files}}}
	var src frame.Source = plain
	far := plain
	switch kind {
	case "ranges":
		src, far = ranges, &ranges.farFiles
	case "files":
		src, far = dir, &dir.farFiles
	}
	f, err = frame.OpenSource(t.Context(), src, o)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	far.calls.Store(0)
	return f, far
}

var farKinds = []string{"plain", "ranges", "files"}

// TestEvidenceFails looks for evidence in a source that fails for some time.
func TestEvidenceFails(t *testing.T) {
	const n = 2000 << 20
	down := errors.New("down")
	for _, kind := range farKinds {
		for _, x := range []struct {
			name string
			fail func(ctx context.Context, file int64) error
			want error
		}{
			{"down", func(context.Context, int64) error { return down }, down},
			{"changed", func(context.Context, int64) error { return frame.ErrChanged }, frame.ErrChanged},
			{"no answer", func(ctx context.Context, _ int64) error { <-ctx.Done(); return ctx.Err() }, context.DeadlineExceeded},
		} {
			f, far := openFar(t, kind, nil)
			far.fail = x.fail
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			start := time.Now()
			err := f.Engine().CheckAlloc(ctx, n)
			if !errors.Is(err, x.want) || errors.Is(err, frame.ErrTooLarge) || time.Since(start) > 5*time.Second {
				t.Errorf("%s, %s: %v after %v, want %v", kind, x.name, err, time.Since(start), x.want)
			}
			cancel()
			if calls := far.calls.Load(); calls > 5 {
				t.Errorf("%s, %s: %d calls", kind, x.name, calls)
			}
			if x.name != "no answer" {
				if err := f.CheckAlloc(n); !errors.Is(err, x.want) {
					t.Errorf("%s, %s: CheckAlloc: %v", kind, x.name, err)
				}
				if err := frame.CheckAllocs(n, f); !errors.Is(err, x.want) {
					t.Errorf("%s, %s: CheckAllocs: %v", kind, x.name, err)
				}
			}
			far.fail = nil
			if err := f.CheckAlloc(n); err != nil {
				t.Errorf("%s, %s: after it: %v", kind, x.name, err)
			}
			if err := f.CheckAlloc(6 << 30); !errors.Is(err, frame.ErrTooLarge) {
				t.Errorf("%s, %s: more than all bytes justify: %v", kind, x.name, err)
			}
		}
	}
}

// TestEvidenceWaits looks for evidence while another call waits for the source.
func TestEvidenceWaits(t *testing.T) {
	f, far := openFar(t, "ranges", nil)
	waits := make(chan bool)
	far.fail = func(ctx context.Context, _ int64) error {
		waits <- true
		<-ctx.Done()
		return ctx.Err()
	}
	long, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- f.Engine().CheckAlloc(long, 2000<<20) }()
	<-waits
	go func() { <-waits }()
	short, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer end()
	if err := f.Engine().CheckAlloc(short, 2000<<20); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestEvidenceCalls counts the calls for evidence, also if some files cannot be read.
func TestEvidenceCalls(t *testing.T) {
	f, far := openFar(t, "ranges", nil)
	if err := f.CheckAlloc(2000 << 20); err != nil || far.calls.Load() != 1 {
		t.Errorf("%d calls, %v", far.calls.Load(), err)
	}
	f, far = openFar(t, "files", nil)
	if err := f.CheckAlloc(2000 << 20); err != nil || far.calls.Load() > 2 {
		t.Errorf("files: %d calls, %v", far.calls.Load(), err)
	}
	f, far = openFar(t, "files", nil)
	far.fail = func(_ context.Context, file int64) error {
		if file == 5 || file == 8 {
			return fs.ErrPermission
		}
		return nil
	}
	if err := f.CheckAlloc(2000 << 20); err != nil {
		t.Errorf("two files cannot be read: %v", err)
	}
	const most = 9 << 29
	if err := f.CheckAlloc(most); int64(math.MaxInt) > most && runtime.GOARCH != "wasm" && !errors.Is(err, fs.ErrPermission) {
		t.Errorf("two files that are needed cannot be read: %v", err)
	}
}

// TestOneFileFails reads a sparse frame of which one file cannot be read. Errors are only those of its chunk.
func TestOneFileFails(t *testing.T) {
	for _, fault := range []error{errors.New("status 500"), fs.ErrPermission, fs.ErrNotExist} {
		f, far := openFar(t, "files", nil)
		far.fail = func(_ context.Context, file int64) error {
			if file == 11 {
				return fault
			}
			return nil
		}
		var reports []error
		err := f.Verify(t.Context(), func(err error) error { reports = append(reports, err); return nil })
		if err != nil || len(reports) != 1 || !errors.Is(reports[0], fault) {
			t.Errorf("%v: Verify reports %v, %v", fault, reports, err)
		}
		for i := range 20 {
			if _, err := f.ChunkInfo(t.Context(), i); (err != nil) != (i == 10) {
				t.Errorf("%v: ChunkInfo %d: %v", fault, i, err)
			}
		}
	}
}

// TestVerifyDown verifies frames of a source that is down: that is no damage.
func TestVerifyDown(t *testing.T) {
	down := errors.New("down")
	for _, kind := range farKinds {
		f, far := openFar(t, kind, nil)
		far.fail = func(context.Context, int64) error { return down }
		n := 0
		if err := f.Verify(t.Context(), func(error) error { n++; return nil }); !errors.Is(err, down) || n > 3 {
			t.Errorf("%s: %d reports, %v", kind, n, err)
		}
	}
}

// TestVerifyPostfilter reports all chunks for which a Postfilter fails: the source has no fault.
func TestVerifyPostfilter(t *testing.T) {
	boom := errors.New("boom")
	for _, kind := range farKinds {
		f, _ := openFar(t, kind, &frame.OpenOptions{Postfilter: func(_, _ []byte, _ chunk.BlockInfo) error { return boom }})
		n := 0
		err := f.Verify(t.Context(), func(err error) error {
			if n++; !errors.Is(err, boom) {
				t.Error(err)
			}
			return nil
		})
		if err != nil || n != f.NumChunks() {
			t.Errorf("%s: %d reports, %v", kind, n, err)
		}
	}
}
