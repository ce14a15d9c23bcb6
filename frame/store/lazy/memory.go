package lazy

import (
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// bytesOf returns the number of bytes of an array of a shape with items of size bytes, or math.MaxInt64 if there are
// more.
func bytesOf(shape []int64, size int64) int64 {
	n := size
	for _, e := range shape {
		if e > 0 && n > math.MaxInt64/e {
			n = math.MaxInt64
		} else {
			n *= e
		}
	}
	return n
}

// checkMemory returns an error that wraps ndarray.ErrTooLarge if no operand justifies an array of a shape with items of
// size bytes in memory, together with the results of reductions. Small operands may be broadcast to any shape.
func (b *binder) checkMemory(shape []int64, size int64) error {
	n := bytesOf(shape, size)
	n += min(b.held, math.MaxInt64-n)
	var err error
	for _, r := range b.operands {
		f := frameOf(r)
		if f == nil { // no expression may use it
			continue
		}
		if err = f.Engine().CheckAlloc(b.ctx, n); err == nil {
			return nil
		}
	}
	return fmt.Errorf("lazy: an array of shape %v in memory: %w", shape, err)
}

// frameOf returns the frame of an array or a view, or nil.
func frameOf(r ndarray.Reader) *frame.Frame {
	switch r := r.(type) {
	case *ndarray.Array:
		if r != nil {
			return r.Frame()
		}
	case *ndarray.View:
		if r != nil {
			return r.Array().Frame()
		}
	}
	return nil
}

// kept returns the axes of a shape that a reduction keeps.
func kept(shape []int64, axes []int) []int64 {
	var list []int64
	for i, e := range shape {
		if axes != nil && !slices.Contains(axes, i) && !slices.Contains(axes, i-len(shape)) {
			list = append(list, e)
		}
	}
	return list
}
