package main

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// withLists returns the schema of the file: Parquet has no lists of a fixed size, and pqarrow cannot write them if some
// are null.
func withLists(schema *arrow.Schema) *arrow.Schema {
	return arrow.NewSchema(listFields(schema.Fields()), nil)
}

// listFields replaces the types of fields. See listType.
func listFields(fields []arrow.Field) []arrow.Field {
	for i := range fields {
		fields[i].Type = listType(fields[i].Type)
	}
	return fields
}

// listType returns a type without lists of a fixed size, also inside lists and structures.
func listType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		return arrow.ListOfField(listFields(t.Fields())[0])
	case *arrow.ListType:
		return arrow.ListOfField(listFields(t.Fields())[0])
	case *arrow.LargeListType:
		return arrow.LargeListOfField(listFields(t.Fields())[0])
	case *arrow.StructType:
		return arrow.StructOf(listFields(t.Fields())...)
	}
	return t
}

// convertLists returns a batch for that schema, which the caller must release.
func convertLists(schema *arrow.Schema, batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, 0, batch.NumCols())
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, c := range batch.Columns() {
		list, err := withType(c, schema.Field(i).Type)
		if err != nil {
			return nil, err
		}
		columns = append(columns, list)
	}
	return array.NewRecordBatch(schema, columns, batch.NumRows()), nil
}

// withType returns the items of an array with the type that listType returns for its type.
func withType(a arrow.Array, t arrow.DataType) (arrow.Array, error) {
	if arrow.TypeEqual(a.DataType(), t) {
		a.Retain()
		return a, nil
	}
	if fixed, ok := a.(*array.FixedSizeList); ok {
		return asList(fixed, t)
	}
	var parts []arrow.ArrayData
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	for i, p := range a.Data().Children() {
		old := array.MakeFromData(p)
		part, err := withType(old, t.(arrow.NestedType).Fields()[i].Type)
		old.Release()
		if err != nil {
			return nil, err
		}
		part.Data().Retain()
		parts = append(parts, part.Data())
		part.Release()
	}
	d := array.NewData(t, a.Len(), a.Data().Buffers(), parts, a.NullN(), a.Data().Offset())
	defer d.Release()
	return array.MakeFromData(d), nil
}

// asList returns lists of the same items. A null has none.
func asList(a *array.FixedSizeList, t arrow.DataType) (arrow.Array, error) {
	offsets := make([]int32, 1, a.Len()+1)
	valid := make([]byte, bitutil.BytesForBits(int64(a.Len()))) // a may begin within the bitmap of a larger array
	var parts []arrow.Array
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	from, to := int64(0), int64(0) // items that follow each other
	flush := func() { parts = append(parts, array.NewSlice(a.ListValues(), from, to)) }
	for i := range a.Len() {
		n := int32(0)
		if a.IsValid(i) {
			start, end := a.ValueOffsets(i)
			if start != to {
				flush()
				from = start
			}
			n, to = int32(end-start), end
			bitutil.SetBit(valid, i)
		}
		offsets = append(offsets, offsets[i]+n)
	}
	flush()
	joined, err := array.Concatenate(parts, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	defer joined.Release()
	items, err := withType(joined, t.(*arrow.ListType).Elem())
	if err != nil {
		return nil, err
	}
	defer items.Release()
	buffers := []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets))}
	d := array.NewData(t, a.Len(), buffers, []arrow.ArrayData{items.Data()}, a.NullN(), 0)
	defer d.Release()
	return array.NewListData(d), nil
}
