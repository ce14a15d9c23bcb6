// Package zfp encodes and decodes fields of 32- and 64-bit floats, in one to four dimensions, as streams of the ZFP
// format without header. It follows the algorithm of P. Lindstrom, "Fixed-Rate Compressed Floating-Point Arrays" (IEEE
// TVCG 20, 2014), with the stream layout and the parameters of libzfp 1.0. The streams are the same bit for bit.
//
// A field is divided into cells of 4 items along each axis. For each cell:
//
//	values -> one common exponent, integers -> lifting along each axis -> order by frequency ->
//	negabinary -> bit planes, the highest first, with group tests for the items that are still zero
//
// Bits are written starting at the lowest of each byte. Items that are neighbors along the last axis of a shape, which
// libzfp calls x, are neighbors in memory.
package zfp

import (
	"encoding/binary"
	"errors"
	"math"
)

// ErrNoRoom is returned if a stream is longer than the memory for it.
var ErrNoRoom = errors.New("zfp: no room")

// Params bound the size and the error of a cell.
type Params struct {
	MinBits, MaxBits int // of a cell
	MaxPrec          int // bit planes of a cell
	MinExp           int // exponent of the lowest bit plane
}

const (
	maxBits = 16658 // no limit: more than the largest cell can take
	maxPrec = 64
	minExp  = -1074
)

// Accuracy returns the parameters for an absolute error of at most 10^exponent.
func Accuracy(exponent int) Params {
	_, e := math.Frexp(math.Pow10(exponent))
	return Params{MinBits: 1, MaxBits: maxBits, MaxPrec: maxPrec, MinExp: e - 1}
}

// Precision returns the parameters for a number of bit planes.
func Precision(planes int) Params {
	return Params{MinBits: 1, MaxBits: maxBits, MaxPrec: min(planes, maxPrec), MinExp: minExp}
}

// Rate returns the parameters for cells of a fixed size: percent of the size of their items, of itemSize bytes, in dims
// dimensions.
func Rate(percent, dims, itemSize int) Params {
	items := float64(int(1) << (2 * dims))
	rate := float64(percent) / 100 * float64(itemSize) * 8
	bits := int(math.Floor(items*rate + 0.5))
	least := 1 + exponentBits32
	if itemSize == 8 {
		least = 1 + exponentBits64
	}
	bits = max(bits, least)
	return Params{MinBits: bits, MaxBits: bits, MaxPrec: maxPrec, MinExp: minExp}
}

const (
	exponentBits32 = 8
	exponentBits64 = 11
)

// Field describes a field: its shape in items, outermost axis first, one to four axes of at least one item, and the
// size of an item in bytes, 4 or 8. Items are little-endian.
type Field struct {
	Shape    []int32
	ItemSize int
}

// Items returns the number of items. The caller must have checked that it does not overflow.
func (f *Field) Items() int {
	n := 1
	for _, s := range f.Shape {
		n *= int(s)
	}
	return n
}

// Coder encodes and decodes fields of one description. It belongs to one goroutine and allocates only when it is
// created.
type Coder struct {
	f32 *coder[float32, int32, uint32]
	f64 *coder[float64, int64, uint64]
}

// NewCoder returns a Coder for fields like f. The caller must have checked f.
func NewCoder(f Field, p Params) *Coder {
	if f.ItemSize == 4 {
		return &Coder{f32: newCoder[float32, int32, uint32](f, p)}
	}
	return &Coder{f64: newCoder[float64, int64, uint64](f, p)}
}

// Encode writes the stream of the field in src to dst and returns its length, a multiple of 8 bytes, or ErrNoRoom.
func (c *Coder) Encode(dst, src []byte) (int, error) {
	w := writer{dst: dst}
	if c.f32 != nil {
		c.f32.encode(&w, src)
	} else {
		c.f64.encode(&w, src)
	}
	return w.finish()
}

// Decode fills dst with the field of the stream src. Missing bits at the end of src are zeros, so any src yields a
// field.
func (c *Coder) Decode(dst, src []byte) {
	r := reader{src: src}
	if c.f32 != nil {
		c.f32.decode(&r, dst)
	} else {
		c.f64.decode(&r, dst)
	}
}

// coder is a Coder for one item type. F is the type of the items, I their integers and U the unsigned integers.
type coder[F float32 | float64, I int32 | int64, U uint32 | uint64] struct {
	Params
	dims   int
	shape  [4]int // the last axis first: x, y, z, w; 1 for missing axes
	size   int    // items in a cell
	order  []uint8
	bits   int // bits of an item
	ebits  int // bits of its exponent
	bias   int
	limit  F // least magnitude that does not fit into an I
	cell   [256]F
	ints   [256]I
	planes planes

	negabinary U // the mask that turns two's complement into base -2
}

