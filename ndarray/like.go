package ndarray

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/goblosc/blosc2/meta"
)

// Ones makes an array in which all items are 1. dtype must be one of bools or numbers, else it is an ErrType. See Full.
func Ones(name string, shape []int64, dtype string, o *Options) (*Array, error) {
	d, err := meta.ParseDType(dtype)
	if err != nil {
		return nil, fmt.Errorf("ndarray: %w: %v", ErrType, err)
	}
	item, err := oneOf(d)
	if err != nil {
		return nil, err
	}
	return Full(name, shape, dtype, item, o)
}

// oneOf returns the 1 of a dtype as it is stored.
func oneOf(d meta.DType) ([]byte, error) {
	b := make([]byte, d.Size) // little-endian
	width := d.Size
	le := binary.LittleEndian
	switch {
	case d.Fields != nil || d.Elem != nil:
		width = 0
	case d.Kind == 'b' || d.Kind == 'i' || d.Kind == 'u':
		b[0] = 1
	case d.Kind == 'f' && d.Size == 2:
		le.PutUint16(b, 0x3c00)
	case d.Kind == 'f' && d.Size == 4 || d.Kind == 'c' && d.Size == 8:
		le.PutUint32(b, math.Float32bits(1))
		width = 4
	case d.Kind == 'f' && d.Size == 8 || d.Kind == 'c' && d.Size == 16:
		le.PutUint64(b, math.Float64bits(1))
		width = 8
	default:
		width = 0
	}
	if width == 0 {
		return nil, fmt.Errorf("ndarray: %w: no 1 of dtype %v", ErrType, d)
	}
	if d.Order == '>' {
		slices.Reverse(b[:width])
	}
	return b, nil
}

// FullOf makes an array in which all items are the same value. See Full.
func FullOf[T Scalar](name string, shape []int64, value T, o *Options) (*Array, error) {
	dt := DTypeOf[T]()
	return Full(name, shape, dt.String(), stored(dt, []T{value}), o)
}

// ZerosLike makes an array of zeros with the shape and dtype of r. With o nil it has the partition and parameters of r,
// too. See Zeros.
func ZerosLike(r Reader, name string, o *Options) (*Array, error) {
	return Zeros(name, r.Shape(), r.DType().String(), like(r, o))
}

// UninitLike makes an array whose items are not set, like r. See ZerosLike and Uninit.
func UninitLike(r Reader, name string, o *Options) (*Array, error) {
	return Uninit(name, r.Shape(), r.DType().String(), like(r, o))
}

// OnesLike makes an array in which all items are 1, like r. See ZerosLike and Ones.
func OnesLike(r Reader, name string, o *Options) (*Array, error) {
	return Ones(name, r.Shape(), r.DType().String(), like(r, o))
}

// FullLike makes an array in which all items are the same, like r. See ZerosLike and Full.
func FullLike(r Reader, name string, item []byte, o *Options) (*Array, error) {
	return Full(name, r.Shape(), r.DType().String(), item, like(r, o))
}

// like returns o, or without it the options that make an array like r.
func like(r Reader, o *Options) *Options {
	if o == nil {
		return r.Options()
	}
	return o
}
