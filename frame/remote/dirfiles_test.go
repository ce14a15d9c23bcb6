package remote_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
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
		a.link.Stats()
		if s, _ := a.read(t); s.Requests != 40 {
			t.Errorf("%d requests, want 40", s.Requests)
		}
	})
}
