package storage

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/frame/internal/crc32c"
)

// counting counts reads.
type counting struct {
	io.ReaderAt
	calls int
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.calls++
	return c.ReaderAt.ReadAt(p, off)
}

// TestChecksumReader reads a file in parts of any length, past its end, and now and then elsewhere than where the last
// part ended: what is read, and the checksum of it, are those of reading all at once.
func TestChecksumReader(t *testing.T) {
	p := make([]byte, 2*checksumPart+12345)
	rng := rand.New(rand.NewPCG(2, 0))
	for i := range p {
		p[i] = byte(rng.Uint32())
	}
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, p, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, r := range []io.ReaderAt{f, bytes.NewReader(p)} {
		for try := range 30 {
			src := &counting{ReaderAt: r}
			c := NewChecksumReader(src, 7)
			if i == 0 {
				c.r = f // itself, as parts are for files
			}
			var got []byte
			calls := 0
			for c.next < int64(len(p)) {
				b := make([]byte, 1+rng.IntN(len(p)/(1+try%3)))
				n, err := c.ReadAt(b, 7+int64(len(got)))
				got = append(got, b[:n]...)
				calls++
				if (n < len(b)) != (err == io.EOF) || n < len(b) && len(got) != len(p)-7 {
					t.Fatalf("%d of %d bytes read at %d: %v", n, len(b), len(got), err)
				}
			}
			if !bytes.Equal(got, p[7:]) || c.n != len(got) || c.Of(nil) != 0 {
				t.Fatal("other bytes")
			}
			if sum := crc32c.Checksum(got); c.sum != sum || c.Of(got) != sum {
				t.Fatalf("checksum %#x, want %#x", c.sum, sum)
			}
			if _, err := c.ReadAt(got[:10], 3); err != nil || !bytes.Equal(got[:10], p[3:13]) {
				t.Fatal("other bytes elsewhere", err)
			}
			if c.Of(got) != crc32c.Checksum(got) {
				t.Fatal("the checksum of what was not read in one run")
			}
			if i == 1 && src.calls != calls+1 {
				t.Fatalf("%d reads where %d were asked for", src.calls, calls+1)
			}
		}
	}
}

// wrongCount is a source that returns a number of bytes that it cannot have read.
type wrongCount int

func (n wrongCount) ReadAt([]byte, int64) (int, error) { return int(n), nil }

// TestChecksumWrongCount reads from such a source.
func TestChecksumWrongCount(t *testing.T) {
	for _, n := range []int{-1, 11} {
		c := NewChecksumReader(wrongCount(n), 0)
		if got, err := c.ReadAt(make([]byte, 10), 0); got != 0 || err == nil {
			t.Errorf("%d bytes in place of %d, %v", got, n, err)
		}
		if c.Of(nil) != 0 {
			t.Error("a checksum of no bytes")
		}
	}
}
