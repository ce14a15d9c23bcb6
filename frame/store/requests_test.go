package store

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/link"
)

// countReads counts the reads of a source.
type countReads struct {
	r     io.ReaderAt
	reads atomic.Int64
}

func (c *countReads) ReadAt(p []byte, off int64) (int, error) {
	c.reads.Add(1)
	return c.r.ReadAt(p, off)
}

// largeZip returns a zip store with n leaves.
func largeZip(t testing.TB, n int) []byte {
	t.Helper()
	embed, err := os.ReadFile("../../testdata/stores/tree.b2d/embed.b2e")
	if err != nil {
		t.Fatal(err)
	}
	leaf := buildFrame(t, nil, nil, []byte("content"))
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := range n + 1 {
		name, b := fmt.Sprintf("group%02d/leaf%06d.b2f", i/1000, i), leaf
		if i == n {
			name, b = embedFile, embed
		}
		w, err := z.CreateRaw(&zip.FileHeader{Name: name, CRC32: crc32.ChecksumIEEE(b), CompressedSize64: uint64(len(b)), UncompressedSize64: uint64(len(b))})
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A large store is opened and listed with two reads. A small leaf is opened and read with one more.
func TestLargeZip(t *testing.T) {
	ctx := context.Background()
	const n = 10000
	b := largeZip(t, n)
	src := &countReads{r: bytes.NewReader(b)}
	s, err := OpenReaderAt(ctx, src, int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if keys := slices.Collect(s.Keys("/")); len(keys) != n || keys[n-1] != "/group09/leaf009999" {
		t.Errorf("%d keys", len(keys))
	}
	if reads := src.reads.Load(); reads != 2 {
		t.Errorf("%d reads to open and list, want 2", reads)
	}
	f, err := s.Frame(ctx, "/group03/leaf003333")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := f.ReadChunk(context.Background(), nil, 0); err != nil || string(b) != "content" {
		t.Errorf("%q, %v", b, err)
	}
	if reads := src.reads.Load(); reads != 3 {
		t.Errorf("%d reads to open, list and read one leaf, want 3", reads)
	}
}

// TestLargeZipFar counts what the same takes on a link of 50 ms and 100 MB/s.
func TestLargeZipFar(t *testing.T) {
	b := largeZip(t, 10000)
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		l := &link.Link{Latency: 50 * time.Millisecond, Bandwidth: 100e6, Objects: map[string]link.Object{"/s": {Data: b, ETag: `"1"`}}}
		src, err := remote.Open(ctx, "http://host/s", &remote.Options{Client: l.Client()})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		s, err := OpenSource(ctx, src, &OpenOptions{Frames: &frame.OpenOptions{Concurrency: 1}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if keys := slices.Collect(s.Keys("/")); len(keys) != 10000 {
			t.Errorf("%d keys", len(keys))
		}
		open := l.Stats()
		f, err := s.Frame(ctx, "/group03/leaf003333")
		if err != nil {
			t.Fatal(err)
		}
		if b, err := f.ReadChunk(ctx, nil, 0); err != nil || string(b) != "content" {
			t.Errorf("%q, %v", b, err)
		}
		leaf := l.Stats()
		t.Logf("%d bytes; open and list: %+v; a leaf: %+v", len(b), open, leaf)
		if open.Rounds > 2 || open.Requests > 4 || leaf.Rounds > 1 || leaf.Requests > 1 {
			t.Errorf("open and list: %+v; a leaf: %+v", open, leaf)
		}
	})
}

func BenchmarkOpenLargeZip(b *testing.B) {
	data := largeZip(b, 10000)
	b.ReportAllocs()
	for b.Loop() {
		s, err := OpenReaderAt(context.Background(), bytes.NewReader(data), int64(len(data)), nil)
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
