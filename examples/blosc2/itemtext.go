package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// itemText returns an item of a dtype as plain text without rounding, for CSV. Bytes that are not UTF-8 are
// hexadecimal.
func itemText(d meta.DType, b []byte) string {
	switch {
	case d.Fields != nil:
		parts := make([]string, len(d.Fields))
		for i, f := range d.Fields {
			parts[i] = itemText(f.Type, b[f.Offset:f.Offset+f.Type.Size])
		}
		return "(" + strings.Join(parts, ", ") + ")"
	case d.Elem != nil:
		var parts []string
		for part := range slices.Chunk(b, max(d.Elem.Size, 1)) {
			parts = append(parts, itemText(*d.Elem, part))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	switch d.Kind {
	case 'b':
		return pythonBool(b)
	case 'i':
		return strconv.FormatInt(signedInt(d, b), 10)
	case 'u':
		return strconv.FormatUint(unsignedInt(d, b), 10)
	case 'f':
		if d.Size > 8 {
			break
		}
		return floatText(floatOf(d, b), d.Size)
	case 'c':
		if d.Size > 16 {
			break
		}
		re, im := complexParts(d, b)
		sign := ""
		if !math.Signbit(im) || math.IsNaN(im) {
			sign = "+"
		}
		return floatText(re, d.Size/2) + sign + floatText(im, d.Size/2) + "j"
	case 'S':
		text := bytes.TrimRight(b, "\x00")
		if !utf8.Valid(text) {
			return hex.EncodeToString(text)
		}
		return string(text)
	case 'U':
		return unicodeText(d, b)
	case 'M':
		return dateText(d, signedInt(d, b))
	case 'm':
		if n := signedInt(d, b); n != math.MinInt64 {
			return strconv.FormatInt(n, 10)
		}
		return "NaT"
	}
	return fmt.Sprintf("%x", b)
}

// checkFields returns an error for a dtype whose fields overlap so much that the text of an item may be far larger than
// the item.
func checkFields(d meta.DType) error {
	if n := valueBytes(d); n > 4*float64(d.Size)+4096 {
		return fmt.Errorf("the fields of an item of %d bytes overlap, and together have %.0f: %w", d.Size, n, ndarray.ErrTooLarge)
	}
	return nil
}

// valueBytes returns the number of bytes of the values in an item. It is a float because that cannot overflow.
func valueBytes(d meta.DType) float64 {
	switch {
	case d.Fields != nil:
		n := 0.0
		for _, f := range d.Fields {
			n += valueBytes(f.Type)
		}
		return n
	case d.Elem != nil && d.Elem.Size > 0:
		return float64(d.Size/d.Elem.Size) * valueBytes(*d.Elem)
	}
	return float64(d.Size)
}

// pythonBool returns a boolean as Python prints it.
func pythonBool(b []byte) string {
	if b[0] != 0 {
		return "True"
	}
	return "False"
}

// unsignedInt returns an integer, or the bits of a number, of up to 8 bytes.
func unsignedInt(d meta.DType, b []byte) uint64 {
	var word [8]byte
	copy(word[:], b)
	if d.Order == '>' {
		slices.Reverse(word[:len(b)])
	}
	return binary.LittleEndian.Uint64(word[:])
}

// signedInt returns a signed integer of up to 8 bytes.
func signedInt(d meta.DType, b []byte) int64 {
	shift := 64 - 8*len(b)
	return int64(unsignedInt(d, b)) << shift >> shift
}

// floatOf returns a float of 2, 4 or 8 bytes.
func floatOf(d meta.DType, b []byte) float64 {
	bits := unsignedInt(d, b)
	switch len(b) {
	case 2:
		return ndarray.Float16(bits).Float64()
	case 4:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// complexParts returns the parts of a complex number.
func complexParts(d meta.DType, b []byte) (re, im float64) {
	half := len(b) / 2
	return floatOf(d, b[:half]), floatOf(d, b[half:])
}

// floatText returns the shortest text that is read as the same number of a size in bytes, as Python prints it.
func floatText(x float64, size int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	format := byte('f')
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		format = 'e'
	}
	s := shortest(x, format, size)
	if format == 'f' && !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// shortest formats a number with the fewest digits that identify it among the numbers of its size.
func shortest(x float64, format byte, size int) string {
	if size != 2 {
		return strconv.FormatFloat(x, format, -1, 8*size)
	}
	for digits := range 6 {
		s := strconv.FormatFloat(x, 'e', digits, 64)
		if y, err := strconv.ParseFloat(s, 64); err == nil && ndarray.Float16Of(y) == ndarray.Float16Of(x) {
			return strconv.FormatFloat(y, format, -1, 64)
		}
	}
	return strconv.FormatFloat(x, format, -1, 64)
}

// unicodeText returns text of four bytes for each character. A code that UTF-8 cannot have is an escape as in Python,
// such as \ud800.
func unicodeText(d meta.DType, b []byte) string {
	var s strings.Builder
	for _, r := range codesOf(d, b) {
		if utf8.ValidRune(r) {
			s.WriteRune(r)
		} else {
			s.WriteString(escapedRune(r))
		}
	}
	return s.String()
}

// codesOf returns the codes of text of four bytes for each character, without zeros at the end.
func codesOf(d meta.DType, b []byte) []rune {
	var codes []rune
	for part := range slices.Chunk(b, 4) {
		codes = append(codes, rune(unsignedInt(d, part)))
	}
	for len(codes) > 0 && codes[len(codes)-1] == 0 {
		codes = codes[:len(codes)-1]
	}
	return codes
}

// dateText returns a date as NumPy prints it, with the precision of its unit.
func dateText(d meta.DType, n int64) string {
	if n == math.MinInt64 {
		return "NaT"
	}
	number := strconv.FormatInt(n, 10)
	count := int64(max(d.Count, 1))
	if n > math.MaxInt64/count || n < math.MinInt64/count {
		return number + " " + d.Unit
	}
	n *= count
	const maxSeconds = 1 << 47 // about 4 million years, which package time can print
	fraction := map[string]int{"ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15, "as": 18}
	seconds := map[string]int64{"W": 7 * 86400, "D": 86400, "h": 3600, "m": 60, "s": 1}
	layout := map[string]string{"W": "01-02", "D": "01-02", "h": "01-02T15", "m": "01-02T15:04"}
	const second = "01-02T15:04:05"
	switch {
	case d.Unit == "Y" && n > -1<<40 && n < 1<<40:
		return fmt.Sprintf("%04d", 1970+n)
	case d.Unit == "M" && n > -1<<40 && n < 1<<40:
		year := 1970 + n/12
		if n%12 < 0 {
			year--
		}
		return fmt.Sprintf("%04d-%02d", year, (n%12+12)%12+1)
	case seconds[d.Unit] > 0 && n < maxSeconds/seconds[d.Unit] && n > -maxSeconds/seconds[d.Unit]:
		form := layout[d.Unit]
		if form == "" {
			form = second
		}
		return isoText(n*seconds[d.Unit], form)
	case fraction[d.Unit] > 0:
		per := int64(math.Pow10(fraction[d.Unit]))
		sec, rest := n/per, n%per
		if rest < 0 {
			sec, rest = sec-1, rest+per
		}
		if sec < maxSeconds && sec > -maxSeconds {
			return fmt.Sprintf("%s.%0*d", isoText(sec, second), fraction[d.Unit], rest)
		}
	}
	return strings.TrimSpace(number + " " + d.Unit)
}

// isoText returns a time with its year as NumPy prints it, in which a minus sign is one of at least four characters.
// layout is for the part after the year.
func isoText(seconds int64, layout string) string {
	t := time.Unix(seconds, 0).UTC()
	return fmt.Sprintf("%04d-%s", t.Year(), t.Format(layout))
}
