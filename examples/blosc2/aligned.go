package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/goblosc/blosc2/meta"
)

// alignedTexts returns the items in b as NumPy prints them in an array: with as many digits as they need, at most 8
// after the point, and all with the same width.
func alignedTexts(d meta.DType, b []byte) []string {
	if d.Size == 0 || len(b) == 0 {
		return nil
	}
	n := len(b) / d.Size
	switch {
	case d.Fields != nil:
		return joinFields(d, b, n)
	case d.Elem != nil && d.Elem.Size > 0:
		elements := alignedTexts(*d.Elem, b)
		out := make([]string, n)
		per := len(elements) / n
		for i := range out {
			out[i] = nestedText(d.Shape, elements[i*per:(i+1)*per])
		}
		return out
	case d.Kind == 'f' && d.Size <= 8:
		x := make([]float64, 0, n)
		for item := range slices.Chunk(b, d.Size) {
			x = append(x, floatOf(d, item))
		}
		return floatTexts(x, d.Size, false)
	case d.Kind == 'c' && d.Size <= 16:
		re, im := make([]float64, n), make([]float64, n)
		for i := range n {
			re[i], im[i] = complexParts(d, b[i*d.Size:(i+1)*d.Size])
		}
		out, second := floatTexts(re, d.Size/2, false), floatTexts(im, d.Size/2, true)
		for i, text := range second {
			number := strings.TrimRight(text, " ")
			out[i] += number + "j" + text[len(number):]
		}
		return out
	}
	out := make([]string, 0, n)
	for item := range slices.Chunk(b, d.Size) {
		out = append(out, quoted(d, item))
	}
	if d.Kind == 'S' || d.Kind == 'U' || d.Kind == 'V' {
		return out
	}
	if d.Kind == 'b' {
		out = append(out, "False") // True has the same width in an array without it
		return alignRight(out)[:n]
	}
	return alignRight(out)
}

// joinFields returns structured items.
func joinFields(d meta.DType, b []byte, n int) []string {
	columns := make([][]string, len(d.Fields))
	for k, f := range d.Fields {
		var column []byte
		for i := range n {
			at := i*d.Size + f.Offset
			column = append(column, b[at:at+f.Type.Size]...)
		}
		if columns[k] = alignedTexts(f.Type, column); columns[k] == nil {
			columns[k] = make([]string, n)
		}
	}
	out := make([]string, n)
	for i := range out {
		parts := make([]string, len(columns))
		for k := range columns {
			parts[k] = columns[k][i]
		}
		out[i] = tupleText(parts)
	}
	return out
}

