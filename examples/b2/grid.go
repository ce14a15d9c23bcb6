package main

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// grid is an array as it stands in a .npy file: items behind one another in C or in Fortran order.
type grid struct {
	at       io.ReaderAt
	off      int64 // of the first item, in bytes
	shape    []int64
	itemSize int64
	fortran  bool
	buf      []byte
	window   []byte // bytes of the file from windowAt on, kept for short runs that stand near each other
	windowAt int64
}

// read reads the items of a box, from the start to the end position along each axis, into dst in C order.
func (g *grid) read(dst []byte, start, stop []int64) error {
	if !g.fortran {
		return g.readBox(dst, g.shape, start, stop)
	}
	// Fortran order is C order of the axes in reverse.
	if len(g.buf) < len(dst) {
		g.buf = make([]byte, len(dst))
	}
	shape, first, last := slices.Clone(g.shape), slices.Clone(start), slices.Clone(stop)
	slices.Reverse(shape)
	slices.Reverse(first)
	slices.Reverse(last)
	if err := g.readBox(g.buf[:len(dst)], shape, first, last); err != nil {
		return err
	}
	count := make([]int64, len(start))
	for i := range count {
		count[i] = stop[i] - start[i]
	}
	transpose(dst, g.buf, count, int(g.itemSize))
	return nil
}

// readBox reads a box of an array of any shape in C order: one read for each run of items that stand together.
func (g *grid) readBox(dst []byte, shape, start, stop []int64) error {
	run, axis := g.itemSize, len(shape)
	for axis > 0 { // axes that are taken as a whole make the runs longer, and so does one that is not
		axis--
		run *= stop[axis] - start[axis]
		if stop[axis]-start[axis] != shape[axis] {
			break
		}
	}
	if run == 0 || len(dst) == 0 {
		return nil
	}
	distance := g.itemSize // from one run to the next
	for _, n := range shape[axis:] {
		distance *= n
	}
	near := run < 4<<10 && distance < 32<<10
	at := slices.Clone(start)
	for ; len(dst) > 0; dst = dst[run:] {
		pos := int64(0)
		for i, n := range shape {
			pos = pos*n + at[i]
		}
		if err := g.readRun(dst[:run], g.off+pos*g.itemSize, near); err != nil {
			return err
		}
		for i := axis - 1; i >= 0; i-- {
			if at[i]++; at[i] < stop[i] {
				break
			}
			at[i] = start[i]
		}
	}
	return nil
}

// readRun reads a run at byte pos of the file. near says that the next one is not far behind it.
func (g *grid) readRun(dst []byte, pos int64, near bool) error {
	if !near {
		return readAt(dst, g.at, pos)
	}
	if pos < g.windowAt || pos+int64(len(dst)) > g.windowAt+int64(len(g.window)) {
		if g.window == nil {
			g.window = make([]byte, 256<<10)
		}
		n, err := g.at.ReadAt(g.window[:cap(g.window)], pos)
		if g.window, g.windowAt = g.window[:n], pos; n < len(dst) {
			return fmt.Errorf("reading the input: %w", err)
		}
	}
	copy(dst, g.window[pos-g.windowAt:])
	return nil
}

func readAt(dst []byte, r io.ReaderAt, pos int64) error {
	if n, err := r.ReadAt(dst, pos); n < len(dst) {
		return fmt.Errorf("reading the input: %w", err)
	}
	return nil
}

// transpose writes the items of src, which stand in Fortran order, to dst in C order.
func transpose(dst, src []byte, shape []int64, itemSize int) {
	stride := make([]int, len(shape)) // of an axis in src, in bytes
	n := itemSize
	for i, s := range shape {
		stride[i] = n
		n *= int(s)
	}
	at := make([]int64, len(shape))
	pos := 0
	for ; len(dst) > 0; dst = dst[itemSize:] {
		copy(dst[:itemSize], src[pos:])
		for i := len(shape) - 1; i >= 0; i-- {
			at[i]++
			pos += stride[i]
			if at[i] < shape[i] {
				break
			}
			pos -= stride[i] * int(shape[i])
			at[i] = 0
		}
	}
}

// tileShape returns the shape of pieces of whole chunks, as large as most bytes allow and at least one chunk, that
// can be read in few long runs.
func tileShape(shape []int64, chunks []int32, itemSize, most int64, fortran bool) []int64 {
	tile, size := make([]int64, len(shape)), itemSize
	for i := range tile {
		tile[i] = min(int64(chunks[i]), shape[i])
		size *= tile[i]
	}
	for k := range shape {
		i := len(shape) - 1 - k // the axis along which neighbours stand together comes first
		if fortran {
			i = k
		}
		times := max(1, most/size)
		grown := min(tile[i]*min(times, shape[i]/tile[i]+1), shape[i])
		size = size / tile[i] * grown
		if tile[i] = grown; grown < shape[i] {
			break
		}
	}
	return tile
}

// tiles calls f for each piece of an array, in C order of the pieces.
func tiles(shape, tile []int64, f func(start, stop []int64) error) error {
	start, stop := make([]int64, len(shape)), make([]int64, len(shape))
	for {
		for i := range start {
			stop[i] = start[i] + min(tile[i], shape[i]-start[i])
		}
		if err := f(start, stop); err != nil {
			return err
		}
		i := len(shape) - 1
		for ; i >= 0; i-- {
			if stop[i] < shape[i] {
				start[i] = stop[i]
				break
			}
			start[i] = 0
		}
		if i < 0 {
			return nil
		}
	}
}

// byteCount returns the size of an array in bytes, or false when it does not fit 63 bits.
func byteCount(shape []int64, itemSize int) (int64, bool) {
	n := int64(itemSize)
	if slices.Contains(shape, 0) {
		return 0, true
	}
	for _, s := range shape {
		if s < 0 || n > math.MaxInt64/s {
			return 0, false
		}
		n *= s
	}
	return n, true
}
