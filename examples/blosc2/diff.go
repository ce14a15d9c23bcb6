package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// errDiffer is the result of diff for what differs. Its exit status is 1, without a line on standard error.
var errDiffer = errors.New("they differ")

// diffCmd compares two arrays or super-chunks.
type diffCmd struct {
	progressOption
	Tolerance float64 `placeholder:"X" help:"numbers a of A and b of B differ if |a - b| > X + R * |b|; X and R are 0 by default"`
	Relative  float64 `placeholder:"R" help:"see -tolerance"`
	Count     int     `name:"n" placeholder:"10" default:"10" help:"number of differences to print"`
	Quiet     bool    `help:"print nothing"`
	A         string  `arg:"" name:"A"`
	B         string  `arg:"" name:"B"`
}

// Help describes the verb.
func (diffCmd) Help() string {
	return `
Compares two arrays: shape, dtype and items. If the shapes are equal and the dtypes comparable, it prints the first
items that differ, in C order, and their number. Two NaNs are equal. Structured items are compared field by field.
Super-chunks are compared by their bytes. The exit status is 0 if there is no difference, 1 if there is one, and 2 for
errors.

Examples:
  blosc2 diff a.b2nd b.b2nd
  blosc2 diff -tolerance 1e-6 a.b2nd tree.b2z/img/level0
`
}

// Run runs the verb.
func (v *diffCmd) Run(e *env) error {
	if v.Count < 0 || !(v.Tolerance >= 0) || !(v.Relative >= 0) {
		return usagef("-n, -tolerance and -relative: want no negative number")
	}
	if v.A == "-" && v.B == "-" {
		return usagef("A and B cannot both be standard input")
	}
	defer e.count(v.progressOption)()
	a, err := openReadable(e, v.A)
	if err != nil {
		return err
	}
	defer a.close()
	b, err := openReadable(e, v.B)
	if err != nil {
		return err
	}
	defer b.close()
	d := &differ{e: e, options: v}
	switch {
	case a.array != nil && b.array != nil:
		err = d.arrays(a.array, b.array)
	case a.array != nil || b.array != nil:
		d.say("kind: %s and %s", kindText(a), kindText(b))
	default:
		err = d.streams(a, b)
	}
	if err == nil && d.differ {
		err = errDiffer
	}
	return err
}

// kindText names what a source is.
func kindText(s *source) string {
	switch {
	case s.array != nil:
		return "array"
	case s.frame != nil:
		return "super-chunk"
	}
	return "chunk"
}

// differ finds differences.
type differ struct {
	e       *env
	options *diffCmd
	differ  bool
	first   []differing // the first items that differ, in C order
	shape   []int64
	count   int64   // of items that differ
	most    float64 // largest distance of numbers, unless both are integers
	mostInt uint64  // largest distance of integers
	a, b    meta.DType
}

// differing is an item that differs.
type differing struct {
	at   int64 // number of the item in C order
	line string
}

// say prints a line about a difference.
func (d *differ) say(format string, args ...any) {
	d.differ = true
	if !d.options.Quiet {
		fmt.Fprintf(d.e.out, format+"\n", args...)
	}
}

// arrays compares two arrays.
func (d *differ) arrays(a, b *ndarray.Array) error {
	d.a, d.b = a.DType(), b.DType()
	if d.a.String() != d.b.String() {
		d.say("dtype: %s and %s", d.a, d.b)
	}
	if !slices.Equal(a.Shape(), b.Shape()) {
		d.say("shape: %s and %s", pyTuple(a.Shape()), pyTuple(b.Shape()))
		return nil
	}
	if d.a.String() != d.b.String() && !(isReal(d.a) && isReal(d.b)) {
		return nil
	}
	if err := checkFields(d.a); err != nil {
		return err
	}
	d.shape = a.Shape()
	most := max(diffBytes/int64(max(d.a.Size, d.b.Size, 1)), 1)
	boxes := ndarray.ByWindow(a, commonBox(d.shape, most, divisionOf(a), divisionOf(b)), nil, nil)
	var one, two []byte
	for box := range boxes.All() {
		n := int(box.Size())
		one, two = resize(one, n*d.a.Size), resize(two, n*d.b.Size)
		sel := box.Selection()
		if err := a.ReadBytes(d.e.ctx, one, sel...); err != nil {
			return named(err, shownPath(d.options.A))
		}
		if err := b.ReadBytes(d.e.ctx, two, sel...); err != nil {
			return named(err, shownPath(d.options.B))
		}
		if d.a.String() == d.b.String() && bytes.Equal(one, two) {
			continue
		}
		d.box(box, one, two)
		if d.options.Quiet && d.differ {
			return nil
		}
	}
	d.result(a.Size())
	return nil
}

