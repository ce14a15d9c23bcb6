package ndarray

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/sched"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/convert"
	"github.com/goblosc/blosc2/ndarray/internal/float16"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// scalar is the constraint for Go types that have a NumPy dtype of the same kind and size, such as Float16.
type scalar interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// NaT is NumPy's "not a time": the item of a missing date or timedelta. As an int64 or a time.Duration it is this
// number. As a time.Time it is the zero Time. The date 0001-01-01 at midnight is the zero Time, too: a program that
// reads that date as a time.Time and writes it again stores NaT. Read such dates as int64.
const NaT = math.MinInt64

// goTypes maps Go types to dtypes.
var goTypes = convert.Types{Float16: reflect.TypeFor[Float16]()}

// DTypeOf returns the NumPy dtype that Create uses for a Go type, little-endian:
//
//	bool, int8 to int64, uint8 to uint64      |b1, |i1 to <i8, |u1 to <u8
//	int, uint                                 <i8, <u8
//	Float16, float32, float64, complex64/128  <f2, <f4, <f8, <c8, <c16
//	string                                    <U0: Create makes it as long as the longest
//	time.Time, time.Duration                  <M8[ns], <m8[ns]
//	[2][3]T                                   a sub-array of shape (2, 3)
//	struct                                    a structured dtype of the exported fields, packed
//
// The tag `b2:"name,dtype"` of a struct field sets its name in the dtype and its own dtype, for example `b2:"city,S20"`
// or `b2:",M8[s]"`. Both parts are optional. DTypeOf returns the zero DType for a type without a dtype.
func DTypeOf[T any]() DType {
	d, err := goTypes.DTypeOf("", reflect.TypeFor[T](), nil)
	if err != nil {
		return DType{}
	}
	return d
}

// Read returns the items of a selection in C order. Without indexes it reads everything. T can be any type that matches
// the dtype of the items, see Items in the package comment.
//
// T can also be a number type that can represent every value of the dtype: float64 for items of dtype <f4, >f2 or <i4,
// but not for <i8. int and uint count as 64 bits. Read converts the items of each block on their way to the result, in
// parallel. Use AsType for conversions with loss.
//
// The error wraps ErrType, ErrTooLarge, or ErrValue if a T cannot hold an item, or is an error of ReadBytes.
func Read[T any](ctx context.Context, r Reader, sel ...Index) ([]T, error) {
	ctx = task.Context(ctx)
	c, err := readerOf[T](r.DType())
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
	const what = "the selection (ReadInto and ReadBytes use a buffer of the caller)"
	if _, err := a.checkAlloc(ctx, what, s.Items, max(size, c.ValueSize)); err != nil {
		return nil, err
	}
	dst := make([]T, s.Items)
	if c.inPlace {
		var with selection.Mapping
		if err := a.readSelection(ctx, v, st, c.mapping(&with, a, st, m), &s, sel, convert.Bytes(dst)); err != nil {
			return nil, err
		}
		return dst, nil
	}
	b := make([]byte, len(dst)*size)
	if err := a.readSelection(ctx, v, st, m, &s, sel, b); err != nil {
		return nil, err
	}
	if err := decodeItems(ctx, c.Converter, r, dst, engine.Stored{Bytes: b}); err != nil {
		return nil, err
	}
	return dst, nil
}

// ReadInto reads a selection into dst. The length of dst must be the number of selected items. Otherwise ReadInto
// returns ErrShape. Calls in a loop allocate nothing if the items are numbers or bools that T holds, and sel has no
// index arrays; the package comment has exceptions. The error wraps ErrTooLarge if the stored bytes do not justify the
// memory for items that must be converted. See Read.
func ReadInto[T any](ctx context.Context, r Reader, dst []T, sel ...Index) error {
	ctx = task.Context(ctx)
	c, err := readerOf[T](r.DType())
	if err != nil {
		return err
	}
	a, m := r.source()
	if c.inPlace {
		return a.readBytes(ctx, m, &c, convert.Bytes(dst), sel)
	}
	b, err := a.makeStored(ctx, len(dst), r.DType().Size)
	if err != nil {
		return err
	}
	if err := a.readBytes(ctx, m, nil, b, sel); err != nil {
		return inItems(err)
	}
	return decodeItems(ctx, c.Converter, r, dst, engine.Stored{Bytes: b})
}

