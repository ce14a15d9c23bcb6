package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/link"
	"github.com/goblosc/blosc2/ndarray"
)

// makeFrame returns a frame with n chunks of 256 KiB, in blocks of 32 KiB, and their bytes.
func makeFrame(t *testing.T, n int) (stored, data []byte) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.b2frame")
	data = make([]byte, n*256<<10)
	rand.NewChaCha8([32]byte{1}).Read(data)
	for i := range data {
		data[i] &= 15
	}
	o := &frame.CreateOptions{ChunkSize: 256 << 10, Params: chunk.Params{TypeSize: 1, BlockSize: 32 << 10}}
	f, err := frame.CreateFunc(t.Context(), name, func(b *frame.Batch) error {
		for i := 0; i < len(data); i += 256 << 10 {
			if err := b.Append(t.Context(), data[i:i+256<<10]); err != nil {
				return err
			}
		}
		return nil
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if stored, err = os.ReadFile(name); err != nil {
		t.Fatal(err)
	}
	return stored, data
}

// TestFrame counts what opening a frame and reading a block takes on a link of 50 ms and 100 MB/s.
func TestFrame(t *testing.T) {
	for _, c := range []struct {
		chunks           int
		o                remote.Options
		requests, rounds int // to open
		item             int // requests and rounds for a block
	}{
		{1, remote.Options{}, 2, 1, 2},
		{30, remote.Options{}, 2, 1, 2},
		{30, remote.Options{Small: true}, 2, 2, 2},
	} {
		stored, data := makeFrame(t, c.chunks)
		t.Run(fmt.Sprint(c.chunks), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &link.Link{Latency: 50 * time.Millisecond, Bandwidth: 100e6, Objects: map[string]link.Object{"/a": {Data: stored, ETag: `"1"`}}}
				c.o.Client = l.Client()
				ctx := context.Background()
				src, err := remote.Open(ctx, "http://host/a", &c.o)
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				f, err := frame.OpenSource(ctx, src, &frame.OpenOptions{Concurrency: 1})
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if s := l.Stats(); s.Requests != c.requests || s.Rounds != c.rounds {
					t.Errorf("open: %d requests, %d rounds, want %d, %d", s.Requests, s.Rounds, c.requests, c.rounds)
				}
				i := c.chunks / 2
				b, err := f.ReadBlock(ctx, nil, i, 4)
				if at := i*256<<10 + 4*32<<10; err != nil || !bytes.Equal(b, data[at:at+32<<10]) {
					t.Fatalf("wrong block: %v", err)
				}
				if s := l.Stats(); s.Requests > c.item || s.Rounds > c.item {
					t.Errorf("a block: %d requests, %d rounds, want at most %d", s.Requests, s.Rounds, c.item)
				}
			})
		})
	}
}

// TestErrorNames checks that the errors of a frame name its URL, without password and query.
func TestErrorNames(t *testing.T) {
	stored, _ := makeFrame(t, 1)
	l := &link.Link{Objects: map[string]link.Object{"/a": {Data: stored, ETag: `"1"`}}}
	ctx := context.Background()
	src, err := remote.Open(ctx, "http://me:password@host/a?token=1", &remote.Options{Client: l.Client()})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f, err := frame.OpenSource(ctx, src, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, chunkErr := f.ReadChunk(ctx, nil, 1)
	_, arrayErr := ndarray.OpenFrame(f)
	for _, err := range []error{chunkErr, arrayErr} {
		var e *frame.Error
		if !errors.As(err, &e) || e.Path != "http://me:xxxxx@host/a" {
			t.Errorf("error %v, want the path http://me:xxxxx@host/a", err)
		}
	}
}
