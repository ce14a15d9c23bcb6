package b2arrow

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// items are values of a dtype that can be read.
type items struct {
	typ   arrow.DataType // see typeOfDType
	dtype meta.DType
	n     int64                                       // number of values
	check func(n int64) error                         // returns an error if too few bytes are stored for n bytes
	read  func(ctx context.Context, dst []byte) error // reads all values, as they are stored

	// Of the rows of a column; zero for other values.
	row   int64  // number of the first row
	per   int    // values of each row
	nulls []bool // of each row; nil if none is null
}

// isNull reports whether value i is of a row that is null.
func (s *items) isNull(i int) bool { return s.nulls != nil && s.nulls[i/s.per] }

// name returns the name of value i in errors.
func (s *items) name(i int) string {
	switch s.per {
	case 0:
		return fmt.Sprintf("item %d", i)
	case 1:
		return fmt.Sprintf("row %d", s.row+int64(i))
	}
	return fmt.Sprintf("row %d, element %d", s.row+int64(i/s.per), i%s.per)
}

// size returns the number of bytes of the values. It returns an error if they are too many.
func (s *items) size() (int, error) {
	n := mul(s.n, int64(s.dtype.Size))
	if mul(n, 2) > math.MaxInt-64 || mul(s.n, 16) > math.MaxInt {
		return 0, tooLarge("%d items of %d bytes", s.n, s.dtype.Size)
	}
	return int(n), s.check(n)
}

// buffer returns the values as they are stored, except for the byte order. They are read into the buffer.
func (s *items) buffer(ctx context.Context, mem memory.Allocator) (*memory.Buffer, error) {
	n, err := s.size()
	if err != nil {
		return nil, err
	}
	b := newBuffer(mem, n)
	if err := s.read(ctx, b.Bytes()); err != nil {
		b.Release()
		return nil, err
	}
	if s.foreign() {
		size := s.dtype.Size
		if s.dtype.Kind == 'c' {
			size /= 2
		}
		for item := range slices.Chunk(b.Bytes(), size) {
			slices.Reverse(item)
		}
	}
	return b, nil
}

// foreign reports whether the values are not in the byte order of the machine.
func (s *items) foreign() bool {
	native := byte('<')
	if endian.IsBigEndian {
		native = '>'
	}
	return s.dtype.Order != '|' && s.dtype.Order != native && s.dtype.Size > 1
}

// scratch returns the values as they are stored, in memory that is not part of the result.
func (s *items) scratch(ctx context.Context) ([]byte, error) {
	n, err := s.size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	return b, s.read(ctx, b)
}

// data reads the values. nulls is nil if none is null.
func (s *items) data(ctx context.Context, mem memory.Allocator, nulls []bool) (arrow.ArrayData, error) {
	switch s.typ.ID() {
	case arrow.BOOL:
		return s.bools(ctx, mem, nulls)
	case arrow.STRING:
		return s.texts(ctx, mem, nulls)
	case arrow.LARGE_BINARY:
		return s.binaries(ctx, mem, nulls)
	}
	b, err := s.buffer(ctx, mem)
	if err != nil {
		return nil, err
	}
	n := int(s.n)
	switch s.typ.ID() {
	case arrow.TIMESTAMP, arrow.DURATION:
		nulls = withNaT(arrow.Int64Traits.CastFromBytes(b.Bytes()), nulls)
	case arrow.FIXED_SIZE_LIST: // complex numbers: the real and the imaginary part
		parts := newData(s.typ.(*arrow.FixedSizeListType).Elem(), 2*n, nil, 0, []*memory.Buffer{b})
		validity, count := validityOf(mem, nulls)
		return newData(s.typ, n, validity, count, nil, parts), nil
	}
	validity, count := validityOf(mem, nulls)
	return newData(s.typ, n, validity, count, []*memory.Buffer{b}), nil
}

