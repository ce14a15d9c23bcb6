package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// client sends requests for ranges of one object.
type client struct {
	o      *Options
	url    *url.URL
	name   string // the URL in messages
	key    string // names the object in a disk cache
	getter Getter // sends the requests in place of http, or nil
	http   *http.Client
	own    bool // http was made for this client
	slots  *slots
	costs  *costs // what requests cost
	turns  *turns // of the bodies of the files of a Dir, or nil

	// admit is called before a request, and with the size of a whole object before it is received. If the size is
	// unknown, it is called with the bytes received so far, which are not all. An error of it ends the request. It may
	// be nil.
	admit func(bytes int64, all bool) error

	single atomic.Bool // the server does not answer with several ranges

	mu     sync.Mutex
	direct *target // where redirects lead, or nil
}

// target is where a request goes.
type target struct {
	url    string
	header http.Header
}

// newClient returns a client for a URL.
func newClient(rawURL string, o *Options) (*client, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		var e *url.Error // holds the URL, which may hold a password
		if errors.As(err, &e) {
			err = e.Err
		}
		if strings.Contains(rawURL, "@") { // a part of a password may look like a port, and err names it
			return nil, fmt.Errorf("invalid URL: %w", ErrParam)
		}
		return nil, fmt.Errorf("invalid URL: %w: %w", err, ErrParam)
	}
	c := &client{url: u, name: public(u), key: u.String(), http: o.Client}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s: want a URL that starts with http:// or https://: %w", c.name, ErrParam)
	}
	if c.http == nil {
		t, ok := http.DefaultTransport.(*http.Transport)
		if ok {
			t = t.Clone()
		} else {
			t = &http.Transport{Proxy: http.ProxyFromEnvironment}
		}
		t.MaxIdleConnsPerHost = o.Requests
		if t.MaxIdleConns > 0 { // of all hosts
			t.MaxIdleConns = max(t.MaxIdleConns, o.Requests)
		}
		t.MaxResponseHeaderBytes = 64 << 10
		c.http, c.own = &http.Client{Transport: t}, true
	}
	c.http = withoutReferer(c.http, o.Header.Get("Referer") != "")
	return c, nil
}

// withoutReferer returns a client that does not send the URL of a request to another host, as its query may hold
// secrets. own is set if the caller has chosen the field Referer.
func withoutReferer(client *http.Client, own bool) *http.Client {
	copied := *client
	copied.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if !own && req.URL.Host != via[len(via)-1].URL.Host {
			req.Header.Del("Referer")
		}
		if client.CheckRedirect != nil {
			return client.CheckRedirect(req, via)
		}
		if len(via) >= 10 { // as package net/http does
			return errors.New("stopped after 10 redirects")
		}
		return nil
	}
	return &copied
}

// admits calls c.admit.
func (c *client) admits(bytes int64, all bool) error {
	if c.admit == nil {
		return nil
	}
	return c.admit(bytes, all)
}

// close closes idle connections, unless they belong to a client of the caller.
func (c *client) close() {
	if c.own {
		c.http.CloseIdleConnections()
	}
}

// wish is the bytes that a request asks for: n bytes at off, or if off is negative the last n bytes of the object.
type wish struct{ off, n int64 }

// header returns the value of the header Range.
func (w wish) header() string {
	if w.off < 0 {
		return "bytes=-" + strconv.FormatInt(w.n, 10)
	}
	return fmt.Sprintf("bytes=%d-%d", w.off, w.off+w.n-1)
}

// errNoRange is returned by ask if the server has no such range, or no suffix ranges.
var errNoRange = errors.New("the server refuses the range")

// errWhole is returned by ask if the server sends the whole object, in the version that is open.
var errWhole = unsupported("the server no longer answers with the range asked for")

// answer is a checked answer, of which only the header has been read.
type answer struct {
	id      identity // the size is -1 if it is unknown, which can be only if whole is set
	off, n  int64    // the bytes of the body
	whole   bool     // the server sends the object instead of a range
	settled bool     // see version.settled
	status  int
	body    io.ReadCloser
}

// ask sends a request and checks the header of the answer. The caller must close the body, and cancel ctx then. id is
// the version and size of an open object, or nil.
func (c *client) ask(ctx context.Context, w wish, id *identity) (*answer, error) {
	idle, start := c.costs.idle(), time.Now()
	a, err := c.askOnce(ctx, w, id)
	if err == nil && a.body != nil {
		if idle {
			c.costs.answered(time.Since(start))
		}
		if a.n >= leastBody {
			a.body = c.costs.body(a.body)
		}
	}
	return a, err
}

// askOnce is ask without noting the time.
func (c *client) askOnce(ctx context.Context, w wish, id *identity) (*answer, error) {
	if c.getter != nil {
		return c.get(ctx, w, id)
	}
	resp, err := c.send(ctx, w.header(), id)
	if err != nil {
		return nil, err
	}
	a, err := c.check(resp, w, id)
	if err != nil {
		discard(resp)
		return nil, err
	}
	c.follow(resp)
	return a, nil
}

