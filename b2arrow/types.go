package b2arrow

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// Keys of the metadata of fields. python-blosc2 writes the first one, too.
const (
	shapeKey   = "blosc2:ndarray_shape" // shape of the items of kind ndarray, a JSON array
	contentKey = "blosc2:content"       // "msgpack" for kind object
)

// maxDepth limits how deep lists and structures are nested.
const maxDepth = 64

// fieldOf returns the field for a column of a table, or for the items of a list. depth is the number of fields around
// it.
func fieldOf(i *table.ColumnInfo, depth int) (arrow.Field, error) {
	f := arrow.Field{Name: i.Name, Nullable: true}
	var err error
	if f.Type, err = typeOf(i, depth); err != nil {
		return f, err
	}
	switch i.Kind {
	case "ndarray":
		shape, err := json.Marshal(append([]int64{}, i.Shape...))
		if err != nil {
			return f, err
		}
		f.Metadata = arrow.NewMetadata([]string{shapeKey}, []string{string(shape)})
	case "object":
		f.Metadata = arrow.NewMetadata([]string{contentKey}, []string{"msgpack"})
	}
	return f, nil
}

// typeOf returns the type for a kind of column. The types are those of python-blosc2, which refuses complex numbers and
// objects.
func typeOf(i *table.ColumnInfo, depth int) (arrow.DataType, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("lists and structures nested more than %d levels deep: %w", maxDepth, ndarray.ErrTooLarge)
	}
	switch i.Kind {
	case "string", "vlstring":
		return arrow.BinaryTypes.String, nil
	case "utf8":
		return arrow.BinaryTypes.LargeString, nil
	case "bytes", "vlbytes", "object":
		return arrow.BinaryTypes.LargeBinary, nil
	case "dictionary":
		if depth > 0 {
			return arrow.BinaryTypes.String, nil // values inside lists and structures have no codes
		}
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String, Ordered: i.Ordered}, nil
	case "timestamp":
		unit, err := timeUnit(i.Unit)
		return &arrow.TimestampType{Unit: unit, TimeZone: i.Timezone}, err
	case "ndarray":
		d, err := meta.ParseDType(i.DType)
		if err != nil {
			return nil, err
		}
		return listOf(d, i.Shape)
	case "list":
		item, err := fieldOf(i.Item, depth+1)
		if err != nil {
			return nil, err
		}
		item.Name = "item"
		return arrow.ListOfField(item), nil
	case "struct":
		fields := make([]arrow.Field, len(i.Fields))
		for k := range fields {
			var err error
			if fields[k], err = fieldOf(&i.Fields[k], depth+1); err != nil {
				return nil, fmt.Errorf("field %q: %w", i.Fields[k].Name, err)
			}
		}
		return arrow.StructOf(fields...), nil
	case "bool":
		return arrow.FixedWidthTypes.Boolean, nil
	}
	d, ok := numbers()[i.Kind]
	if !ok {
		return nil, unsupported("columns of kind %q", i.Kind)
	}
	return typeOfDType(d)
}

// numbers returns the dtypes of the kinds of columns that hold numbers.
func numbers() map[string]meta.DType {
	return map[string]meta.DType{
		"int8": meta.Of('i', 1), "int16": meta.Of('i', 2), "int32": meta.Of('i', 4), "int64": meta.Of('i', 8),
		"uint8": meta.Of('u', 1), "uint16": meta.Of('u', 2), "uint32": meta.Of('u', 4), "uint64": meta.Of('u', 8),
		"float32": meta.Of('f', 4), "float64": meta.Of('f', 8), "complex64": meta.Of('c', 8), "complex128": meta.Of('c', 16),
	}
}

// listOf returns the type for arrays of a shape: lists of all their elements in C order.
func listOf(d meta.DType, shape []int64) (arrow.DataType, error) {
	elem, err := typeOfDType(d)
	if err != nil {
		return nil, err
	}
	n, err := listLen(shape)
	if err != nil {
		return nil, err
	}
	return arrow.FixedSizeListOf(n, elem), nil
}

// listLen returns the number of elements of arrays of a shape.
func listLen(shape []int64) (int32, error) {
	n := int64(1)
	for _, e := range shape {
		if e < 1 || n > math.MaxInt32/e {
			return 0, unsupported("items of shape %v", shape)
		}
		n *= e
	}
	return int32(n), nil
}

// typeOfDType returns the type for a dtype.
func typeOfDType(d meta.DType) (arrow.DataType, error) {
	if d.Fields != nil || d.Elem != nil {
		return nil, unsupported("items of dtype %s", d)
	}
	switch d.Kind {
	case 'b':
		return arrow.FixedWidthTypes.Boolean, nil
	case 'i':
		if t := bySize(d.Size, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64); t != nil {
			return t, nil
		}
	case 'u':
		if t := bySize(d.Size, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64); t != nil {
			return t, nil
		}
	case 'f':
		if t := bySize(d.Size, nil, arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64); t != nil {
			return t, nil
		}
	case 'c':
		if t := bySize(d.Size/2, nil, nil, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64); t != nil {
			return arrow.FixedSizeListOfNonNullable(2, t), nil
		}
	case 'S':
		return arrow.BinaryTypes.LargeBinary, nil
	case 'U':
		return arrow.BinaryTypes.String, nil
	case 'M', 'm':
		unit, err := timeUnit(d.Unit)
		switch {
		case d.Unit == "", d.Kind == 'm' && (d.Unit == "Y" || d.Unit == "M"): // AsType has no such conversion
			return nil, unsupported("items of dtype %s", d)
		case err != nil || d.Count != 1:
			return nil, unsupported("items of dtype %s: convert them to a unit of s, ms, us or ns with ndarray.AsType", d)
		case d.Kind == 'M':
			return &arrow.TimestampType{Unit: unit}, nil
		}
		return &arrow.DurationType{Unit: unit}, nil
	case 'V':
		if d.Size > 0 {
			return &arrow.FixedSizeBinaryType{ByteWidth: d.Size}, nil
		}
	}
	return nil, unsupported("items of dtype %s", d)
}

// bySize returns the type for 1, 2, 4 or 8 bytes, or nil.
func bySize(size int, one, two, four, eight arrow.DataType) arrow.DataType {
	return map[int]arrow.DataType{1: one, 2: two, 4: four, 8: eight}[size]
}

// timeUnit returns the unit of a name of NumPy.
func timeUnit(name string) (arrow.TimeUnit, error) {
	switch name {
	case "s":
		return arrow.Second, nil
	case "ms":
		return arrow.Millisecond, nil
	case "us":
		return arrow.Microsecond, nil
	case "ns":
		return arrow.Nanosecond, nil
	}
	return 0, unsupported("times in the unit %q", name)
}
