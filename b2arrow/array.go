package b2arrow

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/tensor"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// Array returns an array of one dimension as an Arrow array, in memory of mem, or of memory.DefaultAllocator if mem is
// nil. The caller must release the result. Numbers and times are read into it without a copy. NaT is null. The types
// for dtypes are
//
//	i, u, f, b     integers, floats and booleans of the same size
//	c              fixed_size_list of 2 floats
//	S, U           large_binary and utf8, without trailing zeros
//	M8, m8         timestamp and duration, with a unit of s, ms, us or ns
//	V              fixed_size_binary
//	structures     struct, with the fields in order
//	sub-arrays     in fields of structures: fixed_size_list of all elements in C order
//
// The result has the length that the array has when the call begins. Structures are read field by field: if the array
// is edited in the meantime, some fields may have the items of one commit, and others those of the next.
//
// The error wraps ndarray.ErrShape for an array of another number of dimensions, which Tensor may return,
// ndarray.ErrTooLarge, errors.ErrUnsupported for other dtypes, or is an error of reading.
func Array(ctx context.Context, r ndarray.Reader, mem memory.Allocator) (arrow.Array, error) {
	v, err := ndarray.Slice(r) // its shape stays the same
	if err != nil {
		return nil, fmt.Errorf("b2arrow: %w", err)
	}
	if shape := v.Shape(); len(shape) != 1 {
		return nil, fmt.Errorf("b2arrow: an array of shape %v, want one dimension: %w", shape, ndarray.ErrShape)
	}
	d, err := arrayData(ctx, v, allocator(mem))
	if err != nil {
		return nil, fmt.Errorf("b2arrow: %w", err)
	}
	return makeArray(d), nil
}

// arrayData returns all items of r in C order.
func arrayData(ctx context.Context, r ndarray.Reader, mem memory.Allocator) (arrow.ArrayData, error) {
	if d := r.DType(); d.Fields != nil {
		if err := checkAlloc(r, mul(r.Size(), valueBytes(d))); err != nil {
			return nil, err
		}
		return structData(ctx, r, mem)
	}
	t, err := typeOfDType(r.DType())
	if err != nil {
		return nil, err
	}
	all := &items{typ: t, dtype: r.DType(), n: r.Size(), check: func(n int64) error { return checkAlloc(r, n) },
		read: func(ctx context.Context, dst []byte) error { return r.ReadBytes(ctx, dst) }}
	return all.data(ctx, mem, nil)
}

// structData returns the items of a structured dtype. It reads the array once for each field.
func structData(ctx context.Context, r ndarray.Reader, mem memory.Allocator) (arrow.ArrayData, error) {
	var fields []arrow.Field
	var columns []arrow.ArrayData
	for _, f := range r.DType().Fields {
		d, err := fieldData(ctx, r, f.Name, mem)
		if err != nil {
			for _, c := range columns {
				c.Release()
			}
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		fields = append(fields, arrow.Field{Name: f.Name, Type: d.DataType(), Nullable: true})
		columns = append(columns, d)
	}
	return newData(arrow.StructOf(fields...), int(r.Size()), nil, 0, nil, columns...), nil
}

// valueBytes returns the number of bytes of the values in an item: more than its size if fields overlap.
func valueBytes(d meta.DType) int64 {
	switch {
	case d.Fields != nil:
		n := int64(0)
		for _, f := range d.Fields {
			n += min(valueBytes(f.Type), math.MaxInt64-n)
		}
		return n
	case d.Elem != nil && d.Elem.Size > 0:
		return mul(int64(d.Size/d.Elem.Size), valueBytes(*d.Elem))
	}
	return int64(d.Size)
}

// fieldData returns the items of a field. Those of a sub-array become lists.
func fieldData(ctx context.Context, r ndarray.Reader, name string, mem memory.Allocator) (arrow.ArrayData, error) {
	v, err := ndarray.Field(r, name)
	if err != nil {
		return nil, err
	}
	shape := v.Shape()[len(r.Shape()):]
	if len(shape) == 0 {
		return arrayData(ctx, v, mem)
	}
	per, err := listLen(shape)
	if err != nil {
		return nil, err
	}
	elements, err := arrayData(ctx, v, mem)
	if err != nil {
		return nil, err
	}
	return newData(arrow.FixedSizeListOf(per, elements.DataType()), int(r.Size()), nil, 0, nil, elements), nil
}

// checkAlloc returns an error if the stored bytes of r do not justify n bytes of memory.
func checkAlloc(r ndarray.Reader, n int64) error {
	switch r := r.(type) {
	case *ndarray.Array:
		return r.Frame().CheckAlloc(n)
	case *ndarray.View:
		return r.Array().Frame().CheckAlloc(n)
	}
	return unsupported("reading a %T", r)
}

// Tensor returns an array as an Arrow tensor in C order, in memory of mem, or of memory.DefaultAllocator if mem is nil.
// The items are read into it without a copy. The caller must release the result. The items must be integers, or floats
// of 4 or 8 bytes; convert others with ndarray.AsType.
//
// The error wraps ndarray.ErrTooLarge, errors.ErrUnsupported for other dtypes, or is an error of reading.
func Tensor(ctx context.Context, r ndarray.Reader, mem memory.Allocator) (tensor.Interface, error) {
	v, err := ndarray.Slice(r) // its shape stays the same
	if err != nil {
		return nil, fmt.Errorf("b2arrow: %w", err)
	}
	d := v.DType()
	if d.Kind != 'i' && d.Kind != 'u' && (d.Kind != 'f' || d.Size < 4) {
		return nil, fmt.Errorf("b2arrow: %w", unsupported("a tensor of dtype %s", d))
	}
	data, err := arrayData(ctx, v, allocator(mem))
	if err != nil {
		return nil, fmt.Errorf("b2arrow: %w", err)
	}
	defer data.Release()
	return tensor.New(data, v.Shape(), nil, nil), nil
}
