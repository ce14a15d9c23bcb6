package b2arrow

import (
	"context"
	"iter"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// readObjects reads objects in MessagePack, which nil = null.
func readObjects(ctx context.Context, mem memory.Allocator, o *objects.Array, t arrow.DataType, info *table.ColumnInfo,
	ranges iter.Seq2[int64, int64]) (arrow.Array, error) {
	b := array.NewBuilder(mem, t)
	defer b.Release()
	w := &objectWriter{}
	for g := range groups(ranges, window/8) {
		err := o.Each(ctx, g[0].from, g[len(g)-1].to, func(i int64, raw []byte) error {
			if i >= g[0].to {
				g = g[1:]
			}
			if i < g[0].from {
				return nil // deleted
			}
			if err := w.object(b, o, info, raw); err != nil {
				return err
			}
			return o.Frame().CheckAlloc(w.memory())
		})
		if err != nil {
			return nil, err
		}
	}
	return b.NewArray(), nil
}

// objectWriter appends objects to builders. It counts what they take, because nulls in structures with many fields take
// many times the memory of their MessagePack.
type objectWriter struct {
	raw    int64 // bytes of MessagePack
	values int64 // number of values
	text   int64 // bytes of text and binaries
}

// memory returns the number of bytes of what was appended: as MessagePack or in the builders, whichever is more.
func (w *objectWriter) memory() int64 {
	const value = 16 // a number, with its part of the null mask, in a builder that has doubled its memory
	return max(w.raw, w.text+value*w.values)
}

// object appends an object in MessagePack.
func (w *objectWriter) object(b array.Builder, o *objects.Array, info *table.ColumnInfo, raw []byte) error {
	w.raw += int64(len(raw))
	if info.Kind == "object" {
		if len(raw) == 1 && raw[0] == 0xc0 {
			return w.null(b, info)
		}
		return w.bytes(b, raw)
	}
	var v any
	if err := o.Decode(raw, &v); err != nil {
		return err
	}
	return w.append(b, info, v)
}

// count counts n values.
func (w *objectWriter) count(n int64) error {
	const free, ratio = 4 << 20, 64
	if w.values += n; w.values > free+ratio*w.raw {
		return tooLarge("%d values in %d bytes of MessagePack: read fewer rows", w.values, w.raw)
	}
	return nil
}

// null appends a null.
func (w *objectWriter) null(b array.Builder, info *table.ColumnInfo) error {
	if err := w.count(width(info)); err != nil {
		return err
	}
	b.AppendNull()
	return nil
}

// width returns the number of values that a null adds to a builder and those inside it.
func width(info *table.ColumnInfo) int64 {
	n := int64(1)
	for i := range info.Fields {
		n += width(&info.Fields[i])
	}
	if info.Kind == "ndarray" {
		for _, e := range info.Shape {
			n *= e
		}
	}
	return n
}

// append appends a value as meta.Unmarshal decodes it.
func (w *objectWriter) append(b array.Builder, info *table.ColumnInfo, v any) error {
	if v == nil {
		return w.null(b, info)
	}
	if err := w.count(1); err != nil {
		return err
	}
	ok := false
	switch info.Kind {
	case "list":
		return w.list(b.(*array.ListBuilder), info, v)
	case "struct":
		return w.structure(b.(*array.StructBuilder), info, v)
	case "object":
		raw, err := meta.Marshal(v)
		if err != nil {
			return err
		}
		return w.bytes(b, raw)
	case "string", "vlstring", "utf8", "dictionary":
		if s, ok := v.(string); ok {
			return w.string(b, s)
		}
	case "bytes", "vlbytes":
		if x, ok := v.([]byte); ok {
			return w.bytes(b, x)
		}
	case "bool":
		var x bool
		if x, ok = v.(bool); ok {
			b.(*array.BooleanBuilder).Append(x)
		}
	case "float32", "float64":
		ok = appendFloat(b, v)
	default:
		ok = appendInt(b, v)
	}
	if !ok {
		return corrupt("a value of type %T for kind %s", v, info.Kind)
	}
	return nil
}

// list appends a list.
func (w *objectWriter) list(b *array.ListBuilder, info *table.ColumnInfo, v any) error {
	values, ok := v.([]any)
	if tuple, isTuple := v.(meta.Tuple); isTuple {
		values, ok = tuple, true
	}
	if !ok {
		return corrupt("a value of type %T for a list", v)
	}
	if b.ValueBuilder().Len() > math.MaxInt32-len(values) {
		return tooLarge("lists of more than 2^31-1 items: read fewer rows")
	}
	b.Append(true)
	for _, x := range values {
		if err := w.append(b.ValueBuilder(), info.Item, x); err != nil {
			return err
		}
	}
	return nil
}

// structure appends a structure. Missing fields are null.
func (w *objectWriter) structure(b *array.StructBuilder, info *table.ColumnInfo, v any) error {
	fields, ok := v.(map[string]any)
	if !ok {
		return corrupt("a value of type %T for a structure", v)
	}
	b.Append(true)
	for i := range info.Fields {
		if err := w.append(b.FieldBuilder(i), &info.Fields[i], fields[info.Fields[i].Name]); err != nil {
			return err
		}
	}
	return nil
}

// string appends text.
func (w *objectWriter) string(b array.Builder, s string) error {
	if w.text += int64(len(s)); w.text > maxText {
		return tooLarge("more than 2 GiB of text: read fewer rows")
	}
	if !utf8.ValidString(s) {
		return corrupt("text that is not UTF-8")
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(s)
	case *array.LargeStringBuilder:
		b.Append(s)
	}
	return nil
}

// bytes appends bytes.
func (w *objectWriter) bytes(b array.Builder, x []byte) error {
	if w.text += int64(len(x)); w.text > maxText {
		return tooLarge("more than 2 GiB of bytes: read fewer rows")
	}
	b.(*array.BinaryBuilder).Append(x)
	return nil
}

// appendFloat appends a number to a builder of floats. It reports whether v is one.
func appendFloat(b array.Builder, v any) bool {
	var x float64
	switch v := v.(type) {
	case float64:
		x = v
	case int64:
		x = float64(v)
	case uint64:
		x = float64(v)
	default:
		return false
	}
	switch b := b.(type) {
	case *array.Float32Builder:
		b.Append(float32(x))
	case *array.Float64Builder:
		b.Append(x)
	default:
		return false
	}
	return true
}

// appendInt appends an integer to a builder of integers or timestamps. NaT is null. It reports whether v is an integer
// that fits.
func appendInt(b array.Builder, v any) bool {
	if u, ok := v.(uint64); ok { // larger than every int64
		b, ok := b.(*array.Uint64Builder)
		if ok {
			b.Append(u)
		}
		return ok
	}
	i, ok := v.(int64)
	if !ok {
		return false
	}
	switch b := b.(type) {
	case *array.Int8Builder:
		return appendFit(b.Append, i)
	case *array.Int16Builder:
		return appendFit(b.Append, i)
	case *array.Int32Builder:
		return appendFit(b.Append, i)
	case *array.Int64Builder:
		return appendFit(b.Append, i)
	case *array.Uint8Builder:
		return appendFit(b.Append, i)
	case *array.Uint16Builder:
		return appendFit(b.Append, i)
	case *array.Uint32Builder:
		return appendFit(b.Append, i)
	case *array.Uint64Builder:
		return i >= 0 && appendFit(b.Append, i)
	case *array.TimestampBuilder:
		if i == ndarray.NaT {
			b.AppendNull()
			return true
		}
		return appendFit(b.Append, i)
	}
	return false
}

// appendFit appends i if T can hold it.
func appendFit[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | arrow.Timestamp](add func(T), i int64) bool {
	if int64(T(i)) != i {
		return false
	}
	add(T(i))
	return true
}
