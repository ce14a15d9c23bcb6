package cloud

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"net/http"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
)

// Saver is a frame or an array: *frame.Frame and *ndarray.Array implement it.
type Saver interface {
	Save(ctx context.Context, w io.Writer) (int64, error)
}

// WriteOptions are the settings for writing an object. A nil *WriteOptions and zero fields are the defaults.
type WriteOptions struct {
	// Overwrite replaces an existing object. Otherwise writing it returns fs.ErrExist. With S3, writing may return nil
	// if the object already has these bytes, because the request may have been repeated.
	Overwrite bool
	// PartSize is the size of a part of an upload in bytes, 5 MiB to 1 GiB; 0 = 16 MiB. Amazon S3 has at most 10000
	// parts in an object: with the default, 156 GiB. After that many parts the upload fails, so set PartSize for larger
	// objects.
	PartSize int
	// Requests is the number of parts in flight; 0 = 4.
	Requests int
}

// complete returns the options with their defaults filled in, or frame.ErrParam.
func (o *WriteOptions) complete() (WriteOptions, error) {
	var c WriteOptions
	if o != nil {
		c = *o
	}
	if c.PartSize == 0 {
		c.PartSize = 16 << 20
	}
	if c.Requests == 0 {
		c.Requests = 4
	}
	if c.PartSize < 5<<20 || c.PartSize > 1<<30 || c.Requests < 0 {
		return c, fmt.Errorf("options PartSize %d and Requests %d, want 5 MiB to 1 GiB and at least 0: %w", c.PartSize, c.Requests, frame.ErrParam)
	}
	return c, nil
}

