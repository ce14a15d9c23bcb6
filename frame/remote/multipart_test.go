package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// TestLinkMultipart counts requests for several ranges. The ranges are the blocks of two selections: a series out of
// 365 planes, with every fourth block of 23 chunks, and a plane across 8 chunks, with every fourth block.
func TestLinkMultipart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := randomBytes(10 << 20)
		for _, size := range []int{1000, 64 << 10, 100_000, 128 << 10, 128<<10 + 1, len(data)} {
			l := newLink(data[:size])
			obj := open(t, l, Options{Multipart: true})
			want(t, fmt.Sprintf("open %d bytes", size), l.Stats(), 1, 1, 2*keep+1000)
			readAll(t, obj, data, []Range{{Off: 0, Len: int64(min(size, keep))}, {Off: int64(max(size-keep, 0)), Len: int64(min(size, keep))}})
			want(t, "ends", l.Stats(), 0, 0, 0)
		}
		l := newLink(data)
		obj := open(t, l, Options{Multipart: true})
		l.Stats()
		var series, plane []Range
		for i := range int64(365) {
			series = append(series, Range{Off: 100_000 + i*4*6200, Len: 6200})
		}
		for i := range int64(128) {
			plane = append(plane, Range{Off: 100_000 + i*4*16_000, Len: 16_000})
		}
		readAll(t, obj, data, series)
		want(t, "series", l.Stats(), 25, 1, 365*6200*11/10)
		readAll(t, obj, data, plane)
		want(t, "plane", l.Stats(), 20, 1, 128*16_000*11/10)

		longest := int64(0) // although one request at a time would rather be longer
		obj = open(t, l, Options{Multipart: true, Requests: 1, MaxLen: 64 << 10, MaxBytes: 64 << 10, Trace: func(e Event) {
			longest = max(longest, e.Len)
		}})
		longest = 0
		readAll(t, obj, data, plane)
		if longest > 64<<10 {
			t.Errorf("a request of %d bytes, want at most MaxLen, %d", longest, 64<<10)
		}
	})
}

// TestMultipartFaults reads ranges from servers that answer requests for several ranges in another way.
func TestMultipartFaults(t *testing.T) {
	data := randomBytes(500_000)
	one := func(r *http.Request) { // keeps the first range
		first, _, _ := strings.Cut(r.Header.Get("Range"), ",")
		r.Header.Set("Range", first)
	}
	several := func(r *http.Request) bool { return strings.Contains(r.Header.Get("Range"), ",") }
	// parts answers with parts; the bytes of a part are those of the range that it names, but at most most.
	parts := func(w http.ResponseWriter, most int, contentRanges ...string) {
		w.Header().Set("Content-Type", "multipart/byteranges; boundary=XX")
		w.WriteHeader(http.StatusPartialContent)
		for _, c := range contentRanges {
			var from, to, size int64
			fmt.Sscanf(c, "bytes %d-%d/%d", &from, &to, &size)
			fmt.Fprintf(w, "\r\n--XX\r\nContent-Range: %s\r\n\r\n", c)
			w.Write(data[from:min(to+1, from+int64(most))])
		}
		if most > len(data) {
			io.WriteString(w, "\r\n--XX--\r\n")
		}
	}
	const all = 1 << 20
	for _, c := range []struct {
		name  string
		fault func(n int64, w http.ResponseWriter, r *http.Request) bool
		err   error
	}{
		{"ignored", func(n int64, w http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false }, nil},
		{"one range", func(n int64, w http.ResponseWriter, r *http.Request) bool { one(r); return false }, nil},
		{"refused", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return true
		}, nil},
		{"bad request", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(http.StatusBadRequest)
			return true
		}, nil},
		{"another order", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			parts(w, all, "bytes 300000-300999/500000", "bytes 200000-200999/500000")
			return true
		}, nil},
		{"together", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			parts(w, all, "bytes 200000-300999/500000")
			return true
		}, nil},
		{"too few", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			parts(w, all, "bytes 200000-200999/500000")
			return true
		}, nil},
		{"no boundary", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "multipart/byteranges")
			w.WriteHeader(http.StatusPartialContent)
			return true
		}, nil},
		{"encoded, second field", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header()["Content-Encoding"] = []string{"", "gzip"}
			w.Header().Set("Content-Type", "multipart/byteranges; boundary=XX")
			w.WriteHeader(http.StatusPartialContent)
			for _, off := range []int{200_000, 300_000} {
				fmt.Fprintf(w, "\r\n--XX\r\nContent-Range: bytes %d-%d/500000\r\n\r\n%s", off, off+999, make([]byte, 1000))
			}
			io.WriteString(w, "\r\n--XX--\r\n")
			return true
		}, nil},
		{"broken off once", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if n > 1 {
				return false
			}
			parts(w, 500, "bytes 200000-200999/500000")
			return true
		}, nil},
		{"busy once", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			if n == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return n == 1
		}, nil},
		{"changed", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", `"2"`)
			return false
		}, ErrChanged},
		{"changed without conditions", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("ETag", `"2"`)
			r.Header.Del("If-Match")
			return false
		}, ErrChanged},
		{"another size", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			parts(w, all, "bytes 200000-200999/600000", "bytes 300000-300999/600000")
			return true
		}, ErrChanged},
		{"endless header", func(n int64, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "multipart/byteranges; boundary=XX")
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, "\r\n--XX\r\n")
			for r.Context().Err() == nil {
				if _, err := fmt.Fprintf(w, "X-Long: %s\r\n", strings.Repeat("x", 1000)); err != nil {
					break
				}
			}
			return true
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, data)
			o := quick()
			o.Multipart, o.Gap, o.Requests = true, -1, 1
			obj := openServer(t, s, o)
			if n := s.requests.Load(); n != 1 {
				t.Errorf("%d requests to open, want 1", n)
			}
			s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool { return several(r) && c.fault(n, w, r) })
			err := readRanges(t.Context(), obj, data, []Range{{Off: 200_000, Len: 1000}, {Off: 300_000, Len: 1000}})
			if !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
		})
		t.Run(c.name+", opening", func(t *testing.T) {
			s := newServer(t, data)
			s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool { return several(r) && c.fault(n, w, r) })
			o := quick()
			o.Multipart = true
			obj, err := Open(t.Context(), s.URL, o)
			if err != nil {
				if !errors.Is(err, c.err) {
					t.Errorf("error %v, want %v", err, c.err)
				}
				return
			}
			defer obj.Close()
			got := make([]byte, len(data))
			if _, err := obj.ReadAt(got, 0); err == nil && !bytes.Equal(got, data) {
				t.Error("wrong bytes")
			} else if err != nil && !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
		})
	}
}

// TestMultipartRandom is TestRandomReads with requests for several ranges.
func TestMultipartRandom(t *testing.T) {
	data := randomBytes(1_000_000)
	s := newServer(t, data)
	o := quick()
	o.Multipart, o.Cache, o.MaxLen, o.MaxBytes, o.Gap, o.Requests, o.Retries = true, 100_000, 50_000, 100_000, 300, 4, 50
	obj := openServer(t, s, o)
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 4))
			for range 15 {
				want := make([]Range, r.IntN(40)+1)
				for i := range want {
					off := r.Int64N(int64(len(data)))
					want[i] = Range{Off: off, Len: min(r.Int64N(1<<r.IntN(15)), int64(len(data))-off)}
				}
				readAll(t, obj, data, want)
			}
		})
	}
	wg.Wait()
	if obj.c.single.Load() {
		t.Error("the server answers with several ranges, but single requests were sent")
	}
}