// tupleText returns the fields of an item.
func tupleText(parts []string) string {
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// nestedText returns the elements of a sub-array of a shape.
func nestedText(shape []int, elements []string) string {
	if len(shape) > 1 {
		per := len(elements) / shape[0]
		rows := make([]string, shape[0])
		for i := range rows {
			rows[i] = nestedText(shape[1:], elements[i*per:(i+1)*per])
		}
		elements = rows
	}
	return "[" + strings.Join(elements, ", ") + "]"
}

// timeUnits are NumPy's names of the units of timedeltas.
var timeUnits = map[string]string{
	"": "generic time units", "Y": "years", "M": "months", "W": "weeks", "D": "days", "h": "hours", "m": "minutes", "s": "seconds",
	"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds", "ps": "picoseconds", "fs": "femtoseconds", "as": "attoseconds",
}

// scalarText returns a single item as NumPy's str does: a number in the shortest text that is exact, and text without
// quotes.
func scalarText(d meta.DType, item []byte) string {
	switch {
	case d.Fields != nil || d.Elem != nil || d.Kind == 'S' || d.Kind == 'V' || d.Kind == 'O':
		if texts := alignedTexts(d, item); texts != nil {
			return texts[0]
		}
	case d.Kind == 'c' && d.Size <= 16:
		return complexText(d, item)
	case d.Kind == 'm':
		n := signedInt(d, item)
		count := int64(max(d.Count, 1))
		if n != math.MinInt64 && n <= math.MaxInt64/count && n >= math.MinInt64/count {
			return strconv.FormatInt(n*count, 10) + " " + timeUnits[d.Unit]
		}
	}
	return itemText(d, item)
}

// complexText returns a complex number as Python prints it.
func complexText(d meta.DType, item []byte) string {
	re, im := complexParts(d, item)
	text := strings.TrimSuffix(floatText(im, d.Size/2), ".0") + "j"
	if re == 0 && !math.Signbit(re) {
		return text
	}
	if math.IsNaN(im) || !math.Signbit(im) {
		text = "+" + text
	}
	return "(" + strings.TrimSuffix(floatText(re, d.Size/2), ".0") + text + ")"
}

// quoted returns an item as NumPy prints it: text in quotes. Numbers are not rounded.
func quoted(d meta.DType, item []byte) string {
	switch {
	case d.Fields != nil:
		var parts []string
		for _, f := range d.Fields {
			parts = append(parts, quoted(f.Type, item[f.Offset:f.Offset+f.Type.Size]))
		}
		return tupleText(parts)
	case d.Elem != nil && d.Size > 0:
		var parts []string
		for part := range slices.Chunk(item, d.Elem.Size) {
			parts = append(parts, quoted(*d.Elem, part))
		}
		return nestedText(d.Shape, parts)
	}
	text := itemText(d, item)
	switch d.Kind {
	case 'M':
		return "'" + text + "'"
	case 'm':
		if text == "NaT" {
			return "'NaT'"
		}
	case 'U':
		return pyQuote(codesOf(d, item), unicode.MaxRune)
	case 'S':
		return "b" + pyQuote(latin1(bytes.TrimRight(item, "\x00")), '~')
	case 'V', 'O':
		var hex strings.Builder
		for _, c := range item {
			fmt.Fprintf(&hex, `\x%02X`, c)
		}
		return "b'" + hex.String() + "'"
	}
	return text
}

// latin1 returns a character for each byte.
func latin1(b []byte) []rune {
	out := make([]rune, len(b))
	for i, c := range b {
		out[i] = rune(c)
	}
	return out
}

// pyQuote returns text as a Python literal, with escapes in place of characters that cannot be printed or are after
// last.
func pyQuote(text []rune, last rune) string {
	quote := '\''
	if slices.Contains(text, '\'') && !slices.Contains(text, '"') {
		quote = '"'
	}
	var s strings.Builder
	s.WriteRune(quote)
	for _, r := range text {
		switch {
		case r == quote || r == '\\':
			s.WriteByte('\\')
			s.WriteRune(r)
		case r == '\t':
			s.WriteString(`\t`)
		case r == '\n':
			s.WriteString(`\n`)
		case r == '\r':
			s.WriteString(`\r`)
		case r <= last && unicode.IsPrint(r):
			s.WriteRune(r)
		default:
			s.WriteString(escapedRune(r))
		}
	}
	s.WriteRune(quote)
	return s.String()
}

// escapedRune returns the escape of a code as in Python.
func escapedRune(r rune) string {
	switch n := uint32(r); {
	case n < 1<<8:
		return fmt.Sprintf(`\x%02x`, n)
	case n < 1<<16:
		return fmt.Sprintf(`\u%04x`, n)
	default:
		return fmt.Sprintf(`\U%08x`, n)
	}
}

// alignRight pads texts with spaces in front.
func alignRight(texts []string) []string { return align(texts, false) }

// padRight pads texts with spaces at the end.
func padRight(texts []string) []string { return align(texts, true) }

// align pads texts to the same width.
func align(texts []string, left bool) []string {
	width := 0
	for _, s := range texts {
		width = max(width, ansi.StringWidth(s))
	}
	for i, s := range texts {
		pad := strings.Repeat(" ", width-ansi.StringWidth(s))
		if left {
			texts[i] = s + pad
		} else {
			texts[i] = pad + s
		}
	}
	return texts
}

// maxDigits is the largest number of digits after the point, NumPy's default.
const maxDigits = 8

// floatTexts formats floats of a size in bytes with the same width. With sign, positive ones get a plus.
func floatTexts(x []float64, size int, sign bool) []string {
	format := byte('f')
	if needsExponent(x) {
		format = 'e'
	}
	out, digits, exponents := make([]string, len(x)), 0, 0
	for i, v := range x {
		if !isFinite(v) {
			continue
		}
		out[i] = shortestPoint(v, format, size)
		mantissa, exponent, _ := strings.Cut(out[i], "e")
		digits = max(digits, len(mantissa)-1-strings.IndexByte(mantissa, '.'))
		exponents = max(exponents, len(exponent)-1)
	}
	for i, v := range x {
		switch {
		case !isFinite(v):
			out[i] = floatText(v, 8)
		case format == 'e': // with digits of v, not zeros, where the shortest text has fewer
			mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits, 64), "e")
			if digits == 0 {
				mantissa += "."
			}
			out[i] = mantissa + "e" + exponent[:1] + strings.Repeat("0", exponents+1-len(exponent)) + exponent[1:]
		default:
			out[i] += strings.Repeat(" ", digits-(len(out[i])-1-strings.IndexByte(out[i], '.')))
		}
		if sign && (math.IsNaN(v) || !math.Signbit(v)) {
			out[i] = "+" + out[i]
		}
	}
	return alignRight(out)
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// needsExponent reports whether NumPy prints numbers with exponents.
func needsExponent(x []float64) bool {
	least, most := math.Inf(1), 0.0
	for _, v := range x {
		if a := math.Abs(v); isFinite(v) && a != 0 {
			least, most = min(least, a), max(most, a)
		}
	}
	return most >= 1e8 || most > 0 && (least < 1e-4 || most/least > 1000)
}

// shortestPoint formats a number with a point and at most maxDigits digits after it.
func shortestPoint(v float64, format byte, size int) string {
	s := shortest(v, format, size)
	mantissa, exponent, hasExponent := strings.Cut(s, "e")
	if dot := strings.IndexByte(mantissa, '.'); dot >= 0 && len(mantissa)-1-dot > maxDigits {
		s = strconv.FormatFloat(v, format, maxDigits, 64)
		mantissa, exponent, hasExponent = strings.Cut(s, "e")
		mantissa = strings.TrimRight(mantissa, "0")
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += "."
	}
	if hasExponent {
		return mantissa + "e" + exponent
	}
	return mantissa
}