// Save writes a frame or an array to the object with a key, in one pass: it uploads parts while it reads src, and needs
// memory for the parts in flight. It returns the number of bytes. If Save fails, or ctx ends, the object is as before.
// Only if ctx ends during the last request, or its answer is lost, the object can be the new one. With S3, Save looks
// at the object after a lost answer, and returns nil if it is the new one. After the end of ctx, Save waits up to 5
// seconds until the store has discarded the parts.
func (b *Bucket) Save(ctx context.Context, key string, src Saver, o *WriteOptions) (n int64, err error) {
	ctx = given(ctx)
	opts, err := o.complete()
	if err != nil {
		return 0, err
	}
	if u, ok := b.driver.(Uploader); ok {
		w := newUpload(ctx, b, u, key, &opts)
		err = w.run(func() (err error) {
			n, err = src.Save(w.ctx, &appender{w})
			return err
		})
	} else {
		err = b.stream(ctx, key, &opts, func(ctx context.Context, w io.Writer) (err error) {
			n, err = src.Save(ctx, w)
			return err
		})
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// Create writes the object with a key by a function that creates a frame or an array in a Storage:
//
//	err := b.Create(ctx, "a.b2nd", func(st frame.Storage) error {
//		a, err := ndarray.FromFunc(ctx, "", shape, fill, &ndarray.CreateOptions{Storage: st})
//		if err != nil {
//			return err
//		}
//		return a.Close()
//	}, nil)
//
// The object appears when fill has returned nil. If fill fails or panics, or ctx ends, the object is as before, except
// during the last request: see [Bucket.Save]. Create returns frame.ErrParam, and the object is as before, if fill
// returns nil without a complete frame in st, such as one that it has created without CreateOptions.Storage. fill must
// not retain the Storage.
//
// If the driver is an [Uploader], parts are uploaded as soon as their bytes are written, and the first part, which has
// the header, at the end. Bytes of an uploaded part can be neither read nor written again: that returns
// errors.ErrUnsupported. So a Storage accepts the creation of a frame, as by FromFunc, FromSeq, Concat and Copy of
// package ndarray, but not all edits. To append to a new array, append whole chunks along the axis, in one batch. An
// append to a chunk that is not full reads the chunk, and a commit after each append may write bytes again. Both fail
// once these bytes are uploaded, which a test with little data does not show.
//
// With other drivers, the compressed frame is kept in memory until fill returns.
func (b *Bucket) Create(ctx context.Context, key string, fill func(st frame.Storage) error, o *WriteOptions) error {
	ctx = given(ctx)
	opts, err := o.complete()
	if err != nil {
		return err
	}
	create := func(st frame.Storage) error {
		err := fill(st)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := checkHeader(st); err != nil {
			return fmt.Errorf("create %s%s: %w", b.name, key, err)
		}
		return nil
	}
	if u, ok := b.driver.(Uploader); ok {
		w := newUpload(ctx, b, u, key, &opts)
		err = w.run(func() error { return create(w) })
	} else {
		st := frame.NewMemory(nil)
		if err = create(st); err == nil {
			err = b.stream(ctx, key, &opts, func(_ context.Context, w io.Writer) error {
				_, err := w.Write(st.Bytes())
				return err
			})
		}
	}
	return err
}

// checkHeader returns frame.ErrParam if st does not begin with the header of a frame, or is shorter than that frame.
// Until a new frame is complete, st has zeros in place of the header.
func checkHeader(st frame.Storage) error {
	const magic, at, length = "b2frame\x00", 2, 16 // the offsets of the magic and of the length in 8 bytes
	head := make([]byte, length+8)
	n, err := st.ReadAt(head, 0)
	if n == 0 && err == io.EOF {
		return fmt.Errorf("fill created no frame in st; set CreateOptions.Storage: %w", frame.ErrParam)
	}
	if err != nil && err != io.EOF {
		return err
	}
	size, err := st.Size()
	if err != nil {
		return err
	}
	if n < len(head) || string(head[at:][:len(magic)]) != magic || binary.BigEndian.Uint64(head[length:]) > uint64(size) {
		return fmt.Errorf("fill left no complete frame in st; return the error of creating it: %w", frame.ErrParam)
	}
	return nil
}

const contentType = "application/octet-stream"

// stream writes an object with a Writer of gocloud.dev/blob.
func (b *Bucket) stream(ctx context.Context, key string, o *WriteOptions, write func(ctx context.Context, w io.Writer) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.NewWriter(ctx, key, &blob.WriterOptions{
		ContentType: contentType, BufferSize: o.PartSize, MaxConcurrency: o.Requests, IfNotExist: !o.Overwrite,
	})
	if err != nil {
		return b.writeError(key, err, o.Overwrite)
	}
	written := false
	defer func() {
		if !written { // or write has panicked
			cancel() // so that Close does not write the object
			w.Close()
		}
	}()
	if err := write(ctx, &objectWriter{b, key, w, o.Overwrite}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	written = true
	return b.writeError(key, w.Close(), o.Overwrite)
}

// objectWriter is a Writer with errors of writeError. Those of the function that writes are not changed: they can be
// errors of another object.
type objectWriter struct {
	b         *Bucket
	key       string
	w         *blob.Writer
	overwrite bool
}

// Write implements io.Writer.
func (o *objectWriter) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	return n, o.b.writeError(o.key, err, o.overwrite)
}

// errExist is the error for an object that exists.
var errExist = fmt.Errorf("%w; set Overwrite to replace it", fs.ErrExist)

// writeError returns an error of the store in writing an object as a *remote.Error, with its common value.
func (b *Bucket) writeError(key string, err error, overwrite bool) error {
	if err == nil {
		return nil
	}
	status := b.driver.Status(err)
	// Azure has status 409.
	if !overwrite && (status == http.StatusPreconditionFailed || gcerrors.Code(err) == gcerrors.FailedPrecondition) {
		err = fmt.Errorf("%w: %w", err, errExist)
	} else {
		err = b.wrap(err, false)
	}
	return &remote.Error{URL: b.name + key, Status: status, Err: err}
}

// appender writes the bytes of a storage one after the other.
type appender struct{ st *upload }

// Write implements io.Writer.
func (a *appender) Write(p []byte) (int, error) { return a.st.WriteAt(p, a.st.size()) }
