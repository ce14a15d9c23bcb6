package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"gocloud.dev/blob"

	"github.com/goblosc/blosc2/frame"
)

// Uploader is implemented by a Driver whose store accepts the parts of an object in any order.
type Uploader interface {
	// NewUpload starts an upload. Unless overwrite is set, Complete fails if the object exists.
	NewUpload(ctx context.Context, b *blob.Bucket, key, contentType string, overwrite bool) (Upload, error)
}

// Upload is an object that is uploaded in parts. Several goroutines call Part at the same time.
type Upload interface {
	// Part uploads the part with a number from 1 up. It does not retain data.
	Part(ctx context.Context, number int, data []byte) error
	// Complete makes the object of all parts. It returns nil if the object has been made, but the answer was lost. If
	// it fails, Abort follows, and otherwise no call.
	Complete(ctx context.Context) error
	// Abort discards all parts. Calls of Part have returned, but after the end of their context parts may still arrive.
	Abort(ctx context.Context) error
}

// upload is the frame.Storage of an object that is being written. It holds the first part, and the last one as far as
// it is written. Parts between them are uploaded, or being uploaded.
type upload struct {
	ctx    context.Context
	cancel context.CancelFunc
	b      *Bucket
	driver Uploader
	key    string
	o      *WriteOptions
	slots  chan struct{}
	parts  sync.WaitGroup

	mu    sync.Mutex // guards the fields below; it is held while a writer waits for a slot
	first []byte
	last  []byte
	at    int64 // of last
	done  bool

	failed sync.Mutex // guards err
	err    error      // of the first part that failed
	parted Upload     // or nil, until the second part is complete
}

func newUpload(ctx context.Context, b *Bucket, d Uploader, key string, o *WriteOptions) *upload {
	w := &upload{b: b, driver: d, key: key, o: o, slots: make(chan struct{}, o.Requests), at: int64(o.PartSize)}
	w.ctx, w.cancel = context.WithCancel(ctx)
	return w
}

// run writes the object with fill. If that fails, the object is as before, unless ctx ends during the last request.
func (w *upload) run(fill func() error) (err error) {
	complete := false
	defer func() { // also if fill panics
		w.mu.Lock()
		w.done = true
		w.mu.Unlock()
		w.parts.Wait() // a part that is canceled may arrive after Abort
		wait := 30 * time.Second
		if w.ctx.Err() != nil { // the caller wants to go on
			wait = 5 * time.Second
		}
		w.cancel()
		if w.parted != nil && !complete {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), wait)
			defer cancel()
			err = errors.Join(err, w.wrap(w.parted.Abort(ctx)))
		}
	}()
	if err := fill(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.parted == nil && len(w.last) == 0 {
		if err := w.free(int64(len(w.first))); err != nil {
			return err
		}
		err := w.wrap(w.b.WriteAll(w.ctx, w.key, w.first, &blob.WriterOptions{ContentType: contentType, IfNotExist: !w.o.Overwrite}))
		if err != nil && w.ctx.Err() == nil && w.stored() {
			return nil
		}
		return err
	}
	if err := w.send(); err != nil {
		return err
	}
	if err := w.start(1, w.first); err != nil {
		return err
	}
	w.parts.Wait()
	if err := w.failure(); err != nil {
		return err
	}
	if err := w.parted.Complete(w.ctx); err != nil {
		return w.wrap(err)
	}
	complete = true
	return nil
}

// stored reports whether the object has the bytes of the first part. If the answer to a request is lost, the library of
// the store repeats the request, which then finds the object that it has written, or fails for another reason.
func (w *upload) stored() bool {
	data, size, err := (&objects{b: w.b}).Get(w.ctx, w.key, int64(len(w.first)))
	return err == nil && size == int64(len(w.first)) && bytes.Equal(data, w.first)
}

// wrap returns an error of the store with its common value.
func (w *upload) wrap(err error) error { return w.b.writeError(w.key, err, w.o.Overwrite) }

// size returns the number of bytes.
func (w *upload) size() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end()
}

func (w *upload) end() int64 {
	if w.parted == nil && len(w.last) == 0 {
		return int64(len(w.first))
	}
	return w.at + int64(len(w.last))
}

// Size implements frame.Storage.
func (w *upload) Size() (int64, error) { return w.size(), nil }

// errGone is returned for bytes of uploaded parts.
func errGone(off int64) error {
	return fmt.Errorf("bytes at %d are uploaded and can be neither read nor changed; append whole chunks in one batch, "+
		"or create the array with FromFunc or FromSeq: %w", off, errors.ErrUnsupported)
}

