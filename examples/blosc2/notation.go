package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// writeNotation writes a value of a table or an object array as JSON. What JSON cannot express becomes an object:
// {"bytes": hexadecimal} and {"complex": [real, imaginary]}. Times are text in UTC.
func writeNotation(out *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case ndarray.Float16:
		return writeFloat(out, v.Float64(), 2)
	case float32:
		return writeFloat(out, float64(v), 4)
	case float64:
		return writeFloat(out, v, 8)
	case complex64:
		return writeComplex(out, complex128(v), 4)
	case complex128:
		return writeComplex(out, v, 8)
	case []byte:
		fmt.Fprintf(out, `{"bytes": "%s"}`, hex.EncodeToString(v))
		return nil
	case time.Time:
		fmt.Fprintf(out, `"%s"`, timeText(v))
		return nil
	case meta.Ext:
		fmt.Fprintf(out, `{"extension": %d, "bytes": "%s"}`, v.Type, hex.EncodeToString(v.Data))
		return nil
	case map[string]any:
		return writeObject(out, slices.Sorted(maps.Keys(v)), func(key string) any { return v[key] })
	case meta.Map:
		return writeMap(out, v)
	case nil, bool, string:
		return writeJSON(out, v)
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice {
		return writeJSON(out, v)
	}
	return writeElements(out, r.Len(), func(i int) error { return writeNotation(out, r.Index(i).Interface()) })
}

// writeComplex writes a complex number with parts of a size in bytes.
func writeComplex(out *bytes.Buffer, z complex128, size int) error {
	out.WriteString(`{"complex": [`)
	if err := writeFloat(out, real(z), size); err != nil {
		return err
	}
	out.WriteString(", ")
	if err := writeFloat(out, imag(z), size); err != nil {
		return err
	}
	out.WriteString("]}")
	return nil
}

// writeObject writes a map with the given keys.
func writeObject(out *bytes.Buffer, keys []string, value func(key string) any) error {
	out.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			out.WriteString(", ")
		}
		if err := writeJSON(out, key); err != nil {
			return err
		}
		out.WriteString(": ")
		if err := writeNotation(out, value(key)); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// writeMap writes a map with keys of any type: see writeKey.
func writeMap(out *bytes.Buffer, m meta.Map) error {
	out.WriteByte('{')
	for i, e := range m {
		if i > 0 {
			out.WriteString(", ")
		}
		if err := writeKey(out, e.Key); err != nil {
			return err
		}
		out.WriteString(": ")
		if err := writeNotation(out, e.Value); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

// writeElements writes a list of n elements.
func writeElements(out *bytes.Buffer, n int, write func(i int) error) error {
	out.WriteByte('[')
	for i := range n {
		if i > 0 {
			out.WriteString(", ")
		}
		if err := write(i); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

// writeCell writes a value of a column: the elements of an array are nested lists.
func writeCell(out *bytes.Buffer, c table.ColumnInfo, v any) error {
	if c.Kind != "ndarray" || v == nil {
		return writeNotation(out, v)
	}
	return writeNested(out, reflect.ValueOf(v), c.Shape)
}

// writeNested writes the elements of an array of a shape.
func writeNested(out *bytes.Buffer, elements reflect.Value, shape []int64) error {
	if len(shape) == 0 {
		return writeNotation(out, elements.Index(0).Interface())
	}
	n := int(shape[0])
	part := 0
	if n > 0 {
		part = elements.Len() / n
	}
	return writeElements(out, n, func(i int) error {
		return writeNested(out, elements.Slice(i*part, (i+1)*part), shape[1:])
	})
}

// timeText returns a time as Python prints it: with a fraction only if it is not zero.
func timeText(t time.Time) string {
	text := t.UTC().Format("2006-01-02 15:04:05")
	switch ns := t.Nanosecond(); {
	case ns == 0:
	case ns%1000 == 0:
		text += fmt.Sprintf(".%06d", ns/1000)
	default:
		text += fmt.Sprintf(".%09d", ns)
	}
	return text
}

// cellText returns a value of a column for CSV: nothing for null, text and numbers as they are, bytes in hexadecimal,
// and JSON for the rest.
func cellText(c table.ColumnInfo, v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []byte:
		if c.Kind != "ndarray" {
			return hex.EncodeToString(v), nil
		}
	case time.Time:
		return timeText(v), nil
	case complex64:
		return strings.ReplaceAll(strconv.FormatComplex(complex128(v), 'g', -1, 64), "i)", "j)"), nil
	case complex128:
		return strings.ReplaceAll(strconv.FormatComplex(v, 'g', -1, 128), "i)", "j)"), nil
	}
	var out bytes.Buffer
	err := writeCell(&out, c, v)
	return out.String(), err
}
