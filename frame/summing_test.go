package frame

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
)

// counting counts the reads and the bytes that are read.
type counting struct {
	io.ReaderAt
	calls int
	n     int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.calls++
	c.n += int64(len(p))
	return c.ReaderAt.ReadAt(p, off)
}

// TestChecksumsPartial reads one block of a large chunk: the first time all of it, later only what is needed.
func TestChecksumsPartial(t *testing.T) {
	p := make([]byte, 1<<20)
	rng := newRand(1)
	for i := range p {
		p[i] = byte(rng.Uint32())
	}
	f, err := CreateMemory(&Options{Checksums: true, CParams: chunk.CParams{BlockSize: 1 << 14}}, func(b *Batch) error { return b.Append(p) })
	must(t, err)
	b, err := f.AppendTo(nil)
	must(t, err)
	src := &counting{ReaderAt: bytes.NewReader(b)}
	f, err = NewReader(src, int64(len(b)), &Options{Verify: true})
	must(t, err)
	for i, most := range []int64{1<<20 + 1<<16, 1 << 16, 1 << 16} {
		src.n = 0
		got, err := f.ReadBlock(nil, 0, 5)
		if err != nil || !bytes.Equal(got, p[5<<14:6<<14]) || src.n > most || i == 0 && src.n < 1<<20 {
			t.Errorf("read %d: %d bytes: %v", i, src.n, err)
		}
	}
}

// TestSumming reads a file in parts of any length, up to behind its end, and now and then elsewhere than where the last
// part ended: what is read, and the checksum of it, are those of reading all at once.
func TestSumming(t *testing.T) {
	p := make([]byte, 2*checksumPart+12345)
	rng := newRand(2)
	for i := range p {
		p[i] = byte(rng.Uint32())
	}
	name := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(name, p, 0o666))
	f, err := os.Open(name)
	must(t, err)
	defer f.Close()
	for i, r := range []io.ReaderAt{f, bytes.NewReader(p)} {
		for try := range 30 {
			src := &counting{ReaderAt: r}
			c := checksumReader{r: src, next: 7}
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
			if !bytes.Equal(got, p[7:]) || c.n != len(got) || c.of(nil) != 0 {
				t.Fatal("other bytes")
			}
			if sum := crc32c.Checksum(got); c.sum != sum || c.of(got) != sum {
				t.Fatalf("checksum %#x, want %#x", c.sum, sum)
			}
			if _, err := c.ReadAt(got[:10], 3); err != nil || !bytes.Equal(got[:10], p[3:13]) {
				t.Fatal("other bytes elsewhere", err)
			}
			if c.of(got) != crc32c.Checksum(got) {
				t.Fatal("the checksum of what was not read in one run")
			}
			if i == 1 && src.calls != calls+1 {
				t.Fatalf("%d reads where %d were asked for", src.calls, calls+1)
			}
		}
	}
}
