package remote

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/goblosc/blosc2/internal/task"
)

// part is bytes of an object that opening has read.
type part struct {
	id      identity
	off     int64
	data    []byte
	settled bool
	whole   bool // the server has sent the whole object in place of a range
}

// end returns the offset after the part.
func (p *part) end() int64 { return p.off + int64(len(p.data)) }

// opened is what Open has read of an object. The parts are adjacent if the object is small.
type opened struct {
	id      identity
	parts   []part
	settled bool
}

// complete reports whether all bytes were read.
func (o *opened) complete() bool {
	end := int64(0)
	for _, p := range o.parts {
		if p.off > end {
			return false
		}
		end = max(end, p.end())
	}
	return end == o.id.Size
}

// open reads both ends of the object. If the object changes between the requests, it starts again.
func (c *client) open(ctx context.Context) (*opened, error) {
	const tries = 3
	for i := 1; ; i++ {
		o, err := (*opened)(nil), error(errNotSeveral)
		if c.o.Multipart && !c.single.Load() {
			o, err = c.bothEnds(ctx)
		}
		if errors.Is(err, errNotSeveral) {
			c.single.Store(true)
			o, err = c.ends(ctx)
		}
		if err == nil && !o.id.named() && !c.o.Unversioned && o.complete() && len(o.parts) > 1 {
			o, err = c.inOne(ctx, o.id.Size)
		}
		if err == nil {
			err = c.checkNamed(o)
		}
		if err == nil || i == tries || !errors.Is(err, ErrChanged) {
			return o, err
		}
	}
}

// inOne reads a small object with one request. If its version has no name, its parts may be of different versions.
func (c *client) inOne(ctx context.Context, size int64) (*opened, error) {
	p, err := c.first(ctx, wish{0, size})
	return &opened{id: p.id, parts: []part{p}, settled: p.settled}, err
}

// checkNamed returns an error if more of an object is to be read than o has, but its version has no name.
func (c *client) checkNamed(o *opened) error {
	if o.complete() || o.id.named() || c.o.Unversioned {
		return nil
	}
	return &Error{URL: c.name, Err: errUnnamed}
}

// errUnnamed is returned if only a version can answer a question.
var errUnnamed = unsupported("the server names no version (a strong ETag or Last-Modified); " +
	"Options.Unversioned reads the object without noticing most changes")

// ends reads the head of the object and, if that is not all, its tail. The requests are in flight at the same time.
func (c *client) ends(ctx context.Context) (*opened, error) {
	ctx, cancel := context.WithCancel(ctx)
	var tail part
	var suffix *task.Task
	if !c.o.Small && !c.o.platform.noSuffix {
		suffix = task.Go(func() (err error) {
			tail, err = c.first(ctx, wish{-1, keep})
			return err
		})
		defer suffix.Wait()
	}
	defer cancel()
	head, err := c.first(ctx, wish{0, keep})
	if err != nil {
		return nil, err
	}
	o := &opened{id: head.id, parts: []part{head}, settled: head.settled}
	if o.complete() {
		return o, nil
	}
	err = errNoRange
	if suffix != nil {
		err = suffix.Result()
	}
	switch {
	case errors.Is(err, errNoRange):
		tail = part{id: head.id, off: max(head.end(), head.id.Size-keep)}
		tail.data = make([]byte, head.id.Size-tail.off)
		err = c.read(ctx, tail.data, tail.off, &head.id)
	case err == nil:
		if err = head.id.check(tail.id); err != nil {
			err = &Error{URL: c.name, Err: err}
		}
	}
	if err != nil {
		return nil, err
	}
	if tail.off < head.end() { // they overlap
		tail.data = tail.data[head.end()-tail.off:]
		tail.off = head.end()
	}
	o.parts = append(o.parts, tail)
	return o, nil
}

// first makes a first request. The answer may be the whole object.
func (c *client) first(ctx context.Context, w wish) (p part, err error) {
	err = c.do(ctx, func(ctx context.Context, alive func()) (got Range, status int, err error) {
		p = part{} // of an attempt that broke off
		got.Off = max(w.off, 0)
		a, err := c.ask(ctx, w, nil)
		if err != nil {
			return got, statusOf(err), err
		}
		if a.body == nil {
			p.id, p.settled = a.id, a.settled
			return got, a.status, nil
		}
		got.Off = a.off
		defer a.body.Close()
		if a.whole && w.off >= 0 {
			if err := c.checkWhole(a); err != nil {
				return got, a.status, err
			}
			if err := c.admits(max(a.n, 0), a.n >= 0); err != nil {
				return got, a.status, err
			}
		}
		end, err := c.receive(ctx, a.n, alive)
		if err != nil {
			return got, a.status, err
		}
		defer end()
		p = part{id: a.id, off: a.off, settled: a.settled, whole: a.whole}
		switch {
		case !a.whole:
			p.data = make([]byte, a.n)
			n, err := c.fill(ctx, a, p.data, alive)
			got.Len = int64(n)
			return got, a.status, err
		case w.off < 0:
			return got, a.status, errNoRange // the request for the head gets the same answer
		}
		p.data, err = c.whole(ctx, a, alive)
		p.id.Size = int64(len(p.data))
		got.Len = p.id.Size
		return got, a.status, err
	})
	return p, err
}

// checkWhole returns an error if an answer is a whole object that is known to be larger than Options.MaxWhole.
func (c *client) checkWhole(a *answer) error {
	if most := max(c.o.MaxWhole, 0); a.n > most {
		return &Error{URL: c.name, Status: a.status,
			Err: unsupported("the server ignores ranges, and the object has %d bytes; option MaxWhole allows %d", a.n, most)}
	}
	return nil
}

// whole reads an object of a server that ignores ranges. The caller calls checkWhole before.
func (c *client) whole(ctx context.Context, a *answer, alive func()) ([]byte, error) {
	most := max(c.o.MaxWhole, 0)
	var data []byte
	buf := make([]byte, 32<<10)
	for {
		n, err := a.body.Read(buf)
		if n > 0 {
			c.slots.answers.Add(1)
			alive()
		}
		if data = append(data, buf[:n]...); int64(len(data)) > most {
			return nil, &Error{URL: c.name, Status: a.status,
				Err: unsupported("the server ignores ranges, and the object has more than %d bytes, which option MaxWhole allows", most)}
		}
		if a.n < 0 {
			if err := c.admits(int64(len(data)), false); err != nil {
				return nil, err
			}
		}
		if err == nil {
			continue
		}
		if err == io.EOF && (a.n < 0 || int64(len(data)) == a.n) {
			return data, nil
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, c.bodyError(ctx, a, len(data), max(a.n, int64(len(data))), fmt.Errorf("reading the whole object: %w", err))
	}
}