// Item returns the item at a position. at holds one number for each axis. Negative numbers count from the end. Item
// returns ErrBounds if the item is outside the array or at has another length, and ErrTooLarge like ReadInto. See Read.
func Item[T any](ctx context.Context, r Reader, at ...int64) (T, error) {
	ctx = task.Context(ctx)
	var item [1]T
	c, err := readerOf[T](r.DType())
	if err != nil {
		return item[0], err
	}
	a, m := r.source()
	if c.inPlace {
		err := a.readItem(ctx, m, &c, convert.Bytes(item[:]), at)
		return item[0], err
	}
	b, err := a.makeStored(ctx, 1, r.DType().Size)
	if err != nil {
		return item[0], err
	}
	if err := a.readItem(ctx, m, nil, b, at); err != nil {
		return item[0], err
	}
	dst := make([]T, 1)
	err = decodeItems(ctx, c.Converter, r, dst, engine.Stored{Bytes: b})
	return dst[0], err
}

// Write writes data to a selection, in one commit or in a batch. data holds as many values as the selection has items,
// in C order, of a type that matches the dtype. T can also be a number type if the dtype can represent every value of
// T. To convert values with loss, write them to an array in memory and Copy its AsType view. Write does not retain
// data. The error wraps ErrType, or ErrValue if an item cannot hold a value, or is an error of WriteBytes.
func Write[T any](ctx context.Context, w Writer, data []T, sel ...Index) error {
	ctx = task.Context(ctx)
	b, err := encodeItems(ctx, w.DType(), concurrencyOf(w), data)
	if err != nil {
		return err
	}
	return inItems(w.WriteBytes(ctx, b, sel...))
}

// inItems returns an error of a function that takes bytes for a caller that passed values.
func inItems(err error) error {
	if e, ok := err.(*lengthError); ok {
		counted := *e
		counted.items = true
		return &counted
	}
	return err
}

// Fill writes one value to all items of a selection, in one commit or in a batch. value may be a number of any type,
// but Fill returns ErrValue if the dtype cannot represent it exactly. So convert -999.9 for the dtype "<f4" first, as
// in float32(-999.9). See Write.
func Fill[T any](ctx context.Context, w Writer, value T, sel ...Index) error {
	ctx = task.Context(ctx)
	b, err := encodeValue(ctx, w.DType(), value)
	if err != nil {
		return err
	}
	return w.FillBytes(ctx, b, sel...)
}

// Create creates an array from data in C order. The dtype is o.DType, or if that is empty DTypeOf[T]. A string dtype
// without a length gets the length of the longest string. name is the path of a new file, a new directory if o.Sparse
// is set, or "" for an array in memory. shape is the number of items along each axis. Create does not retain data. The
// error wraps ErrType, ErrValue, ErrShape, ErrParam, ErrTooLarge or fs.ErrExist, or is an error of the frame or of ctx.
func Create[T any](ctx context.Context, name string, shape []int64, data []T, o *CreateOptions) (*Array, error) {
	ctx = task.Context(ctx)
	if o == nil {
		o = &CreateOptions{}
	}
	dt, err := dtypeFor(o, data)
	if err != nil {
		return nil, err
	}
	b, err := encodeItems(ctx, dt, o.Concurrency, data)
	if err != nil {
		return nil, err
	}
	a, err := createBytes(ctx, name, shape, dt, b, o)
	if err != nil {
		return nil, inItems(err)
	}
	return a, nil
}

// dtypeFor returns the dtype of a new array of values of type T.
func dtypeFor[T any](o *CreateOptions, data []T) (DType, error) {
	return goTypes.DTypeFor(reflect.TypeFor[T](), o.given(), convert.ValuesOf(data))
}

// given returns o.DType.
func (o *CreateOptions) given() string {
	if o == nil {
		return ""
	}
	return o.DType
}

// fixedDTypeFor is dtypeFor for values that are not known yet. It returns ErrType if strings have no length.
func fixedDTypeFor[T any](o *CreateOptions) (DType, error) {
	return goTypes.FixedDTypeFor(reflect.TypeFor[T](), o.given())
}

// encoder converts values of type T to items of a new array.
type encoder[T any] struct {
	c convert.Converter
	d DType
}