// ReadAt implements frame.Storage.
func (w *upload) ReadAt(p []byte, off int64) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if off < 0 {
		return 0, fmt.Errorf("reading at %d: %w", off, frame.ErrBounds)
	}
	end := w.end()
	for n < len(p) && off+int64(n) < end {
		switch at := off + int64(n); {
		case at >= w.at:
			n += copy(p[n:], w.last[at-w.at:])
		case at < int64(len(w.first)):
			n += copy(p[n:], w.first[at:])
		default:
			return n, errGone(at)
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements frame.Storage.
func (w *upload) WriteAt(p []byte, off int64) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return 0, fs.ErrClosed
	}
	if off < 0 || off > 1<<62 {
		return 0, fmt.Errorf("writing at %d: %w", off, frame.ErrBounds)
	}
	size := int64(w.o.PartSize)
	for n < len(p) {
		switch at := off + int64(n); {
		case at < size:
			n += put(&w.first, p[n:], at, size)
		case at < w.at:
			return n, errGone(at)
		case at >= w.at+size:
			pad(&w.last, size)
			if err := w.send(); err != nil {
				return n, err
			}
		default:
			pad(&w.first, size)
			n += put(&w.last, p[n:], at-w.at, size)
		}
	}
	return n, nil
}

// put copies bytes of p to offset at of a part of up to size bytes, and returns their number.
func put(part *[]byte, p []byte, at, size int64) int {
	p = p[:min(int64(len(p)), size-at)]
	end := int(at) + len(p)
	if b := *part; end > len(b) {
		if end > cap(b) {
			b = make([]byte, len(b), min(max(2*end, 64<<10), int(size)))
			copy(b, *part)
		}
		had := len(b)
		b = b[:end]
		clear(b[had:])
		*part = b
	}
	return copy((*part)[at:], p)
}

// pad appends zeros to a part that is not full, because bytes are written after it.
func pad(part *[]byte, size int64) {
	if had := int64(len(*part)); had < size {
		put(part, make([]byte, size-had), had, size)
	}
}

// send starts the upload of the last part, which is full unless it is the end of the object. A new one follows it.
func (w *upload) send() error {
	size := int64(w.o.PartSize)
	if w.parted == nil {
		err := w.free(w.at)
		if err != nil {
			return err
		}
		if w.parted, err = w.driver.NewUpload(w.ctx, w.b.Bucket, w.key, contentType, w.o.Overwrite); err != nil {
			return w.wrap(err)
		}
	}
	data := w.last
	if len(data) > 0 {
		if err := w.start(int(w.at/size)+1, data); err != nil {
			return err
		}
	}
	w.last = nil
	w.at += size
	return nil
}

// free returns an error if the object exists and may not be replaced, or ctx has ended. The store checks that, too, but
// after it has received the bytes, or it closes the connection while it receives them. Exists may fail: for a key
// without an object it does if the caller may not list the bucket.
func (w *upload) free(size int64) error {
	if w.o.Overwrite || size <= 64<<10 {
		return nil
	}
	if there, err := w.b.Exists(w.ctx, w.key); err == nil && there {
		return w.wrap(errExist)
	}
	return w.ctx.Err()
}

// start uploads a part on a goroutine of its own, when a slot is free.
func (w *upload) start(number int, data []byte) error {
	if err := w.failure(); err != nil {
		return err
	}
	select {
	case w.slots <- struct{}{}:
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
	w.parts.Go(func() {
		defer func() { <-w.slots }()
		if err := w.parted.Part(w.ctx, number, data); err != nil {
			w.failed.Lock()
			defer w.failed.Unlock()
			if w.err == nil {
				w.err = w.wrap(err)
			}
		}
	})
	return nil
}

// failure returns why a part failed, or nil.
func (w *upload) failure() error {
	w.failed.Lock()
	defer w.failed.Unlock()
	return w.err
}

// Truncate implements frame.Storage.
func (w *upload) Truncate(size int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case size >= w.end():
	case size >= w.at:
		w.last = w.last[:size-w.at]
	case w.parted == nil && size <= int64(len(w.first)):
		w.first, w.last = w.first[:size], nil
	default:
		return errGone(size)
	}
	return nil
}

// Sync implements frame.Storage. The object is complete or does not exist.
func (w *upload) Sync() error { return nil }

// Close implements frame.Storage.
func (w *upload) Close() error { return nil }
