package ndarray

import (
	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// fullBytes creates an array in which all items are item, as it is stored.
func fullBytes(name string, shape []int64, dtype string, item []byte, o *CreateOptions) (*Array, error) {
	return FullBytes(ctx, name, shape, dtype, item, o)
}

// ones creates an array in which all items are 1.
func ones(name string, shape []int64, dtype string, o *CreateOptions) (*Array, error) {
	d, err := meta.ParseDType(dtype)
	if err != nil {
		return nil, err
	}
	item, err := convert.One(d)
	if err != nil {
		return nil, err
	}
	return fullBytes(name, shape, dtype, item, o)
}

// uninit creates an array of uninitialized special chunks, as blosc2.empty does.
func uninit(name string, shape []int64, dtype string, o *CreateOptions) (*Array, error) {
	return createSpecial(ctx, name, shape, dtype, chunk.Uninit, o)
}

// nans creates an array of special chunks of NaNs, as blosc2.nans does.
func nans(name string, shape []int64, dtype string, o *CreateOptions) (*Array, error) {
	return createSpecial(ctx, name, shape, dtype, chunk.NaNs, o)
}

// coordsND is Coords with an index array of any number of dimensions, also none.
func coordsND(shape, indices []int64) Index {
	return &selection.IndexArray{Kind: selection.CoordsKind, Shape: shape, At: indices}
}

// maskND is Mask with any number of dimensions, also none.
func maskND(shape []int64, keep []bool) Index {
	return &selection.IndexArray{Kind: selection.MaskKind, Shape: shape, Keep: keep}
}

// trues returns the numbers of the booleans that are true.
func trues(keep []bool) []int64 {
	list := []int64{}
	for i, k := range keep {
		if k {
			list = append(list, int64(i))
		}
	}
	return list
}

// storedDType returns the dtype as it is stored and the number of its format.
func storedDType(a *Array) (string, int) {
	rec := a.state.Load().rec
	return rec.DType, int(rec.DTypeFormat)
}

// funcFilter is a user filter that stores blocks as they are and calls a function for each block that it decodes.
type funcFilter func() error

func (funcFilter) Code() uint8 { return 201 }

func (funcFilter) Forward(dst, src []byte, _ chunk.BlockInfo) error {
	copy(dst, src)
	return nil
}

func (f funcFilter) Backward(dst, src []byte, _ chunk.BlockInfo) error {
	copy(dst, src)
	return f()
}

// use makes an array call f for each block that is decoded.
func (f funcFilter) use(o *CreateOptions) {
	o.Filters, o.UserFilters = []chunk.Filter{201}, []chunk.UserFilter{f}
}
