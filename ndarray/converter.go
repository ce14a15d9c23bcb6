package ndarray

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/task"
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

// decodeItems turns items, of which r has the type, into values.
func decodeItems[T any](ctx context.Context, steps []step, r Reader, dst []T, b []byte) error {
	size := r.ItemSize()
	clear(dst)
	return inBatches(ctx, len(dst), concurrencyOf(r), func(from, to int) error {
		return decode(steps, valuesOf(dst[from:to]), items{b[from*size:], size}, from, 1)
	})
}

// concurrencyOf returns how many goroutines calls for x may use, 0 being GOMAXPROCS.
func concurrencyOf(x interface{ source() (*Array, *mapping) }) int {
	a, _ := x.source()
	return a.f.Options().Concurrency
}

// encodeItems returns values as items of a dtype: in memory of their own, or the values themselves where the bytes
// are the same.
func encodeItems[T any](ctx context.Context, d meta.DType, concurrency int, data []T) ([]byte, error) {
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
	err = inBatches(ctx, len(data), concurrency, func(from, to int) error {
		return encode(c.steps, valuesOf(data[from:to]), items{b[from*d.Size:], d.Size}, from, 1)
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

const (
	batch = 256        // items go through all steps before the next ones, so that they stay in the cache
	share = 16 * batch // items are what a goroutine takes at a time
)

// inBatches calls f for parts of n items, on up to so many goroutines (0 is GOMAXPROCS), and returns the error of the
// first part that has one.
func inBatches(ctx context.Context, n, concurrency int, f func(from, to int) error) error {
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
			for i := from; err == nil && i < min(from+share, n); i += batch {
				err = f(i, min(i+batch, n))
			}
			if err != nil {
				next.Store(shares) // those before are all taken
				lock.Lock()
				if from < first {
					failed, first = err, from
				}
				lock.Unlock()
				return
			}
		}
	}
	new(coder.Pool).Run(task.Workers(concurrency, shares), func(int) { work() })
	return failed
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
