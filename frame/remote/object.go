package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/internal/task"
)

// An Object is an open object on an HTTP server. It is a frame.Source, and an io.ReaderAt. All reads return bytes of
// the version that Open found. An Object is safe for concurrent use. Goroutines that read the same bytes at the same
// time receive them once.
type Object struct {
	c      *client
	o      Options
	id     identity
	table  *table
	disk   *diskObject // or nil
	closer io.Closer   // the Getter, or nil

	opened  bool // Open has succeeded
	settled bool // see version.settled
	whole   bool // the server has sent the whole object in place of a range

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	mu     sync.Mutex
	err    error // of all reads from now on: closed or changed
	loads  sync.WaitGroup
	check  *task.Task // the request that compares a cached version with that of the server, or nil
}

// Open opens the object at a URL that starts with http:// or https://. It reads the first and the last 64 KiB with two
// requests at the same time, and keeps them in memory: a frame of up to 128 KiB needs no other request, and a larger
// one usually none to be opened. If the server has no suffix ranges, a third request follows. See Options.Small for a
// single request, and Options.Dir for none.
//
// The context is not used after Open has returned. Errors wrap ErrParam, are an *Error, or wrap an *fs.PathError if the
// folder Options.Dir cannot be opened.
func Open(ctx context.Context, url string, o *Options) (*Object, error) {
	opts, err := o.complete()
	if err != nil {
		return nil, err
	}
	opts.fit(thisPlatform)
	c, err := newClient(url, &opts)
	if err != nil {
		return nil, err
	}
	return openClient(ctx, c, opts)
}

// OpenGetter opens the object that g reads. Reads are merged, shared, cached and checked as those of an object of Open.
// If a body breaks off, the rest is requested again, up to Options.Retries times. name is the name of the object in
// messages. It must not hold secrets. With Options.Dir, the object is cached under this name unless Options.Key is set.
// Options.Client, Header, Multipart and MaxWhole do not apply. See Open for the requests and for the errors. If
// OpenGetter returns an error, it does not close g.
func OpenGetter(ctx context.Context, name string, g Getter, o *Options) (*Object, error) {
	if o != nil && (o.Client != nil || o.Header != nil || o.Multipart || o.MaxWhole != 0) {
		return nil, fmt.Errorf("options Client, Header, Multipart and MaxWhole need a URL: %w", ErrParam)
	}
	opts, err := o.complete()
	if err != nil {
		return nil, err
	}
	c := &client{name: name, key: name, getter: g}
	obj, err := openClient(ctx, c, opts)
	if err != nil {
		return nil, err
	}
	obj.closer, _ = g.(io.Closer)
	return obj, nil
}

// newObject returns an object that is not open.
func newObject(c *client, opts Options, kept *cache) *Object {
	obj := &Object{c: c, o: opts, table: &table{cache: kept}}
	c.o = &obj.o
	obj.ctx, obj.cancel = context.WithCancel(context.Background())
	return obj
}

// openClient opens the object of a client, which gets the options.
func openClient(ctx context.Context, c *client, opts Options) (*Object, error) {
	obj := newObject(c, opts, &cache{limit: opts.Cache})
	c.slots, c.costs = newSlots(opts.Requests), newCosts(opts.model(), opts.learnLatency, opts.learnBandwidth)
	defer func() {
		if !obj.opened { // or code of the user has panicked
			obj.Close()
		}
	}()
	if err := obj.open(task.Context(ctx)); err != nil {
		return nil, err
	}
	return obj, nil
}

// open reads both ends of the object, from the disk or from the server.
func (obj *Object) open(ctx context.Context) error {
	var disk *diskCache
	if obj.o.Dir != "" {
		var err error
		if disk, err = openDisk(&obj.o, cmp.Or(obj.o.Key, obj.c.key)); err != nil {
			return err
		}
	}
	defer func() {
		if disk != nil && obj.disk == nil { // or code of the user has panicked
			disk.close()
		}
	}()
	if disk != nil {
		if cached, err := obj.startCached(ctx, disk, false); cached || err != nil {
			return err
		}
	}
	e, err := obj.c.open(ctx)
	if err != nil {
		return err
	}
	obj.start(e, disk)
	if obj.disk != nil {
		obj.disk.putEntry(e)
	}
	return nil
}

// startCached opens the object from its entry in the disk cache, if there is one. A request asks whether the server
// still has that version: at the same time, or first if the last use of the entry ended before the answer, unless the
// server is known to be down. Without an answer, reads of bytes that are not cached find out. If obj is no chunk file,
// the server then counts as down.
func (obj *Object) startCached(ctx context.Context, disk *diskCache, file bool) (bool, error) {
	e := disk.entry()
	if e == nil || len(e.parts) > 0 && e.parts[0].whole && !disk.object(e).load(e, max(obj.o.MaxWhole, 0)) {
		return false, nil
	}
	unasked := disk.unasked()
	before := obj.c.slots.answers.Load()
	if unasked && !obj.c.slots.down() {
		err := obj.c.confirm(ctx, &e.id)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.Is(err, ErrChanged):
			disk.object(e).dropEntry()
			return false, nil
		case err == nil:
			disk.setAsked()
		case !file:
			obj.c.slots.setDown(before)
		}
		obj.start(e, disk)
		return true, nil
	}
	obj.start(e, disk)
	obj.check = task.Go(func() error {
		err := obj.verify(obj.ctx)
		switch {
		case err == nil && unasked:
			obj.disk.setAsked()
		case err == nil || errors.Is(err, ErrChanged):
		case obj.ctx.Err() != nil:
			obj.disk.setUnasked() // a program that always closes that early would never notice a change
		case !file:
			obj.c.slots.setDown(before)
		}
		return nil
	})
	return true, nil
}

