package npy

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// magic starts a .npy file. After it come the version (two bytes), the length of the text (2 bytes in version 1, 4 in
// later ones, little-endian), the text and the items. The text is a Python dictionary, padded with blanks to a multiple
// of 64 bytes, that ends in a line break.
const magic = "\x93NUMPY"

// Header describes the items of a .npy file, which follow it.
type Header struct {
	DType   ndarray.DType
	Fortran bool    // the items are in Fortran order
	Shape   []int64 // in items
}

// Append appends the header that numpy.save writes to dst. Sub-arrays become axes of the shape, as in NumPy. It returns
// ErrType of package ndarray for items that .npy files cannot hold: Python objects, structured dtypes with fields that
// overlap or are out of order, and sub-arrays in Fortran order.
func (h Header) Append(dst []byte) ([]byte, error) {
	b, err := h.append(dst)
	if err != nil {
		return dst, fmt.Errorf("npy: %w: %v", ndarray.ErrType, err)
	}
	return b, nil
}

// append is Append, with errors that have no prefix.
func (h Header) append(dst []byte) ([]byte, error) {
	d, shape := h.DType, h.Shape
	for d.Elem != nil {
		if h.Fortran {
			return dst, fmt.Errorf("items of dtype %v in Fortran order cannot be written as .npy", d)
		}
		shape = slices.Clip(shape)
		for _, n := range d.Shape {
			shape = append(shape, int64(n))
		}
		d = *d.Elem
	}
	descr, err := formatDescr(d)
	if err != nil {
		return dst, err
	}
	order, grow := "False", 0
	if h.Fortran {
		order, grow = "True", len(shape)-1
	}
	text := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr, order, pyTuple(shape))
	if len(shape) > 0 { // NumPy leaves space for a larger length of the axis along which items can be appended
		text += strings.Repeat(" ", max(0, 21-len(strconv.FormatInt(shape[grow], 10))))
	}
	return append(dst, frameText(text)...), nil
}

// frameText puts magic, version and padding around the text of a header.
func frameText(text string) []byte {
	b, latin := toLatin1(text) // versions 1 and 2 are in Latin-1, version 3 in UTF-8
	version, lenSize := byte(1), 2
	switch {
	case !latin:
		version, lenSize, b = 3, 4, []byte(text)
	case len(b) > 65000:
		version, lenSize = 2, 4
	}
	fixed := len(magic) + 2 + lenSize
	n := len(b) + 1
	n += 64 - (fixed+n)%64
	h := append([]byte(magic), version, 0)
	if lenSize == 2 {
		h = binary.LittleEndian.AppendUint16(h, uint16(n))
	} else {
		h = binary.LittleEndian.AppendUint32(h, uint32(n))
	}
	h = append(h, b...)
	for len(h) < fixed+n-1 {
		h = append(h, ' ')
	}
	return append(h, '\n')
}

// toLatin1 returns a text in Latin-1, or false if it has other characters.
func toLatin1(text string) ([]byte, bool) {
	var b []byte
	for _, r := range text {
		if r > 0xff {
			return nil, false
		}
		b = append(b, byte(r))
	}
	return b, true
}

// formatDescr returns the Python source of a dtype in a .npy header: a string, or a list of fields in which gaps are
// fields of raw bytes without a name.
func formatDescr(d meta.DType) (string, error) {
	if d.Kind == 'O' {
		return "", fmt.Errorf("python objects cannot be written as .npy")
	}
	if d.Fields == nil {
		return pyString(d.String()), nil
	}
	var parts []string
	at := 0
	pad := func(to int) {
		if to > at {
			parts = append(parts, fmt.Sprintf("('', '|V%d')", to-at))
		}
	}
	for _, f := range d.Fields {
		if f.Offset < at {
			return "", fmt.Errorf("fields of %s that overlap or are out of order cannot be written as .npy", d)
		}
		pad(f.Offset)
		at = f.Offset + f.Type.Size
		elem, shape := f.Type, ""
		var dims []int64
		for elem.Elem != nil {
			for _, n := range elem.Shape {
				dims = append(dims, int64(n))
			}
			elem = *elem.Elem
		}
		if dims != nil {
			shape = ", " + pyTuple(dims)
		}
		descr, err := formatDescr(elem)
		if err != nil {
			return "", err
		}
		name := pyString(f.Name)
		if f.Title != "" {
			name = "(" + pyString(f.Title) + ", " + name + ")"
		}
		parts = append(parts, "("+name+", "+descr+shape+")")
	}
	pad(d.Size)
	return "[" + strings.Join(parts, ", ") + "]", nil
}

// pyTuple returns the Python source of a tuple of integers.
func pyTuple(list []int64) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, n := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatInt(n, 10))
	}
	if len(list) == 1 {
		b.WriteByte(',')
	}
	b.WriteByte(')')
	return b.String()
}

// pyString returns the Python literal of a string.
func pyString(s string) string {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteByte(quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte(quote)
	return b.String()
}