// newTypedLayout returns the layout of a new array of values of type T, and their encoder.
func newTypedLayout[T any](ctx context.Context, name string, shape []int64, o *CreateOptions) (*layout, *encoder[T], error) {
	d, err := fixedDTypeFor[T](o)
	if err != nil {
		return nil, nil, err
	}
	c, err := goTypes.Converter(d, reflect.TypeFor[T](), convert.Writing)
	if err != nil {
		return nil, nil, err
	}
	l, err := newLayout(ctx, name, shape, d, o)
	return l, &encoder[T]{c, d}, err
}

// encode sets dst to the items of values. An error counts values from first.
func (e *encoder[T]) encode(dst []byte, values []T, first int) error {
	switch {
	case !e.c.Cast.None():
		e.c.Cast.Run(dst, convert.Bytes(values))
		return nil
	case e.c.Direct:
		copy(dst, convert.Bytes(values))
		return nil
	}
	clear(dst)
	return e.c.Encode(convert.ValuesOf(values), dst, e.d.Size, first)
}

// makeStored returns memory for n items of the array, which must justify it.
func (a *Array) makeStored(ctx context.Context, n, itemSize int) ([]byte, error) {
	size, err := a.checkAlloc(ctx, "items to convert them", int64(n), itemSize)
	if err != nil {
		return nil, err
	}
	return make([]byte, size), nil
}

// DecodeItems converts stored items of r, as ReadBytes returns them, to values. dst has one value for each. Errors are
// those of Read, but no error is of a null: what its value cannot hold becomes zero.
//
// It is for package table, which holds decoded blocks. Its last parameter has an internal type: other packages cannot
// call it.
func DecodeItems[T any](ctx context.Context, r Reader, dst []T, stored engine.Stored) error {
	c, err := readerOf[T](r.DType())
	switch {
	case err != nil:
		return err
	case !c.Cast.None():
		c.Cast.Run(convert.Bytes(dst), stored.Bytes)
	case c.Direct:
		copy(convert.Bytes(dst), stored.Bytes)
	default:
		return decodeItems(ctx, c.Converter, r, dst, stored)
	}
	return nil
}

// decodeItems converts items of r to values.
func decodeItems[T any](ctx context.Context, c convert.Converter, r Reader, dst []T, stored engine.Stored) error {
	size := r.DType().Size
	clear(dst)
	return inParts(ctx, len(dst), concurrencyOf(r), func(from, to int) error {
		err := c.Decode(convert.ValuesOf(dst[from:to]), stored.Bytes[from*size:], size, stored.First+from, stored.Null)
		if a, _ := r.source(); err != nil && a.engine.Name() != "" {
			err = &frame.Error{Path: a.engine.Name(), Part: "items", Chunk: -1, Off: -1, Err: err}
		}
		return err
	})
}

// concurrencyOf returns the number of goroutines that calls for x may use. 0 means GOMAXPROCS.
func concurrencyOf(x interface {
	source() (*Array, *selection.Mapping)
}) int {
	a, _ := x.source()
	return a.opts.Concurrency
}

