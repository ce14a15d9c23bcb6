package b2arrow

import (
	"cmp"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// allocator returns mem, or the default allocator for nil.
func allocator(mem memory.Allocator) memory.Allocator { return cmp.Or(mem, memory.DefaultAllocator) }

// newBuffer returns a buffer of n bytes. The caller must release it.
func newBuffer(mem memory.Allocator, n int) *memory.Buffer {
	b := memory.NewResizableBuffer(mem)
	b.Resize(n)
	return b
}

// mul returns a*b, or math.MaxInt64 if that is larger. Neither may be negative.
func mul(a, b int64) int64 {
	if b != 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

// newData returns data of n values and releases the buffers and children, which it refers to. validity is nil if no
// value is null.
func newData(t arrow.DataType, n int, validity *memory.Buffer, nulls int, buffers []*memory.Buffer, children ...arrow.ArrayData) arrow.ArrayData {
	all := append([]*memory.Buffer{validity}, buffers...)
	d := array.NewData(t, n, all, children, nulls, 0)
	for _, b := range all {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range children {
		c.Release()
	}
	return d
}

// emptyData returns data of no values. Package array has no builders for some types, such as dictionaries of lists.
func emptyData(t arrow.DataType) arrow.ArrayData {
	stored := t
	if e, ok := t.(arrow.ExtensionType); ok {
		stored = e.StorageType()
	}
	buffers := make([]*memory.Buffer, len(stored.Layout().Buffers))
	var children []arrow.ArrayData
	switch s := stored.(type) {
	case *arrow.DictionaryType:
		values := emptyData(s.ValueType)
		defer values.Release()
		return array.NewDataWithDictionary(t, 0, buffers, 0, 0, values.(*array.Data))
	case arrow.NestedType:
		for _, f := range s.Fields() {
			children = append(children, emptyData(f.Type))
		}
	}
	d := array.NewData(t, 0, buffers, children, 0, 0)
	for _, c := range children {
		c.Release()
	}
	return d
}

// makeArray returns the array of data, which it releases.
func makeArray(d arrow.ArrayData) arrow.Array {
	defer d.Release()
	return array.MakeFromData(d)
}

// validityOf returns the validity bitmap and the number of nulls, or nil and 0 if none is null.
func validityOf(mem memory.Allocator, nulls []bool) (*memory.Buffer, int) {
	count := 0
	for _, null := range nulls {
		if null {
			count++
		}
	}
	if count == 0 {
		return nil, 0
	}
	b := newBuffer(mem, int(bitutil.BytesForBits(int64(len(nulls)))))
	packBits(b.Bytes(), len(nulls), func(i int) bool { return !nulls[i] })
	return b, count
}

// packBits sets bit i of dst to is(i), and the bits after the last one to 0.
func packBits(dst []byte, n int, is func(i int) bool) {
	clear(dst)
	for i := range n {
		if is(i) {
			dst[i/8] |= 1 << (i % 8)
		}
	}
}

// releaseAll releases arrays.
func releaseAll(list []arrow.Array) {
	for _, a := range list {
		a.Release()
	}
}
