package remote_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/link"
)

// withoutRange is an http.RoundTripper that asks for whole objects.
type withoutRange struct {
	*link.Link
	suffix  string // of the URLs
	unsized bool   // answers do not have their length
}

func (r withoutRange) RoundTrip(req *http.Request) (*http.Response, error) {
	whole := strings.HasSuffix(req.URL.Path, r.suffix)
	if whole {
		req = req.Clone(req.Context())
		req.Header.Del("Range")
	}
	resp, err := r.Link.RoundTrip(req)
	if err == nil && whole && r.unsized {
		resp.ContentLength = -1
		resp.Header.Del("Content-Length")
	}
	return resp, err
}

// TestDirMaxBytes counts the bytes that are received until the first of them has been used: also those between the
// wanted ranges, and those of whole files.
func TestDirMaxBytes(t *testing.T) {
	files := map[string][]byte{"chunks.b2frame": make([]byte, 1000)}
	for i := range 40 {
		files[fmt.Sprintf("%08X.chunk", i)] = make([]byte, 1_000_000)
	}
	for _, c := range []struct {
		name    string
		without *withoutRange
		most    int64 // also of files that are put off
		again   int   // requests for them
	}{
		{"ranges", nil, 3 << 20, 0}, {"whole", &withoutRange{}, 3 << 20, 0},
		{"whole chunks", &withoutRange{suffix: ".chunk"}, 3 << 20, 16},
		{"whole chunks without size", &withoutRange{suffix: ".chunk", unsized: true}, 5 << 20, 16},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, _ := dirLink(files)
			o := &remote.Options{Client: l.Client(), MaxBytes: 3 << 20, MaxLen: 1 << 20, Gap: 300_000, MaxWhole: 1 << 20}
			of := int64(4) // ranges of each file
			if c.without != nil {
				c.without.Link = l
				o.Client, of = &http.Client{Transport: *c.without}, 1
			}
			dir, err := remote.OpenDir(t.Context(), "http://host/d/", o)
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			l.Stats()
			var want []remote.Range
			for i := range int64(40) {
				for k := range of {
					want = append(want, remote.Range{Off: dir.ChunkOffset(i) + k*300_000, Len: 10})
				}
			}
			n, received, requests := 0, int64(0), 0
			err = dir.ReadRanges(t.Context(), want, func(_ int, _ int64, b []byte) error {
				if n == 0 {
					time.Sleep(time.Minute)
					s := l.Stats()
					received, requests = s.Bytes, s.Requests
				}
				n += len(b)
				return nil
			})
			if err != nil || n != 10*len(want) || received > c.most {
				t.Errorf("%s: %d bytes, %v; received %d bytes ahead, want at most %d", c.name, n, err, received, c.most)
			}
			if requests += l.Stats().Requests; requests > len(want)+c.again {
				t.Errorf("%s: %d requests, want at most %d and %d again", c.name, requests, len(want), c.again)
			}
		})
	}
}

// lengths is an http.RoundTripper that replaces the length of the answers for some paths.
type lengths struct {
	http.RoundTripper
	of map[string]int64
}

func (r lengths) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.RoundTripper.RoundTrip(req)
	if n, ok := r.of[req.URL.Path]; ok && err == nil {
		resp.ContentLength = n
	}
	return resp, err
}

// TestDirRefusedWhole reads chunks after one whose answer was refused because it is too large. That must not change how
// many are read at a time.
func TestDirRefusedWhole(t *testing.T) {
	files := map[string][]byte{"chunks.b2frame": make([]byte, 1000)}
	for i := range 100 {
		files[fmt.Sprintf("%08X.chunk", i)] = make([]byte, 100_000)
	}
	for _, n := range []int64{70 << 20, 1 << 62, math.MaxInt64} {
		synctest.Test(t, func(t *testing.T) {
			l, _ := dirLink(files)
			o := &remote.Options{MaxBytes: 1 << 20, MaxLen: 1 << 20}
			o.Client = &http.Client{Transport: lengths{withoutRange{Link: l, suffix: ".chunk"}, map[string]int64{"/d/00000000.chunk": n}}}
			dir, err := remote.OpenDir(t.Context(), "http://host/d/", o)
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			if _, err := dir.ReadAtContext(t.Context(), make([]byte, 10), dir.ChunkOffset(1)); err != nil {
				t.Fatal(err)
			}
			bad := []remote.Range{{Off: dir.ChunkOffset(0), Len: 10}, {Off: dir.ChunkOffset(1), Len: 10}}
			err = dir.ReadRanges(t.Context(), bad, func(int, int64, []byte) error { return nil })
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Fatalf("%d bytes: %v, want ErrUnsupported", n, err)
			}
			var want []remote.Range
			for i := range int64(98) {
				want = append(want, remote.Range{Off: dir.ChunkOffset(2 + i), Len: 10})
			}
			l.Stats()
			k, received := 0, int64(0)
			err = dir.ReadRanges(t.Context(), want, func(int, int64, []byte) error {
				if k++; k == 1 {
					time.Sleep(time.Minute)
					received = l.Stats().Bytes
				}
				return nil
			})
			if err != nil || received < 500_000 || received > 1<<20 {
				t.Errorf("after %d bytes: received %d bytes ahead, want about 1 MiB; %v", n, received, err)
			}
		})
	}
}

// TestDirOneLargeWhole reads small chunks that are sent as a whole, and a large one among them. It must not make the
// small ones wait for each other.
func TestDirOneLargeWhole(t *testing.T) {
	files := map[string][]byte{"chunks.b2frame": make([]byte, 1000)}
	var total int64
	for i := range 200 {
		n := 10_000
		if i == 5 {
			n = 40 << 20
		}
		files[fmt.Sprintf("%08X.chunk", i)] = make([]byte, n)
		total += int64(n)
	}
	synctest.Test(t, func(t *testing.T) {
		l, _ := dirLink(files)
		o := &remote.Options{MaxWhole: 64 << 20, Client: &http.Client{Transport: withoutRange{Link: l, suffix: ".chunk"}}}
		dir, err := remote.OpenDir(t.Context(), "http://host/d/", o)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		var want []remote.Range
		for i := range int64(200) {
			want = append(want, remote.Range{Off: dir.ChunkOffset(i), Len: 10})
		}
		for range 2 {
			l.Stats()
			start, n := time.Now(), 0
			err := dir.ReadRanges(t.Context(), want, func(_ int, _ int64, b []byte) error { n += len(b); return nil })
			if took := time.Since(start); err != nil || n != 2000 || took > 2*time.Second {
				t.Errorf("%d bytes, %v; took %v, want less than 2 s", n, err, took)
			}
			if s := l.Stats(); s.Requests > 216 || s.Bytes > total+total/4 {
				t.Errorf("%d requests, %d bytes, want at most 216 and %d", s.Requests, s.Bytes, total+total/4)
			}
		}
	})
}
