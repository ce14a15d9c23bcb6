package main

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// parseItem parses the text of an item of a dtype and returns its bytes.
func parseItem(d meta.DType, text string) ([]byte, error) {
	if d.Fields != nil || d.Elem != nil {
		return parseHex(d, text)
	}
	switch d.Kind {
	case 'b':
		return parseBool(d, text)
	case 'i', 'M', 'm':
		if d.Kind != 'i' && (text == "NaT" || text == "nat") {
			text = strconv.FormatInt(math.MinInt64, 10)
		}
		n, err := strconv.ParseInt(trimZeros(text), 0, 8*d.Size)
		return orderedInt(d, uint64(n), text, err)
	case 'u':
		n, err := strconv.ParseUint(trimZeros(text), 0, 8*d.Size)
		return orderedInt(d, n, text, err)
	case 'f':
		if d.Size > 8 {
			break
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, badNumber(d, text, err)
		}
		return floatBytes(d, d.Size, text, x)
	case 'c':
		if d.Size > 16 {
			break
		}
		z, err := strconv.ParseComplex(pythonComplex(text), 128)
		if err != nil {
			return nil, badNumber(d, text, err)
		}
		return floatBytes(d, d.Size/2, text, real(z), imag(z))
	case 'S', 'U':
		return parseText(d, text)
	}
	return parseHex(d, text)
}

// trimZeros removes the leading zeros of an integer without a prefix, which is octal with them in base 0 of package
// strconv.
func trimZeros(text string) string {
	digits := strings.TrimLeft(text, "+-")
	if len(digits) < 2 || digits[0] != '0' || strings.Contains("xXoObB", digits[1:2]) {
		return text
	}
	sign := text[:len(text)-len(digits)]
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		digits = "0"
	}
	return sign + digits
}

// badValue returns the error for text that is not an item of a dtype.
func badValue(d meta.DType, text string) error {
	return fmt.Errorf("%q is not a value of dtype %s", text, d)
}

// badNumber is badValue for an error of package strconv. It distinguishes numbers outside the range of a dtype.
func badNumber(d meta.DType, text string, err error) error {
	switch {
	case !errors.Is(err, strconv.ErrRange):
		return badValue(d, text)
	case strings.HasPrefix(text, "-") && d.Kind != 'c':
		return fmt.Errorf("%q is below the smallest number of dtype %s", text, d)
	}
	return fmt.Errorf("%q is too large for dtype %s", text, d)
}

// ordered returns the low bytes of n in the byte order of a dtype.
func ordered(d meta.DType, n uint64, size int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, n)[:size]
	if d.Order == '>' {
		slices.Reverse(b)
	}
	return b
}

// orderedInt returns the bytes of an integer, or the error for text that is not one.
func orderedInt(d meta.DType, n uint64, text string, err error) ([]byte, error) {
	if err != nil {
		return nil, badNumber(d, text, err)
	}
	return ordered(d, n, d.Size), nil
}

// floatBytes returns the bytes of floats of 2, 4 or 8 bytes, or the error for text with a finite number that would
// become infinite.
func floatBytes(d meta.DType, size int, text string, numbers ...float64) ([]byte, error) {
	var out []byte
	for _, x := range numbers {
		bits := math.Float64bits(x)
		switch size {
		case 2:
			bits = uint64(ndarray.Float16Of(x))
		case 4:
			bits = uint64(math.Float32bits(float32(x)))
		}
		b := ordered(d, bits, size)
		if math.IsInf(floatOf(d, b), 0) && isFinite(x) {
			return nil, badNumber(d, text, strconv.ErrRange)
		}
		out = append(out, b...)
	}
	return out, nil
}

// pythonComplex returns a complex number in Python's notation, (1+2j), in Go's notation.
func pythonComplex(s string) string {
	s = strings.ReplaceAll(s, "j", "i")
	return strings.ReplaceAll(s, "infi", "Infi")
}

// parseBool parses a boolean.
func parseBool(d meta.DType, text string) ([]byte, error) {
	switch text {
	case "true", "True", "1":
		return []byte{1}, nil
	case "false", "False", "0":
		return []byte{0}, nil
	}
	return nil, badValue(d, text)
}

// parseText returns a string, as bytes or as characters of four bytes, padded with zeros.
func parseText(d meta.DType, text string) ([]byte, error) {
	var b []byte
	if d.Kind == 'S' {
		b = []byte(text)
	} else {
		if !utf8.ValidString(text) {
			return nil, badValue(d, text)
		}
		for _, r := range text {
			b = append(b, ordered(d, uint64(r), 4)...)
		}
	}
	if len(b) > d.Size {
		return nil, fmt.Errorf("%q is too long for dtype %s", text, d)
	}
	return append(b, make([]byte, d.Size-len(b))...), nil
}

// parseHex parses the bytes of an item in hexadecimal.
func parseHex(d meta.DType, text string) ([]byte, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil || len(b) != d.Size {
		return nil, fmt.Errorf("%q is not an item of %d bytes in hexadecimal", text, d.Size)
	}
	return b, nil
}
