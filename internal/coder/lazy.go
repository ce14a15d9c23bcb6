package coder

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/goblosc/blosc2/internal/errs"
)

// Lazy is a lazy chunk: the form in which C-Blosc2 passes a chunk of a file around in memory. It has all parts except
// the streams:
//
//	+--------+---------+--------------+-------------+-----------------+
//	| header | bstarts | chunk number | position    | sizes of blocks |
//	+--------+---------+--------------+-------------+-----------------+
//	  32 bytes  4 each   4              8             4 each
//
// The lazy bit is set in the header. Files never hold lazy chunks, and only [ParseLazy] and Worker.OpenLazy read them.
// In a stored chunk the bstarts have no meaning.
type Lazy struct {
	Header Header  // header of the whole chunk, without the lazy bit
	Chunk  int32   // number of the chunk; in a sparse frame, of its file
	Off    int64   // offset of the chunk in its contiguous frame; in a sparse frame, the number of its file
	Sizes  []int32 // stored size of each block in bytes
}

// ParseLazy reads a lazy chunk. Errors are ErrCorrupt or errors.ErrUnsupported, in an *Error.
func ParseLazy(b []byte) (Lazy, error) {
	var l Lazy
	if len(b) < HeaderSize || b[2]&flagExtended != flagExtended || b[31]&b2flagLazy == 0 {
		return l, headerError(31, errs.ErrCorrupt, "not a lazy chunk")
	}
	head := [HeaderSize]byte(b)
	head[31] &^= b2flagLazy
	var err error
	if l.Header, err = ParseHeader(head[:], math.MaxInt64); err != nil {
		return l, err
	}
	n := l.Header.nblocks
	const fixed = HeaderSize + 12
	if l.Header.Special() != Regular || len(b) < fixed || n > (len(b)-fixed)/8 {
		return l, headerError(int64(len(b)), errs.ErrCorrupt, "lazy chunk of %d bytes, too short for %d blocks", len(b), n)
	}
	at := HeaderSize + 4*n
	l.Chunk = int32(binary.LittleEndian.Uint32(b[at:]))
	l.Off = int64(binary.LittleEndian.Uint64(b[at+4:]))
	for k := range n {
		at := at + 12 + 4*k
		size := int32(binary.LittleEndian.Uint32(b[at:]))
		if size <= 0 || int(size) > l.Header.CBytes-HeaderSize {
			return l, &Error{Block: k, Off: int64(at), Err: corrupt("stored size %d", size)}
		}
		l.Sizes = append(l.Sizes, size)
	}
	return l, nil
}

// OpenLazy opens the chunk that a lazy chunk b represents. The chunk itself starts at byte off of src and has at most
// size bytes. In a contiguous frame off is Lazy.Off, and in the file of a sparse frame 0. OpenLazy reads only a
// dictionary and blocks of variable length from src; the rest is read when it is needed. The reader retains src, but
// not b. Errors are those of ParseLazy, Open and src.
func (w *Worker) OpenLazy(r *Reader, b []byte, src io.ReaderAt, off, size int64) error {
	r.reset()
	l, err := ParseLazy(b)
	if err != nil {
		return err
	}
	if int64(l.Header.CBytes) > size {
		return headerError(12, errs.ErrCorrupt, "chunk size %d, but only %d bytes are available", l.Header.CBytes, size)
	}
	r.h = l.Header
	known := HeaderSize
	if !r.h.Stored() {
		known += 4 * r.h.nblocks
	}
	r.own = append(r.own[:0], b[:known]...)
	if err := w.readRest(r, src, off, 0); err != nil {
		r.reset()
		return err
	}
	return w.open(r)
}
