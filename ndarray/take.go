package ndarray

import (
	"context"

	"github.com/goblosc/blosc2/internal/task"
)

// Take returns the items at the given positions in C order of the whole array, in the order of the positions;
// negative ones count from the end. It is numpy.take without an axis, and Read with Flat. Each chunk is decoded at
// most once. See ReadInto and ReadBytes, to be called with Flat, for memory of the caller's.
func Take[T any](ctx context.Context, r Reader, positions []int64) ([]T, error) {
	ctx = task.Context(ctx)
	return Read[T](ctx, r, Flat(positions...))
}

// Put writes data[i] to the item at positions[i] in C order of the whole array, in one commit; of values that go to
// the same item, the last stays. It is numpy.put with as many values as positions, and Write with Flat.
func Put[T any](ctx context.Context, w Writer, positions []int64, data []T) error {
	ctx = task.Context(ctx)
	return Write(ctx, w, data, Flat(positions...))
}
