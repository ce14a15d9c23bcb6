package meta

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ParseDType reads a dtype in the form stored in an array record, or in a form that users type:
//
//	<i4  >f8  |b1  |S5  <U3  |V5  <M8[ns]  <m8[25s]         as dtype.str prints them
//	i4  ?  d  =f4  int32  float64  complex128  datetime64[D]  native order is little-endian
//	[('a', '<i4'), ('b', '<f8', (2, 3))]                    structured dtype, packed
//	[(('title', 'name'), '<i2'), ('c', [('x', '<f4')])]     with a title; nested
//	{'names': ['a', 'b'], 'formats': ['i1', '<f8'],         structured dtype with any of 'offsets', 'titles',
//	 'offsets': [0, 8], 'itemsize': 16, 'aligned': True}    'itemsize' and 'aligned'
//	('<i4', (2, 3))                                         sub-array
//
// The rules are NumPy's. A field without a name is called f and its number. Names and titles are unique. "int" and
// "long" have 64 bits. The structured dtypes inside an aligned one are aligned too. An empty title is the same as no
// title.
//
// The error wraps ErrType if s is not a dtype, and errors.ErrUnsupported for a dtype of NumPy without a fixed meaning
// (g, G, StringDType). It wraps ErrTooLarge for text longer than MaxDTypeText, nesting deeper than MaxDTypeDepth, or an
// item larger than 2^31-1 bytes. After any of these errors a reader can treat items as raw bytes.
func ParseDType(s string) (DType, error) {
	if len(s) > MaxDTypeText {
		return DType{}, fmt.Errorf("meta: dtype of %d bytes of text: %w", len(s), ErrTooLarge)
	}
	if s == "" || strings.IndexByte(" \t[({", s[0]) < 0 {
		return parseSimple(s)
	}
	if !utf8.ValidString(s) {
		return DType{}, fmt.Errorf("meta: dtype %s: not UTF-8: %w", clip(s), ErrType)
	}
	v, err := parseLiteral(s)
	if err != nil {
		return DType{}, fmt.Errorf("meta: dtype %s: %w: %w", clip(s), err, ErrType)
	}
	d, err := dtypeOf(v, false, 0)
	if err != nil {
		return DType{}, fmt.Errorf("meta: dtype %s: %w", clip(s), err)
	}
	d.Elem.unalign()
	return d, nil
}

// dtypeOf converts a literal. aligned is inherited from the enclosing structured dtype.
func dtypeOf(v literal, aligned bool, depth int) (DType, error) {
	if depth > MaxDTypeDepth {
		return DType{}, fmt.Errorf("more than %d levels of nesting: %w", MaxDTypeDepth, ErrTooLarge)
	}
	switch v.kind {
	case litStr:
		return parseSimple(v.str)
	case litList:
		return structOfList(v.items, aligned, depth)
	case litDict:
		return structOfDict(v.items, aligned, depth)
	case litTuple:
		if len(v.items) == 2 {
			elem, err := dtypeOf(v.items[0], aligned, depth+1)
			if err != nil {
				return DType{}, err
			}
			return subArray(elem, v.items[1])
		}
	}
	return DType{}, fmt.Errorf("not a string, list, dictionary or pair: %w", ErrType)
}

