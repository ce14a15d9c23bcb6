package remote

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/internal/task"
)

// dirFile is the file of a chunk. Its first read finds out the version. Only the version is kept for files that were
// not used for a while.
type dirFile struct {
	number int64

	// Guarded by the lock of the Dir. Users may read obj once the file is open.
	fileState
	opening *opening      // that calls wait for, or nil
	obj     *Object       // nil if it is not open
	users   int           // calls that use the file
	first   *segment      // the bytes of the first request, as long as there are users
	elem    *list.Element // in Dir.idle
}

// fileState is what the first read of a file has found out.
type fileState struct {
	id      *identity // nil until it is known
	settled bool      // see version.settled
	whole   bool      // the server has sent the whole file in place of a range
}

// opening opens a file for all calls that want it at the same time. err and exit are set before done is closed.
type opening struct {
	done   chan struct{}
	err    error
	exit   *task.Exit // of code of the user that has panicked
	cancel context.CancelFunc
	calls  int // that wait for it; guarded by the lock of the Dir
}

// use returns the file of ranges, open. The caller must call unuse.
func (d *Dir) use(ctx context.Context, g *fileRanges) (*dirFile, error) {
	d.mu.Lock()
	f := d.files[g.file]
	if f == nil {
		f = &dirFile{number: g.file}
		d.files[g.file] = f
	}
	f.users++
	if f.elem != nil {
		d.idle.Remove(f.elem)
		f.elem = nil
	}
	d.mu.Unlock()
	opened := false
	defer func() {
		if !opened { // or code of the user has panicked
			d.unuse(f)
		}
	}()
	if err := d.open(ctx, f, g); err != nil {
		return nil, err
	}
	opened = true
	return f, nil
}

// unuse ends the use of a file.
func (d *Dir) unuse(f *dirFile) {
	var old *Object
	d.mu.Lock()
	if f.users--; f.users == 0 && f.obj != nil {
		if f.first != nil {
			f.obj.table.release([]*segment{f.first})
			f.first = nil
		}
		if f.whole { // another read of the Object would get the whole file again, and fail
			old, f.obj = f.obj, nil
		} else {
			f.elem = d.idle.PushFront(f)
		}
		if d.idle.Len() > mostIdle {
			last := d.idle.Remove(d.idle.Back()).(*dirFile)
			old, last.obj, last.elem = last.obj, nil, nil
		}
	}
	d.mu.Unlock()
	if old != nil {
		old.Close()
		old.table.clear()
	}
}

// open opens a file, unless it is open. Calls that want it at the same time share the first request and its error.
func (d *Dir) open(ctx context.Context, f *dirFile, g *fileRanges) error {
	for {
		d.mu.Lock()
		if f.obj != nil || d.err != nil {
			defer d.mu.Unlock()
			return d.err
		}
		o, own := f.opening, f.opening == nil
		if own {
			o = &opening{done: make(chan struct{})}
			f.opening = o
			d.startOpening(ctx, o, f, g)
		}
		o.calls++
		d.mu.Unlock()
		select {
		case <-o.done:
		case <-ctx.Done():
			d.leave(f, o)
			return ctx.Err()
		}
		o.exit.Continue()
		if own || !errors.Is(o.err, errPutOff) { // which concerns only the call of g
			return o.err
		}
	}
}

// leave ends the wait of a call for a file. If no other call waits, the request for the file is canceled.
func (d *Dir) leave(f *dirFile, o *opening) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o.calls--; o.calls == 0 && f.opening == o {
		f.opening = nil // the next call starts another one
		o.cancel()
	}
}

// startOpening opens a file on a goroutine of its own, for which Close waits. The caller holds the lock of d.
func (d *Dir) startOpening(ctx context.Context, o *opening, f *dirFile, g *fileRanges) {
	ctx, o.cancel = context.WithCancel(context.WithoutCancel(ctx))
	known := f.fileState
	stop, err := d.index.begin(o.cancel)
	if err != nil {
		o.cancel()
		f.opening, o.err = nil, err
		close(o.done)
		return
	}
	go task.Run(func() { o.err = d.openFile(ctx, o, f, known, g) }, func(x *task.Exit) {
		d.mu.Lock()
		if o.exit = x; f.opening == o {
			f.opening = nil
		}
		d.mu.Unlock()
		close(o.done)
		stop()
	})
}

