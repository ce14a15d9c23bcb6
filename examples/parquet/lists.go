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
	fields := schema.Fields()
	for i, f := range fields {
		if t, ok := f.Type.(*arrow.FixedSizeListType); ok {
			fields[i].Type = arrow.ListOfField(t.ElemField())
		}
	}
	return arrow.NewSchema(fields, nil)
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
		if fixed, ok := c.(*array.FixedSizeList); ok {
			list, err := asList(fixed, schema.Field(i).Type)
			if err != nil {
				return nil, err
			}
			columns = append(columns, list)
			continue
		}
		c.Retain()
		columns = append(columns, c)
	}
	return array.NewRecordBatch(schema, columns, batch.NumRows()), nil
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
	items, err := array.Concatenate(parts, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	defer items.Release()
	buffers := []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets))}
	d := array.NewData(t, a.Len(), buffers, []arrow.ArrayData{items.Data()}, a.NullN(), 0)
	defer d.Release()
	return array.NewListData(d), nil
}
