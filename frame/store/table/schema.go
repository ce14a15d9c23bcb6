package table

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/meta"
)

// A ColumnInfo describes a column of a table, or the items of a list column, as the schema of the table does. Fields
// that do not apply to a kind are zero.
type ColumnInfo struct {
	Name string
	// Kind is int8 to int64, uint8 to uint64, float32, float64, complex64, complex128, bool, string, bytes, timestamp,
	// ndarray, utf8, dictionary, vlstring, vlbytes, object, list or struct.
	Kind     string
	Nullable bool
	Shape    []int64      // of the items of kind ndarray
	DType    string       // of the elements of kind ndarray
	Unit     string       // of kind timestamp: s, ms, us or ns
	Timezone string       // of kind timestamp
	Ordered  bool         // of kind dictionary: the order of the categories has a meaning
	Item     *ColumnInfo  // of kind list
	Fields   []ColumnInfo // of kind struct

	masked    bool // nulls are in an array of their own
	nullValue any  // nil, bool, string, []byte, json.Number or float64: the value that is null
	nullCode  int32
	arrow     bool // the items are Arrow streams
}

// jsonColumn is a column in the JSON of a schema.
type jsonColumn struct {
	Name        string          `json:"name"`
	Kind        string          `json:"kind"`
	Nullable    bool            `json:"nullable"`
	NullStorage string          `json:"null_storage"`
	NullValue   json.RawMessage `json:"null_value"`
	NullCode    *int32          `json:"null_code"`
	ItemShape   []int64         `json:"item_shape"`
	DType       string          `json:"dtype_str"`
	Unit        string          `json:"unit"`
	Timezone    string          `json:"timezone"`
	Ordered     bool            `json:"ordered"`
	Serializer  string          `json:"serializer"`
	Item        *jsonColumn     `json:"item"`
	Fields      []jsonColumn    `json:"fields"`
}

// parseSchema reads the JSON of the schema of a table.
func parseSchema(text []byte) ([]ColumnInfo, error) {
	var s struct {
		Version int          `json:"version"`
		Columns []jsonColumn `json:"columns"`
	}
	d := json.NewDecoder(bytes.NewReader(quoteNaN(text)))
	if err := d.Decode(&s); err != nil {
		return nil, faults.Corruptf("schema: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, faults.Corruptf("schema: bytes after the JSON")
	}
	if s.Version < 1 || s.Version > 3 {
		return nil, faults.Unsupportedf("schema of version %d", s.Version)
	}
	columns := make([]ColumnInfo, len(s.Columns))
	seen := make(map[string]bool, len(columns))
	for i, c := range s.Columns {
		var err error
		if columns[i], err = c.info(); err != nil {
			return nil, fmt.Errorf("schema: column %q: %w", faults.Clip(c.Name), err)
		}
		if c.Name == "" || seen[c.Name] {
			return nil, faults.Corruptf("schema: two columns %q, or one without a name", faults.Clip(c.Name))
		}
		seen[c.Name] = true
	}
	return columns, nil
}

// quoteNaN returns JSON as Python's json module writes it with NaN, Infinity and -Infinity as strings.
func quoteNaN(text []byte) []byte {
	var out []byte
	from, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == 'N' || c == 'I' || c == '-':
			for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
				if bytes.HasPrefix(text[i:], []byte(word)) {
					out = append(append(append(append(out, text[from:i]...), '"'), word...), '"')
					i += len(word) - 1
					from = i + 1
					break
				}
			}
		}
	}
	if out == nil {
		return text
	}
	return append(out, text[from:]...)
}

