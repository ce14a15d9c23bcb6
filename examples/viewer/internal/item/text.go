package item

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goblosc/blosc2/meta"
)

// maxText is the number of bytes of raw items that Text shows.
const maxText = 64

// Text returns an item as text, without rounding. Raw bytes are hexadecimal, and shortened.
func Text(d meta.DType, b []byte) string {
	switch {
	case d.Fields != nil:
		parts := make([]string, len(d.Fields))
		for i, f := range d.Fields {
			parts[i] = f.Name + ": " + Text(f.Type, b[f.Offset:f.Offset+f.Type.Size])
		}
		return "(" + strings.Join(parts, ", ") + ")"
	case d.Elem != nil:
		var parts []string
		for part := range slices.Chunk(b, max(d.Elem.Size, 1)) {
			parts = append(parts, Text(*d.Elem, part))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	switch {
	case d.Kind == 'b':
		return map[bool]string{true: "True", false: "False"}[b[0] != 0]
	case d.Kind == 'i':
		return strconv.FormatInt(signed(d, b), 10)
	case d.Kind == 'u':
		return strconv.FormatUint(unsigned(d, b), 10)
	case d.Kind == 'f' && d.Size <= 8:
		return floatText(float(d, b), d.Size)
	case d.Kind == 'c' && d.Size <= 16:
		h := d.Size / 2
		im := floatText(float(d, b[h:]), h)
		if !strings.HasPrefix(im, "-") {
			im = "+" + im
		}
		return floatText(float(d, b[:h]), h) + im + "j"
	case d.Kind == 'S':
		return strings.TrimRight(string(b), "\x00")
	case d.Kind == 'U':
		return unicodeText(d, b)
	case d.Kind == 'M':
		return dateText(d, signed(d, b))
	case d.Kind == 'm':
		if n := signed(d, b); n != math.MinInt64 {
			return strings.TrimSpace(strconv.FormatInt(n, 10) + " " + unit(d))
		}
		return "NaT"
	}
	if len(b) > maxText {
		return hex.EncodeToString(b[:maxText]) + "…"
	}
	return hex.EncodeToString(b)
}

// floatText returns the shortest text that is read as the same number of a size in bytes.
func floatText(x float64, size int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64)), "+")
	case size == 2:
		return strconv.FormatFloat(x, 'g', 5, 64) // 11 bits
	}
	return strconv.FormatFloat(x, 'g', -1, 8*size)
}

// unicodeText returns text of four bytes for each character. A code that is no character becomes U+FFFD.
func unicodeText(d meta.DType, b []byte) string {
	var runes []rune
	for part := range slices.Chunk(b, 4) {
		r := rune(unsigned(d, part))
		if !utf8.ValidRune(r) {
			r = utf8.RuneError
		}
		runes = append(runes, r)
	}
	return strings.TrimRight(string(runes), "\x00")
}

// unit returns the unit of a datetime or timedelta, such as "25s".
func unit(d meta.DType) string {
	if d.Count > 1 {
		return strconv.Itoa(d.Count) + d.Unit
	}
	return d.Unit
}

// dateText returns a date. A date that package time cannot print is a number with its unit.
func dateText(d meta.DType, n int64) string {
	if n == math.MinInt64 {
		return "NaT"
	}
	number := strings.TrimSpace(strconv.FormatInt(n, 10) + " " + unit(d))
	count := int64(max(d.Count, 1))
	const most = 1 << 40
	if n > most*1e6/count || n < -most*1e6/count {
		return number
	}
	seconds := map[string]int64{"W": 7 * 86400, "D": 86400, "h": 3600, "m": 60, "s": 1}[d.Unit]
	perSecond := map[string]int64{"ms": 1e3, "us": 1e6, "ns": 1e9}[d.Unit]
	switch n *= count; {
	case d.Unit == "Y" && n > -most && n < most:
		return fmt.Sprintf("%04d", 1970+n)
	case d.Unit == "M" && n > -most && n < most:
		return isoText(time.Date(1970, time.Month(1+n), 1, 0, 0, 0, 0, time.UTC), "01")
	case seconds >= 86400 && n > -most/seconds && n < most/seconds:
		return isoText(time.Unix(n*seconds, 0), "01-02")
	case seconds > 0 && n > -most/seconds && n < most/seconds:
		return isoText(time.Unix(n*seconds, 0), "01-02T15:04:05")
	case perSecond > 0:
		sec, rest := n/perSecond, n%perSecond
		if rest < 0 {
			sec, rest = sec-1, rest+perSecond
		}
		return isoText(time.Unix(sec, rest*(1e9/perSecond)), "01-02T15:04:05.999999999")
	}
	return number
}

// isoText returns a time with its year as NumPy prints it, in which a minus sign is one of at least four characters.
// layout is for the part after the year.
func isoText(t time.Time, layout string) string {
	t = t.UTC()
	return fmt.Sprintf("%04d-%s", t.Year(), t.Format(layout))
}
