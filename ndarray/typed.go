package ndarray

import (
	"context"
	"encoding/binary"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// Scalar are the Go types that have a NumPy dtype of the same kind and size, Float16 among them.
type Scalar interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// Read returns the items of a selection in C order; no index reads everything. T can be any type that goes with the
// dtype of the items, see Items in the package comment. Errors are ErrType, ErrValue for an item that a T cannot
// hold, ErrTooLarge and those of ReadBytes.
func Read[T any](ctx context.Context, r Reader, sel ...Index) ([]T, error) {
	ctx = task.Context(ctx)
	c, err := converterOf[T](r.DType())
	if err != nil {
		return nil, err
	}
	a, m := r.source()
	v, st, err := a.view(ctx)
	if err != nil {
		return nil, err
	}
	defer v.Release()
	s, size, err := a.resolve(st, m, sel)
	if err != nil {
		return nil, err
	}
	if err := a.allocLimit(&s, max(size, c.valueSize)); err != nil {
		return nil, err
	}
	dst := make([]T, s.items)
	b := bytesOf(dst)
	if !c.direct {
		b = make([]byte, len(dst)*size)
	}
	if err := a.readSelection(ctx, v, st, m, &s, sel, b); err != nil {
		return nil, err
	}
	if c.direct {
		toNative(r.DType(), b)
	} else if err := decodeItems(ctx, c.steps, r, dst, b); err != nil {
		return nil, err
	}
	return dst, nil
}

// ReadInto reads a selection into dst, which must have as many items. Read in a loop, it allocates nothing for a
// Scalar type. See Read.
func ReadInto[T any](ctx context.Context, r Reader, dst []T, sel ...Index) error {
	ctx = task.Context(ctx)
	c, err := converterOf[T](r.DType())
	if err != nil {
		return err
	}
	a, m := r.source()
	if c.direct {
		if err := a.readBytes(ctx, m, bytesOf(dst), sel); err != nil {
			return err
		}
		toNative(r.DType(), bytesOf(dst))
		return nil
	}
	b, err := c.room(len(dst), r.ItemSize())
	if err != nil {
		return err
	}
	if err := a.readBytes(ctx, m, b, sel); err != nil {
		return err
	}
	return decodeItems(ctx, c.steps, r, dst, b)
}

// ReadAt returns the item at a position, one number for each axis; negative ones count from the end.
func ReadAt[T any](ctx context.Context, r Reader, at ...int64) (T, error) {
	ctx = task.Context(ctx)
	var item [1]T
	c, err := converterOf[T](r.DType())
	if err != nil {
		return item[0], err
	}
	a, m := r.source()
	if c.direct {
		if err := a.readItem(ctx, m, bytesOf(item[:]), at); err != nil {
			return item[0], err
		}
		toNative(r.DType(), bytesOf(item[:]))
		return item[0], nil
	}
	b := make([]byte, r.ItemSize())
	if err := a.readItem(ctx, m, b, at); err != nil {
		return item[0], err
	}
	dst := make([]T, 1)
	err = decodeItems(ctx, c.steps, r, dst, b)
	return dst[0], err
}

// Write writes data to a selection, in one commit or in a batch: as many items, in C order, of a type that goes with
// the array's. data stays the caller's. Errors are ErrType, ErrValue for a value that an item cannot hold, and those of
// WriteBytes.
func Write[T any](ctx context.Context, w Writer, data []T, sel ...Index) error {
	ctx = task.Context(ctx)
	b, err := encodeItems(ctx, w.DType(), concurrencyOf(w), data)
	if err != nil {
		return err
	}
	return w.WriteBytes(ctx, b, sel...)
}

// Fill writes one value to all items of a selection, in one commit or in a batch. See Write.
func Fill[T any](ctx context.Context, w Writer, value T, sel ...Index) error {
	ctx = task.Context(ctx)
	b, err := encodeItems(ctx, w.DType(), concurrencyOf(w), []T{value})
	if err != nil {
		return err
	}
	return w.FillBytes(ctx, b, sel...)
}

// Create makes an array of data, items in C order, of the dtype in o or else that of DTypeOf, where strings without
// a length get that of the longest. name is a new file, a new directory when o.Sparse, or "" for an array in memory.
// data stays the caller's. Errors are ErrType, ErrValue, ErrShape, ErrTooLarge, ErrExists and those of the frame.
func Create[T any](ctx context.Context, name string, shape []int64, data []T, o *Options) (*Array, error) {
	ctx = task.Context(ctx)
	concurrency := 0
	if o != nil {
		concurrency = o.Concurrency
	}
	dt, err := dtypeFor(data, o)
	if err != nil {
		return nil, err
	}
	b, err := encodeItems(ctx, dt, concurrency, data)
	if err != nil {
		return nil, err
	}
	return CreateBytes(ctx, name, shape, dt.String(), b, o)
}

// checkType tells whether the items of x are in memory as those of type T, but for the byte order.
func checkType[T Scalar](x interface{ DType() meta.DType }) error {
	if t := reflect.TypeFor[T](); !sameScalar(x.DType(), t) {
		return mismatch("", x.DType(), t, "")
	}
	return nil
}

// bytesOf returns the memory of s.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// foreign tells whether items of a dtype are stored in the other byte order than this machine's.
func foreign(d meta.DType) bool {
	little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	return d.Order == '<' && !little || d.Order == '>' && little
}

// toNative turns stored items into those of this machine: the bytes in its order, and each true as 1, which is the
// only one that Go knows.
func toNative(d meta.DType, b []byte) {
	if d.Kind == 'b' {
		for i, x := range b {
			if x > 1 {
				b[i] = 1
			}
		}
	}
	if !foreign(d) {
		return
	}
	width := d.Size
	if d.Kind == 'c' {
		width /= 2
	}
	swap(b, width)
}

// stored returns the items as they are stored: data itself, or a copy in the other byte order.
func stored[T any](d meta.DType, data []T) []byte {
	b := bytesOf(data)
	if foreign(d) {
		b = append([]byte(nil), b...)
		toNative(d, b)
	}
	return b
}

// swap reverses the bytes of each item.
func swap(b []byte, width int) {
	n := binary.NativeEndian
	switch width {
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			n.PutUint16(b, bits.ReverseBytes16(n.Uint16(b)))
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			n.PutUint32(b, bits.ReverseBytes32(n.Uint32(b)))
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			n.PutUint64(b, bits.ReverseBytes64(n.Uint64(b)))
		}
	}
}