// info checks the description of a column.
func (c *jsonColumn) info() (ColumnInfo, error) {
	i := ColumnInfo{Name: c.Name, Kind: c.Kind, Nullable: c.Nullable, Unit: c.Unit, Timezone: c.Timezone, Ordered: c.Ordered,
		masked: c.NullStorage == "mask", nullCode: -1, arrow: c.Serializer == "arrow"}
	if c.NullCode != nil {
		i.nullCode = *c.NullCode
	}
	var err error
	if i.nullValue, err = parseNull(c.NullValue); err != nil {
		return i, err
	}
	i.Nullable = i.Nullable || i.nullValue != nil
	switch c.Kind {
	case "ndarray":
		err = i.setItems(c.ItemShape, c.DType)
	case "timestamp":
		if _, ok := timeUnits()[c.Unit]; !ok {
			err = faults.Corruptf("timestamps in the unit %q", faults.Clip(c.Unit))
		}
	case "list":
		if c.Item == nil {
			return i, faults.Corruptf("a list without a type of items")
		}
		item, err := c.Item.info()
		i.Item = &item
		return i, err
	case "struct":
		for _, f := range c.Fields {
			field, err := f.info()
			if err != nil {
				return i, err
			}
			i.Fields = append(i.Fields, field)
		}
	case "dictionary", "utf8", "vlstring", "vlbytes", "object":
	default:
		if _, ok := fixedTypes()[c.Kind]; !ok {
			err = faults.Unsupportedf("kind %q", faults.Clip(c.Kind))
		}
	}
	return i, err
}

// setItems sets the shape and the dtype of the items of kind ndarray.
func (i *ColumnInfo) setItems(shape []int64, dtype string) error {
	if len(shape) >= meta.MaxDims {
		return faults.Corruptf("items of %d dimensions", len(shape))
	}
	n := int64(1)
	for _, e := range shape {
		if e < 0 || e > 0 && n > math.MaxInt32/e {
			return faults.Corruptf("items of shape %v", shape)
		}
		n *= e
	}
	d, err := meta.ParseDType(dtype)
	if err != nil {
		return fmt.Errorf("dtype %q: %w", faults.Clip(dtype), err)
	}
	i.Shape, i.DType = shape, d.String()
	return nil
}

// parseNull reads the value that is null.
func parseNull(text json.RawMessage) (any, error) {
	if len(text) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, faults.Corruptf("null value: %v", err)
	}
	if m, ok := v.(map[string]any); ok {
		encoded, _ := m["base64"].(string)
		b, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || m["__bytes__"] != true {
			return nil, faults.Corruptf("null value %s", faults.Clip(string(text)))
		}
		return b, nil
	}
	if _, ok := v.([]any); ok {
		return nil, faults.Corruptf("null value %s", faults.Clip(string(text)))
	}
	return v, nil
}

// columnPath returns where a column is below the table: dots that are not escaped separate nested names.
func columnPath(name string) string {
	var out strings.Builder
	escaped := false
	write := func(c byte) {
		switch c {
		case '%', '/', '.', '\\':
			fmt.Fprintf(&out, "%%%02X", c)
		default:
			out.WriteByte(c)
		}
	}
	for i := range len(name) {
		switch c := name[i]; {
		case escaped:
			write(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '.':
			out.WriteByte('/')
		default:
			write(c)
		}
	}
	if escaped {
		write('\\')
	}
	return out.String()
}

// fixedTypes returns the dtypes of the kinds whose values have a fixed size. A size of 0 is any size.
func fixedTypes() map[string]meta.DType {
	return map[string]meta.DType{
		"int8": {Kind: 'i', Size: 1}, "int16": {Kind: 'i', Size: 2}, "int32": {Kind: 'i', Size: 4}, "int64": {Kind: 'i', Size: 8},
		"uint8": {Kind: 'u', Size: 1}, "uint16": {Kind: 'u', Size: 2}, "uint32": {Kind: 'u', Size: 4}, "uint64": {Kind: 'u', Size: 8},
		"float32": {Kind: 'f', Size: 4}, "float64": {Kind: 'f', Size: 8},
		"complex64": {Kind: 'c', Size: 8}, "complex128": {Kind: 'c', Size: 16},
		"bool": {Kind: 'b', Size: 1}, "string": {Kind: 'U'}, "bytes": {Kind: 'S'},
	}
}

// timeUnits returns the length of the units of timestamps.
func timeUnits() map[string]time.Duration {
	return map[string]time.Duration{"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond, "ns": time.Nanosecond}
}
