package ndarray

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// Editor is a Writer whose shape can be changed: an *Array, where each call is one commit, or a *Batch.
type Editor interface {
	Writer
	// Shape returns the shape in items, the first axis first. It is the caller's.
	Shape() []int64
	// Resize changes the shape at the end of each axis. See Array.Resize.
	Resize(ctx context.Context, shape ...int64) error
	// ResizeAt changes the shape at any place of each axis. See Array.ResizeAt.
	ResizeAt(ctx context.Context, start, shape []int64) error
	// Append adds items behind the end of an axis. See Array.Append.
	Append(ctx context.Context, axis int, data []byte) error
	// Insert adds items before item at of an axis. See Array.Insert.
	Insert(ctx context.Context, axis int, at int64, data []byte) error
	// Delete removes n items of an axis, from item at on. See Array.Delete.
	Delete(ctx context.Context, axis int, at, n int64) error
	// SetAttr sets an attribute. See Array.SetAttr.
	SetAttr(ctx context.Context, name string, v any) error
	// DeleteAttr removes an attribute. See Array.DeleteAttr.
	DeleteAttr(ctx context.Context, name string) error
}

// Batch is a group of edits of an array that become visible, and durable, together, with the cost of one commit:
//
//	b, err := a.Begin(ctx)
//	if err != nil {
//		return err
//	}
//	defer b.Rollback() // does nothing after Commit
//	for frame := range frames {
//		if err := ndarray.Append(ctx, b, 0, frame); err != nil {
//			return err
//		}
//	}
//	return b.Commit()
//
// Each edit sees what those before it have done; readers of the array see nothing of it before Commit. A batch belongs
// to one goroutine. Batches and single edits of other goroutines wait until it ends, so that a single edit of the same
// goroutine would wait for ever. After an edit that failed in the middle, for another reason than its arguments, all
// further ones and Commit fail with its error.
type Batch struct {
	a   *Array
	b   *frame.Batch
	st  *state // as the batch has made it
	err error  // of an edit that left the batch half done, or that it has ended
}

// Begin starts a batch. End it with Commit or Rollback. It waits until an open batch of this handle has ended, and with
// Options.Locking until no other process reads or edits. ctx bounds only this waiting: the batch does not keep it. Errors
// are ErrReadOnly, ErrClosed, ErrCorrupt, those of the lock file and of the context.
func (a *Array) Begin(ctx context.Context) (*Batch, error) {
	b, err := a.f.Begin(ctx)
	if err != nil {
		return nil, err
	}
	st, err := a.load(b.View())
	if err != nil {
		b.Rollback()
		return nil, err
	}
	return &Batch{a: a, b: b, st: st}, nil
}

// Commit makes the batch the state of the array. When it fails, the array is as it was.
func (b *Batch) Commit() error {
	if b.err != nil {
		b.b.Rollback()
		return b.err
	}
	err := b.b.Commit()
	if err == nil {
		b.a.state.Store(b.st)
	}
	b.end()
	return err
}

// Rollback forgets the batch. After Commit it does nothing, so that it can be deferred.
func (b *Batch) Rollback() {
	b.b.Rollback()
	b.end()
}

func (b *Batch) end() {
	if b.err == nil {
		b.err = fmt.Errorf("ndarray: batch: %w", ErrClosed)
	}
}

// Frame returns the batch of the frame below, for its metalayers. Do not end it.
func (b *Batch) Frame() *frame.Batch { return b.b }

// Shape returns the shape that the batch has made so far. It is the caller's.
func (b *Batch) Shape() []int64 { return append([]int64{}, b.st.rec.Shape...) }

// DType returns the NumPy dtype of the items.
func (b *Batch) DType() meta.DType { return b.a.dtype }

func (b *Batch) source() (*Array, *selection.Mapping) { return b.a, nil }

// edit runs edits as a batch of their own.
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

// refresh tells whether there can be an edit, and reads the shapes again when the metalayer was changed aside.
func (b *Batch) refresh() error {
	if b.err != nil {
		return b.err
	}
	v := b.b.View()
	if content, _ := v.MetaLayer(b.a.layer); b.st.readFrom(content) {
		return nil
	}
	st, err := b.a.parse(v)
	if err == nil {
		b.st = st
	}
	return err
}

// fail records an error that leaves the batch half done.
func (b *Batch) fail(err error) error {
	if err != nil && b.err == nil {
		b.err = err
	}
	return err
}

// reshaped returns the state with another shape.
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
	old, _ := b.b.View().MetaLayer(b.a.layer)
	content, err := meta.UpdateShape(old, next.rec.Shape)
	if err != nil {
		return b.a.corrupt("%v", err)
	}
	if err := b.b.ReplaceMeta(b.a.layer, content); err != nil {
		return err
	}
	next.content, _ = b.b.View().MetaLayer(b.a.layer)
	b.st = next
	return nil
}
