package cblosc

/*
#include <b2nd.h>
#include <stdlib.h>

// b2nd_open uses one thread. Replace the decompression context by one with n threads.
static int set_threads(b2nd_array_t *a, int16_t n) {
	blosc2_dparams p = BLOSC2_DPARAMS_DEFAULTS;
	p.nthreads = n;
	p.schunk = a->sc;
	blosc2_context *ctx = blosc2_create_dctx(p);
	if (ctx == NULL) {
		return -1;
	}
	blosc2_free_ctx(a->sc->dctx);
	a->sc->dctx = ctx;
	return 0;
}
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Array is an N-dimensional array.
type Array struct {
	c *C.b2nd_array_t
}

// Create creates an array with the items of a buffer in C order, in the file path, or in memory if path is empty. It
// replaces an existing file. If the buffer is empty, the array must have no items.
func Create(p Params, path string, shape []int64, chunks, blocks []int32, dtype string, items []byte) (*Array, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	c, d := p.c(), C.blosc2_get_blosc2_dparams_defaults()
	d.nthreads = c.nthreads
	pin.Pin(&c)
	pin.Pin(&d)
	st := C.blosc2_storage{contiguous: true, cparams: &c, dparams: &d}
	if path != "" {
		st.urlpath = C.CString(path)
		defer C.free(unsafe.Pointer(st.urlpath)) // Safe: C allocated it, and it is freed once
		C.blosc2_remove_urlpath(st.urlpath)
	}
	name := C.CString(dtype)
	defer C.free(unsafe.Pointer(name)) // Safe: C allocated it, and it is freed once
	ctx := C.b2nd_create_ctx(&st, C.int8_t(len(shape)), (*C.int64_t)(&shape[0]), (*C.int32_t)(&chunks[0]),
		(*C.int32_t)(&blocks[0]), name, C.DTYPE_NUMPY_FORMAT, nil, 0)
	if ctx == nil {
		return nil, fmt.Errorf("cblosc: cannot create an array of shape %d, chunks %d, blocks %d", shape, chunks, blocks)
	}
	defer C.b2nd_free_ctx(ctx)
	a := new(Array)
	if len(items) == 0 {
		return a, check("empty array", C.b2nd_empty(ctx, &a.c))
	}
	return a, check("create array", C.b2nd_from_cbuffer(ctx, &a.c, data(items), C.int64_t(len(items))))
}

// Open opens the array in a file. Reads use the given number of threads.
func Open(path string, threads int) (*Array, error) {
	start()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name)) // Safe: C allocated it, and it is freed once
	a := new(Array)
	if err := check("open "+path, C.b2nd_open(name, &a.c)); err != nil {
		return nil, err
	}
	if threads > 1 {
		return a, check("set threads", C.set_threads(a.c, C.int16_t(threads)))
	}
	return a, nil
}

// Close frees the array.
func (a *Array) Close() { C.b2nd_free(a.c) }

// Read reads the box from first up to, but not including, stop into dst. shape is the shape of the box.
func (a *Array) Read(dst []byte, first, stop, shape []int64) error {
	return check("slice", C.b2nd_get_slice_cbuffer(a.c, (*C.int64_t)(&first[0]), (*C.int64_t)(&stop[0]), data(dst),
		(*C.int64_t)(&shape[0]), C.int64_t(len(dst))))
}

// Points reads the items at flat positions in C order into dst.
func (a *Array) Points(dst []byte, at []int64) error {
	return check("points", C.b2nd_get_sparse_cbuffer(a.c, C.int64_t(len(at)), (*C.int64_t)(&at[0]), data(dst),
		C.int64_t(len(dst))))
}

// Write writes src to the box from first up to, but not including, stop. shape is the shape of the box.
func (a *Array) Write(src []byte, first, stop, shape []int64) error {
	return check("set slice", C.b2nd_set_slice_cbuffer(data(src), (*C.int64_t)(&shape[0]), C.int64_t(len(src)),
		(*C.int64_t)(&first[0]), (*C.int64_t)(&stop[0]), a.c))
}

// Append adds items, in C order, at the end of the first axis.
func (a *Array) Append(items []byte) error {
	return check("append", C.b2nd_append(a.c, data(items), C.int64_t(len(items)), 0))
}
