package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/goblosc/blosc2/internal/errs"
)

// temporary is an error after which the request may be repeated.
type temporary struct {
	err   error
	after time.Duration // what the server asks for
}

func (t *temporary) Error() string { return t.err.Error() }
func (t *temporary) Unwrap() error { return t.err }

// transient reports whether a repeated request may get another status.
func transient(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryAfter returns how long the server asks to wait: a number of seconds, which is at most 2^31-1, or a time on the
// server's clock. now is for an answer without a Date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	s := h.Get("Retry-After")
	if n, err := strconv.ParseUint(s, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) { // or n is the largest
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		if date, err := http.ParseTime(h.Get("Date")); err == nil {
			now = date
		}
		return max(t.Sub(now), 0)
	}
	return 0
}

// errStalled is the cause of canceling a request that receives nothing.
var errStalled = fmt.Errorf("the server sends nothing: %w", os.ErrDeadlineExceeded)

// transportError returns the error of a request without an answer, or of a body that broke.
func (c *client) transportError(ctx context.Context, err error) error {
	err = unwrapURL(err)
	cause := context.Cause(ctx)
	switch {
	case cause != nil && !errors.Is(cause, errStalled):
		return ctx.Err()
	case cause != nil:
		err = &temporary{err: cause}
	case strings.HasPrefix(err.Error(), "failed to parse Location header"): // its text holds the query
		err = errors.New("the server redirects to an invalid URL")
	case repeatable(err):
		err = &temporary{err: shorten(err, maxText)}
	default:
		err = shorten(err, maxText)
	}
	return &Error{URL: c.name, Err: err}
}

// unwrapURL removes the URL from an error of package net/http: its query may hold secrets.
func unwrapURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// repeatable reports whether a request that failed without an answer may succeed the next time. Most errors of
// connections have no type to test for, nor have those of URLs to which the server redirects.
func repeatable(err error) bool {
	var addr *net.AddrError
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &dns):
		return dns.IsTemporary || dns.IsTimeout
	case errors.As(err, &cert), errors.As(err, &record), errors.As(err, &alert), errors.As(err, &addr):
		return false
	}
	return !strings.HasPrefix(err.Error(), "unsupported protocol scheme") && err.Error() != "http: no Host in request URL"
}

// attempt is one request. It returns the bytes that it received and the status of the answer.
type attempt func(ctx context.Context, alive func()) (got Range, status int, err error)