// withNaT returns nulls with the times that are NaT.
func withNaT(times []int64, nulls []bool) []bool {
	for i, t := range times {
		if t == ndarray.NaT {
			if nulls == nil {
				nulls = make([]bool, len(times))
			}
			nulls[i] = true
		}
	}
	return nulls
}

// bools reads booleans, of which Arrow stores one in a bit. A column with a value for null stores them as numbers, of
// which 1 is true.
func (s *items) bools(ctx context.Context, mem memory.Allocator, nulls []bool) (arrow.ArrayData, error) {
	values, err := s.scratch(ctx)
	if err != nil {
		return nil, err
	}
	b := newBuffer(mem, int(bitutil.BytesForBits(s.n)))
	if s.dtype.Kind == 'b' {
		packBits(b.Bytes(), len(values), func(i int) bool { return values[i] != 0 })
	} else {
		packBits(b.Bytes(), len(values), func(i int) bool { return values[i] == 1 })
	}
	validity, count := validityOf(mem, nulls)
	return newData(s.typ, int(s.n), validity, count, []*memory.Buffer{b}), nil
}

// item returns value i. Values without bytes are possible.
func (s *items) item(values []byte, i int) []byte {
	return values[i*s.dtype.Size : (i+1)*s.dtype.Size]
}

// binaries reads bytes without trailing zeros.
func (s *items) binaries(ctx context.Context, mem memory.Allocator, nulls []bool) (arrow.ArrayData, error) {
	values, err := s.scratch(ctx)
	if err != nil {
		return nil, err
	}
	n := int(s.n)
	offsets := newBuffer(mem, (n+1)*arrow.Int64SizeBytes)
	ends := arrow.Int64Traits.CastFromBytes(offsets.Bytes())
	ends[0] = 0
	for i := range n {
		ends[i+1] = ends[i] + int64(len(bytes.TrimRight(s.item(values, i), "\x00")))
	}
	data := newBuffer(mem, int(ends[n]))
	for i := range n {
		copy(data.Bytes()[ends[i]:ends[i+1]], s.item(values, i))
	}
	validity, count := validityOf(mem, nulls)
	return newData(s.typ, n, validity, count, []*memory.Buffer{offsets, data}), nil
}

// texts reads text of four bytes per character without trailing zeros. The text of a null is empty.
func (s *items) texts(ctx context.Context, mem memory.Allocator, nulls []bool) (arrow.ArrayData, error) {
	values, err := s.scratch(ctx)
	if err != nil {
		return nil, err
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if s.dtype.Order == '>' {
		order = binary.BigEndian
	}
	n, end := int(s.n), int64(0)
	offsets := newBuffer(mem, (n+1)*arrow.Int32SizeBytes)
	ends := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	ends[0] = 0
	for i := range n {
		if s.isNull(i) {
			clear(s.item(values, i)) // it may hold anything
		}
		for c := range characters(s.item(values, i), order) {
			length := utf8.RuneLen(c)
			if length < 0 {
				offsets.Release()
				return nil, corrupt("%s: %#x is no character", s.name(i), uint32(c))
			}
			end += int64(length)
		}
		if end > math.MaxInt32 {
			offsets.Release()
			return nil, tooLarge("more than 2 GiB of text: read fewer rows")
		}
		ends[i+1] = int32(end)
	}
	data := newBuffer(mem, int(end))
	text := data.Bytes()[:0]
	for i := range n {
		for c := range characters(s.item(values, i), order) {
			text = utf8.AppendRune(text, c)
		}
	}
	validity, count := validityOf(mem, nulls)
	return newData(s.typ, n, validity, count, []*memory.Buffer{offsets, data}), nil
}

// characters returns the characters of an item without trailing zeros.
func characters(item []byte, order binary.ByteOrder) func(yield func(rune) bool) {
	return func(yield func(rune) bool) {
		end := (len(bytes.TrimRight(item, "\x00")) + 3) / 4 * 4
		for i := 0; i+4 <= min(end, len(item)); i += 4 {
			if !yield(rune(order.Uint32(item[i:]))) {
				return
			}
		}
	}
}