func newCoder[F float32 | float64, I int32 | int64, U uint32 | uint64](f Field, p Params) *coder[F, I, U] {
	c := &coder[F, I, U]{Params: p, dims: len(f.Shape), shape: [4]int{1, 1, 1, 1}}
	for i, n := range f.Shape {
		c.shape[c.dims-1-i] = int(n)
	}
	c.size = 1 << (2 * c.dims)
	c.order = orders[c.dims-1]
	c.bits, c.ebits, c.bias = 8*f.ItemSize, exponentBits32, 127
	if f.ItemSize == 8 {
		c.ebits, c.bias = exponentBits64, 1023
	}
	c.limit = F(math.Ldexp(1, c.bits-1))
	mask := uint64(0xaaaaaaaaaaaaaaaa)
	c.negabinary = U(mask)
	return c
}

// cells calls f for each cell, with the position of its first item and its number of items along each axis, x the
// fastest.
func (c *coder[F, I, U]) cells(f func(at, n [4]int) bool) {
	var at [4]int
	for at[3] = 0; at[3] < c.shape[3]; at[3] += 4 {
		for at[2] = 0; at[2] < c.shape[2]; at[2] += 4 {
			for at[1] = 0; at[1] < c.shape[1]; at[1] += 4 {
				for at[0] = 0; at[0] < c.shape[0]; at[0] += 4 {
					var n [4]int
					for i := range n {
						n[i] = min(4, c.shape[i]-at[i])
					}
					if !f(at, n) {
						return
					}
				}
			}
		}
	}
}

// item returns the position of an item in the field.
func (c *coder[F, I, U]) item(at [4]int, x, y, z, w int) int {
	return at[0] + x + c.shape[0]*(at[1]+y+c.shape[1]*(at[2]+z+c.shape[2]*(at[3]+w)))
}

func (c *coder[F, I, U]) encode(w *writer, src []byte) {
	c.cells(func(at, n [4]int) bool {
		c.gather(src, at, n)
		c.encodeCell(w)
		return !w.full
	})
}

func (c *coder[F, I, U]) decode(r *reader, dst []byte) {
	c.cells(func(at, n [4]int) bool {
		c.decodeCell(r)
		c.scatter(dst, at, n)
		return true
	})
}

// gather copies the items of a cell, and pads cells that reach over the border.
func (c *coder[F, I, U]) gather(src []byte, at, n [4]int) {
	for w := range n[3] {
		for z := range n[2] {
			for y := range n[1] {
				i := c.item(at, 0, y, z, w)
				row := c.cell[4*y+16*z+64*w:]
				for x := range n[0] {
					row[x] = c.load(src, i+x)
				}
				pad(row, n[0], 1)
			}
			for x := range 4 {
				if c.dims > 1 {
					pad(c.cell[x+16*z+64*w:], n[1], 4)
				}
			}
		}
		for i := range 16 {
			if c.dims > 2 {
				pad(c.cell[i+64*w:], n[2], 16)
			}
		}
	}
	for i := range 64 {
		if c.dims > 3 {
			pad(c.cell[i:], n[3], 64)
		}
	}
}

// pad fills a line of 4 items of which n exist.
func pad[F float32 | float64](p []F, n, stride int) {
	switch n {
	case 1:
		p[stride] = p[0]
		fallthrough
	case 2:
		p[2*stride] = p[stride]
		fallthrough
	case 3:
		p[3*stride] = p[0]
	}
}

// scatter copies the items of a cell to their positions.
func (c *coder[F, I, U]) scatter(dst []byte, at, n [4]int) {
	for w := range n[3] {
		for z := range n[2] {
			for y := range n[1] {
				i := c.item(at, 0, y, z, w)
				row := c.cell[4*y+16*z+64*w:]
				for x := range n[0] {
					c.store(dst, i+x, row[x])
				}
			}
		}
	}
}

func (c *coder[F, I, U]) load(src []byte, i int) F {
	if c.bits == 32 {
		return F(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])))
	}
	return F(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
}

func (c *coder[F, I, U]) store(dst []byte, i int, v F) {
	if c.bits == 32 {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(v)))
		return
	}
	binary.LittleEndian.PutUint64(dst[8*i:], math.Float64bits(float64(v)))
}
