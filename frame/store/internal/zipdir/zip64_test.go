package zipdir

import (
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/goblosc/blosc2/internal/errs"
)

// hole is a file with zeros between its head and its tail.
type hole struct {
	head, tail []byte
	size       int64
}

func (h hole) ReadAt(p []byte, off int64) (int, error) {
	for i := range p {
		switch at := off + int64(i); {
		case at >= h.size:
			return i, io.EOF
		case at < int64(len(h.head)):
			p[i] = h.head[at]
		case at >= h.size-int64(len(h.tail)):
			p[i] = h.tail[at-h.size+int64(len(h.tail))]
		default:
			p[i] = 0
		}
	}
	return len(p), nil
}

// zip64With returns a zip file of size bytes, with a zip64 record that claims a length, and its locator at the end.
func zip64With(parts []part, claimed uint64, size int64) hole {
	le := binary.LittleEndian
	b := build(parts, len(parts))
	end := b[len(b)-endLen:]
	head := b[:len(b)-endLen]
	at := len(head)
	r := make([]byte, end64Len)
	le.PutUint32(r, markEnd64)
	le.PutUint64(r[4:], claimed)
	le.PutUint64(r[32:], uint64(len(parts)))
	le.PutUint64(r[40:], uint64(le.Uint32(end[12:])))
	le.PutUint64(r[48:], uint64(le.Uint32(end[16:])))
	l := make([]byte, locatorLen)
	le.PutUint32(l, markLocator)
	le.PutUint64(l[8:], uint64(at))
	e := make([]byte, endLen)
	le.PutUint32(e, markEnd)
	for i := 8; i < 20; i++ {
		e[i] = 0xff
	}
	return hole{append(head, r...), append(l, e...), size}
}

// TestZip64 reads zip files with a zip64 record far before its locator. The bytes between them must not be read at
// once: files with holes are large and take no space.
func TestZip64(t *testing.T) {
	parts := []part{{name: "a.b2f", data: "content"}}
	plain := zip64With(parts, 44, 0)
	size := int64(len(plain.head) + len(plain.tail))
	for name, c := range map[string]struct {
		claimed uint64
		size    int64
		want    error
	}{
		"as usual":         {44, size, nil},
		"too short":        {44, size + 1, errs.ErrCorrupt},
		"too long":         {45, size, errs.ErrCorrupt},
		"largest":          {1<<64 - 1, size, errs.ErrCorrupt},
		"far away":         {44, 1 << 40, errs.ErrCorrupt},
		"longer":           {44 + 100, size + 100, nil},
		"long and far":     {44 + 1<<40, size + 1<<40, nil},
		"longer than 4 GB": {44 + 1<<33, size + 1<<33, nil},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		members, _, err := readAll(zip64With(parts, c.claimed, c.size), c.size, 10)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, c.want) || c.want == nil && len(members) != 1 {
			t.Errorf("%s: %d members, %v, want %v", name, len(members), err, c.want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
			t.Errorf("%s: %d bytes of memory", name, used)
		}
	}
}
