package meta

import (
	"fmt"
	"strconv"
)

// String returns the text that python-blosc2 stores in an array record: dtype.str for simple dtypes ("<i4"), and
// str(dtype) for structured dtypes and sub-arrays. ParseDType returns the same dtype for it.
//
// In two cases NumPy's own text describes another dtype, so String writes the offsets: for an aligned structured dtype
// inside one that is not aligned, and for a structured dtype with an empty field name. The zero DType gives "".
func (d DType) String() string {
	if d.Kind == 0 {
		return ""
	}
	if d.simpleType() {
		if d.Order == '|' {
			return "|" + d.simple(true)
		}
		return d.simple(true)
	}
	return string(d.append(nil, false))
}

// simpleType reports whether d is neither a structured dtype nor a sub-array.
func (d DType) simpleType() bool { return d.Fields == nil && d.Elem == nil }

// simple returns the code of a simple dtype without the order '|'. It writes a size of 0 only if zero is set.
func (d DType) simple(zero bool) string {
	s := ""
	if d.Order != '|' {
		s = string(rune(d.Order))
	}
	n := d.Size
	if d.Kind == 'U' {
		n /= 4
	}
	s += string(rune(d.Kind))
	if d.Kind != 'O' && (n > 0 || zero) {
		s += strconv.Itoa(n)
	}
	switch {
	case d.Unit == "":
	case d.Count == 1:
		s += "[" + d.Unit + "]"
	default:
		s += fmt.Sprintf("[%d%s]", d.Count, d.Unit)
	}
	return s
}

// append writes d as a part of a literal. aligned reports whether the reader aligns d because of the text around it.
func (d DType) append(dst []byte, aligned bool) []byte {
	switch {
	case d.Elem != nil:
		dst = append(dst, '(')
		dst = d.Elem.append(dst, aligned)
		dst = append(dst, ", "...)
		return append(d.appendShape(dst), ')')
	case d.Fields == nil && d.Kind == 'b':
		return append(dst, "'?'"...)
	case d.Fields == nil:
		return appendQuoted(dst, d.simple(false))
	case d.Aligned == aligned && d.packed():
		return d.appendList(dst)
	}
	return d.appendDict(dst, aligned)
}

func (d DType) appendShape(dst []byte) []byte {
	dst = append(dst, '(')
	for i, n := range d.Shape {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	if len(d.Shape) == 1 {
		dst = append(dst, ',')
	}
	return append(dst, ')')
}

// packed reports whether a list of fields would give the same offsets, size and names.
func (d DType) packed() bool {
	next, align := 0, 1
	for _, f := range d.Fields {
		if d.Aligned {
			a := f.Type.alignment()
			align = max(align, a)
			next += (a - next%a) % a
		}
		if f.Offset != next || f.Name == "" {
			return false
		}
		next += f.Type.Size
	}
	return d.Size == next+(align-next%align)%align
}

func (d DType) appendList(dst []byte) []byte {
	dst = append(dst, '[')
	for i, f := range d.Fields {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, '(')
		if f.Title != "" {
			dst = append(dst, '(')
			dst = appendQuoted(dst, f.Title)
			dst = append(dst, ", "...)
			dst = append(appendQuoted(dst, f.Name), ')')
		} else {
			dst = appendQuoted(dst, f.Name)
		}
		dst = append(dst, ", "...)
		if f.Type.Elem != nil {
			dst = f.Type.Elem.append(dst, d.Aligned)
			dst = append(dst, ", "...)
			dst = f.Type.appendShape(dst)
		} else {
			dst = f.Type.append(dst, d.Aligned)
		}
		dst = append(dst, ')')
	}
	return append(dst, ']')
}

func (d DType) appendDict(dst []byte, aligned bool) []byte {
	titles := false
	column := func(key string, item func(f Field)) {
		dst = append(dst, key...)
		dst = append(dst, '[')
		for i, f := range d.Fields {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			item(f)
			titles = titles || f.Title != ""
		}
		dst = append(dst, ']')
	}
	column("{'names': ", func(f Field) { dst = appendQuoted(dst, f.Name) })
	column(", 'formats': ", func(f Field) { dst = f.Type.append(dst, d.Aligned) })
	column(", 'offsets': ", func(f Field) { dst = strconv.AppendInt(dst, int64(f.Offset), 10) })
	if titles {
		column(", 'titles': ", func(f Field) {
			if f.Title == "" {
				dst = append(dst, "None"...)
			} else {
				dst = appendQuoted(dst, f.Title)
			}
		})
	}
	dst = fmt.Appendf(dst, ", 'itemsize': %d", d.Size)
	if d.Aligned && !aligned {
		dst = append(dst, ", 'aligned': True"...)
	}
	return append(dst, '}')
}
