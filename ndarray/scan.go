package ndarray

import (
	"context"
	"errors"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// errNotZero ends a scan early.
var errNotZero = errors.New("not zero")

// isZero reports whether all items of a selection are zero bytes. It decodes the blocks but keeps none.
func (a *Array) isZero(ctx context.Context, b *frame.Batch, st *state, s *selection.Selection) (bool, error) {
	if s.Items == 0 || allZeros(b.Engine().View()) {
		return true, nil
	}
	z := &zeroScan{}
	z.plan = selection.NewPlan(st.geo, s)
	err := b.Engine().View().Decode(ctx, z, z.plan.BlockCount(), int(st.geo.BlockBytes))
	if errors.Is(err, errNotZero) {
		return false, nil
	}
	return err == nil, err
}

// allZeros reports whether one entry of the index represents all chunks as zeros.
func allZeros(v engine.View) bool {
	special, ok := v.Uniform()
	return ok && (special == chunk.Zeros || special == chunk.Uninit)
}

// zeroScan is the engine.ReadPlan that looks for an item that is not zero. It walks chunks as reading does.
type zeroScan struct{ reading }

// Block implements engine.ReadPlan.
func (z *zeroScan) Block(b *engine.Block, v *engine.Visit, k, _, n int) {
	m := &zeroMover{itemSize: int(z.plan.Geo.ItemSize)}
	m.some = z.plan.Box(&m.box, &v.State.(*readVisit).part, int32(k))
	b.ItemSize, b.Need, b.Mover = 0, n, m
}

// zeroMover looks at the items of one block.
type zeroMover struct {
	box      selection.Box
	some     bool
	itemSize int
}

// Move implements engine.Mover.
func (m *zeroMover) Move(block []byte, _ bool) error {
	if !m.some {
		return nil
	}
	items := make([]byte, m.box.Items*int64(m.itemSize))
	packed := m.box.Packed()
	c := selection.CopyOf(&packed, &m.box.Block, &m.box.Count, m.box.Ndim, m.itemSize)
	c.Run(items, block)
	if !coder.IsZero(items) {
		return errNotZero
	}
	return nil
}

// Unshuffle implements engine.Mover.
func (m *zeroMover) Unshuffle(coder.Shuffled) bool { return false }

// Special implements engine.ReadPlan.
func (z *zeroScan) Special(v *engine.Visit, s chunk.Special, value []byte, _, _ int) error {
	item, err := v.State.(*readVisit).specialItem(s, value, int(z.plan.Geo.ItemSize))
	if err == nil && !coder.IsZero(item) {
		err = errNotZero
	}
	return err
}
