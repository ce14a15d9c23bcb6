package frametest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"sync/atomic"
	"testing"

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
