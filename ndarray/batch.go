package ndarray

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// Editor is a Writer whose shape can be changed: an *Array, where each call is one commit, or a *Batch.
type Editor interface {
	Writer
	// Shape returns the shape in items, the first axis first. The caller owns the slice.
	Shape() []int64
	// Resize changes the shape at the end of each axis. See Array.Resize.
	Resize(ctx context.Context, shape ...int64) error
	// AppendBytes adds items at the end of an axis. See Array.AppendBytes.
	AppendBytes(ctx context.Context, axis int, data []byte) error
	// InsertBytes inserts items at position at of an axis. See Array.InsertBytes.
	InsertBytes(ctx context.Context, axis int, at int64, data []byte) error
	// Delete removes n steps along an axis, starting at position at. See Array.Delete.
	Delete(ctx context.Context, axis int, at, n int64) error
	// SetAttr sets an attribute. See Array.SetAttr.
	SetAttr(ctx context.Context, name string, v any) error
	// DeleteAttr removes an attribute. See Array.DeleteAttr.
	DeleteAttr(ctx context.Context, name string) error
}

// A Batch is a group of edits of an array that one commit makes visible and durable:
//
//	b, err := a.Begin(ctx)
//	if err != nil {
//		return err
//	}
//	defer b.Rollback() // does nothing after Commit
//	for image := range images {
//		if err := ndarray.Append(ctx, b, 0, image); err != nil {
//			return err
//		}
//	}
//	return b.Commit()
//
// Each edit sees the results of the edits before it. Readers of the array see no edit before Commit. Unlike a
// frame.Batch, a Batch is not safe for concurrent use. Other batches and single edits of the array wait until the batch
// ends. So a goroutine that edits the array itself, and not the batch, waits forever.
//
// If an edit fails because of its arguments, or because its context ended before the call, the batch is unchanged and
// can go on. After any other error, also if the context ends during the call, all further edits and Commit return an
// error that wraps the first.
type Batch struct {
	a   *Array
	b   *frame.Batch
	st  *state // with the edits so far
	err error  // error of an edit that failed partway, or fs.ErrClosed after the end
}

// Begin starts a batch. End it with Commit or Rollback. Begin waits until an open batch of the same Array has ended
// and, with OpenOptions.Locking, until no other process reads or edits. ctx bounds only this wait: the batch does not
// retain it. The error wraps ErrReadOnly, fs.ErrClosed, ErrCorrupt or, with OpenOptions.Locking, ErrChanged, or is an
// error of the lock file or of ctx.
func (a *Array) Begin(ctx context.Context) (*Batch, error) {
	b, err := a.f.Begin(task.Context(ctx))
	if err != nil {
		return nil, err
	}
	st, err := a.load(b.Engine().View())
	if err != nil {
		b.Rollback()
		return nil, err
	}
	return &Batch{a: a, b: b, st: st}, nil
}

// Commit publishes the edits of the batch and ends it. After an error the array is unchanged. The error wraps
// fs.ErrClosed if the batch has ended, or is the error of an earlier edit or an error of writing.
func (b *Batch) Commit() error {
	if b.err != nil {
		b.b.Rollback()
		return b.err
	}
	b.err = errEnded
	err := b.b.Commit()
	if err == nil {
		b.a.state.Store(b.st)
	}
	return err
}

// Rollback discards the edits of the batch and ends it. After Commit it does nothing, so it can be deferred.
func (b *Batch) Rollback() {
	b.b.Rollback()
	if b.err == nil {
		b.err = errEnded
	}
}

// errEnded is the error for a batch that has ended.
var errEnded = fmt.Errorf("ndarray: batch: %w", errs.ErrClosed)

// Shape returns the shape with the edits so far. The caller owns the slice.
func (b *Batch) Shape() []int64 { return append([]int64{}, b.st.rec.Shape...) }

// DType returns the NumPy dtype of the items.
func (b *Batch) DType() DType { return b.a.dtype }

func (b *Batch) source() (*Array, *selection.Mapping) { return b.a, nil }

// edit runs change in a batch of its own.
func (a *Array) edit(ctx context.Context, change func(b *Batch) error) error {
	b, err := a.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err := change(b); err != nil {
		return err
	}
	return b.Commit()
}

// refresh returns an error if the batch cannot take an edit, or if ctx has ended. It reads the shapes again if the
// caller has replaced the metalayer through Frame.
func (b *Batch) refresh(ctx context.Context) error {
	if b.err != nil {
		return b.err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	v := b.b.Engine().View()
	if content, _ := v.MetaLayer(b.a.layer); b.st.readFrom(content) {
		return nil
	}
	st, err := b.a.parse(v)
	if err == nil {
		b.st = st
	}
	return err
}

// fail records the error of an edit that failed partway.
func (b *Batch) fail(err error) error {
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("ndarray: batch: an earlier edit failed: %w", err)
	}
	return err
}

// reshaped returns the state of the batch with another shape.
func (b *Batch) reshaped(shape []int64) (*state, error) {
	rec := *b.st.rec
	rec.Shape = shape
	geo, err := grid.NewGeometry(shape, rec.ChunkShape, rec.BlockShape, int64(b.a.itemSize))
	if err != nil {
		return nil, err
	}
	return &state{rec: &rec, geo: geo}, nil
}

// publish makes next the state of the batch.
func (b *Batch) publish(next *state) error {
	old, _ := b.b.Engine().View().MetaLayer(b.a.layer)
	content, err := meta.UpdateShape(old, next.rec.Shape)
	if err != nil {
		return b.a.corrupt("%v", err)
	}
	if err := b.b.Engine().ReplaceMeta(b.a.layer, content); err != nil {
		return err
	}
	next.content, _ = b.b.Engine().View().MetaLayer(b.a.layer)
	b.st = next
	return nil
}
