package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// repeating is a Getter that repeats a failed request until its context ends.
type repeating struct{ last error }

func (g repeating) Get(ctx context.Context, _, _ int64, _ string) (*Answer, error) {
	<-ctx.Done()
	return nil, repeatedError{ctx.Err(), g.last}
}

// repeatingBody is a Getter whose answers repeat their request until its context ends.
type repeatingBody struct{ last error }

func (g repeatingBody) Get(ctx context.Context, _, _ int64, _ string) (*Answer, error) {
	return &Answer{Size: 1 << 20, Body: waitingBody{ctx, g.last}}, nil
}

type waitingBody struct {
	ctx  context.Context
	last error
}

func (b waitingBody) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, repeatedError{b.ctx.Err(), b.last}
}

func (waitingBody) Close() error { return nil }

// repeatedError is the error of a Getter whose context ended while it waited before a repetition, as the library of
// Google Cloud Storage returns it.
type repeatedError struct{ ended, last error }

func (e repeatedError) Error() string        { return e.ended.Error() }
func (e repeatedError) Unwrap() error        { return e.last }
func (e repeatedError) Is(target error) bool { return errors.Is(e.ended, target) }

// The error of a Getter that repeats its requests for too long has their error.
func TestGetterCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("connection refused")
		_, err := OpenGetter(t.Context(), "x", repeating{refused}, &Options{Retries: -1})
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.Is(err, refused) || errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err = OpenGetter(t.Context(), "x", repeating{}, &Options{Retries: -1}); !errors.Is(err, os.ErrDeadlineExceeded) ||
			err.Error() != "x: the server sends nothing: i/o timeout (after 1 attempt)" {
			t.Error(err)
		}
		_, err = OpenGetter(t.Context(), "x", repeatingBody{refused}, &Options{Retries: -1})
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.Is(err, refused) || errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = OpenGetter(ctx, "x", repeating{refused}, nil); err != context.DeadlineExceeded {
			t.Error(err)
		}
	})
}

// Texts of errors are short, also if an answer has long lines that cannot be parsed, and a Getter long errors.
func TestLongError(t *testing.T) {
	long := strings.Repeat("\u00e4", 30_000)
	for _, answer := range []string{
		"HTTP/1.1 206 OK\r\nbad " + long + "\r\n\r\n",
		"HTTP/1.1 2" + long + "\r\n\r\n",
		"HTTP/1.1 302 Found\r\nLocation: " + long + ":\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbad " + long + "\r\n\r\n",
	} {
		for _, several := range []bool{false, true} {
			client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() {
					defer theirs.Close()
					theirs.Read(make([]byte, 4096))
					io.WriteString(theirs, answer)
				}()
				return ours, nil
			}}}
			var longest atomic.Int64
			trace := func(e Event) {
				if e.Err != nil {
					longest.Store(max(longest.Load(), int64(len(e.Err.Error()))))
				}
			}
			_, err := Open(t.Context(), "http://host/a", &Options{Client: client, Multipart: several, Retries: -1, Trace: trace})
			if err == nil {
				t.Fatalf("%.40q: no error", answer)
			}
			if text := err.Error(); len(text) > 500 || longest.Load() > 500 || !utf8.ValidString(text) {
				t.Errorf("%.40q: %d bytes, %d bytes for Trace: %.600q", answer, len(text), longest.Load(), text)
			}
		}
	}
	cause := &net.AddrError{Err: long}
	_, err := OpenGetter(t.Context(), "x", failingGetter{cause}, nil)
	if err == nil || !errors.Is(err, cause) || len(err.Error()) > 1100 || !utf8.ValidString(err.Error()) {
		t.Errorf("%.2000q", err)
	}
}

// failingGetter is a Getter that returns an error.
type failingGetter struct{ err error }

func (g failingGetter) Get(context.Context, int64, int64, string) (*Answer, error) { return nil, g.err }