// result prints the number of items that differ, and the first of them. size is the number of items of an array.
func (d *differ) result(size int64) {
	if d.count == 0 {
		return
	}
	distance := ""
	switch {
	case isInteger(d.a) && isInteger(d.b):
		distance = ", largest distance " + strconv.FormatUint(d.mostInt, 10)
	case isReal(d.a) && d.most > 0: // not if NaN is all that differs
		distance = ", largest distance " + floatText(d.most, 8)
	}
	d.say("items: %d of %d differ%s", d.count, size, distance)
	for _, f := range d.first {
		d.say("  %s", f.line)
	}
	if more := d.count - int64(len(d.first)); more > 0 && len(d.first) > 0 {
		d.say("  ... and %d more", more)
	}
}

// diffBytes is the size of the boxes that are compared at a time.
const diffBytes = 16 << 20

// resize returns a buffer of n bytes.
func resize(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// isReal reports whether the items of a dtype are bools, integers or floats.
func isReal(d meta.DType) bool {
	return d.Fields == nil && d.Elem == nil && d.Size <= 8 && strings.ContainsRune("biuf", rune(d.Kind))
}

// box compares the items of a box.
func (d *differ) box(box ndarray.Box, one, two []byte) {
	before := len(d.first)
	end := int64(math.MaxInt64) // items from there on are not printed
	if before > 0 && before == d.options.Count {
		end = d.first[before-1].at
	}
	late := false    // whether the items that follow are from end on
	const run = 1024 // items
	same, size := d.a.String() == d.b.String(), box.Size()
	for i := int64(0); i < size; i++ {
		if from, to := i*int64(d.a.Size), min(i+run, size)*int64(d.a.Size); same && i%run == 0 && bytes.Equal(one[from:to], two[from:to]) {
			i += run - 1
			continue
		}
		x, y := one[i*int64(d.a.Size):][:d.a.Size], two[i*int64(d.b.Size):][:d.b.Size]
		if d.equal(d.a, d.b, x, y) {
			continue
		}
		d.differ = true
		d.count++
		if late || len(d.first)-before == d.options.Count {
			continue
		}
		at := position(box, i)
		n := d.number(at)
		if late = n >= end; !late {
			line := fmt.Sprintf("%s: %s and %s", pyTuple(at), quoted(d.a, x), quoted(d.b, y))
			d.first = append(d.first, differing{n, line})
		}
	}
	if before > 0 && len(d.first) > before {
		slices.SortFunc(d.first, func(a, b differing) int { return cmp.Compare(a.at, b.at) })
		d.first = d.first[:min(len(d.first), d.options.Count)]
	}
}

// number returns the number in C order of the item at a position in the array.
func (d *differ) number(at []int64) int64 {
	n := int64(0)
	for k, i := range at {
		n = n*d.shape[k] + i
	}
	return n
}

// position returns the position of item i of a box in the array.
func position(box ndarray.Box, i int64) []int64 {
	at := make([]int64, len(box.Shape))
	for k := len(at) - 1; k >= 0; k-- {
		at[k] = box.Start[k] + i%box.Shape[k]
		i /= box.Shape[k]
	}
	return at
}

// equal compares items of the dtypes a and b, those of structured dtypes by their fields. It notes the distance of
// numbers that differ.
func (d *differ) equal(a, b meta.DType, x, y []byte) bool {
	switch {
	case a.Fields != nil:
		for i, f := range a.Fields {
			from, to := f.Offset, f.Offset+f.Type.Size
			if !d.equal(f.Type, b.Fields[i].Type, x[from:to], y[from:to]) {
				return false
			}
		}
		return true
	case a.Elem != nil:
		for ; len(x) > 0; x, y = x[a.Elem.Size:], y[b.Elem.Size:] {
			if !d.equal(*a.Elem, *b.Elem, x[:a.Elem.Size], y[:b.Elem.Size]) {
				return false
			}
		}
		return true
	case a.Kind == 'c' && a.Size <= 16:
		return d.closeComplex(a, b, x, y)
	case isInteger(a) && isInteger(b):
		return d.closeInts(a, b, x, y)
	case isReal(a):
		return d.closeReal(a, b, x, y)
	}
	return bytes.Equal(x, y)
}

// isInteger reports whether the items of a dtype are bools or integers.
func isInteger(d meta.DType) bool { return isReal(d) && d.Kind != 'f' }

// closeInts reports whether two integers are equal within the tolerance. Their distance is exact, as float64 cannot
// represent large integers.
func (d *differ) closeInts(a, b meta.DType, x, y []byte) bool {
	m, mNegative := integer(a, x)
	n, nNegative := integer(b, y)
	distance := m - n
	if mNegative && !nNegative || mNegative == nNegative && m < n {
		distance = n - m
	}
	if distance == 0 {
		return true
	}
	limit := d.options.Tolerance
	if d.options.Relative > 0 {
		limit += d.options.Relative * math.Abs(realNumber(b, y))
	}
	if limit >= 1<<64 || limit >= 1 && distance <= uint64(limit) {
		return true
	}
	d.mostInt = max(d.mostInt, distance)
	return false
}

// integer returns an integer in two's complement, and reports whether it is negative.
func integer(d meta.DType, b []byte) (uint64, bool) {
	if d.Kind == 'i' {
		n := signedInt(d, b)
		return uint64(n), n < 0
	}
	return unsignedInt(d, b), false
}

// closeReal reports whether two real numbers, of which one is a float, are equal within the tolerance. An integer that
// float64 cannot represent differs from every float.
func (d *differ) closeReal(a, b meta.DType, x, y []byte) bool {
	if a.Kind == 'f' && b.Kind == 'f' {
		m, n := floatOf(a, x), floatOf(b, y)
		return d.within(math.Abs(difference(m, n)), math.Abs(n))
	}
	m, mRest := exactParts(a, x)
	n, nRest := exactParts(b, y)
	return d.within(math.Abs(difference(m, n)+mRest-nRest), math.Abs(n+nRest))
}

// exactParts returns two numbers whose sum is exactly an item of a real dtype. The second one is 0 for items that
// float64 represents.
func exactParts(d meta.DType, b []byte) (most, rest float64) {
	const low = 1<<11 - 1 // bits besides the 53 of float64
	switch d.Kind {
	case 'i':
		if n := signedInt(d, b); n < -1<<53 || n > 1<<53 {
			return float64(n &^ low), float64(n & low)
		}
	case 'u':
		if n := unsignedInt(d, b); n > 1<<53 {
			return float64(n &^ low), float64(n & low)
		}
	}
	return realNumber(d, b), 0
}

// closeComplex reports whether the distance of two complex numbers is within the tolerance. NaNs and infinities are
// equal part by part.
func (d *differ) closeComplex(a, b meta.DType, x, y []byte) bool {
	re, im := complexParts(a, x)
	otherRe, otherIm := complexParts(b, y)
	distance := math.Hypot(difference(re, otherRe), difference(im, otherIm))
	if distance == 0 || d.options.Relative == 0 {
		return d.within(distance, 0)
	}
	size := 0.0
	for _, part := range [...]float64{otherRe, otherIm} {
		if isFinite(part) {
			size = min(math.Hypot(size, part), math.MaxFloat64)
		}
	}
	return d.within(distance, size)
}

// difference returns x - y, or 0 if both are NaN or the same infinity.
func difference(x, y float64) float64 {
	if x == y || math.IsNaN(x) && math.IsNaN(y) {
		return 0
	}
	return x - y
}

// within reports whether a distance from a number of B is within the tolerance. size is the absolute value of the
// number. It notes a distance that is too large.
func (d *differ) within(distance, size float64) bool {
	if distance == 0 || distance <= d.options.Tolerance+d.options.Relative*size && !math.IsInf(distance, 0) {
		return true
	}
	if !math.IsNaN(distance) {
		d.most = max(d.most, distance)
	}
	return false
}

// realNumber returns an item of a real dtype.
func realNumber(d meta.DType, b []byte) float64 {
	switch d.Kind {
	case 'f':
		return floatOf(d, b)
	case 'i':
		return float64(signedInt(d, b))
	}
	return float64(unsignedInt(d, b))
}

// streams compares the bytes of two super-chunks or chunks.
func (d *differ) streams(a, b *source) error {
	x, y := a.content(d.e), b.content(d.e)
	one, two := make([]byte, 1<<20), make([]byte, 1<<20)
	for at := int64(0); ; at += int64(len(one)) {
		n, err := io.ReadFull(x, one)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return named(err, shownPath(d.options.A))
		}
		m, err := io.ReadFull(y, two)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return named(err, shownPath(d.options.B))
		}
		for i := range min(n, m) {
			if one[i] != two[i] {
				d.say("byte %d: 0x%02x and 0x%02x", at+int64(i), one[i], two[i])
				return nil
			}
		}
		if n != m {
			d.say("size: one ends after %d bytes, the other does not", at+int64(min(n, m)))
			return nil
		}
		if n < len(one) {
			return nil
		}
	}
}

// content returns the decoded bytes of a source.
func (s *source) content(e *env) io.Reader {
	if s.frame != nil {
		return s.frame.Content(e.ctx)
	}
	return io.NewSectionReader(s.chunk, 0, s.chunk.Size())
}
