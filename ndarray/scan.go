package ndarray

import (
	"context"
	"errors"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
)

// errNotZero ends a scan early.
var errNotZero = errors.New("not zero")

// isZero tells whether all items of a selection are zero bytes. It decodes the blocks but keeps none.
func (a *Array) isZero(ctx context.Context, b *frame.Batch, st *state, s *selection) (bool, error) {
	if s.items == 0 || allZeros(b.View()) {
		return true, nil
	}
	z := &zeroScan{}
	z.itemSize, z.plan = a.itemSize, newPlan(st.geo, s)
	err := b.View().Decode(ctx, z)
	if errors.Is(err, errNotZero) {
		return false, nil
	}
	return err == nil, err
}

// allZeros reports whether one entry of the index says that all items are zeros.
func allZeros(v frame.View) bool {
	special, ok := v.Uniform()
	return ok && (special == chunk.Zeros || special == chunk.Uninit)
}

// zeroScan is the frame.Plan that looks for an item that is not zero. It walks chunks as reading does.
type zeroScan struct{ reading }

// Place implements frame.Plan.
func (z *zeroScan) Place(_ *frame.Visit, _, _, n int) ([]byte, int) { return nil, n }

// Shuffled implements frame.RowPlan: Block gets them all.
func (z *zeroScan) Shuffled(*frame.Visit, int, int, coder.Shuffled) bool { return false }

// Block implements frame.Plan.
func (z *zeroScan) Block(v *frame.Visit, k, _ int, data []byte) error {
	var b box
	if !z.plan.box(&b, &v.State.(*readVisit).part, int32(k)) {
		return nil
	}
	// Copy the items of the box together, to look at them alone.
	own := b
	own.user.offset = 0
	stride := int64(1)
	for i := b.ndim - 1; i >= 0; i-- {
		own.user.stride[i] = stride
		stride *= b.count[i]
	}
	items := make([]byte, b.items*int64(z.itemSize))
	own.toUser(items, data, z.itemSize)
	if !isZero(items) {
		return errNotZero
	}
	return nil
}

// Special implements frame.Plan.
func (z *zeroScan) Special(v *frame.Visit, s chunk.Special, value []byte, _, _ int) error {
	item, err := v.State.(*readVisit).specialItem(s, value, z.itemSize)
	if err == nil && !isZero(item) {
		err = errNotZero
	}
	return err
}
