package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/goblosc/blosc2/internal/task"
)

// maxPieces is the largest number of ranges in a request. Apache allows 200, and a header must stay below 8 KiB.
const maxPieces = 64

// piece is a range to be read into buf.
type piece struct {
	off int64
	buf []byte
}

// errNotSeveral is returned if the server does not answer a request for several ranges with these ranges.
var errNotSeveral = errors.New("the server does not answer with several ranges")

// readPieces fills pieces with one request. If the server cannot do that, it sends one request for each, now and later.
func (c *client) readPieces(ctx context.Context, pieces []piece, id *identity) error {
	rest := pieces
	for len(rest) > 1 && !c.single.Load() {
		err := c.do(ctx, func(ctx context.Context, alive func()) (got Range, status int, err error) {
			p := rest[0]
			got.Off = p.off
			if len(rest) == 1 { // after an attempt that broke off
				if got.Len, status, err = c.one(ctx, p.buf, p.off, id, alive); err == nil {
					rest = nil
				}
				return got, status, err
			}
			k := 0
			got.Len, k, status, err = c.several(ctx, rest, id, alive)
			rest = rest[k:]
			return got, status, err
		})
		if errors.Is(err, errNotSeveral) {
			c.single.Store(true)
		} else if err != nil {
			return err
		}
	}
	return c.readEach(ctx, rest, id)
}

// readEach fills pieces with one request for each.
func (c *client) readEach(ctx context.Context, pieces []piece, id *identity) error {
	var tasks []*task.Task
	for _, p := range pieces {
		tasks = append(tasks, task.Go(func() error { return c.read(ctx, p.buf, p.off, id) }))
	}
	for _, t := range tasks {
		defer t.Wait() // also if one panics
	}
	for _, t := range tasks {
		if err := t.Result(); err != nil {
			return err
		}
	}
	return nil
}

// several makes a request for pieces, which must have the version and the size of id. It returns the number of bytes
// and of pieces that it has read, and the status.
func (c *client) several(ctx context.Context, pieces []piece, id *identity, alive func()) (n int64, k, status int, err error) {
	var b strings.Builder
	b.WriteString("bytes=")
	limit := int64(0)
	for i, p := range pieces {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d-%d", p.off, p.off+int64(len(p.buf))-1)
		limit += int64(len(p.buf))
	}
	a, parts, err := c.askSeveral(ctx, b.String(), id, alive, limit)
	if err != nil {
		return 0, 0, statusOf(err), err
	}
	defer a.body.Close()
	for k, p := range pieces {
		part, err := c.nextPart(ctx, a, parts)
		if err != nil {
			return n, k, a.status, err
		}
		if err := id.check(part.id); err != nil {
			return n, k, a.status, &Error{URL: c.name, Status: a.status, Err: err}
		}
		if part.off != p.off || part.n != int64(len(p.buf)) {
			return n, k, a.status, errNotSeveral
		}
		m, err := c.fill(ctx, part, p.buf, alive)
		if n += int64(m); err != nil {
			return n, k, a.status, err
		}
	}
	return n, len(pieces), a.status, nil
}

// askSeveral sends a request for several ranges and checks the header of the answer. limit is the number of bytes in
// the parts.
func (c *client) askSeveral(ctx context.Context, ranges string, id *identity, alive func(), limit int64) (*answer, *multipart.Reader, error) {
	from := c.redirect()
	resp, err := c.send(ctx, ranges, id)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusPartialContent {
		a, err := c.check(resp, wish{0, 1}, id)
		expired := from != nil && resp.StatusCode/100 == 4 && resp.StatusCode != http.StatusRequestedRangeNotSatisfiable
		if errors.Is(err, ErrChanged) || errors.As(err, new(*temporary)) || expired {
			discard(resp)
			return nil, nil, err
		}
		if err == nil && a.whole && id == nil {
			c.follow(resp)
			return a, nil, nil
		}
		resp.Body.Close()
		return nil, nil, errNotSeveral
	}
	kind, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if _, encoded := encoding(resp); err != nil || encoded || kind != "multipart/byteranges" || params["boundary"] == "" {
		resp.Body.Close()
		return nil, nil, errNotSeveral
	}
	c.follow(resp)
	a := &answer{status: resp.StatusCode, body: resp.Body, id: identity{version: versionOf(resp.Header)}}
	a.settled = a.id.settled(resp.Header)
	const overhead = 2048 // most bytes between two parts
	body := io.LimitReader(&aliveReader{resp.Body, alive}, limit+overhead*(maxPieces+1))
	return a, multipart.NewReader(body, params["boundary"]), nil
}

// nextPart returns the next part of an answer.
func (c *client) nextPart(ctx context.Context, a *answer, parts *multipart.Reader) (*answer, error) {
	part, err := parts.NextRawPart()
	if err == io.EOF {
		return nil, errNotSeveral // fewer parts than ranges
	}
	if err != nil {
		return nil, c.bodyError(ctx, a, 0, 0, err)
	}
	first, last, size, err := parseContentRange(part.Header.Get("Content-Range"))
	if err != nil {
		return nil, errNotSeveral
	}
	p := *a
	p.off, p.n, p.id.Size, p.body = first, last-first+1, size, io.NopCloser(part)
	return &p, nil
}

// aliveReader calls alive whenever bytes arrive.
type aliveReader struct {
	r     io.Reader
	alive func()
}

// Read implements io.Reader.
func (r *aliveReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.alive()
	}
	return n, err
}

// bothEnds reads the head and the tail of the object with one request. It returns errNotSeveral if the server cannot do
// that.
func (c *client) bothEnds(ctx context.Context) (o *opened, err error) {
	err = c.do(ctx, func(ctx context.Context, alive func()) (got Range, status int, err error) {
		a, parts, err := c.askSeveral(ctx, fmt.Sprintf("bytes=0-%d,-%d", keep-1, keep), nil, alive, 2*keep)
		if err != nil {
			return got, statusOf(err), err
		}
		defer a.body.Close()
		if a.whole { // of a small object, as the ranges have more bytes
			if a.n < 0 || a.n > 2*keep {
				return got, a.status, errNotSeveral
			}
			data, err := c.whole(ctx, a, alive)
			a.id.Size = int64(len(data))
			o = &opened{id: a.id, parts: []part{{id: a.id, data: data, settled: a.settled}}, settled: a.settled}
			got.Len = a.id.Size
			return got, a.status, err
		}
		o = &opened{settled: a.settled}
		for i := range 2 {
			p, err := c.nextPart(ctx, a, parts)
			if err != nil {
				return got, a.status, err
			}
			off := int64(0)
			if i == 1 {
				off = p.id.Size - keep
			}
			if p.off != off || p.n != keep || i == 1 && off < keep || i == 1 && p.id != o.id {
				return got, a.status, errNotSeveral
			}
			o.id = p.id
			data := make([]byte, keep)
			m, err := c.fill(ctx, p, data, alive)
			if got.Len += int64(m); err != nil {
				return got, a.status, err
			}
			o.parts = append(o.parts, part{id: p.id, off: off, data: data, settled: a.settled})
		}
		return got, a.status, nil
	})
	return o, err
}
