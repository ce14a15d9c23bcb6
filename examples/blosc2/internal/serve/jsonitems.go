package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/goblosc/blosc2/meta"
)

// sendJSON answers with a selection as JSON. It encodes while it sends.
func (s *Server) sendJSON(w *response, r *http.Request, res result) error {
	// Lists may be empty, and take no bytes as items. Fields may overlap, and take more bytes than their item.
	if listCount(res.shape, itemCount(res.dtype)) > s.limits.Result {
		return errorf(http.StatusRequestEntityTooLarge, "the selection has more lists and bytes of values in JSON than the limit of %d", s.limits.Result)
	}
	w.memory = s.memory
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	j := &jsonWriter{Writer: bufio.NewWriterSize(w, 32<<10), text: s.config.ItemText}
	shape, err := encodeJSON(append([]int64{}, res.shape...))
	if err != nil {
		return err
	}
	j.WriteString(`{"shape":`)
	j.Write(shape)
	j.WriteString(`,"dtype":`)
	j.str(res.dtype.String())
	j.WriteString(`,"data":`)
	j.nested(res.shape, res.dtype, res.items)
	j.WriteString("}\n")
	// The writer keeps the first error of writing, which means that the client has left.
	_ = j.Flush()
	return nil
}

// listCount returns the number of bytes of the values in nested lists of a shape, or the number of empty lists in their
// place. An element has each bytes. The result is math.MaxInt64 if the number is larger.
func listCount(shape []int64, each int64) int64 {
	n := int64(1)
	for _, d := range shape {
		if d == 0 {
			return n
		}
		n = product(n, d)
	}
	return product(n, each)
}

// product returns a*b, or math.MaxInt64 if that is larger. Both are at least 1.
func product(a, b int64) int64 {
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

// itemCount returns the number of bytes of the values in an item in JSON. A value has at least one.
func itemCount(d meta.DType) int64 {
	switch {
	case d.Elem != nil:
		return listCount(lengths(d), itemCount(*d.Elem))
	case len(d.Fields) > 0:
		n := int64(0)
		for _, f := range d.Fields {
			n += min(itemCount(f.Type), math.MaxInt64-n)
		}
		return n
	}
	return int64(max(d.Size, 1))
}

// lengths returns the shape of a sub-array.
func lengths(d meta.DType) []int64 {
	shape := make([]int64, len(d.Shape))
	for i, n := range d.Shape {
		shape[i] = int64(n)
	}
	return shape
}

// encodeJSON returns a value as JSON. Characters that matter in HTML are not escaped.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// jsonWriter writes items as JSON. After an error of writing it writes nothing.
type jsonWriter struct {
	*bufio.Writer
	text func(meta.DType, []byte) string
}

// nested writes items as nested lists of a shape.
func (j *jsonWriter) nested(shape []int64, d meta.DType, b []byte) {
	if len(shape) == 0 {
		j.item(d, b)
		return
	}
	j.WriteByte('[')
	if n := int(shape[0]); n > 0 {
		step := len(b) / n
		for i := range n {
			if i > 0 && j.WriteByte(',') != nil {
				return // the client has left
			}
			j.nested(shape[1:], d, b[i*step:(i+1)*step])
		}
	}
	j.WriteByte(']')
}

// item writes an item. Structured items are objects, sub-arrays lists, complex numbers lists of two. Floats that are
// not finite, text, dates and other items are strings. Byte strings that are not UTF-8 are objects
// {"bytes": hexadecimal}.
func (j *jsonWriter) item(d meta.DType, b []byte) {
	switch {
	case d.Fields != nil:
		j.WriteByte('{')
		for i, f := range d.Fields {
			if i > 0 {
				j.WriteByte(',')
			}
			j.str(f.Name)
			j.WriteByte(':')
			j.item(f.Type, b[f.Offset:f.Offset+f.Type.Size])
		}
		j.WriteByte('}')
	case d.Elem != nil:
		j.nested(lengths(d), *d.Elem, b)
	case d.Kind == 'b':
		j.WriteString(strconv.FormatBool(b[0] != 0))
	case d.Kind == 'i' || d.Kind == 'u':
		j.WriteString(j.text(d, b))
	case d.Kind == 'f' && d.Size <= 8:
		j.float(j.text(d, b))
	case d.Kind == 'c' && d.Size <= 16:
		part := d
		part.Kind, part.Size = 'f', d.Size/2
		j.WriteByte('[')
		j.float(j.text(part, b[:part.Size]))
		j.WriteByte(',')
		j.float(j.text(part, b[part.Size:]))
		j.WriteByte(']')
	case d.Kind == 'S' && !utf8.Valid(bytes.TrimRight(b, "\x00")):
		fmt.Fprintf(j, `{"bytes":"%x"}`, bytes.TrimRight(b, "\x00"))
	default:
		j.str(j.text(d, b))
	}
}

// float writes the text of a float: as a number if it is finite, otherwise as a string.
func (j *jsonWriter) float(text string) {
	if last := text[len(text)-1]; last >= '0' && last <= '9' {
		j.WriteString(text)
		return
	}
	names := map[string]string{"inf": "Infinity", "-inf": "-Infinity"}
	if name, ok := names[text]; ok {
		text = name
	} else {
		text = "NaN"
	}
	j.str(text)
}

// str writes a string.
func (j *jsonWriter) str(text string) {
	b, err := encodeJSON(text)
	if err != nil {
		b = []byte(`""`) // no string has such an error
	}
	j.Write(b)
}
