package ndarray

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// valueReader converts items to values of a Go type.
type valueReader struct {
	convert.Converter
	memory meta.DType // dtype of the values in the mapping of a read
}

// readerOf returns the valueReader of items of a dtype and values of type T. It returns ErrType if values cannot hold
// all items.
func readerOf[T any](d meta.DType) (valueReader, error) {
	c, err := converterOf[T](d, convert.Reading)
	return valueReader{Converter: c, memory: meta.DType{Kind: 'V', Order: '|', Size: c.ValueSize}}, err
}

// inPlace reports whether values can be read to their place in the result: items are values, or they are converted
// block by block.
func (c *valueReader) inPlace() bool { return c.Direct || c.Cast != nil }

// mapping returns the mapping of a read of values of the array, or of a view of it if m is not nil. It may use with.
func (c *valueReader) mapping(with *selection.Mapping, a *Array, st *state, m *selection.Mapping) *selection.Mapping {
	if c == nil || c.Cast == nil {
		return m
	}
	if m == nil {
		*with = selection.Identity(st.geo, a.dtype)
	} else {
		*with = *m
	}
	cast(with, c.memory, c.Cast)
	return with
}

// smallCast is the number of bytes up to which values of the size of items are converted in place after the read, which
// allocates nothing. Above it, each block is converted on its way to the result, in parallel.
const smallCast = 64 << 10

// readValues reads a selection into the memory of values.
func (a *Array) readValues(ctx context.Context, m *selection.Mapping, c *valueReader, dst []byte, sel []Index) error {
	if c.Cast == nil {
		return a.readBytes(ctx, m, dst, sel)
	}
	if c.Direct && len(dst) <= smallCast {
		err := a.readBytes(ctx, m, dst, sel)
		if err == nil {
			c.Cast(dst, dst)
		}
		return err
	}
	v, st, err := a.view(ctx)
	if err != nil {
		return err
	}
	defer v.Release()
	s, _, err := a.resolve(st, m, sel)
	if err != nil {
		return err
	}
	if err := checkBuffer(len(dst), &s, c.ValueSize); err != nil {
		return err
	}
	var with selection.Mapping
	return a.readSelection(ctx, v, st, c.mapping(&with, a, st, m), &s, sel, dst)
}

// cast adds a conversion of the items of m to another dtype. A nil conversion means that they are the same.
func cast(m *selection.Mapping, to meta.DType, f numbers.Func) {
	switch first := m.Convert; {
	case f == nil:
	case first == nil:
		m.Convert, m.Stored = f, m.Dtype
	default:
		m.Convert = chain(first, f, m.Stored.Size, m.Dtype.Size, to.Size)
	}
	m.Dtype = to
}

// chain returns the conversion by first and then by second, from items of a bytes to items of b bytes and of c bytes.
func chain(first, second numbers.Func, a, b, c int) numbers.Func {
	var buffers sync.Pool
	return func(dst, src []byte) {
		buf, ok := buffers.Get().(*[]byte)
		if !ok {
			made := make([]byte, batch*b)
			buf = &made
		}
		for n := len(src) / a; n > 0; {
			k := min(n, batch)
			first((*buf)[:k*b], src[:k*a])
			second(dst[:k*c], (*buf)[:k*b])
			dst, src, n = dst[k*c:], src[k*a:], n-k
		}
		buffers.Put(buf)
	}
}

// encodeValue returns a value as an item of a dtype. Unlike encodeItems, it accepts a number type that does not have
// every value of T, if it has this one. Otherwise it returns ErrValue.
func encodeValue[T any](ctx context.Context, d meta.DType, value T) ([]byte, error) {
	t, values := reflect.TypeFor[T](), []T{value}
	if !goTypes.Same(d, t) && goTypes.Scalar(t).Kind != 0 {
		item, exact, ok := goTypes.Item(d, t, convert.Bytes(values))
		if exact {
			return item, nil
		}
		if ok {
			return nil, fmt.Errorf("ndarray: %w: items of dtype %v cannot be exactly %v", ErrValue, d, value)
		}
	}
	return encodeItems(ctx, d, 1, values)
}
