package store

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// tensorLayer is the variable-length metalayer of python-blosc2's save_tensor, save_array and pack_array2.
const tensorLayer = "__pack_tensor__"

// tensorShape returns the shape and the dtype of a tensor.
func tensorShape(f *frame.Frame) ([]int64, meta.DType, error) {
	b, _, err := frames.VLMeta(f, tensorLayer)
	if err != nil {
		return nil, meta.DType{}, err
	}
	var v any
	if err := frames.UnmarshalMeta(f, b, &v); err != nil {
		return nil, meta.DType{}, fmt.Errorf("metalayer %s: %w", tensorLayer, err)
	}
	t := sequence(v)
	if len(t) != 3 {
		return nil, meta.DType{}, faults.Corruptf("metalayer %s: %d values, want 3", tensorLayer, len(t))
	}
	extents := sequence(t[1])
	if len(extents) > meta.MaxDims {
		return nil, meta.DType{}, faults.Corruptf("tensor of %d dimensions", len(extents))
	}
	shape := make([]int64, len(extents))
	for i, e := range extents {
		n, ok := e.(int64)
		if !ok || n < 0 {
			return nil, meta.DType{}, faults.Corruptf("tensor with the extent %v", e)
		}
		shape[i] = n
	}
	name, ok := t[2].(string)
	if !ok {
		return nil, meta.DType{}, faults.Unsupportedf("tensor of a structured dtype")
	}
	d, err := meta.ParseDType(name)
	if err != nil {
		return nil, d, fmt.Errorf("tensor: %w", err)
	}
	return shape, d, checkTensorSize(shape, d, f.Info().NBytes)
}

// checkTensorSize compares a shape with the bytes of the items.
func checkTensorSize(shape []int64, d meta.DType, nbytes int64) error {
	want := int64(0)
	if !slices.Contains(shape, 0) { // otherwise the product of the other lengths may overflow
		want = int64(d.Size)
		for _, e := range shape {
			if want > nbytes/e {
				want = -1
				break
			}
			want *= e
		}
	}
	if want != nbytes {
		return faults.Corruptf("tensor of shape %v and dtype %s in %d bytes", shape, d, nbytes)
	}
	return nil
}

// sequence returns the elements of a list or tuple, or nil.
func sequence(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case meta.Tuple:
		return v
	}
	return nil
}

// copyTensor returns a tensor as an array in memory.
func copyTensor(ctx context.Context, f *frame.Frame) (*ndarray.Array, error) {
	shape, d, err := tensorShape(f)
	if err != nil {
		return nil, err
	}
	if err := f.Engine().CheckAlloc(ctx, f.Info().NBytes); err != nil {
		return nil, fmt.Errorf("copying a tensor: %w", err)
	}
	return ndarray.FromReader(ctx, "", shape, d.String(), io.NewSectionReader(f.Content(ctx), 0, f.Info().NBytes), nil)
}
