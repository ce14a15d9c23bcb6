package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
)

// Objects returns the place of the sparse frame whose objects have keys that begin with prefix and "/", for writers
// that fill it at the same time:
//
//	r, err := ndarray.CreateRegions(ctx, "", shape, "<f4", &ndarray.CreateOptions{Objects: b.Objects("dir/a.b2nd")})
//
// Each writer compresses and writes chunks, one object for each. When all chunks are written, Finish writes the index,
// and then [Bucket.OpenDir] reads the frame. See [frame.Regions]. The Bucket must be open as long as the result is
// used.
func (b *Bucket) Objects(prefix string) frame.Objects {
	return &objects{b, strings.TrimSuffix(prefix, "/") + "/"}
}

// objects is the frame.Objects of a bucket.
type objects struct {
	b      *Bucket
	prefix string // of keys, with a slash at the end
}

// Put implements frame.Objects. Stores of gocloud.dev/blob compare and write in one step, except fileblob.
func (x *objects) Put(ctx context.Context, name string, data []byte, replace bool) error {
	ctx, key := given(ctx), x.prefix+name
	if err := ctx.Err(); err != nil {
		return err
	}
	err := x.b.writeError(key, x.b.WriteAll(ctx, key, data, &blob.WriterOptions{ContentType: contentType, IfNotExist: !replace}), replace)
	if err == nil || replace || errors.Is(err, fs.ErrExist) || ctx.Err() != nil {
		return err
	}
	// Some stores close the connection when an object exists, instead of an answer.
	if exists, e := x.b.Exists(ctx, key); e == nil && exists {
		return fmt.Errorf("%w: %w", err, errExist)
	}
	return err
}

// Get implements frame.Objects.
func (x *objects) Get(ctx context.Context, name string, n int64) (data []byte, size int64, err error) {
	ctx, key := given(ctx), x.prefix+name
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	const tries = 3 // the libraries of the stores repeat requests, but do not continue an answer that breaks off
	for range tries {
		var broken bool
		data, size, broken, err = x.read(ctx, key, n)
		if !broken || ctx.Err() != nil {
			break
		}
	}
	if err == nil {
		return data, size, nil
	}
	// An empty object has no range.
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errors.ErrUnsupported) && ctx.Err() == nil {
		if a, e := x.b.Attributes(ctx, key); e == nil && a.Size == 0 {
			return nil, 0, nil
		}
	}
	return nil, 0, x.b.readError(key, err)
}

// read requests the first n bytes of an object. It reports whether the answer broke off.
func (x *objects) read(ctx context.Context, key string, n int64) (data []byte, size int64, broken bool, err error) {
	a, err := (&object{x.b, key}).Get(ctx, 0, n, "")
	if err != nil || a.Body == nil {
		return nil, 0, false, err
	}
	defer a.Body.Close()
	data, err = io.ReadAll(io.LimitReader(a.Body, n))
	if err == nil && int64(len(data)) < min(n, a.Size) {
		err = io.ErrUnexpectedEOF
	}
	return data, a.Size, err != nil, err
}

// List implements frame.Objects.
func (x *objects) List(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for token := blob.FirstPageToken; len(token) > 0; {
			page, next, err := x.page(given(ctx), token)
			if err != nil {
				yield("", err)
				return
			}
			for _, o := range page {
				if !o.IsDir && !yield(strings.TrimPrefix(o.Key, x.prefix), nil) {
					return
				}
			}
			token = next
		}
	}
}

// page returns a page of List, and the token of the next page.
func (x *objects) page(ctx context.Context, token []byte) (page []*blob.ListObject, next []byte, err error) {
	const tries = 3 // fileblob fails if an object is removed during the call
	for range tries {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		page, next, err = x.b.ListPage(ctx, token, 1000, &blob.ListOptions{Prefix: x.prefix, Delimiter: "/"})
		if err == nil {
			return page, next, nil
		}
		if gcerrors.Code(err) != gcerrors.NotFound {
			break
		}
	}
	return nil, nil, x.b.readError(x.prefix, x.b.wrap(err, false))
}

// Remove implements frame.Objects.
func (x *objects) Remove(ctx context.Context, name string) error {
	ctx, key := given(ctx), x.prefix+name
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := x.b.Delete(ctx, key); err != nil {
		return x.b.readError(key, x.b.wrap(err, false))
	}
	return nil
}

// readError returns an error of wrap as a *remote.Error.
func (b *Bucket) readError(key string, err error) error {
	return &remote.Error{URL: b.name + key, Status: b.driver.Status(err), Err: err}
}
