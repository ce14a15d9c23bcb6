package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/link"
)

// forever is the latency of a link to a server that is down.
const forever = 1000 * time.Hour

// inFiles calls do with a directory of n chunk files of 100 KB on a link, in a bubble with virtual time.
func inFiles(t *testing.T, n int, o remote.Options, do func(t *testing.T, d *remote.Dir, l *link.Link)) {
	t.Helper()
	files := map[string][]byte{"chunks.b2frame": make([]byte, 1000)}
	for i := range n {
		files[fmt.Sprintf("%08X.chunk", i)] = make([]byte, 100_000)
	}
	synctest.Test(t, func(t *testing.T) {
		l, _ := dirLink(files)
		o.Client = l.Client()
		d, err := remote.OpenDir(t.Context(), "http://host/d/", &o)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		l.Stats()
		do(t, d, l)
	})
}

// readFile reads bytes of chunk file n.
func readFile(ctx context.Context, d *remote.Dir, n int64) error {
	_, err := d.ReadAtContext(ctx, make([]byte, 1000), d.ChunkOffset(n)+50_000)
	return err
}

// readers calls read with the numbers below n on goroutines of their own, and returns their errors.
func readers(n int, read func(i int) error) []error {
	all := make([]error, n)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i] = read(i) })
	}
	wg.Wait()
	return all
}

// TestDirSharedContexts reads the same bytes of a chunk file with contexts that end at different times. Those that end
// after the answer get the bytes of one request.
func TestDirSharedContexts(t *testing.T) {
	inFiles(t, 1, remote.Options{}, func(t *testing.T, d *remote.Dir, l *link.Link) {
		l.Latency = time.Second
		for i, err := range readers(10, func(i int) error {
			time.Sleep(time.Duration(i) * time.Millisecond) // the first one ends first
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i+1)*400*time.Millisecond)
			defer cancel()
			return readFile(ctx, d, 0)
		}) {
			if i < 2 && !errors.Is(err, context.DeadlineExceeded) || i >= 2 && err != nil {
				t.Errorf("context of %d ms: %v", (i+1)*400, err)
			}
		}
		if s := l.Stats(); s.Requests != 1 {
			t.Errorf("%d requests, want 1", s.Requests)
		}
	})
}

// TestDirSharedCancel cancels all reads of a chunk file, which cancels the request. The next read sends another one.
func TestDirSharedCancel(t *testing.T) {
	inFiles(t, 1, remote.Options{}, func(t *testing.T, d *remote.Dir, l *link.Link) {
		l.Latency = forever
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, err := range readers(3, func(int) error { return readFile(ctx, d, 0) }) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a canceled read: %v", err)
			}
		}
		synctest.Wait() // for the end of the request
		l.Latency = time.Second
		if err := readFile(t.Context(), d, 0); err != nil {
			t.Errorf("a read after canceled ones: %v", err)
		}
		if s := l.Stats(); s.Requests != 2 || s.InFlight > 1 {
			t.Errorf("%d requests, %d at the same time, want 2 and 1", s.Requests, s.InFlight)
		}
	})
}

// TestDirSharedError reads a chunk file while the server is down. All reads return the error of one request.
func TestDirSharedError(t *testing.T) {
	inFiles(t, 1, remote.Options{Retries: 2}, func(t *testing.T, d *remote.Dir, l *link.Link) {
		l.Latency = forever
		start := time.Now()
		for i, err := range readers(50, func(int) error { return readFile(t.Context(), d, 0) }) {
			var e *remote.Error
			if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &e) || e.URL != "http://host/d/00000000.chunk" {
				t.Errorf("read %d: %v", i, err)
			}
		}
		if took := time.Since(start); l.Stats().Requests != 3 || took > 92*time.Second {
			t.Errorf("reads took %v, want 3 attempts of 30 s", took)
		}
	})
}

// TestDirSharedClose closes a directory while one of its files is being opened.
func TestDirSharedClose(t *testing.T) {
	inFiles(t, 1, remote.Options{}, func(t *testing.T, d *remote.Dir, l *link.Link) {
		l.Latency = forever
		for i, err := range readers(4, func(i int) error {
			if i == 0 {
				time.Sleep(time.Second)
				return d.Close()
			}
			return readFile(t.Context(), d, 0)
		}) {
			if want := fs.ErrClosed; i > 0 && !errors.Is(err, want) || i == 0 && err != nil {
				t.Errorf("reader %d: %v, want %v", i, err, want)
			}
		}
	})
}

// TestDirSharedPanic reads a chunk file with a function Trace that panics. All reads panic.
func TestDirSharedPanic(t *testing.T) {
	var panics atomic.Bool
	o := remote.Options{Trace: func(remote.Event) {
		if panics.Load() {
			panic("trace")
		}
	}}
	inFiles(t, 1, o, func(t *testing.T, d *remote.Dir, l *link.Link) {
		panics.Store(true)
		readers(3, func(i int) error {
			defer func() {
				if x := recover(); x != "trace" {
					t.Errorf("read %d: panic %v", i, x)
				}
			}()
			return readFile(t.Context(), d, 0)
		})
		panics.Store(false)
		if err := readFile(t.Context(), d, 0); err != nil {
			t.Errorf("a read after the panic: %v", err)
		}
	})
}

// TestDirSharedWhole reads the same chunk files with several calls from a server that sends whole files. A file that
// has no room in Options.MaxBytes of one call is not put off for another call.
func TestDirSharedWhole(t *testing.T) {
	const files = 40
	o := remote.Options{MaxBytes: 300_000, MaxLen: 300_000}
	inFiles(t, files, o, func(t *testing.T, _ *remote.Dir, l *link.Link) {
		o := o
		o.Client = &http.Client{Transport: withoutRange{Link: l, suffix: ".chunk"}}
		d, err := remote.OpenDir(t.Context(), "http://host/d/", &o)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for i, err := range readers(30, func(i int) error {
			if i >= 3 {
				time.Sleep(time.Duration(i) * 7 * time.Millisecond)
				return readFile(t.Context(), d, int64(i))
			}
			var want []remote.Range
			for k := range int64(files) {
				want = append(want, remote.Range{Off: d.ChunkOffset(k), Len: 10})
			}
			return d.ReadRanges(t.Context(), want, func(int, int64, []byte) error { return nil })
		}) {
			if err != nil {
				t.Errorf("reader %d: %v", i, err)
			}
		}
	})
}
