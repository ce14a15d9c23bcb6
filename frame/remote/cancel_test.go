package remote

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"testing"
	"time"
)

// TestCancel cancels one of two reads of the same bytes, and then both.
func TestCancel(t *testing.T) {
	data := randomBytes(500_000)
	s := newServer(t, data)
	obj := openServer(t, s, nil)
	goOn := make(chan struct{})
	arrived := make(chan struct{}, 10)
	canceled := make(chan struct{}, 10)
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		arrived <- struct{}{}
		select {
		case <-goOn:
		case <-r.Context().Done():
			canceled <- struct{}{}
		}
		return false
	})
	read := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			p := make([]byte, 1000)
			_, err := obj.ReadAtContext(ctx, p, 200_000)
			if err == nil && !bytes.Equal(p, data[200_000:201_000]) {
				err = errors.New("wrong bytes")
			}
			done <- err
		}()
		return done
	}
	ctx, cancel := context.WithCancel(t.Context())
	one := read(ctx)
	<-arrived
	two := read(t.Context())
	for refs := 0; refs != 2; { // until both wait for the same bytes
		obj.table.mu.Lock()
		refs = obj.table.overlapping(Range{Off: 200_000, Len: 1})[0].refs
		obj.table.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-one; !errors.Is(err, context.Canceled) {
		t.Errorf("canceled read: %v", err)
	}
	goOn <- struct{}{}
	if err := <-two; err != nil {
		t.Errorf("other read: %v", err)
	}
	if n := s.requests.Load(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}

	ctx, cancel = context.WithCancel(t.Context())
	one = read(ctx)
	<-arrived
	cancel()
	<-one
	<-canceled // the request too
	two = read(t.Context())
	<-arrived
	close(goOn)
	if err := <-two; err != nil {
		t.Errorf("read after a canceled one: %v", err)
	}
}

// TestClose closes an object while it is read.
func TestClose(t *testing.T) {
	s := newServer(t, randomBytes(500_000))
	obj := openServer(t, s, nil)
	arrived := make(chan struct{}, 10)
	s.set(func(n int64, w http.ResponseWriter, r *http.Request) bool {
		arrived <- struct{}{}
		<-r.Context().Done()
		return false
	})
	done := make(chan error)
	go func() {
		_, err := obj.ReadAt(make([]byte, 10), 200_000)
		done <- err
	}()
	<-arrived
	if err := obj.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read: %v, want ErrClosed", err)
	}
	if err := obj.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	for _, off := range []int64{0, 200_000, 500_000} {
		if _, err := obj.ReadAt(make([]byte, 10), off); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("read at %d after Close: %v", off, err)
		}
	}
}

// TestShortStall waits for a turn with a stall that cannot be halved.
func TestShortStall(t *testing.T) {
	var x turns
	if err := x.begin(t.Context(), 1, time.Nanosecond/2, func() {}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := x.begin(ctx, 1, time.Nanosecond/2, func() {}); err == nil {
		t.Error("two turns")
	}
	x.end()
	if x.running != 0 || len(x.waiting) != 0 {
		t.Errorf("%d running, %d waiting", x.running, len(x.waiting))
	}
}

// TestCanceledAnswer cancels a call whose answer has arrived. The call returns the error of its context.
func TestCanceledAnswer(t *testing.T) {
	s := newServer(t, randomBytes(1000))
	s.set(func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := quick()
	o.Small = true
	o.Trace = func(Event) { cancel() }
	if _, err := Open(ctx, s.URL, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
