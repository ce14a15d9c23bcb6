package store

import (
	"context"
	"errors"
	"sync"

	"github.com/goblosc/blosc2/frame/store/internal/source"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
)

// openFiles shares the open files of leaves between the frames that read from them. A file is closed with the last of
// its frames, and all files are closed with the store. What needs no closing is kept. Opening a file may take long, so
// it happens without the lock.
type openFiles struct {
	box    container
	mu     sync.Mutex
	closed bool
	byName map[string]*sharedFile
	open   map[*sharedFile]bool // the files to close, also those that another file has replaced
}

// sharedFile is a file in use by frames.
type sharedFile struct {
	*openFile
	name  string
	users int
	ready chan struct{} // closed once the file is open or err is set
	err   error
}

// forget makes the next get open a file again, after it was replaced.
func (o *openFiles) forget(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.byName, name)
}

// get returns the file that has a name now. It opens it unless it is open.
func (o *openFiles) get(ctx context.Context, name string) (*openFile, error) {
	ctx = task.Context(ctx)
	var stale *sharedFile // the name has another file now
	for {
		f, first, err := o.use(name, stale)
		if err != nil {
			return nil, err
		}
		if first {
			if err := o.fill(ctx, f); err != nil {
				return nil, err
			}
			return o.opened(f, f.src), nil
		}
		select {
		case <-f.ready:
		case <-ctx.Done():
			o.drop(f)
			return nil, ctx.Err()
		}
		if f.err == nil {
			if src := o.box.now(name, f.src); src != nil {
				return o.opened(f, src), nil
			}
			o.drop(f)
			stale = f
			continue
		}
		// If the context of the call that opened the file has ended, this call opens it.
		if !errors.Is(f.err, context.Canceled) && !errors.Is(f.err, context.DeadlineExceeded) {
			return nil, f.err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// use returns the file with a name, with one more user. If there is none, or only a stale one, the caller is the first
// user of a new one, which it must fill.
func (o *openFiles) use(name string, stale *sharedFile) (f *sharedFile, first bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, false, errs.ErrClosed
	}
	f = o.byName[name]
	if f == nil || f == stale {
		if o.byName == nil {
			o.byName, o.open = map[string]*sharedFile{}, map[*sharedFile]bool{}
		}
		f, first = &sharedFile{name: name, ready: make(chan struct{})}, true
		o.byName[name] = f
	}
	f.users++
	return f, first, nil
}

// opened returns the use of a file that is open. src is its bytes.
func (o *openFiles) opened(f *sharedFile, src source.Source) *openFile {
	if f.close == nil {
		return &openFile{src: src}
	}
	return &openFile{src, sync.OnceValue(func() error { return o.drop(f) })}
}

// drop ends a use of a file. The last one closes it.
func (o *openFiles) drop(f *sharedFile) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	f.users--
	if f.users > 0 || !o.open[f] {
		return nil
	}
	delete(o.open, f)
	if o.byName[f.name] == f {
		delete(o.byName, f.name)
	}
	return f.Close()
}

// fill opens a file that is in byName, while other calls of get wait.
func (o *openFiles) fill(ctx context.Context, f *sharedFile) (err error) {
	err = errs.ErrClosed // if box.open panics
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if err == nil && o.closed {
			err = errs.ErrClosed
			f.Close()
		}
		if f.err = err; err != nil && o.byName[f.name] == f {
			delete(o.byName, f.name)
		} else if err == nil && f.close != nil {
			o.open[f] = true
		}
		close(f.ready)
	}()
	f.openFile, err = o.box.open(ctx, f.name)
	return err
}

// Close closes all files and the container. Files that are being opened are closed by fill.
func (o *openFiles) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil
	}
	o.closed = true
	var first error
	for f := range o.open {
		if err := f.Close(); err != nil && first == nil {
			first = err
		}
	}
	o.open = nil
	if o.box != nil {
		if err := o.box.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
