package ndarray

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/goblosc/blosc2/meta"
)

// converter turns items into values of a Go type and back.
type converter struct {
	direct    bool // the values are in memory as the items are, but for the byte order of numbers
	steps     []step
	valueSize int
	missing   string // a field without counterpart in the Go type
}

// converterOf finds out how items become values.
func converterOf[T any](d meta.DType) (converter, error) {
	t := reflect.TypeFor[T]()
	c := converter{valueSize: int(t.Size())}
	if sameScalar(d, t) {
		c.direct = true
		return c, nil
	}
	var m matcher
	steps, err := m.match("", d, t, 0, 0)
	if err != nil {
		return c, err
	}
	c.steps, c.missing = steps, m.missing
	if len(steps) == 1 {
		s := &steps[0]
		c.direct = s.kind == copyStep && s.at == 0 && s.to == 0 && s.n == d.Size && s.n == c.valueSize
	}
	return c, nil
}

// room returns memory for n items.
func (c *converter) room(n, itemSize int) ([]byte, error) {
	size, err := byteSize(int64(n), int64(itemSize))
	if err != nil {
		return nil, err
	}
	return make([]byte, size), nil
}

// batch is how many items go through all steps before the next ones, so that they stay in the cache.
const batch = 256

// decodeItems turns items, of which r has the type, into values. Where they are direct, b is the memory of the values.
func decodeItems[T any](c *converter, r Reader, dst []T, b []byte) error {
	if c.direct {
		toNative(r.DType(), b)
		return nil
	}
	clear(dst)
	size := r.ItemSize()
	for i := 0; i < len(dst); i += batch {
		part := dst[i:min(i+batch, len(dst))]
		if err := decode(c.steps, valuesOf(part), items{b[i*size:], size}, i, 1); err != nil {
			return err
		}
	}
	return nil
}

// encodeItems returns values as items of a dtype: in memory of their own, or the values themselves where the bytes are
// the same.
func encodeItems[T any](d meta.DType, data []T) ([]byte, error) {
	c, err := converterOf[T](d)
	if err != nil {
		return nil, err
	}
	switch {
	case c.missing != "":
		return nil, mismatch("", d, reflect.TypeFor[T](), fmt.Sprintf("which has no field %q; what is written must have all", c.missing))
	case c.direct:
		return stored(d, data), nil
	}
	b, err := c.room(len(data), d.Size)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(data); i += batch {
		part := data[i:min(i+batch, len(data))]
		if err := encode(c.steps, valuesOf(part), items{b[i*d.Size:], d.Size}, i, 1); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// dtypeFor returns the dtype of a new array of data.
func dtypeFor[T any](data []T, o *Options) (meta.DType, error) {
	t := reflect.TypeFor[T]()
	given := o != nil && o.DType != ""
	var d meta.DType
	var err error
	if given {
		if d, err = meta.ParseDType(o.DType); err != nil {
			return d, fmt.Errorf("ndarray: %w: %v", ErrType, err)
		}
	} else if d, err = dtypeOf("", t, nil); err != nil {
		return d, err
	}
	if given && d.Size > 0 || sameScalar(d, t) {
		return d, nil
	}
	c, err := converterOf[T](d)
	if err != nil {
		return d, err
	}
	lengths := map[string]int{}
	measure(c.steps, valuesOf(data), lengths)
	if given {
		return withLength(d, lengths[""]), nil
	}
	if d, err = dtypeOf("", t, lengths); err != nil {
		return d, err
	}
	// The text says whether the dtype keeps to the limits of dtypes.
	if d, err = meta.ParseDType(d.String()); err != nil {
		return d, fmt.Errorf("ndarray: %w: %v: %v", ErrType, t, err)
	}
	return d, nil
}

// valuesOf returns where the values of s are.
func valuesOf[T any](s []T) values {
	return values{unsafe.Pointer(unsafe.SliceData(s)), unsafe.Sizeof(*new(T)), len(s)}
}
