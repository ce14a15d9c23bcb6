package b2arrow

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// checkType returns an error if using values of a type could panic, because a parameter of the type is out of range.
// Package ipc does not check them all.
func checkType(t arrow.DataType) error {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return checkType(t.StorageType())
	case *arrow.DictionaryType:
		return checkType(t.ValueType)
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth < 0 || t.BitWidth()/8 != t.ByteWidth { // an int of 32 bits may overflow
			return corrupt("type %v", t)
		}
	case arrow.DecimalType:
		most := map[int]int32{32: 9, 64: 18, 128: 38, 256: 76}[t.BitWidth()]
		if p := t.GetPrecision(); p < 1 || p > most {
			return corrupt("type %v", t)
		}
		if s := t.GetScale(); s < -most || s > most { // valid, but text of the values may be wrong or panic
			return unsupported("Arrow streams with items of type %v", t)
		}
	case arrow.NestedType:
		for _, f := range t.Fields() {
			if err := checkType(f.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// bytesForBits returns the number of bytes of n bits. It does not overflow, unlike bitutil.BytesForBits.
func bytesForBits(n int64) int64 { return n/8 + (n%8+7)/8 }

// check returns an error if using the array of data could panic, because an offset or a length is wrong. Package ipc
// does not check them all.
func check(d arrow.ArrayData) error {
	n := int64(d.Offset()) + int64(d.Len())
	if d.Offset() < 0 || d.Len() < 0 {
		return corrupt("array of %d values at offset %d", d.Len(), d.Offset())
	}
	bitmap := bufferLen(d, 0)
	if bitmap > 0 && bitmap < bytesForBits(n) {
		return corrupt("bitmap of %d bytes for %d values", bitmap, n)
	}
	if nulls := d.NullN(); nulls > d.Len() || nulls < 0 && bitmap == 0 && n > 0 { // less than 0: counted in the bitmap
		return corrupt("%d nulls of %d values", nulls, d.Len())
	}
	switch t := d.DataType().(type) {
	case *arrow.NullType:
		return nil
	case *arrow.StringType, *arrow.BinaryType:
		return checkOffsets(d, arrow.Int32Traits.CastFromBytes, n, bufferLen(d, 2))
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return checkOffsets(d, arrow.Int64Traits.CastFromBytes, n, bufferLen(d, 2))
	case *arrow.ListType, *arrow.MapType:
		return checkList(d, arrow.Int32Traits.CastFromBytes, n)
	case *arrow.LargeListType:
		return checkList(d, arrow.Int64Traits.CastFromBytes, n)
	case *arrow.FixedSizeListType:
		return checkChildren(d, 1, mul(n, int64(t.Len())))
	case *arrow.StructType:
		return checkChildren(d, t.NumFields(), n)
	case *arrow.DictionaryType:
		return checkDictionary(d, t, n)
	case arrow.FixedWidthDataType:
		if have := bufferLen(d, 1); have < bytesForBits(mul(n, int64(t.BitWidth()))) {
			return corrupt("%d bytes for %d values of type %v", have, n, t)
		}
		return nil
	}
	return unsupported("Arrow streams with items of type %v", d.DataType())
}

// buffer returns a buffer of data, or nil if there is none.
func buffer(d arrow.ArrayData, i int) *memory.Buffer {
	if i >= len(d.Buffers()) {
		return nil
	}
	return d.Buffers()[i]
}

// bufferLen returns the number of bytes of a buffer of data, which may be missing.
func bufferLen(d arrow.ArrayData, i int) int64 {
	if b := buffer(d, i); b != nil {
		return int64(b.Len())
	}
	return 0
}

// checkOffsets checks the offsets of n values in a content of size bytes or values.
func checkOffsets[T int32 | int64](d arrow.ArrayData, cast func([]byte) []T, n, size int64) error {
	if n == 0 {
		return nil
	}
	b := buffer(d, 1)
	if b == nil {
		return corrupt("%d values without offsets", n)
	}
	offsets := cast(b.Bytes())
	if int64(len(offsets)) <= n {
		return corrupt("%d offsets for %d values", len(offsets), n)
	}
	last := T(0)
	for i, at := range offsets[:n+1] {
		if at < last || int64(at) > size {
			return corrupt("offset %d is %d after %d, in %d", i, at, last, size)
		}
		last = at
	}
	return nil
}

// checkList checks n lists.
func checkList[T int32 | int64](d arrow.ArrayData, cast func([]byte) []T, n int64) error {
	if err := checkChildren(d, 1, 0); err != nil {
		return err
	}
	return checkOffsets(d, cast, n, int64(d.Children()[0].Len()))
}

// checkChildren checks the children of data, each of which must have at least n values.
func checkChildren(d arrow.ArrayData, count int, n int64) error {
	if len(d.Children()) != count {
		return corrupt("%d children for type %v", len(d.Children()), d.DataType())
	}
	for _, c := range d.Children() {
		if int64(c.Len()) < n {
			return corrupt("%d values in a child of type %v, want %d", c.Len(), d.DataType(), n)
		}
		if err := check(c); err != nil {
			return err
		}
	}
	return nil
}