// encodeItems returns values as items of a dtype, in new memory, or in the memory of data if the bytes are the same.
func encodeItems[T any](ctx context.Context, d DType, concurrency int, data []T) ([]byte, error) {
	c, err := goTypes.Converter(d, reflect.TypeFor[T](), convert.Writing)
	switch {
	case err != nil:
		return nil, err
	case c.Direct && c.Cast.None():
		return convert.Bytes(data), nil
	}
	size, err := grid.ByteSize(int64(len(data)), int64(d.Size))
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	err = inParts(ctx, len(data), concurrency, func(from, to int) error {
		if !c.Cast.None() {
			c.Cast.Run(b[from*d.Size:to*d.Size], convert.Bytes(data[from:to]))
			return nil
		}
		return c.Encode(convert.ValuesOf(data[from:to]), b[from*d.Size:], d.Size, from)
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

const (
	itemsAtOnce = 256              // items that are converted at once, so that they stay in the cache between steps
	share       = 16 * itemsAtOnce // items that a goroutine takes at a time
)

// inParts calls f for parts of n items, on up to concurrency goroutines (0 means GOMAXPROCS). It returns the error of
// the first part that fails.
func inParts(ctx context.Context, n, concurrency int, f func(from, to int) error) error {
	shares := int64(n/share) + 1 // the last may be empty
	var next atomic.Int64
	var lock sync.Mutex
	failed, first := error(nil), n
	work := func() {
		for {
			k := next.Add(1) - 1
			if k >= shares {
				return
			}
			from := int(k * share)
			err := ctx.Err()
			for i := from; err == nil && i < min(from+share, n); i += itemsAtOnce {
				err = f(i, min(i+itemsAtOnce, n))
			}
			if err != nil {
				next.Store(shares) // all parts before this one are taken
				lock.Lock()
				if from < first {
					failed, first = err, from
				}
				lock.Unlock()
				return
			}
		}
	}
	new(sched.Pool).Run(task.Workers(concurrency, shares), func(int) { work() })
	return failed
}

// Float16 is a number of NumPy's float16, the 16-bit binary format of IEEE 754: one sign bit, five bits of exponent and
// ten of fraction, for about three digits up to 65504. It holds these bits, so == compares bits and not numbers.
// Convert it to calculate.
type Float16 uint16

// Float16Of returns the Float16 nearest to x and rounds ties to even. It returns an infinity from 65520 up, and a zero
// up to 2^-25. A NaN keeps its sign and the upper ten bits of its payload; if these are zero, the payload becomes 1.
func Float16Of[F ~float32 | ~float64](x F) Float16 { return Float16(float16.Of(x)) }

// Float32 returns the same number. A NaN keeps its sign and payload.
func (h Float16) Float32() float32 { return float16.Float16(h).Float32() }

// Float64 returns the same number. A NaN keeps its sign and payload but becomes quiet.
func (h Float16) Float64() float64 { return float16.Float16(h).Float64() }

// String returns the number with the fewest digits that identify it, as NumPy prints it.
func (h Float16) String() string { return float16.Float16(h).String() }

// valueReader converts items to values of a Go type.
type valueReader struct {
	convert.Converter
	memory meta.DType // dtype of the values in the mapping of a read

	// inPlace is set if values can be read to their place in the result: items are values, or they are converted block
	// by block.
	inPlace bool
}

// readerOf returns the valueReader of items of a dtype and values of type T. It returns ErrType if values cannot hold
// all items.
func readerOf[T any](d meta.DType) (valueReader, error) {
	c, err := goTypes.Converter(d, reflect.TypeFor[T](), convert.Reading)
	memory := meta.DType{Kind: 'V', Order: '|', Size: c.ValueSize}
	return valueReader{Converter: c, memory: memory, inPlace: c.Direct || !c.Cast.None()}, err
}

// mapping returns the mapping of a read of values of the array, or of a view of it if m is not nil. It may use with.
func (c *valueReader) mapping(with *selection.Mapping, a *Array, st *state, m *selection.Mapping) *selection.Mapping {
	if c == nil || c.Cast.None() {
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

// smallCast is the number of bytes up to which items are read as stored and converted in place afterwards, if values
// have the size of items. Such a read may decode straight to dst, or unshuffle single items of a list. Larger reads
// convert each block on its way to dst, in parallel.
const smallCast = 64 << 10

// cast adds a conversion of the items of m to another dtype. The zero Loop means that they are the same.
func cast(m *selection.Mapping, to meta.DType, f numbers.Loop) {
	switch first := m.Convert; {
	case f.None():
	case first.None():
		m.Convert, m.Stored = f, m.Dtype
	default:
		m.Convert = chain(first, f, m.Stored.Size, m.Dtype.Size, to.Size)
	}
	m.Dtype = to
}

// chain returns the conversion by first and then by second, from items of a bytes to items of b bytes and of c bytes.
func chain(first, second numbers.Loop, a, b, c int) numbers.Loop {
	var buffers sync.Pool
	return numbers.NewLoop(func(dst, src []byte) {
		buf, ok := buffers.Get().(*[]byte)
		if !ok {
			made := make([]byte, itemsAtOnce*b)
			buf = &made
		}
		for n := len(src) / a; n > 0; {
			k := min(n, itemsAtOnce)
			first.Run((*buf)[:k*b], src[:k*a])
			second.Run(dst[:k*c], (*buf)[:k*b])
			dst, src, n = dst[k*c:], src[k*a:], n-k
		}
		buffers.Put(buf)
	})
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
			return nil, fmt.Errorf("ndarray: %w: items of dtype %v cannot store %v exactly%s", ErrValue, d, value, rounding(d, reflect.ValueOf(value)))
		}
	}
	return encodeItems(ctx, d, 1, values)
}
