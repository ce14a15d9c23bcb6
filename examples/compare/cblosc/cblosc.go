// Package cblosc calls C-Blosc2 as fast as possible: it keeps contexts between calls and writes results directly to
// memory of the caller.
//
// A value of any type may be used by one goroutine at a time, and holds memory of the C library until Close. Errors
// contain the text and code of the library.
package cblosc

/*
#cgo pkg-config: blosc2
#include <blosc2.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

// Params are compression parameters in the numbers of the format.
type Params struct {
	Codec    uint8 // compcode
	Level    int   // 0 to 9
	Filters  [6]uint8
	Meta     [6]uint8 // parameters of the filters
	TypeSize int      // in bytes
	Threads  int
}

// start initializes the C library once. The library is never shut down.
var start = sync.OnceFunc(func() { C.blosc2_init() })

// Version returns the version of the C library.
func Version() string { return C.GoString(C.blosc2_get_version_string()) }

// Codecs returns the libraries that the C library decodes with, and their versions.
//
// Safe: C reads key as a string that ends with 0, which CString makes, and lib and version are of C's malloc.
func Codecs() string {
	var list []string
	for _, name := range []string{"lz4", "zlib", "zstd"} {
		key := C.CString(name)
		var lib, version *C.char
		if C.blosc2_get_complib_info(key, &lib, &version) >= 0 {
			list = append(list, C.GoString(lib)+" "+C.GoString(version))
			C.free(unsafe.Pointer(lib))
			C.free(unsafe.Pointer(version))
		}
		C.free(unsafe.Pointer(key))
	}
	return strings.Join(list, ", ")
}

// check returns an error for a negative return code.
func check[T C.int | C.int64_t](what string, rc T) error {
	if rc >= 0 {
		return nil
	}
	return fmt.Errorf("cblosc: %s: %s (%d)", what, C.GoString(C.blosc2_error_string(C.int(rc))), int(rc))
}

// data returns a pointer to the bytes of a slice.
//
// Safe: C reads or writes no more than the len(b) bytes that the caller passes with the address.
func data(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// c returns the parameters as a C structure.
func (p *Params) c() C.blosc2_cparams {
	start()
	c := C.blosc2_get_blosc2_cparams_defaults()
	c.compcode, c.clevel, c.typesize = C.uint8_t(p.Codec), C.uint8_t(p.Level), C.int32_t(p.TypeSize)
	c.nthreads = C.int16_t(max(p.Threads, 1))
	for i := range p.Filters {
		c.filters[i], c.filters_meta[i] = C.uint8_t(p.Filters[i]), C.uint8_t(p.Meta[i])
	}
	return c
}

// Encoder encodes chunks.
type Encoder struct{ ctx *C.blosc2_context }

// NewEncoder returns an encoder.
func NewEncoder(p Params) (*Encoder, error) {
	e := &Encoder{C.blosc2_create_cctx(p.c())}
	if e.ctx == nil {
		return nil, fmt.Errorf("cblosc: cannot create a context for %+v", p)
	}
	return e, nil
}

// Encode writes the chunk for src to dst and returns its length. dst must be at least 32 bytes longer than src.
func (e *Encoder) Encode(dst, src []byte) (int, error) {
	n := C.blosc2_compress_ctx(e.ctx, data(src), C.int32_t(len(src)), data(dst), C.int32_t(len(dst)))
	return int(n), check("compress", n)
}

// Close frees the encoder.
func (e *Encoder) Close() { C.blosc2_free_ctx(e.ctx) }

// Decoder decodes chunks.
type Decoder struct{ ctx *C.blosc2_context }

// NewDecoder returns a decoder that uses the given number of threads.
func NewDecoder(threads int) (*Decoder, error) {
	start()
	p := C.blosc2_get_blosc2_dparams_defaults()
	p.nthreads = C.int16_t(threads)
	d := &Decoder{C.blosc2_create_dctx(p)}
	if d.ctx == nil {
		return nil, fmt.Errorf("cblosc: cannot create a context for %d threads", threads)
	}
	return d, nil
}

// Decode decodes a chunk into dst, which must have the length of the data.
func (d *Decoder) Decode(dst, chunk []byte) error {
	n := C.blosc2_decompress_ctx(d.ctx, data(chunk), C.int32_t(len(chunk)), data(dst), C.int32_t(len(dst)))
	if err := check("decompress", n); err != nil {
		return err
	}
	if int(n) != len(dst) {
		return fmt.Errorf("cblosc: chunk decodes to %d bytes, want %d", n, len(dst))
	}
	return nil
}

// Close frees the decoder.
func (d *Decoder) Close() { C.blosc2_free_ctx(d.ctx) }

// The filters write len(src) bytes to dst. They do not share a helper function, to keep the cost of a call low.

// Shuffle groups the bytes of items by significance.
func Shuffle(dst, src []byte, size int) {
	C.blosc2_shuffle(C.int32_t(size), C.int32_t(len(src)), data(src), data(dst))
}

// Unshuffle reverses Shuffle.
func Unshuffle(dst, src []byte, size int) {
	C.blosc2_unshuffle(C.int32_t(size), C.int32_t(len(src)), data(src), data(dst))
}

// BitShuffle groups the bits of items by significance.
func BitShuffle(dst, src []byte, size int) {
	C.blosc2_bitshuffle(C.int32_t(size), C.int32_t(len(src)), data(src), data(dst))
}

// BitUnshuffle reverses BitShuffle.
func BitUnshuffle(dst, src []byte, size int) {
	C.blosc2_bitunshuffle(C.int32_t(size), C.int32_t(len(src)), data(src), data(dst))
}