// get is ask for a Getter.
func (c *client) get(ctx context.Context, w wish, id *identity) (*answer, error) {
	fail := func(err error) (*answer, error) { return nil, &Error{URL: c.name, Err: err} }
	version := ""
	if id != nil && id.ETag != "" {
		version, _ = strconv.Unquote(id.ETag)
	}
	got, err := c.getter.Get(ctx, w.off, w.n, version)
	if err == nil || ctx.Err() == nil {
		c.slots.answers.Add(1)
	}
	if err != nil {
		err = shorten(err, maxGetterText)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, c.endedError(ctx, err)
	case w.off < 0 && errors.Is(err, errors.ErrUnsupported):
		return fail(fmt.Errorf("%w: %w", err, errNoRange))
	case err != nil:
		return fail(err)
	}
	a := &answer{id: identity{Size: got.Size}, off: w.off, body: got.Body, settled: true}
	if got.Version != "" && len(got.Version) <= maxVersion {
		a.id.ETag = strconv.Quote(got.Version)
	}
	if id != nil {
		err = id.check(a.id)
	}
	if a.off < 0 {
		a.off = max(got.Size-w.n, 0)
	}
	a.n = min(w.n, got.Size-a.off)
	if err == nil && got.Size >= maxSize {
		err = unsupported("an object of %d bytes", got.Size)
	}
	if err == nil && (a.n <= 0 || got.Body == nil) && (got.Size != 0 || got.Body != nil) {
		err = fmt.Errorf("a range at %d of %d bytes: %w", a.off, got.Size, ErrBounds)
	}
	if err != nil {
		if got.Body != nil {
			got.Body.Close()
		}
		return fail(err)
	}
	return a, nil
}

// endedError returns the error of a Getter whose context has ended. If nothing arrived for too long, it names the last
// error before that, which the Getter may have met in a request that it was about to repeat.
func (c *client) endedError(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	for err != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, cause)) {
		err = errors.Unwrap(err)
	}
	if err != nil && errors.Is(cause, errStalled) {
		return &Error{URL: c.name, Err: &temporary{err: fmt.Errorf("%w; the last error: %w", cause, shorten(err, maxGetterText))}}
	}
	return c.transportError(ctx, ctx.Err())
}

// send sends a request with a header Range. The caller must close the body of the response.
func (c *client) send(ctx context.Context, ranges string, id *identity) (*http.Response, error) {
	to := c.target()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header = to.header.Clone()
	req.Header.Set("Range", ranges)
	if !c.o.platform.noConditions {
		req.Header.Set("Accept-Encoding", "identity")
		if id != nil {
			id.condition(req.Header)
		}
	}
	resp, err := c.http.Do(req)
	if resp != nil {
		c.slots.answers.Add(1)
	}
	if err != nil && resp != nil { // a redirect that the client does not follow
		return nil, &Error{URL: c.name, Status: resp.StatusCode, Err: shorten(unwrapURL(err), maxText)}
	}
	if err != nil {
		return nil, c.transportError(ctx, err)
	}
	return resp, nil
}

// target returns where to send a request.
func (c *client) target() *target {
	if to := c.redirect(); to != nil {
		return to
	}
	h := c.o.Header
	if h == nil {
		h = http.Header{}
	}
	return &target{c.url.String(), h}
}