// subArray makes a sub-array of elem. shape is an integer or a sequence of integers. If it is empty, subArray returns
// elem.
func subArray(elem DType, shape literal) (DType, error) {
	dims := []literal{shape}
	if shape.kind == litTuple || shape.kind == litList {
		dims = shape.items
	}
	if shape.kind == litInt && elem.Size == 0 && strings.IndexByte("SUV", elem.Kind) >= 0 && elem.simpleType() {
		return parseSimple(fmt.Sprintf("%c%c%d", elem.Order, elem.Kind, shape.num)) // ('S', 10) is S10
	}
	if elem.Size == 0 && elem.Fields == nil {
		return DType{}, fmt.Errorf("sub-array of items of 0 bytes: %w", ErrType)
	}
	if len(dims) == 0 {
		return elem, nil
	}
	if len(dims) > maxSubDims {
		return DType{}, fmt.Errorf("sub-array of %d dimensions: %w", len(dims), ErrTooLarge)
	}
	d := DType{Kind: 'V', Order: '|', Elem: &elem, Shape: make([]int, len(dims))}
	sizes := make([]int64, len(dims))
	for i, n := range dims {
		if n.kind != litInt || n.num < 0 {
			return DType{}, fmt.Errorf("dimension of a sub-array is not an integer from 0 up: %w", ErrType)
		}
		if n.num > maxDTypeSize {
			return DType{}, fmt.Errorf("sub-array dimension of %d: %w", n.num, ErrTooLarge)
		}
		d.Shape[i], sizes[i] = int(n.num), n.num
	}
	_, ok := product(sizes, 1, maxDTypeSize)
	size, fits := product(sizes, int64(elem.Size), maxDTypeSize)
	if !ok || !fits {
		return DType{}, fmt.Errorf("sub-array of shape %v with elements of %d bytes: %w", d.Shape, elem.Size, ErrTooLarge)
	}
	d.Size = int(size)
	return d, nil
}

// structOfList converts [(name, type), (name, type, shape), ...].
func structOfList(items []literal, aligned bool, depth int) (DType, error) {
	s := newStruct(len(items), aligned)
	for i, item := range items {
		if item.kind != litTuple || len(item.items) < 2 || len(item.items) > 3 {
			return DType{}, fmt.Errorf("field %d is not a pair or triple: %w", i, ErrType)
		}
		name := item.items[0]
		var title literal
		if name.kind == litTuple && len(name.items) == 2 {
			title, name = name.items[0], name.items[1]
		}
		t, err := dtypeOf(item.items[1], aligned, depth+1)
		if err == nil && len(item.items) == 3 {
			t, err = subArray(t, item.items[2])
		}
		if err != nil {
			return DType{}, err
		}
		if name.kind == litStr && name.str == "" && title.kind == litNone {
			name.str = fmt.Sprintf("f%d", i)
		} else if name.str == "" {
			return DType{}, fmt.Errorf("field %d has no name: %w", i, ErrType)
		}
		if err := s.add(name, title, t, -1); err != nil {
			return DType{}, err
		}
	}
	return s.finish(-1)
}

// structOfDict converts {'names': [...], 'formats': [...], ...}. Other keys are ignored, as in NumPy.
func structOfDict(items []literal, aligned bool, depth int) (DType, error) {
	entry := map[string]literal{}
	for i := 0; i < len(items); i += 2 {
		if items[i].kind == litStr {
			entry[items[i].str] = items[i+1] // the last value of a key counts, as in Python
		}
	}
	column := func(key string) (list []literal, given bool, err error) {
		v, given := entry[key]
		if given && v.kind != litList && v.kind != litTuple || !given && (key == "names" || key == "formats") {
			return nil, false, fmt.Errorf("%q is not a list: %w", key, ErrType)
		}
		return v.items, given, nil
	}
	names, _, err := column("names")
	if err != nil {
		return DType{}, err
	}
	var columns [3][]literal
	for i, key := range []string{"formats", "offsets", "titles"} {
		list, given, err := column(key)
		if err != nil {
			return DType{}, err
		}
		if given && len(list) != len(names) {
			return DType{}, fmt.Errorf("%d names and %d %s: %w", len(names), len(list), key, ErrType)
		}
		columns[i] = list
	}
	formats, offsets, titles := columns[0], columns[1], columns[2]
	if v, ok := entry["aligned"]; ok && v.kind != litTrue && v.kind != litFalse {
		return DType{}, fmt.Errorf("'aligned' is neither True nor False: %w", ErrType)
	} else if v.kind == litTrue {
		aligned = true
	}
	itemSize := int64(-1)
	if v, ok := entry["itemsize"]; ok {
		if v.kind != litInt || v.num < 0 {
			return DType{}, fmt.Errorf("'itemsize' is not an integer from 0 up: %w", ErrType)
		}
		itemSize = v.num
	}
	s := newStruct(len(names), aligned)
	for i, name := range names {
		t, err := dtypeOf(formats[i], aligned, depth+1)
		if err != nil {
			return DType{}, err
		}
		var title literal
		if titles != nil {
			title = titles[i]
		}
		offset := int64(-1)
		if offsets != nil {
			if offsets[i].kind != litInt || offsets[i].num < 0 {
				return DType{}, fmt.Errorf("offset of field %d is not an integer from 0 up: %w", i, ErrType)
			}
			offset = offsets[i].num
		}
		if err := s.add(name, title, t, offset); err != nil {
			return DType{}, err
		}
	}
	return s.finish(itemSize)
}

