package storage

import (
	"fmt"
	"io"

	"github.com/goblosc/blosc2/frame/internal/crc32c"
)

// ChecksumReader reads from r and computes the checksum of the bytes while they are in the nearest cache.
type ChecksumReader struct {
	r    io.ReaderAt
	next int64 // end of the bytes read so far
	n    int   // number of these bytes
	sum  uint32
}

// NewChecksumReader returns a reader of r that begins at off.
func NewChecksumReader(r io.ReaderAt, off int64) ChecksumReader {
	return ChecksumReader{r: r, next: off}
}

// checksumPart is the size of a read from a file, in bytes. From other sources, where each read may take long, a
// ChecksumReader reads all requested bytes at once.
const checksumPart = 256 << 10

// ReadAt implements io.ReaderAt. If off is not the end of the previous read, the checksum is lost.
func (c *ChecksumReader) ReadAt(p []byte, off int64) (n int, err error) {
	if off != c.next {
		c.next = -1
		return c.r.ReadAt(p, off)
	}
	most := len(p)
	if _, fast := c.r.(File); fast {
		most = checksumPart
	}
	for full := true; full && n < len(p) && err == nil; {
		part := p[n:]
		part = part[:min(most, len(part))]
		var k int
		if k, err = c.r.ReadAt(part, off+int64(n)); k < 0 || k > len(part) { // against the rules of io.ReaderAt
			c.next = -1
			return n, fmt.Errorf("%d bytes read, want at most %d", k, len(part))
		}
		c.sum = crc32c.Update(c.sum, part[:k])
		n += k
		full = k == len(part)
	}
	c.next, c.n = off+int64(n), c.n+n
	return n, err
}

// Of returns the checksum of b, the bytes from the first offset that was read.
func (c *ChecksumReader) Of(b []byte) uint32 {
	if c.next >= 0 && c.n == len(b) {
		return c.sum
	}
	return crc32c.Checksum(b)
}
