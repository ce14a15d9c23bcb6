package ref

/*
#include <b2nd.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"slices"
	"unsafe"
)

// Params are the parameters of an array. Shape, Chunks and Blocks have one entry per dimension; an array without
// dimensions has one item.
type Params struct {
	Storage
	Shape          []int64
	Chunks, Blocks []int32
	DType          string // as NumPy writes it
}

// Array is an array of the C library.
type Array struct{ c *C.b2nd_array_t }

// create calls a function of the C library that creates an array.
func (p *Params) create(what string, f func(*C.b2nd_context_t, **C.b2nd_array_t) C.int) (*Array, error) {
	if len(p.Chunks) != len(p.Shape) || len(p.Blocks) != len(p.Shape) || len(p.Shape) > C.B2ND_MAX_DIM {
		return nil, fmt.Errorf("ref: shape %d, chunks %d, blocks %d", p.Shape, p.Chunks, p.Blocks)
	}
	dtype := C.CString(p.DType)
	defer C.free(unsafe.Pointer(dtype)) // Safe: C allocated it, and it is freed once
	metalayers := make([]C.blosc2_metalayer, len(p.Metalayers)+1)
	for i, m := range p.Metalayers {
		c := C.blosc2_metalayer{
			name: C.CString(m.Name), content: (*C.uint8_t)(C.CBytes(m.Content)), content_len: C.int32_t(len(m.Content)),
		}
		defer C.free(unsafe.Pointer(c.name))    // Safe: C allocated it, and it is freed once
		defer C.free(unsafe.Pointer(c.content)) // Safe: C allocated it, and it is freed once
		metalayers[i] = c
	}
	a := &Array{}
	err := p.with(func(st *C.blosc2_storage) error {
		if p.Path != "" {
			C.blosc2_remove_urlpath(st.urlpath)
		}
		ctx := C.b2nd_create_ctx(st, C.int8_t(len(p.Shape)), long(p.Shape), ints(p.Chunks), ints(p.Blocks), dtype,
			C.DTYPE_NUMPY_FORMAT, &metalayers[0], C.int32_t(len(p.Metalayers)))
		if ctx == nil {
			return fmt.Errorf("ref: no array of shape %d, chunks %d, blocks %d", p.Shape, p.Chunks, p.Blocks)
		}
		defer C.b2nd_free_ctx(ctx)
		return check(what, f(ctx, &a.c))
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// long returns the C form of one number per dimension, never nil.
//
// Safe: int64_t is int64. C reads one number per dimension, and callers check the lengths.
func long(s []int64) *C.int64_t {
	return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(append(slices.Clone(s), 0))))
}

// ints is long for 32-bit numbers.
//
// Safe: see long.
func ints(s []int32) *C.int32_t {
	return (*C.int32_t)(unsafe.Pointer(unsafe.SliceData(append(slices.Clone(s), 0))))
}

// ArrayOf creates an array with the items of a buffer in C order.
func ArrayOf(p *Params, items []byte) (*Array, error) {
	return p.create("array from buffer", func(ctx *C.b2nd_context_t, a **C.b2nd_array_t) C.int {
		return C.b2nd_from_cbuffer(ctx, a, data(items), C.int64_t(len(items)))
	})
}

// SpecialArray creates an array of a special value; value is the item if special is Value.
func SpecialArray(p *Params, special int, value []byte) (*Array, error) {
	if special == Value && len(value) != p.TypeSize {
		return nil, fmt.Errorf("ref: a value of %d bytes for items of %d", len(value), p.TypeSize)
	}
	return p.create("special array", func(ctx *C.b2nd_context_t, a **C.b2nd_array_t) C.int {
		switch special {
		case Zeros:
			return C.b2nd_zeros(ctx, a)
		case NaNs:
			return C.b2nd_nans(ctx, a)
		case Value:
			return C.b2nd_full(ctx, a, data(value))
		case Uninit:
			return C.b2nd_uninit(ctx, a)
		}
		return C.BLOSC2_ERROR_INVALID_PARAM
	})
}

// EmptyArray creates an array with b2nd_empty.
func EmptyArray(p *Params) (*Array, error) {
	return p.create("empty array", func(ctx *C.b2nd_context_t, a **C.b2nd_array_t) C.int {
		return C.b2nd_empty(ctx, a)
	})
}

// OpenArray opens a file or sparse directory for reading and changing.
func OpenArray(path string) (*Array, error) {
	start()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name)) // Safe: C allocated it, and it is freed once
	a := &Array{}
	if err := check("open "+path, C.b2nd_open(name, &a.c)); err != nil {
		return nil, err
	}
	return a, nil
}

// ArrayFrom opens a contiguous frame in memory.
func ArrayFrom(frame []byte) (*Array, error) {
	start()
	a := &Array{}
	rc := C.b2nd_from_cframe((*C.uint8_t)(data(frame)), C.int64_t(len(frame)), true, &a.c)
	if err := check("open a frame in memory", rc); err != nil {
		return nil, err
	}
	return a, nil
}

// Close frees the array.
func (a *Array) Close() {
	if a.c != nil {
		C.b2nd_free(a.c)
	}
	a.c = nil
}

// SChunk returns the super-chunk of the array. It is valid until the array is closed.
func (a *Array) SChunk() *SChunk { return &SChunk{c: a.c.sc} }

// Frame returns the array as one contiguous frame.
func (a *Array) Frame() ([]byte, error) { return a.SChunk().Frame() }

// Info returns the properties of the array that the C library reads.
func (a *Array) Info() (*Info, error) {
	info, err := a.SChunk().Info()
	if err != nil {
		return nil, err
	}
	g := &Geometry{NDim: int(a.c.ndim), DType: C.GoString(a.c.dtype), DTypeFormat: int(a.c.dtype_format)}
	g.Shape, g.Chunks, g.Blocks = []int64{}, []int32{}, []int32{}
	for i := range g.NDim {
		g.Shape = append(g.Shape, int64(a.c.shape[i]))
		g.Chunks = append(g.Chunks, int32(a.c.chunkshape[i]))
		g.Blocks = append(g.Blocks, int32(a.c.blockshape[i]))
	}
	info.Geometry = g
	return info, nil
}

// Dump returns the items in C order.
func (a *Array) Dump() ([]byte, error) {
	out := make([]byte, int(a.c.nitems)*int(a.c.sc.typesize))
	if err := check("dump", C.b2nd_to_cbuffer(a.c, data(out), C.int64_t(len(out)))); err != nil {
		return nil, err
	}
	return out, nil
}

// box returns the shape of a slice, and its size in bytes.
func (a *Array) box(first, stop []int64) (shape []int64, n int, err error) {
	if len(first) != int(a.c.ndim) || len(stop) != int(a.c.ndim) {
		return nil, 0, fmt.Errorf("ref: slice %d to %d of %d dimensions", first, stop, a.c.ndim)
	}
	n = int(a.c.sc.typesize)
	for i := range first {
		shape = append(shape, stop[i]-first[i])
		n *= int(stop[i] - first[i])
	}
	return shape, n, nil
}

// Slice returns the items from first up to stop in each dimension.
func (a *Array) Slice(first, stop []int64) ([]byte, error) {
	shape, n, err := a.box(first, stop)
	if err != nil {
		return nil, err
	}
	out := make([]byte, n)
	rc := C.b2nd_get_slice_cbuffer(a.c, long(first), long(stop), data(out), long(shape), C.int64_t(n))
	if err := check("slice", rc); err != nil {
		return nil, err
	}
	return out, nil
}

// SetSlice changes the items from first up to stop in each dimension.
func (a *Array) SetSlice(first, stop []int64, items []byte) error {
	shape, n, err := a.box(first, stop)
	if err != nil {
		return err
	}
	if n != len(items) {
		return fmt.Errorf("ref: %d bytes for a slice of %d", len(items), n)
	}
	return check("set slice", C.b2nd_set_slice_cbuffer(data(items), long(shape), C.int64_t(n), long(first), long(stop), a.c))
}

// Resize changes the shape at the end of each dimension.
func (a *Array) Resize(shape []int64) error {
	if len(shape) != int(a.c.ndim) {
		return fmt.Errorf("ref: shape %d for %d dimensions", shape, a.c.ndim)
	}
	return check("resize", C.b2nd_resize(a.c, long(shape), nil))
}

// Append adds items, in C order, at the end of an axis.
func (a *Array) Append(items []byte, axis int) error {
	return check("append", C.b2nd_append(a.c, data(items), C.int64_t(len(items)), C.int8_t(axis)))
}

// Insert adds items, in C order, before position at of an axis.
func (a *Array) Insert(items []byte, axis int, at int64) error {
	return check("insert", C.b2nd_insert(a.c, data(items), C.int64_t(len(items)), C.int8_t(axis), C.int64_t(at)))
}

// Delete removes n positions of an axis.
func (a *Array) Delete(axis int, at, n int64) error {
	return check("delete", C.b2nd_delete(a.c, C.int8_t(axis), C.int64_t(at), C.int64_t(n)))
}
