//go:build js && wasm

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall/js"

	"github.com/goblosc/blosc2/examples/viewer/internal/httprange"
)

// blob is the object.Getter of a File or Blob of the page.
type blob struct{ js.Value }

// Get implements object.Getter.
func (b blob) Get(ctx context.Context, off, n int64) ([]byte, error) {
	buffer, err := await(ctx, b.Call("slice", float64(off), float64(off+n)).Call("arrayBuffer"))
	if err != nil {
		return nil, fmt.Errorf("reading the file: %w", err)
	}
	return bytesToGo(buffer), nil
}

// fetcher is the httprange.Doer of the Fetch API.
type fetcher struct{}

// Conditions implements httprange.Doer: a request with conditions to another origin would need its permission.
func (fetcher) Conditions(url string) bool {
	location := js.Global().Get("location")
	u := js.Global().Get("URL").New(url, location.Get("href"))
	return u.Get("origin").Equal(location.Get("origin"))
}

// Do implements httprange.Doer.
func (fetcher) Do(ctx context.Context, url string, header map[string]string) (*httprange.Response, error) {
	abort := js.Global().Get("AbortController").New()
	stop := context.AfterFunc(ctx, func() { abort.Call("abort") })
	h := js.Global().Get("Object").New()
	for k, v := range header {
		h.Set(k, v)
	}
	resp, err := await(ctx, js.Global().Call("fetch", url, map[string]any{
		"headers": h, "signal": abort.Get("signal"), "cache": "no-store", "credentials": "same-origin", "referrerPolicy": "no-referrer",
	}))
	if err != nil {
		stop()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, unreadable(ctx, url)
	}
	b := &body{ctx: ctx, abort: abort, stop: stop}
	if stream := resp.Get("body"); stream.Truthy() {
		b.reader = stream.Call("getReader")
	}
	return &httprange.Response{Status: resp.Get("status").Int(), Body: b, Header: func(name string) string {
		if v := resp.Get("headers").Call("get", name); v.Truthy() {
			return v.String()
		}
		return ""
	}}, nil
}

// unreadable returns the reason why a fetch failed. The browser does not tell it, but a request whose answer the page
// may not read succeeds if there is a server.
func unreadable(ctx context.Context, url string) error {
	_, err := await(ctx, js.Global().Call("fetch", url, map[string]any{
		"method": "HEAD", "mode": "no-cors", "cache": "no-store", "credentials": "omit", "referrerPolicy": "no-referrer",
	}))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return errors.New("no answer: the server cannot be reached")
	}
	return errors.New("the server does not let this page read from it: it needs CORS headers for this page")
}

// body is the body of an answer.
type body struct {
	ctx    context.Context
	abort  js.Value
	stop   func() bool
	reader js.Value // undefined if there is no body
	rest   []byte
	done   bool
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.done || b.reader.IsUndefined() {
			return 0, io.EOF
		}
		part, err := await(b.ctx, b.reader.Call("read"))
		if err != nil {
			return 0, fmt.Errorf("the connection broke: %w", err)
		}
		if part.Get("done").Bool() {
			b.done = true
			continue
		}
		v := part.Get("value")
		b.rest = make([]byte, v.Length())
		js.CopyBytesToGo(b.rest, v)
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Close implements io.Closer. It ends a request that has not ended.
func (b *body) Close() error {
	b.stop()
	if !b.done {
		b.abort.Call("abort")
	}
	return nil
}