// start sets the version of the object, and the bytes that opening has read. disk may be nil. It is used only for a
// version that no other content of the object can have.
func (obj *Object) start(e *opened, disk *diskCache) {
	obj.id, obj.settled, obj.opened = e.id, e.settled, true
	for _, p := range e.parts {
		obj.table.pin(p.off, p.data)
		obj.whole = obj.whole || p.whole
	}
	if disk != nil && e.id.named() && e.settled {
		obj.disk = disk.object(e)
	}
}

// verify asks the server whether the object is still the version that was opened.
func (obj *Object) verify(ctx context.Context) error {
	err := obj.c.confirm(ctx, &obj.id)
	if errors.Is(err, ErrChanged) {
		obj.fail(err)
	}
	return err
}

// fail makes all later reads return an error that wraps ErrChanged.
func (obj *Object) fail(err error) {
	obj.mu.Lock()
	if obj.err == nil {
		obj.err = err
	}
	obj.mu.Unlock()
	if obj.disk != nil { // also if Close has set the error in the meantime
		obj.disk.dropEntry()
	}
}

// Size returns the size of the object in bytes.
func (obj *Object) Size() int64 { return obj.id.Size }

// Version returns the strong ETag of the object with its quotes, or else the time of its last change as the server
// writes it, or "" if the server names neither.
func (obj *Object) Version() string { return obj.id.String() }

// String returns the URL without the password and the query.
func (obj *Object) String() string { return obj.c.name }

// Close cancels all reads, which return fs.ErrClosed, and waits until no goroutine works for the Object any more. A
// second Close does nothing.
func (obj *Object) Close() error {
	obj.mu.Lock()
	was := obj.err
	obj.err = errs.ErrClosed
	obj.mu.Unlock()
	if errors.Is(was, errs.ErrClosed) {
		return nil
	}
	obj.cancel()
	obj.loads.Wait()
	if obj.check != nil {
		obj.check.Wait()
	}
	obj.c.close()
	if obj.disk != nil {
		obj.disk.close()
	}
	var err error
	if obj.closer != nil {
		err = obj.closer.Close()
	}
	if obj.check != nil {
		return cmp.Or(obj.check.Result(), err) // continues a panic of Options.Client or Options.Trace
	}
	return err
}

// Gap returns the size in bytes of the largest gap between two ranges that ReadRanges reads with one request. It
// changes while the Object learns what requests cost: see Options.Gap.
func (obj *Object) Gap() int64 {
	m := obj.cost()
	return m.GapLen()
}

// RoundTripBytes returns how many bytes arrive in the time of a round trip, which is Latency*Bandwidth: see
// [frame.Source]. It changes while the Object learns what requests cost.
func (obj *Object) RoundTripBytes() int64 {
	m := obj.cost()
	return m.RoundTripBytes()
}

