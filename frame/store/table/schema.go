package table

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
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
	nullValue any  // nil, bool, string, []byte, jsonNumber or float64: the value that is null
	nullCode  int32
	arrow     bool // the items are Arrow streams
}

// clone returns a copy that callers may change.
func (c ColumnInfo) clone() ColumnInfo {
	c.Shape, c.Fields = slices.Clone(c.Shape), cloneAll(c.Fields)
	if c.Item != nil {
		item := c.Item.clone()
		c.Item = &item
	}
	return c
}

// cloneAll returns copies of descriptions.
func cloneAll(list []ColumnInfo) []ColumnInfo {
	list = slices.Clone(list)
	for i := range list {
		list[i] = list[i].clone()
	}
	return list
}

// isText reports whether the values are text or bytes in an array.
func (c *ColumnInfo) isText() bool {
	return c.Kind == "utf8" || c.Kind == "string" || c.Kind == "bytes"
}

// parseSchema reads the JSON of the schema of a table. refused has the names of the columns that cannot be read, with
// the reason.
func parseSchema(text []byte) (columns []ColumnInfo, refused map[string]string, err error) {
	v, err := parseJSON(text)
	if err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	s := objectOf(v)
	version, list := int64(0), get[[]any](s, "columns")
	if v := s.m["version"]; v != nil {
		version = s.integer("version", v, 64)
	}
	if s.err != nil {
		return nil, nil, s.err
	}
	if version < 1 || version > 3 {
		return nil, nil, faults.Unsupportedf("schema of version %d", version)
	}
	columns = make([]ColumnInfo, len(list))
	seen := make(map[string]bool, len(columns))
	for i, v := range list {
		c, err := parseColumn(v)
		if err != nil {
			return nil, nil, fmt.Errorf("schema: column %q: %w", faults.Clip(c.Name), err)
		}
		if c.Name == "" || seen[c.Name] {
			return nil, nil, faults.Corruptf("schema: two columns %q, or one without a name", faults.Clip(c.Name))
		}
		seen[c.Name], columns[i] = true, c
	}
	refused, err = parseGenerated(s, seen)
	return columns, refused, err
}

// parseGenerated returns the generated columns that cannot be read, with the reason: computed columns, and stored ones
// that are stale. stored has the names of the stored columns.
func parseGenerated(s *jsonObject, stored map[string]bool) (map[string]string, error) {
	refused := map[string]string{}
	for _, v := range get[[]any](s, "computed_columns") {
		g, err := parseDefinition(v)
		if err != nil {
			return nil, err
		}
		if stored[g.name] || refused[g.name] != "" {
			return nil, faults.Corruptf("schema: two columns %q", faults.Clip(g.name))
		}
		refused[g.name] = fmt.Sprintf("computed columns are not evaluated: %s of the columns %s", g.definition, g.sources)
	}
	for _, v := range get[[]any](s, "materialized_columns") {
		g, err := parseDefinition(v)
		if err != nil {
			return nil, err
		}
		if g.stale && stored[g.name] {
			refused[g.name] = fmt.Sprintf("its values are stale, because one of the columns %s that they were "+
				"computed from was modified; refresh it with python-blosc2, or read only other columns", g.sources)
		}
	}
	return refused, s.err
}

// generated describes a column that is computed from others. The texts are quoted and shortened.
type generated struct {
	name, definition, sources string
	stale                     bool
}

// parseDefinition reads the description of a generated column.
func parseDefinition(v any) (generated, error) {
	o := objectOf(v)
	g := generated{name: get[string](o, "name"), stale: get[bool](o, "stale")}
	definition := get[string](o, "expression")
	if get[string](o, "kind") == "dsl" {
		definition = get[string](o, "dsl_source")
	}
	var sources []string
	for _, v := range get[[]any](o, "col_deps") {
		name, ok := v.(string)
		if !ok && o.err == nil {
			o.err = faults.Corruptf("schema: col_deps has a value that is no text")
		}
		sources = append(sources, name)
	}
	if g.name == "" && o.err == nil {
		o.err = faults.Corruptf("schema: a generated column without a name")
	}
	g.definition = strconv.Quote(faults.Clip(definition))
	g.sources = faults.Clip(fmt.Sprintf("%q", sources))
	return g, o.err
}

// parseColumn reads and checks the description of a column.
func parseColumn(v any) (ColumnInfo, error) {
	o := objectOf(v)
	i := ColumnInfo{
		Name: get[string](o, "name"), Kind: get[string](o, "kind"), Nullable: get[bool](o, "nullable"), Unit: get[string](o, "unit"),
		Timezone: get[string](o, "timezone"), Ordered: get[bool](o, "ordered"),
		masked: get[string](o, "null_storage") == "mask", nullCode: -1, arrow: get[string](o, "serializer") == "arrow",
	}
	if v := o.m["null_code"]; v != nil {
		i.nullCode = int32(o.integer("null_code", v, 32))
	}
	var shape []int64
	for _, v := range get[[]any](o, "item_shape") {
		shape = append(shape, o.integer("item_shape", v, 64))
	}
	dtype, fields := get[string](o, "dtype_str"), get[[]any](o, "fields")
	if o.err != nil {
		return i, o.err
	}
	var err error
	if i.nullValue, err = parseNull(o.m["null_value"]); err != nil {
		return i, err
	}
	i.Nullable = i.Nullable || i.nullValue != nil
	switch i.Kind {
	case "ndarray":
		err = i.setItems(shape, dtype)
	case "timestamp":
		if _, ok := timeUnits()[i.Unit]; !ok {
			err = faults.Corruptf("timestamps in the unit %q", faults.Clip(i.Unit))
		}
	case "list":
		if o.m["item"] == nil {
			return i, faults.Corruptf("a list without a type of items")
		}
		item, err := parseColumn(o.m["item"])
		i.Item = &item
		return i, err
	case "struct":
		for _, v := range fields {
			field, err := parseColumn(v)
			if err != nil {
				return i, err
			}
			i.Fields = append(i.Fields, field)
		}
	case "dictionary", "utf8", "vlstring", "vlbytes", "object":
	default:
		if _, ok := fixedTypes()[i.Kind]; !ok {
			err = faults.Unsupportedf("kind %q", faults.Clip(i.Kind))
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

// parseNull returns the value that is null: bytes are a map with their base64.
func parseNull(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		encoded, _ := v["base64"].(string)
		b, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || v["__bytes__"] != true {
			return nil, faults.Corruptf("null value that is a map")
		}
		return b, nil
	case []any:
		return nil, faults.Corruptf("null value that is a list")
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
