package zipdir

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"testing"
)

// gap is a writer that leaves out long pieces.
type gap struct{ bytes.Buffer }

func (g *gap) Write(p []byte) (int, error) {
	if len(p) > 1<<27 {
		return len(p), nil
	}
	return g.Buffer.Write(p)
}

// TestWriter compares zip files with those of archive/zip, also large ones.
func TestWriter(t *testing.T) {
	piece := make([]byte, 1<<28)
	for name, sizes := range map[string][]int64{
		"none": {}, "small": {0, 5, 1000}, "many": make([]int64, 1<<16), "large member": {3, 1 << 32, 7}, "large file": {1 << 31, 1 << 31, 9}, "at the limit": {1<<32 - 1},
	} {
		var got, want gap
		buffered := bufio.NewWriter(&got) // as archive/zip has one
		w, z := NewWriter(buffered), zip.NewWriter(&want)
		for i, size := range sizes {
			member := fmt.Sprintf("d/%d.b2nd", i)
			flags := uint16(0)
			if i == 1 {
				member, flags = "é.b2nd", 0x800
			}
			sum := crc32.ChecksumIEEE([]byte(member))
			h := &zip.FileHeader{Name: member, Method: zip.Store, CRC32: sum, UncompressedSize64: uint64(size), CompressedSize64: uint64(size),
				CreatorVersion: 3<<8 | 20, ReaderVersion: 20, ExternalAttrs: 0o600 << 16, Flags: flags}
			//lint:ignore SA1019 CreateRaw ignores Modified
			h.ModifiedDate = 1<<5 | 1
			to, err := z.CreateRaw(h)
			if err == nil {
				err = w.Add(member, size, sum)
			}
			for n := size; n > 0 && err == nil; n -= int64(len(piece)) {
				part := piece[:min(n, int64(len(piece)))]
				if _, err = to.Write(part); err == nil {
					_, err = w.Write(part)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Close(), buffered.Flush()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%s: %d bytes, want the %d of archive/zip", name, got.Len(), want.Len())
		}
	}
}

// failing is a writer that fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriterFails(t *testing.T) {
	w := NewWriter(failing{})
	if err := w.Add("a", 1, 0); err != io.ErrShortWrite {
		t.Error(err)
	}
	if err := w.Close(); err != io.ErrShortWrite {
		t.Error(err)
	}
}