// Refresh asks the server whether the object is still the version that was opened, with one request to the URL, which
// follows redirects again. If it is not, Refresh and all later reads return ErrChanged: open the object again.
// Frame.Refresh of package frame calls Refresh. If the server names no version and Options.Unversioned is not set,
// Refresh returns errors.ErrUnsupported if the object has the same size and is not empty.
func (obj *Object) Refresh(ctx context.Context) error {
	ctx = task.Context(ctx)
	if err := obj.failed(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(obj.ctx, cancel)()
	obj.c.forget(obj.c.redirect()) // the URL may lead to another version
	err := obj.verify(ctx)
	if err != nil && obj.ctx.Err() != nil {
		return errs.ErrClosed
	}
	if err == nil && obj.id.Size > 0 && !obj.id.named() && !obj.o.Unversioned {
		err = &Error{URL: obj.c.name, Err: errUnnamed}
	}
	return err
}

// ReadAt is ReadAtContext without a context. It implements io.ReaderAt.
func (obj *Object) ReadAt(p []byte, off int64) (int, error) {
	return obj.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext reads len(p) bytes at off. At the end of the object it reads fewer and returns io.EOF. If the context
// ends, ReadAtContext returns its error; other reads are not affected. Errors of requests are an *Error.
func (obj *Object) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("%s: offset %d: %w", obj.c.name, off, ErrBounds)
	}
	n := min(int64(len(p)), max(obj.id.Size-off, 0))
	short := error(nil)
	if n < int64(len(p)) {
		short = io.EOF
	}
	if n == 0 {
		if err := obj.failed(task.Context(ctx)); err != nil {
			return 0, err
		}
		return 0, short
	}
	err := obj.ReadRanges(ctx, []Range{{Off: off, Len: n}}, func(_ int, at int64, b []byte) error {
		copy(p[at:n], b)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return int(n), short
}

// failed returns the error of all reads, or nil.
func (obj *Object) failed(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	obj.mu.Lock()
	defer obj.mu.Unlock()
	return obj.err
}

// fetch returns segments that cover ascending ranges. The caller must release them.
func (obj *Object) fetch(ctx context.Context, want []Range) (held []*segment, err error) {
	if err := obj.failed(ctx); err != nil {
		return nil, err
	}
	m := obj.cost()
	if obj.disk != nil {
		want = obj.disk.align(want, obj.id.Size)
		m.MaxLen += 2 * blockSize
	}
	segments, loads, hit := obj.table.hold(want, &m)
	defer func() {
		if held == nil { // or code of the user has panicked
			obj.table.release(segments)
		}
	}()
	if len(loads) > 1 && obj.several() {
		for batch := range slices.Chunk(loads, maxPieces) {
			obj.startLoads(ctx, batch)
		}
	} else {
		for i := range loads {
			obj.startLoads(ctx, loads[i:i+1])
		}
	}
	if hit > 0 && obj.o.Trace != nil {
		obj.o.Trace(Event{Kind: Memory, Off: want[0].Off, Len: hit})
	}
	for _, s := range segments {
		select {
		case <-s.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		s.exit.Continue()
		if s.err != nil {
			return nil, s.err
		}
	}
	return segments, nil
}

// startLoads reads the bytes of loads on a goroutine of its own, with one request if there are several. It ends early
// if no call needs their segments any more.
func (obj *Object) startLoads(ctx context.Context, loads []*load) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	wanted := len(loads) // guarded by the lock of the table
	for _, l := range loads {
		l.cancel = func() {
			if wanted--; wanted == 0 {
				cancel()
			}
		}
	}
	stop, err := obj.begin(cancel)
	if err != nil {
		cancel()
		obj.finish(loads, nil, err, nil)
		return
	}
	pieces := make([]piece, len(loads))
	for i, l := range loads {
		pieces[i] = piece{l.Off, make([]byte, l.Len)}
	}
	finished := false
	go task.Run(func() {
		var err error
		if len(pieces) == 1 {
			err = obj.load(ctx, pieces[0].buf, pieces[0].off)
		} else {
			err = obj.c.readPieces(ctx, pieces, &obj.id)
		}
		switch {
		case errors.Is(err, ErrChanged):
			obj.fail(err)
		case err != nil && obj.ctx.Err() != nil:
			err = errs.ErrClosed
		}
		obj.finish(loads, pieces, err, nil)
		finished = true
		if obj.disk != nil && err == nil {
			obj.disk.put(pieces[0].buf, pieces[0].off)
		}
	}, func(x *task.Exit) {
		if !finished {
			obj.finish(loads, nil, nil, x)
		}
		stop()
	})
}

// begin begins work on a goroutine, which Close cancels and waits for. The goroutine must call end.
func (obj *Object) begin(cancel context.CancelFunc) (end func(), err error) {
	obj.mu.Lock()
	defer obj.mu.Unlock()
	if obj.err != nil {
		return nil, obj.err
	}
	obj.loads.Add(1) // not after Close has begun to wait
	stop := context.AfterFunc(obj.ctx, cancel)
	return func() {
		stop()
		cancel()
		obj.loads.Done()
	}, nil
}

// finish completes loads, with their bytes, or with an error or the exit of their goroutine.
func (obj *Object) finish(loads []*load, pieces []piece, err error, exit *task.Exit) {
	for i, l := range loads {
		var data []byte
		if err == nil && exit == nil {
			data = pieces[i].buf
		}
		obj.table.finish(l, data, err, exit)
	}
}

// cost returns the cost of reading. A range of a request for several ranges has a header, but no latency.
func (obj *Object) cost() ranges.Model {
	m := obj.c.costs.cost()
	if m.Gap == 0 && obj.several() {
		m.Gap = 4 << 10
	}
	return m
}

// several reports whether requests may ask for several ranges.
func (obj *Object) several() bool { return obj.o.Multipart && obj.disk == nil && !obj.c.single.Load() }

// load reads bytes from the disk, and missing bytes from the server.
func (obj *Object) load(ctx context.Context, buf []byte, off int64) error {
	if obj.disk == nil {
		return obj.c.read(ctx, buf, off, &obj.id)
	}
	m := obj.cost()
	m.MaxLen = max(m.MaxLen, int64(len(buf)))
	at := off
	found := func(end int64) {
		if end > at && obj.o.Trace != nil {
			obj.o.Trace(Event{Kind: Disk, Off: at, Len: end - at})
		}
	}
	var pieces []piece
	for _, f := range ranges.Plan(obj.disk.get(buf, off), &m) {
		found(f.Off)
		pieces = append(pieces, piece{f.Off, buf[f.Off-off : f.End()-off]})
		at = f.End()
	}
	found(off + int64(len(buf)))
	return obj.c.readEach(ctx, pieces, &obj.id)
}