// openFile opens a file for the calls that wait for o. known is the state of the file.
func (d *Dir) openFile(ctx context.Context, o *opening, f *dirFile, known fileState, g *fileRanges) error {
	obj := newObject(d.client(fmt.Sprintf("%08X.chunk", f.number)), d.o, d.index.table.cache)
	obj.closer, _ = obj.c.getter.(io.Closer)
	opened := false
	defer func() {
		if !opened { // or code of the user has panicked
			obj.Close()
		}
	}()
	first, whole, err := d.identify(ctx, obj, known, g)
	if err != nil {
		d.noteChanged(err)
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.err; err != nil || f.opening != o {
		if first != nil {
			obj.table.release([]*segment{first})
		}
		return cmp.Or(err, context.Canceled) // no call waits
	}
	opened = true
	id := obj.id
	f.fileState = fileState{&id, obj.settled, whole}
	f.obj, f.first = obj, first
	return nil
}

// identify finds out the version of a file: from an earlier read, from the disk, or from the first request, whose bytes
// it returns. known is the state of the file.
func (d *Dir) identify(ctx context.Context, obj *Object, known fileState, g *fileRanges) (first *segment, whole bool, err error) {
	var disk *diskCache
	if d.index.disk != nil {
		disk = d.index.disk.forKey(obj.c.key)
	}
	if known.id != nil && !known.whole {
		obj.start(&opened{id: *known.id, settled: known.settled}, disk)
		return nil, false, nil
	}
	if disk != nil && known.id == nil {
		cached, err := obj.startCached(ctx, disk, true)
		if err != nil && d.index.ctx.Err() != nil {
			err = errs.ErrClosed
		}
		if cached || err != nil {
			return nil, false, err
		}
	}
	w := firstWish(obj, g)
	obj.c.admit = g.admit
	p, err := obj.c.first(ctx, w)
	if w.off > 0 && (errors.Is(err, errNoRange) || errors.Is(err, ErrBounds)) { // the file may end before that
		p, err = obj.c.first(ctx, wish{0, 1})
	}
	obj.c.admit = nil // other calls may use the file
	if err == nil && known.id != nil {
		if err = known.id.check(p.id); err != nil {
			err = &Error{URL: obj.c.name, Err: err}
		}
	}
	o := &opened{id: p.id, settled: p.settled}
	if err == nil {
		err = obj.c.checkNamed(&opened{id: p.id}) // no part makes up for a version: the next read may be a new request
	}
	if errors.Is(err, fs.ErrNotExist) {
		if e := d.index.Refresh(ctx); e != nil && !errors.Is(e, errUnnamed) {
			return nil, false, e // the frame was replaced, and the file is no part of it any more
		}
		err = fmt.Errorf("%w: %w", err, errs.ErrCorrupt)
	}
	if err != nil {
		if d.index.ctx.Err() != nil {
			err = errs.ErrClosed
		}
		return nil, false, err
	}
	obj.start(o, disk)
	d.noteWhole(p.whole, false, p.id.Size)
	whole = int64(len(p.data)) == p.id.Size && p.off == 0 && p.whole
	switch {
	case whole: // a request for a part of it would get all of it again, and fail
		first = obj.table.addHeld(p.off, p.data)
	case len(p.data) > 0:
		first = obj.table.add(p.off, p.data)
	}
	if obj.disk != nil && !whole {
		obj.disk.putEntry(o)
		obj.disk.put(p.data, p.off)
	}
	return first, whole, nil
}

// firstWish returns the wish of the first request for a file: the first of the wanted bytes that one request reads.
func firstWish(obj *Object, g *fileRanges) wish {
	m := obj.cost()
	r := Range{Len: 1}
	if plan := ranges.Plan(g.ranges, &m); len(plan) > 0 {
		r = plan[0].Range
	}
	if obj.o.Dir != "" { // whole blocks
		end := (r.End() + blockSize - 1) / blockSize * blockSize
		r.Off = r.Off / blockSize * blockSize
		r.Len = end - r.Off
	}
	return wish{r.Off, r.Len}
}
