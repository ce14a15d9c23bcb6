package item

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goblosc/blosc2/meta"
)

const (
	maxDepth    = 8   // levels of lists and maps that JSON shows
	maxElements = 100 // elements of a list or map that JSON shows
)

// JSON returns a value as the command blosc2 prints it, on one line. Long or deep lists and long bytes are shortened.
func JSON(v any) string {
	var out strings.Builder
	writeJSON(&out, v, 0)
	return out.String()
}

func writeJSON(out *strings.Builder, v any, depth int) {
	switch v := v.(type) {
	case nil:
		out.WriteString("null")
	case string:
		writeString(out, v)
	case float64:
		out.WriteString(numberText(v, 64))
	case float32:
		out.WriteString(numberText(float64(v), 32))
	case complex64:
		writeComplex(out, complex128(v), 32)
	case complex128:
		writeComplex(out, v, 64)
	case []byte:
		out.WriteString(`{"bytes": "` + hexText(v) + `"}`)
	case meta.Ext:
		fmt.Fprintf(out, `{"extension": %d, "bytes": "%s"}`, v.Type, hexText(v.Data))
	case []any:
		writeElements(out, "[]", len(v), depth, func(i int) { writeJSON(out, v[i], depth+1) })
	case meta.Tuple:
		writeJSON(out, []any(v), depth)
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		writeElements(out, "{}", len(keys), depth, func(i int) {
			writeEntry(out, keys[i], v[keys[i]], depth)
		})
	case meta.Map:
		writeElements(out, "{}", len(v), depth, func(i int) { writeEntry(out, v[i].Key, v[i].Value, depth) })
	default:
		fmt.Fprint(out, v)
	}
}

// writeElements writes n elements between two brackets.
func writeElements(out *strings.Builder, brackets string, n, depth int, write func(i int)) {
	out.WriteByte(brackets[0])
	for i := range n {
		if i > 0 {
			out.WriteString(", ")
		}
		if i == maxElements || depth == maxDepth {
			out.WriteString("…")
			break
		}
		write(i)
	}
	out.WriteByte(brackets[1])
}

// writeEntry writes a key, which becomes text, and its value. Text of keys inside keys is escaped at each level again,
// which doubles its length, so it is shortened.
func writeEntry(out *strings.Builder, key, value any, depth int) {
	text, ok := key.(string)
	if !ok {
		text = Clip(JSON(key), 200)
	}
	writeString(out, text)
	out.WriteString(": ")
	writeJSON(out, value, depth+1)
}

// writeString writes text in quotes.
func writeString(out *strings.Builder, s string) {
	out.WriteByte('"')
	for _, r := range s {
		if i := strings.IndexRune("\"\\\b\f\n\r\t", r); i >= 0 {
			out.WriteString(`\` + `"\bfnrt`[i:i+1])
		} else if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			fmt.Fprintf(out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
}

// writeComplex writes a number with two floats of some bits.
func writeComplex(out *strings.Builder, v complex128, bits int) {
	out.WriteString(`{"complex": [` + numberText(real(v), bits) + ", " + numberText(imag(v), bits) + "]}")
}

// numberText returns a float of some bits in few digits, so that it is read as a float: 2.0, not 2.
func numberText(x float64, bits int) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	s := strconv.FormatFloat(x, 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// hexText returns bytes in hexadecimal, shortened.
func hexText(b []byte) string {
	if len(b) > maxText {
		return hex.EncodeToString(b[:maxText]) + "…"
	}
	return hex.EncodeToString(b)
}

// Value returns an item as a Go value: a bool, int64, uint64, float32, float64, complex64 or complex128. Items of other
// dtypes are text.
func Value(d meta.DType, b []byte) any {
	switch {
	case d.Fields != nil || d.Elem != nil:
	case d.Kind == 'b':
		return b[0] != 0
	case d.Kind == 'i':
		return signed(d, b)
	case d.Kind == 'u':
		return unsigned(d, b)
	case d.Kind == 'f' && d.Size == 4:
		return float32(float(d, b))
	case d.Kind == 'f' && d.Size <= 8:
		return float(d, b)
	case d.Kind == 'c' && d.Size <= 16:
		h := d.Size / 2
		if z := complex(float(d, b[:h]), float(d, b[h:])); d.Size > 8 {
			return z
		} else {
			return complex64(z)
		}
	}
	return Text(d, b)
}

// Cell returns a value of a column of a table as the command blosc2 prints it in CSV: text as it is, bytes in
// hexadecimal, and JSON for most others.
func Cell(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return hexText(v)
	case complex64:
		return strings.Replace(strconv.FormatComplex(complex128(v), 'g', -1, 64), "i)", "j)", 1)
	case complex128:
		return strings.Replace(strconv.FormatComplex(v, 'g', -1, 128), "i)", "j)", 1)
	}
	return JSON(v)
}

// Time returns the time of a count of units since 1970: s, ms, us or ns.
func Time(n int64, unit string) string {
	per := map[string]int64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
	if per == 0 {
		return strconv.FormatInt(n, 10)
	}
	t := time.Unix(n/per, n%per*(1e9/per)).UTC()
	text := t.Format("2006-01-02 15:04:05")
	switch ns := t.Nanosecond(); {
	case ns == 0:
	case ns%1000 == 0:
		text += fmt.Sprintf(".%06d", ns/1000)
	default:
		text += fmt.Sprintf(".%09d", ns)
	}
	return text
}

// Clip shortens text to about a number of bytes.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