// structBuilder lays out fields.
type structBuilder struct {
	d     DType
	next  int64 // offset of the next field, before alignment
	size  int64 // largest end of a field
	align int64
	used  map[string]bool // names and titles
}

func newStruct(n int, aligned bool) *structBuilder {
	return &structBuilder{
		d:     DType{Kind: 'V', Order: '|', Fields: make([]Field, 0, n), Aligned: aligned},
		align: 1,
		used:  make(map[string]bool, n),
	}
}

// add appends a field. With offset -1 it follows the previous field.
func (s *structBuilder) add(name, title literal, t DType, offset int64) error {
	if name.kind != litStr || title.kind != litStr && title.kind != litNone {
		return fmt.Errorf("name or title of field %d is not a string: %w", len(s.d.Fields), ErrType)
	}
	if s.used[name.str] || title.str != "" && (s.used[title.str] || title.str == name.str) {
		return fmt.Errorf("field %d: name %q or title %q is already used: %w", len(s.d.Fields), name.str, title.str, ErrType)
	}
	s.used[name.str] = true
	if title.str != "" {
		s.used[title.str] = true
	}
	align := int64(1)
	if !s.d.Aligned {
		t.unalign()
	} else {
		align = int64(t.alignment())
		s.align = max(s.align, align)
	}
	if offset < 0 {
		offset = ceilDiv(s.next, align) * align
	}
	if offset%align != 0 {
		return fmt.Errorf("offset %d of field %q is not a multiple of %d: %w", offset, name.str, align, ErrType)
	}
	if offset > maxDTypeSize-int64(t.Size) {
		return fmt.Errorf("field %q of %d bytes at %d: %w", name.str, t.Size, offset, ErrTooLarge)
	}
	s.next = offset + int64(t.Size)
	s.size = max(s.size, s.next)
	s.d.Fields = append(s.d.Fields, Field{Name: name.str, Title: title.str, Offset: int(offset), Type: t})
	return nil
}

// finish returns the structured dtype. With size -1 it is as small as its fields allow.
func (s *structBuilder) finish(size int64) (DType, error) {
	least := s.size
	if size < 0 {
		size = ceilDiv(least, s.align) * s.align
	}
	if size < least || size%s.align != 0 {
		return DType{}, fmt.Errorf("item of %d bytes, want at least %d and a multiple of %d: %w", size, least, s.align, ErrType)
	}
	if size > maxDTypeSize {
		return DType{}, fmt.Errorf("item of %d bytes: %w", size, ErrTooLarge)
	}
	s.d.Size = int(size)
	return s.d, nil
}

// unalign clears Aligned of a dtype that is not inside an aligned structured dtype, and of all dtypes inside it. The
// layout does not change. NumPy keeps the marks but does not print them.
func (d *DType) unalign() {
	if d == nil {
		return
	}
	d.Aligned = false
	d.Elem.unalign()
	for i := range d.Fields {
		d.Fields[i].Type.unalign()
	}
}

// alignment returns the alignment in bytes that NumPy uses on 64-bit machines.
func (d DType) alignment() int {
	switch {
	case d.Elem != nil:
		return d.Elem.alignment()
	case d.Fields != nil:
		align := 1
		if d.Aligned {
			for _, f := range d.Fields {
				align = max(align, f.Type.alignment())
			}
		}
		return align
	case d.Kind == 'c':
		return d.Size / 2
	case d.Kind == 'U':
		return 4
	case d.Kind == 'S' || d.Kind == 'V':
		return 1
	}
	return max(d.Size, 1)
}
