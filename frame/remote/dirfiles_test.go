package remote_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/ndarray"
)

// makeFiles returns an array of n chunks that LZ4 stores in about rows KiB each, and the files of its directory.
func makeFiles(t *testing.T, n, rows int64) (stored []byte, files map[string][]byte, size int64) {
	stored = makeArray(t, []int64{n, rows, 1000}, []int64{1, rows, 1000}, []int64{1, rows, 100}, codec.LZ4, false)
	_, files = makeDir(t, stored, false)
	_, size = dirLink(files)
	return stored, files, size
}

// TestDirFiles reads whole arrays of many files. The link is busy while bytes are missing, unless the files are so
// small that those in flight take less than a latency.
func TestDirFiles(t *testing.T) {
	for _, c := range []struct {
		files, rows, percent int64 // percent is the time over that of the link or of the rounds
	}{
		{17, 600, 105}, {40, 600, 105}, {64, 400, 105}, {17, 200, 125}, {100, 50, 125},
	} {
		if race.Enabled && c.rows > 50 { // the bytes of large files take long there, and show nothing else
			continue
		}
		stored, files, size := makeFiles(t, c.files, c.rows)
		inDir(t, stored, files, remote.Options{}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
			got := make([]byte, 4*a.Size())
			start := time.Now()
			if err := a.ReadBytes(context.Background(), got); err != nil {
				t.Fatal(err)
			}
			took, s := time.Since(start), a.link.Stats()
			want := make([]byte, len(got))
			if err := a.local.ReadBytes(context.Background(), want); err != nil || !bytes.Equal(got, want) {
				t.Errorf("other items: %v", err)
			}
			rounds := (c.files + 15) / 16
			ideal := max(time.Duration(float64(size)/a.link.Bandwidth*1e9)+a.link.Latency, time.Duration(rounds)*a.link.Latency)
			t.Logf("%d files of %d bytes: %d requests, %d rounds, %v of %v", c.files, size/c.files, s.Requests, s.Rounds, took, ideal)
			if took > ideal*time.Duration(c.percent)/100 {
				t.Errorf("%d files of %d bytes took %v, want at most %d %% of %v", c.files, size/c.files, took, c.percent, ideal)
			}
		})
	}
}

// TestDirFilesSlow reads files while a link is so slow that answers wait longer than Options.Stall for their turn, and
// cancels a read while they wait.
func TestDirFilesSlow(t *testing.T) {
	stored, files, _ := makeFiles(t, 40, 200)
	inDir(t, stored, files, remote.Options{Stall: time.Second, Retries: -1}, ndarray.OpenOptions{}, func(t *testing.T, a farArray) {
		a.link.Bandwidth = 1e6
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := a.ReadBytes(ctx, make([]byte, a.Size()*4)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a read that was canceled: %v", err)
		}
		synctest.Wait() // for requests that were about to begin
		a.link.Stats()
		if s, _ := a.read(t); s.Requests != 40 {
			t.Errorf("%d requests, want 40", s.Requests)
		}
	})
}

// TestDirUnusedBytes reads chunk files with bytes after their blocks, which make them longer than chunks usually are.
func TestDirUnusedBytes(t *testing.T) {
	ctx := t.Context()
	for _, n := range []int{500, 3000, 100_000} { // items of a chunk
		name := filepath.Join(t.TempDir(), "d")
		items := make([]int32, 4*n)
		for i := range items {
			items[i] = int32(i * i)
		}
		o := &ndarray.CreateOptions{Chunks: []int64{int64(n)}, Blocks: []int64{int64(n / 5)}, Sparse: true}
		a, err := ndarray.Create(ctx, name, []int64{int64(4 * n)}, items, o)
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
		file := filepath.Join(name, "00000001.chunk")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, make([]byte, 4*n)...)
		binary.LittleEndian.PutUint32(b[12:], uint32(len(b)))
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(http.FileServer(http.Dir(name)))
		defer server.Close()
		dir, err := remote.OpenDir(ctx, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		if a, err = ndarray.OpenSource(ctx, dir, nil); err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if b, err := a.Frame().ReadBlock(ctx, nil, 1, 3); err != nil || len(b) != n/5*4 {
			t.Errorf("chunks of %d: a block of %d bytes, %v", n, len(b), err)
		}
		if b, err := a.Frame().ReadChunk(ctx, nil, 1); err != nil || len(b) != 4*n {
			t.Errorf("chunks of %d: %d bytes, %v", n, len(b), err)
		}
		for _, sel := range []ndarray.Index{ndarray.All, ndarray.At(int64(n + 1)), ndarray.Span(int64(n-1), int64(n+2))} {
			got, err := ndarray.Read[int32](ctx, a, sel)
			if err != nil {
				t.Errorf("chunks of %d: %v", n, err)
			} else if i := slices.Index(items, got[0]); !slices.Equal(got, items[i:i+len(got)]) {
				t.Errorf("chunks of %d: %d items", n, len(got))
			}
		}
		if _, err := a.Frame().ReadRaw(ctx, nil, 1); err != nil {
			t.Error(err)
		}
		if err := a.Verify(ctx, nil); err != nil {
			t.Error(err)
		}
		if _, err := a.Save(ctx, io.Discard); err != nil {
			t.Error(err)
		}
	}
}
