package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"time"
)

// slowSource is a source whose reads of some bytes wait.
type slowSource struct {
	b      []byte
	at     int64 // reads that start before this byte wait
	wait   chan struct{}
	begun  chan struct{} // gets a value from each read that waits
	active bool
}

func (s *slowSource) Size() int64 { return int64(len(s.b)) }

func (s *slowSource) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if s.active && off < s.at {
		s.begun <- struct{}{}
		select {
		case <-s.wait:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return bytes.NewReader(s.b).ReadAt(p, off)
}

// TestOpenWaits opens leaves while the opening of one takes long. Other leaves do not wait for it, calls for the same
// leaf wait no longer than their contexts, and the end of the first context does not fail the other calls.
func TestOpenWaits(t *testing.T) {
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	names := []string{"a.b2f", "b.b2f", "c.b2f"}
	for i := range 400 { // the first members are not among the last bytes, which opening reads
		names = append(names, fmt.Sprintf("d/%d.b2f", i))
	}
	b := zipOf(t, names...)
	src := &slowSource{b: b, at: 10, wait: make(chan struct{}), begun: make(chan struct{}, 10)}
	s, err := OpenSource(ctx, src, nil)
	if err != nil {
		t.Fatal(err)
	}
	src.active = true
	await := func() { // a read that waits
		t.Helper()
		select {
		case <-src.begun:
		case <-ctx.Done():
			t.Fatal("it hangs")
		}
	}
	first, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := s.Frame(first, "/a"); !errors.Is(err, context.Canceled) {
			t.Errorf("the first call: %v", err)
		}
	})
	await()
	if _, err := s.Frame(ctx, "/b"); err != nil {
		t.Errorf("another leaf: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err := s.Frame(short, "/a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the same leaf: %v", err)
	}
	all.Go(func() {
		f, err := s.Frame(ctx, "/a")
		if err != nil {
			t.Errorf("the call that waits: %v", err)
			return
		}
		if b, err := f.ReadChunk(ctx, nil, 0); err != nil || string(b) != "a.b2f" {
			t.Errorf("%q, %v", b, err)
		}
	})
	stop()
	await() // of the call that waited
	close(src.wait)
	all.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Frame(ctx, "/c"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
