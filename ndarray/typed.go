package ndarray

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/goblosc/blosc2/meta"
)

// Scalar are the Go types that have a NumPy dtype of the same kind and size, Float16 among them.
type Scalar interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// Read returns the items of a selection in C order; no index reads everything. The items must be of type T, in
// either byte order; dates and time differences read as int64, the count of their units. Errors are ErrType,
// ErrTooLarge and those of ReadBytes.
func Read[T Scalar](ctx context.Context, r Reader, sel ...Index) ([]T, error) {
	if err := checkType[T](r); err != nil {
		return nil, err
	}
	a, m := r.source()
	v, st, err := a.view()
	if err != nil {
		return nil, err
	}
	defer v.Release()
	s, size, err := a.resolve(st, m, sel)
	if err != nil {
		return nil, err
	}
	n, err := a.allocLimit(&s, size)
	if err != nil {
		return nil, err
	}
	dst := make([]T, n/size)
	if err := a.readSelection(ctx, v, st, m, &s, sel, bytesOf(dst)); err != nil {
		return nil, err
	}
	toNative(r.DType(), bytesOf(dst))
	return dst, nil
}

// ReadInto reads a selection into dst, which must have as many items. Read in a loop, it allocates nothing. See Read.
func ReadInto[T Scalar](ctx context.Context, r Reader, dst []T, sel ...Index) error {
	if err := checkType[T](r); err != nil {
		return err
	}
	a, m := r.source()
	if err := a.readBytes(ctx, m, bytesOf(dst), sel); err != nil {
		return err
	}
	toNative(r.DType(), bytesOf(dst))
	return nil
}

// ReadAt returns the item at a position, one number for each axis; negative ones count from the end.
func ReadAt[T Scalar](ctx context.Context, r Reader, at ...int64) (T, error) {
	var item [1]T
	if err := checkType[T](r); err != nil {
		return item[0], err
	}
	a, m := r.source()
	if err := a.readItem(ctx, m, bytesOf(item[:]), at); err != nil {
		return item[0], err
	}
	toNative(r.DType(), bytesOf(item[:]))
	return item[0], nil
}

// Write writes data to a selection, in one commit or in a batch: as many items, in C order, of the array's type. data stays the
// caller's. Errors are ErrType and those of WriteBytes.
func Write[T Scalar](ctx context.Context, w Writer, data []T, sel ...Index) error {
	if err := checkType[T](w); err != nil {
		return err
	}
	return w.WriteBytes(ctx, stored(w.DType(), data), sel...)
}

// Fill writes one value to all items of a selection, in one commit or in a batch. See Write.
func Fill[T Scalar](ctx context.Context, w Writer, value T, sel ...Index) error {
	if err := checkType[T](w); err != nil {
		return err
	}
	return w.FillBytes(ctx, stored(w.DType(), []T{value}), sel...)
}

// Create makes an array of data, items in C order. name is a new file, a new directory when o.Sparse, or "" for an
// array in memory. data stays the caller's. Errors are ErrShape, ErrTooLarge, ErrExists and those of the frame.
func Create[T Scalar](ctx context.Context, name string, shape []int64, data []T, o *Options) (*Array, error) {
	dt := DTypeOf[T]()
	return CreateBytes(ctx, name, shape, dt.String(), stored(dt, data), o)
}

// DTypeOf returns the NumPy dtype of a Go type, little-endian.
func DTypeOf[T Scalar]() meta.DType {
	t := reflect.TypeFor[T]()
	if t == reflect.TypeFor[Float16]() {
		return meta.Of('f', 2)
	}
	kinds := [...]byte{
		reflect.Bool: 'b', reflect.Int8: 'i', reflect.Int16: 'i', reflect.Int32: 'i', reflect.Int64: 'i',
		reflect.Uint8: 'u', reflect.Uint16: 'u', reflect.Uint32: 'u', reflect.Uint64: 'u',
		reflect.Float32: 'f', reflect.Float64: 'f', reflect.Complex64: 'c', reflect.Complex128: 'c',
	}
	return meta.Of(kinds[t.Kind()], int(t.Size()))
}

// typed is what has items of a type.
type typed interface {
	DType() meta.DType
	source() (*Array, *mapping)
}

// checkType tells whether the items of x are of type T.
func checkType[T Scalar](x typed) error {
	want := DTypeOf[T]()
	have := x.DType()
	date := (have.Kind == 'M' || have.Kind == 'm') && want.Kind == 'i'
	if have.Size == want.Size && (have.Kind == want.Kind || date) && have.Fields == nil && have.Elem == nil {
		return nil
	}
	raw := have.String()
	if a, m := x.source(); m == nil {
		raw = a.dtypeRaw
	}
	return fmt.Errorf("ndarray: %w: items are %v (%s), not %v", ErrType, have, raw, reflect.TypeFor[T]())
}

// bytesOf returns the memory of s.
func bytesOf[T Scalar](s []T) []byte {
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
func stored[T Scalar](d meta.DType, data []T) []byte {
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
