package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/ndarray"
)

// liar is a server that answers some requests wrongly once it is armed.
type liar struct {
	data []byte
	mu   sync.Mutex
	rng  *rand.Rand
	odds int // one of so many requests is answered wrongly; 0 = none
	lies int
	kind int // of the lies, or -1 for any
}

// lie returns the kind of the next lie, or -1 for the truth.
func (s *liar) lie() (kind int, r *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.odds == 0 || s.rng.IntN(s.odds) > 0 {
		return -1, nil
	}
	s.lies++
	kind = s.rng.IntN(kinds)
	if s.kind >= 0 {
		kind = s.kind
	}
	return kind, rand.New(rand.NewPCG(s.rng.Uint64(), 1))
}

// kinds is the number of lies. The first one is about bytes, the others are about the answer.
const kinds = 9

func (s *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"1"`)
	kind, rng := s.lie()
	var from, to int
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil || from > to || to >= len(s.data) {
		kind = -1
	}
	if kind < 0 {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.data))
		return
	}
	p := slices.Clone(s.data[from : to+1])
	send := func(from, to, size int, p []byte) {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, size))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(p)
	}
	switch kind {
	case 0: // other bytes, often in what looks like a header
		for range 1 + rng.IntN(4) {
			p[rng.IntN(min(len(p), 1+rng.IntN(len(p))))] = byte(rng.Uint32())
		}
		send(from, to, len(s.data), p)
	case 1: // fewer bytes
		send(from, to, len(s.data), p[:rng.IntN(len(p))])
	case 2: // none
		send(from, to, len(s.data), nil)
	case 3: // a shorter range
		send(from, from+len(p)/2, len(s.data), p[:len(p)/2+1])
	case 4: // another range
		send(0, len(p)-1, len(s.data), p)
	case 5: // another size
		send(from, to, 2*len(s.data), p)
	case 6: // no end
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(s.data)))
		w.WriteHeader(http.StatusPartialContent)
		for r.Context().Err() == nil {
			if _, err := w.Write(p); err != nil {
				return
			}
		}
	case 7: // another version
		w.Header().Set("ETag", `"2"`)
		send(from, to, len(s.data), p)
	case 8: // everything
		w.Write(s.data)
	}
}

// TestLiar reads arrays on a server that answers some requests wrongly. Reads with checksums return the right items or
// an error, all others end at least, in time and with little memory.
func TestLiar(t *testing.T) {
	before := runtime.NumGoroutine()
	outcomes, lies := map[string]int{}, 0
	rounds := 60
	if testing.Short() || race.Enabled {
		rounds = 20
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 4))
		s, want := lyingServer(t, rng)
		server := httptest.NewServer(s)
		src, err := remote.Open(t.Context(), server.URL, &remote.Options{Retries: 1, MaxWait: time.Millisecond, Multipart: seed%3 == 0, Gap: -1})
		if err != nil {
			t.Fatal(err)
		}
		verify := seed%2 == 0
		a, err := ndarray.OpenSource(t.Context(), src, &ndarray.OpenOptions{Verify: verify, Concurrency: 2})
		if err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		s.odds, s.kind = 1+int(seed%4), int(seed%(kinds+1))-1
		s.mu.Unlock()
		steps := readAll(a, want, verify || s.kind > 0)
		for _, name := range []string{"item", "box", "infos", "chunks", "copy", "save", "all", "verify"} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			var m0, m1 runtime.MemStats
			runtime.ReadMemStats(&m0)
			err := steps[name](ctx)
			runtime.ReadMemStats(&m1)
			if ctx.Err() != nil {
				t.Errorf("seed %d: %s took too long", seed, name)
			}
			cancel()
			if used := m1.TotalAlloc - m0.TotalAlloc; used > 64<<20 && !race.Enabled {
				t.Errorf("seed %d: %s: %d bytes of memory", seed, name, used)
			}
			if err == errWrong {
				t.Errorf("seed %d: %s: wrong items", seed, name)
			}
			outcomes[fmt.Sprint(name, " ", err == nil)]++
		}
		a.Close()
		src.Close()
		server.Close()
		s.mu.Lock()
		lies += s.lies
		s.mu.Unlock()
	}
	t.Log(lies, outcomes)
	if lies < rounds {
		t.Errorf("%d lies", lies)
	}
	for i := 0; runtime.NumGoroutine() > before+2; i++ {
		if i > 500 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

var errWrong = fmt.Errorf("wrong items")

// The shape of the arrays.
const height, width = 300, 500

// lyingServer returns a server of an array with checksums, and the items.
func lyingServer(t *testing.T, rng *rand.Rand) (*liar, []int32) {
	t.Helper()
	items := make([]int32, height*width) // more than the beginning and the end, which opening reads
	for i := range items {
		items[i] = int32(rng.Uint32() >> 4)
	}
	o := &ndarray.CreateOptions{Chunks: []int64{10 + rng.Int64N(150), 10 + rng.Int64N(400)}, Checksums: true, BlockTable: rng.IntN(2) == 0}
	o.Blocks = []int64{1 + rng.Int64N(o.Chunks[0]), 1 + rng.Int64N(o.Chunks[1])}
	o.Codec = []codec.ID{codec.LZ4, codec.Zstd, codec.BloscLZ}[rng.IntN(3)]
	a, err := ndarray.Create(t.Context(), "", []int64{height, width}, items, o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var b bytes.Buffer
	if _, err := a.Save(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return &liar{data: b.Bytes(), rng: rng, kind: -1}, items
}

// readAll returns ways to read an array. If exact, they return errWrong for wrong items.
func readAll(a *ndarray.Array, items []int32, exact bool) map[string]func(ctx context.Context) error {
	check := func(same bool, err error) error {
		if err == nil && exact && !same {
			return errWrong
		}
		return err
	}
	return map[string]func(ctx context.Context) error{
		"item": func(ctx context.Context) error {
			v, err := ndarray.Item[int32](ctx, a, 170, 230)
			return check(v == items[170*width+230], err)
		},
		"box": func(ctx context.Context) error {
			v, err := ndarray.Read[int32](ctx, a, ndarray.Step(2, 290, 90), ndarray.Span(205, 206))
			return check(err == nil && v[1] == items[92*width+205], err)
		},
		"all": func(ctx context.Context) error {
			v, err := ndarray.Read[int32](ctx, a)
			return check(slices.Equal(v, items), err)
		},
		"infos": func(ctx context.Context) error {
			for _, err := range a.ChunkInfos(ctx, ndarray.Span(30, 200)) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"chunks": func(ctx context.Context) error {
			for i := range a.Frame().NumChunks() {
				if _, err := a.Frame().ReadChunk(ctx, nil, i); err != nil {
					return err
				}
			}
			return nil
		},
		"copy": func(ctx context.Context) error {
			c, err := ndarray.Copy(ctx, "", a, nil)
			if err != nil {
				return err
			}
			defer c.Close()
			v, err := ndarray.Read[int32](ctx, c)
			return check(slices.Equal(v, items), err)
		},
		"save": func(ctx context.Context) error {
			var b bytes.Buffer
			if _, err := a.Save(ctx, &b); err != nil {
				return err
			}
			_, err := frame.OpenBytes(b.Bytes(), nil)
			return err
		},
		"verify": func(ctx context.Context) error {
			if err := a.Verify(ctx, nil); err != nil {
				return err
			}
			_, err := io.Copy(io.Discard, a.Frame().Content(ctx))
			return err
		},
	}
}