// follow remembers where redirects have led, so that later requests need no redirect. The header of the last request is
// kept with it: package net/http has removed from it what another host must not see.
func (c *client) follow(resp *http.Response) {
	if resp.Request == nil || resp.Request.URL == nil || resp.Request.Response == nil {
		return // no redirect
	}
	h := resp.Request.Header.Clone()
	for _, name := range []string{"Range", "If-Match", "If-Unmodified-Since", "Accept-Encoding"} {
		h.Del(name)
	}
	if c.o.Header.Get("Referer") == "" { // otherwise it is that of the caller
		h.Del("Referer")
	}
	if c.http.Jar != nil { // it adds its cookies, after those of Options.Header, to each request
		own := c.o.Header.Get("Cookie")
		if sent := h.Get("Cookie"); sent != own && !strings.HasPrefix(sent, own+"; ") {
			own = "" // which another host must not see
		}
		h.Del("Cookie")
		if own != "" {
			h.Set("Cookie", own)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.direct = &target{resp.Request.URL.String(), h}
}

// redirect returns where redirects have led, or nil.
func (c *client) redirect() *target {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.direct
}

// forget makes later requests start from the URL again, unless redirects have led to another target than from since.
func (c *client) forget(from *target) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.direct == from {
		c.direct = nil
	}
}

// check returns the answer that a response holds, without its body.
func (c *client) check(resp *http.Response, w wish, id *identity) (*answer, error) {
	fail := func(err error) (*answer, error) {
		return nil, &Error{URL: c.name, Status: resp.StatusCode, Err: err}
	}
	a := &answer{status: resp.StatusCode, body: resp.Body, id: identity{version: versionOf(resp.Header), Size: -1}}
	a.settled = a.id.settled(resp.Header)
	switch resp.StatusCode {
	case http.StatusOK, http.StatusPartialContent:
		if e, ok := encoding(resp); ok {
			return fail(unsupported("the server encodes the content (Content-Encoding %.40q)", e))
		}
	case http.StatusRequestedRangeNotSatisfiable:
		size, err := parseUnsatisfied(resp.Header.Get("Content-Range"))
		switch {
		case id != nil && err == nil && size != id.Size:
			return fail(fmt.Errorf("%d bytes, opened with %d: %w", size, id.Size, errReplaced))
		case err == nil && size == 0:
			a.id.Size = 0
			discard(resp)
			a.body = nil
			return a, nil
		}
		return fail(errNoRange)
	default:
		err := statusError(resp.StatusCode, id != nil)
		if transient(resp.StatusCode) {
			err = &temporary{err: err, after: retryAfter(resp.Header, time.Now())}
		} else if w.off < 0 && resp.StatusCode != http.StatusNotFound {
			err = fmt.Errorf("%w: %w", err, errNoRange)
		}
		return fail(err)
	}
	var err error
	if resp.StatusCode == http.StatusOK {
		err = a.checkWhole(resp, id)
	} else {
		err = a.checkPart(resp, w, id)
	}
	if err != nil {
		return fail(err)
	}
	return a, nil
}

// encoding reports whether the content of a response is encoded, and returns the values of its Content-Encoding.
func encoding(resp *http.Response) (value string, encoded bool) {
	value = strings.Join(resp.Header.Values("Content-Encoding"), ", ")
	for part := range strings.SplitSeq(value, ",") {
		part = strings.TrimSpace(part)
		encoded = encoded || part != "" && !strings.EqualFold(part, "identity")
	}
	return value, encoded || resp.Uncompressed
}

// checkWhole checks an answer of the whole object.
func (a *answer) checkWhole(resp *http.Response, id *identity) error {
	a.whole, a.n, a.id.Size = true, resp.ContentLength, resp.ContentLength
	if id == nil {
		return nil
	}
	if !id.same(a.id.version) || a.n >= 0 && a.n != id.Size {
		return id.check(a.id)
	}
	if a.n < 0 && !id.named() {
		return unsupported("the server no longer answers with the range asked for, and names neither a version nor a size")
	}
	return errWhole
}

// checkPart checks an answer of a range.
func (a *answer) checkPart(resp *http.Response, w wish, id *identity) error {
	if strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), "multipart/byteranges") {
		return unsupported("the server answers with several ranges, want one")
	}
	value := resp.Header.Get("Content-Range")
	if value == "" {
		return unsupported("no Content-Range in the answer; a server of another origin must name it, and ETag, in Access-Control-Expose-Headers")
	}
	first, last, size, err := parseContentRange(value)
	if err != nil {
		return err
	}
	a.off, a.n, a.id.Size = first, last-first+1, size
	if id != nil {
		if err := id.check(a.id); err != nil {
			return err
		}
	}
	from, to := w.off, min(w.off+w.n, size)
	if w.off < 0 {
		from, to = max(size-w.n, 0), size
	}
	if first != from || last != to-1 {
		return unsupported("Content-Range is %.100q, want bytes %d-%d", value, from, to-1)
	}
	if n := resp.ContentLength; n >= 0 && n != a.n {
		return unsupported("Content-Length is %d, but Content-Range is %.100q", n, value)
	}
	return nil
}

// parseContentRange parses "bytes FIRST-LAST/SIZE".
func parseContentRange(s string) (first, last, size int64, err error) {
	bad := unsupported("Content-Range is %.100q, want bytes FIRST-LAST/SIZE", s)
	unit, rest, _ := strings.Cut(s, " ")
	span, total, ok1 := strings.Cut(rest, "/")
	lo, hi, ok2 := strings.Cut(span, "-")
	if !ok1 || !ok2 || !strings.EqualFold(unit, "bytes") {
		return 0, 0, 0, bad
	}
	first, e1 := parseSize(lo)
	last, e2 := parseSize(hi)
	size, e3 := parseSize(total)
	if e1 != nil || e2 != nil || e3 != nil || first > last || last >= size {
		return 0, 0, 0, bad
	}
	return first, last, size, nil
}

// parseUnsatisfied parses "bytes */SIZE".
func parseUnsatisfied(s string) (int64, error) {
	total, ok := strings.CutPrefix(strings.ToLower(s), "bytes */")
	if !ok {
		return 0, errNoRange
	}
	return parseSize(total)
}

// maxSize is more than the size of any object. The arithmetic with offsets cannot overflow below it.
const maxSize = 1 << 62

// parseSize parses an unsigned decimal number below maxSize.
func parseSize(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 62)
	return int64(n), err
}

// discard closes the body of an answer that is not used. It reads a short body first, so that the connection can be
// used again. If that does not arrive soon, it gives up.
func discard(resp *http.Response) {
	if n := resp.ContentLength; n > 0 && n <= 4096 {
		timer := time.AfterFunc(100*time.Millisecond, func() { resp.Body.Close() })
		defer timer.Stop()
		io.CopyN(io.Discard, resp.Body, n)
	}
	resp.Body.Close()
}
