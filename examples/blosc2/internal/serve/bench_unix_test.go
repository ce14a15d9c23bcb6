//go:build unix

package serve

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

// cpuTime returns the CPU time of the process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// run64 calls f b.N times from 64 goroutines, each with a random number generator of its own, and reports CPU time.
func run64(b *testing.B, f func(r *rand.Rand)) {
	var group sync.WaitGroup
	jobs := make(chan struct{}, b.N)
	for range b.N {
		jobs <- struct{}{}
	}
	close(jobs)
	b.ResetTimer()
	before := cpuTime()
	for i := range 64 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for range jobs {
				f(r)
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-us/op")
}

// BenchmarkSlices reads random squares of an array by 64 clients: direct is ReadBytes, handler is the server without
// connections, served is with connections, the CPU time of the clients included, and wrk is with the clients in a
// process of their own. For a fixed number of slices, use -benchtime 10000x.
func BenchmarkSlices(b *testing.B) {
	const side = 2000
	dir := b.TempDir()
	data := make([]float32, side*side)
	for i := range data {
		data[i] = float32((i%side)*(i/side)%1009) / 8
	}
	name := filepath.Join(dir, "a.b2nd")
	a, err := ndarray.Create(context.Background(), name, []int64{side, side}, data, &ndarray.CreateOptions{Chunks: []int64{500, 500}, Blocks: []int64{100, 100}})
	if err != nil {
		b.Fatal(err)
	}
	a.Close()
	for _, n := range []int64{10, 100, 300} {
		uri := func(r *rand.Rand) string {
			i, j := r.Int64N(side-n), r.Int64N(side-n)
			return fmt.Sprintf("/a.b2nd?sel=%d:%d,%d:%d", i, i+n, j, j+n)
		}
		b.Run(fmt.Sprintf("direct/%d", n), func(b *testing.B) {
			a, err := ndarray.Open(b.Context(), name, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer a.Close()
			run64(b, func(r *rand.Rand) {
				i, j := r.Int64N(side-n), r.Int64N(side-n)
				if err := a.ReadBytes(b.Context(), make([]byte, 4*n*n), ndarray.Span(i, i+n), ndarray.Span(j, j+n)); err != nil {
					b.Error(err)
				}
			})
		})
		c := Config{Limits: Limits{Wait: time.Minute}}
		b.Run(fmt.Sprintf("handler/%d", n), func(b *testing.B) {
			s := newServer(b, dir, c)
			run64(b, func(r *rand.Rand) { get(b, s, uri(r)) })
		})
		b.Run(fmt.Sprintf("served/%d", n), func(b *testing.B) {
			addr, _ := start(b, newServer(b, dir, c))
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
			defer client.CloseIdleConnections()
			run64(b, func(r *rand.Rand) {
				resp, err := client.Get("http://" + addr + uri(r))
				if err != nil {
					b.Error(err)
					return
				}
				if n, err := io.Copy(io.Discard, resp.Body); err != nil || n == 0 || resp.StatusCode != 200 {
					b.Error(n, err, resp.Status)
				}
				resp.Body.Close()
			})
		})
		b.Run(fmt.Sprintf("wrk/%d", n), func(b *testing.B) { runWRK(b, dir, Config{}, side, n) })
	}
}