// do makes a request until it succeeds, fails for good or has used up its repetitions. If more requests than can be in
// flight get no answer, it keeps its slot between its repetitions, and at the end the requests that wait for a slot
// fail.
func (c *client) do(ctx context.Context, try attempt) error {
	again := false    // the request has started from the URL again
	held := false     // a slot
	noted := int64(0) // state of slots.unanswered
	c.slots.enter()
	defer func() {
		c.slots.leave()
		if held {
			c.slots.release()
		}
	}()
	begin := int64(0) // answers before the second attempt, or before the only one
	for i := 0; ; i++ {
		if !held {
			down, err := c.slots.take(ctx)
			if down != nil {
				err = &unanswered{&Error{URL: c.name, Err: fmt.Errorf("other requests got no answer: %w", down)}}
			}
			if err != nil {
				return err
			}
			held = true
		}
		before := c.slots.answers.Load()
		if i <= 1 { // the server may have gone down during the first one
			begin = before
		}
		from, err := c.once(ctx, try)
		if err == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c.forget(from) // it may have expired, or be down
		var e *Error
		var t *temporary
		switch {
		case errors.As(err, &e) && e.Status/100 == 4 && !errors.As(err, &t) && from != nil && !again:
			again = true
			i--
			continue
		case !errors.As(err, &t):
			return err
		}
		several, down := c.slots.unanswered(&noted, before)
		if i >= c.o.Retries {
			s := "s"
			if i == 0 {
				s = ""
			}
			err = fmt.Errorf("%w (after %d attempt%s)", err, i+1, s)
			if down && before == begin {
				c.slots.fail(t.err, begin)
			}
			if (several || down) && before == begin {
				err = &unanswered{err}
			}
			return err
		}
		wait := max(t.after, backoff(i, c.o.MaxWait))
		if wait > c.o.MaxWait {
			return fmt.Errorf("%w (the server asks to wait %v)", err, wait)
		}
		if !down {
			c.slots.release() // other requests may get an answer in the meantime
			held = false
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// unanswered is the error of a request whose repetitions got no answer, and neither did other requests in that time. It
// wraps errs.ErrNoAnswer.
type unanswered struct{ err error }

func (u *unanswered) Error() string   { return u.err.Error() }
func (u *unanswered) Unwrap() []error { return []error{u.err, errs.ErrNoAnswer} }

// once makes one attempt. It returns where earlier redirects have led, which gets the request, or nil.
func (c *client) once(ctx context.Context, try attempt) (from *target, err error) {
	if err := c.admits(0, false); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(c.o.Stall, func() { cancel(errStalled) })
	defer timer.Stop()
	from = c.redirect()
	start := time.Now()
	got, status, err := try(ctx, func() { timer.Reset(c.o.Stall) })
	if c.o.Trace != nil {
		c.o.Trace(Event{Kind: Request, Off: got.Off, Len: got.Len, Status: status, Err: err, Duration: time.Since(start)})
	}
	return from, err
}

// backoff returns the wait before repetition i: random, between half of and all of a time that doubles.
func backoff(i int, most time.Duration) time.Duration {
	d := min(100*time.Millisecond<<min(i, 10), 10*time.Second, most)
	return d/2 + rand.N(d/2+1)
}

// sleep waits, or returns the error of the context when it ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read fills buf with the bytes at off. An attempt continues where the one before broke off. If there is an error after
// the last byte, such as a wrong checksum, the next attempt reads all bytes again.
func (c *client) read(ctx context.Context, buf []byte, off int64, id *identity) error {
	done := int64(0)
	return c.do(ctx, func(ctx context.Context, alive func()) (Range, int, error) {
		n, status, err := c.one(ctx, buf[done:], off+done, id, alive)
		got := Range{Off: off + done, Len: n}
		if done += n; done == int64(len(buf)) {
			done = 0
		}
		return got, status, err
	})
}

// confirm returns ErrChanged if the object is no longer the version that was opened.
func (c *client) confirm(ctx context.Context, id *identity) error {
	var one [1]byte // an empty object answers without it
	err := c.read(ctx, one[:], 0, id)
	if errors.Is(err, errWhole) { // the server ignores ranges
		return nil
	}
	return err
}

// one makes a request for the bytes at off. It returns the number of bytes that it has read, and the status.
func (c *client) one(ctx context.Context, buf []byte, off int64, id *identity, alive func()) (int64, int, error) {
	a, err := c.ask(ctx, wish{off, int64(len(buf))}, id)
	if err != nil {
		return 0, statusOf(err), err
	}
	if a.body == nil { // the object is empty, as it was when it was opened
		return 0, a.status, nil
	}
	defer a.body.Close()
	end, err := c.receive(ctx, a.n, alive)
	if err != nil {
		return 0, a.status, err
	}
	defer end()
	n, err := c.fill(ctx, a, buf, alive)
	return int64(n), a.status, err
}

// receive waits until a body of n bytes may be received. The caller must call end after it, unless there is an error.
func (c *client) receive(ctx context.Context, n int64, alive func()) (end func(), err error) {
	if c.turns == nil {
		return func() {}, nil
	}
	if err := c.turns.begin(ctx, c.atOnce(n), c.o.Stall/2, alive); err != nil {
		return nil, c.transportError(ctx, err)
	}
	return c.turns.end, nil
}

// atOnce returns how many bodies of n bytes are received at the same time. The bytes of the other requests in flight
// take 1.5 latencies, so that the link stays busy. At least a quarter are received, because a single connection may be
// slower than the link.
func (c *client) atOnce(n int64) int {
	m := c.costs.cost()
	others := 1.5 * m.Latency.Seconds() * float64(m.Bandwidth) / float64(max(n, 1))
	return max(m.Requests-int(min(others, float64(m.Requests))), m.Requests/4, 1)
}

// fill reads the body of an answer, which must have len(buf) bytes.
func (c *client) fill(ctx context.Context, a *answer, buf []byte, alive func()) (n int, err error) {
	for n < len(buf) && err == nil {
		var k int
		k, err = a.body.Read(buf[n:])
		if n += k; k > 0 {
			c.slots.answers.Add(1)
			alive()
		}
	}
	if n < len(buf) {
		return n, c.bodyError(ctx, a, n, int64(len(buf)), err)
	}
	for err == nil {
		var one [1]byte
		var k int
		if k, err = a.body.Read(one[:]); k > 0 {
			return n, &Error{URL: c.name, Status: a.status, Err: unsupported("the answer has more than the %d bytes of its Content-Range", n)}
		}
	}
	if err == io.EOF {
		return n, nil
	}
	return n, c.bodyError(ctx, a, n, int64(len(buf)), err)
}

// bodyError returns the error of a body that ended after n of want bytes.
func (c *client) bodyError(ctx context.Context, a *answer, n int, want int64, err error) error {
	switch {
	case ctx.Err() != nil && c.getter != nil:
		return c.endedError(ctx, err)
	case ctx.Err() != nil:
		return c.transportError(ctx, err)
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	err = fmt.Errorf("the answer broke off after %d of %d bytes: %w", n, want, shorten(err, maxText))
	return &Error{URL: c.name, Status: a.status, Err: &temporary{err: err}}
}

// statusOf returns the HTTP status of an error, or 0.
func statusOf(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}
