package ref

/*
#cgo pkg-config: blosc2
#include <blosc2.h>
#include <b2nd.h>
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// Split modes of CParams.
const (
	SplitAlways  = 1
	SplitNever   = 2
	SplitAuto    = 3
	SplitForward = 4
)

// Special values, with their numbers in chunk headers.
const (
	Zeros  = 1
	NaNs   = 2
	Value  = 3
	Uninit = 4
)

// CParams are compression parameters in the numbers of the C library.
type CParams struct {
	Codec, CodecMeta     uint8 // compcode and its parameter
	Level                int   // 0 to 9
	Filters, FiltersMeta [6]uint8
	Split                int // 1 to 4; 0 = SplitForward, the C library's default
	TypeSize             int // in bytes
	BlockSize            int // in bytes; 0 = automatic
	Threads              int // 0 = 1
	Dict                 bool
}

// start initializes the C library once. It is never shut down.
var start = sync.OnceFunc(func() { C.blosc2_init() })

// Version returns the version of the C library.
func Version() string { return C.GoString(C.blosc2_get_version_string()) }

// check turns a negative return code into an error.
func check[T C.int | C.int64_t](what string, rc T) error {
	if rc >= 0 {
		return nil
	}
	return fmt.Errorf("ref: %s: %s (%d)", what, C.GoString(C.blosc2_error_string(C.int(rc))), int(rc))
}

// data returns a pointer to the bytes of a slice, never nil.
//
// Safe: C reads or writes no more than the len(b) bytes that the caller passes with the address.
func data(b []byte) unsafe.Pointer {
	if len(b) == 0 {
		b = make([]byte, 1)
	}
	return unsafe.Pointer(unsafe.SliceData(b))
}

func (p *CParams) c() C.blosc2_cparams {
	start()
	c := C.blosc2_get_blosc2_cparams_defaults()
	c.compcode, c.compcode_meta, c.clevel = C.uint8_t(p.Codec), C.uint8_t(p.CodecMeta), C.uint8_t(p.Level)
	c.typesize, c.blocksize = C.int32_t(p.TypeSize), C.int32_t(p.BlockSize)
	c.nthreads = C.int16_t(max(p.Threads, 1))
	if p.Split != 0 {
		c.splitmode = C.int32_t(p.Split)
	}
	if p.Dict {
		c.use_dict = 1
	}
	for i := range p.Filters {
		c.filters[i], c.filters_meta[i] = C.uint8_t(p.Filters[i]), C.uint8_t(p.FiltersMeta[i])
	}
	return c
}

// compressor calls f with a compression context.
func (p *CParams) compressor(f func(ctx *C.blosc2_context) ([]byte, error)) ([]byte, error) {
	ctx := C.blosc2_create_cctx(p.c())
	if ctx == nil {
		return nil, fmt.Errorf("ref: no context for %+v", *p)
	}
	defer C.blosc2_free_ctx(ctx)
	return f(ctx)
}

// Compress returns the chunk for src.
func Compress(src []byte, p *CParams) ([]byte, error) {
	return p.compressor(func(ctx *C.blosc2_context) ([]byte, error) {
		in := append([]byte(nil), src...) // some pipelines modify their input
		out := make([]byte, len(src)+C.BLOSC2_MAX_OVERHEAD)
		n := C.blosc2_compress_ctx(ctx, data(in), C.int32_t(len(in)), data(out), C.int32_t(len(out)))
		if n == 0 {
			return nil, fmt.Errorf("ref: compress: no chunk of %d bytes", len(src))
		}
		if err := check("compress", n); err != nil {
			return nil, err
		}
		return out[:n:n], nil
	})
}

// CompressBlocks returns a chunk whose blocks have variable lengths.
func CompressBlocks(blocks [][]byte, p *CParams) ([]byte, error) {
	return p.compressor(func(ctx *C.blosc2_context) ([]byte, error) {
		var pin runtime.Pinner
		defer pin.Unpin()
		// Safe: the blocks are pinned, and C gets their lengths.
		srcs, sizes, room := make([]unsafe.Pointer, len(blocks)+1), make([]C.int32_t, len(blocks)+1), 1024
		for i, b := range blocks {
			b = append([]byte(nil), b...)
			srcs[i], sizes[i] = data(b), C.int32_t(len(b))
			pin.Pin(srcs[i])
			room += len(b) + 64
		}
		out := make([]byte, room+C.BLOSC2_MAX_OVERHEAD)
		n := C.blosc2_vlcompress_ctx(ctx, &srcs[0], &sizes[0], C.int32_t(len(blocks)), data(out), C.int32_t(len(out)))
		if n == 0 {
			return nil, fmt.Errorf("ref: compress: no chunk of %d blocks", len(blocks))
		}
		if err := check("compress blocks", n); err != nil {
			return nil, err
		}
		return out[:n:n], nil
	})
}

// CompressSpecial returns the chunk that represents nbytes bytes of a special value; value is the item if special is
// Value.
func CompressSpecial(special, nbytes int, value []byte, p *CParams) ([]byte, error) {
	c, n := p.c(), C.int32_t(nbytes)
	out := make([]byte, C.BLOSC2_MAX_OVERHEAD+p.TypeSize)
	var rc C.int
	switch special {
	case Zeros:
		rc = C.blosc2_chunk_zeros(c, n, data(out), C.int32_t(len(out)))
	case NaNs:
		rc = C.blosc2_chunk_nans(c, n, data(out), C.int32_t(len(out)))
	case Value:
		if len(value) != p.TypeSize {
			return nil, fmt.Errorf("ref: a value of %d bytes for items of %d", len(value), p.TypeSize)
		}
		rc = C.blosc2_chunk_repeatval(c, n, data(out), C.int32_t(len(out)), data(value))
	case Uninit:
		rc = C.blosc2_chunk_uninit(c, n, data(out), C.int32_t(len(out)))
	default:
		return nil, fmt.Errorf("ref: no special value %d", special)
	}
	if err := check("special", rc); err != nil {
		return nil, err
	}
	return out[:rc:rc], nil
}

// Sizes returns the sizes in the header of a chunk, in bytes. It checks the header.
func Sizes(chunk []byte) (nbytes, cbytes, blockSize int, err error) {
	if len(chunk) < C.BLOSC_MIN_HEADER_LENGTH {
		return 0, 0, 0, fmt.Errorf("ref: a chunk of %d bytes", len(chunk))
	}
	var n, c, b C.int32_t
	err = check("sizes", C.blosc2_cbuffer_sizes(data(chunk), &n, &c, &b))
	return int(n), int(c), int(b), err
}

// decompressor calls f with a decompression context.
func decompressor(threads int, f func(ctx *C.blosc2_context) ([]byte, error)) ([]byte, error) {
	start()
	p := C.blosc2_get_blosc2_dparams_defaults()
	p.nthreads = C.int16_t(max(threads, 1))
	ctx := C.blosc2_create_dctx(p)
	if ctx == nil {
		return nil, fmt.Errorf("ref: no context for decompression")
	}
	defer C.blosc2_free_ctx(ctx)
	return f(ctx)
}

// Decompress returns the content of a chunk.
func Decompress(chunk []byte, threads int) ([]byte, error) {
	nbytes, _, _, err := Sizes(chunk)
	if err != nil {
		return nil, err
	}
	return decompressor(threads, func(ctx *C.blosc2_context) ([]byte, error) {
		out := make([]byte, nbytes)
		n := C.blosc2_decompress_ctx(ctx, data(chunk), C.int32_t(len(chunk)), data(out), C.int32_t(nbytes))
		if err := check("decompress", n); err != nil {
			return nil, err
		}
		if int(n) != nbytes {
			return nil, fmt.Errorf("ref: decompress: %d bytes, want %d", n, nbytes)
		}
		return out, nil
	})
}

// Items returns n items of a chunk, starting at item first. Their size is the type size in the header.
func Items(chunk []byte, first, n int) ([]byte, error) {
	if _, _, _, err := Sizes(chunk); err != nil {
		return nil, err
	}
	return decompressor(1, func(ctx *C.blosc2_context) ([]byte, error) {
		out := make([]byte, n*int(chunk[3]))
		rc := C.blosc2_getitem_ctx(ctx, data(chunk), C.int32_t(len(chunk)), C.int(first), C.int(n), data(out), C.int32_t(len(out)))
		if err := check("items", rc); err != nil {
			return nil, err
		}
		return out[:rc], nil
	})
}
