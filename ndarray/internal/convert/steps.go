package convert

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
)

// step converts a part of an item to a part of a Go value and back. All items of a call go through a step before the
// next step, so that the kind of conversion is looked up once per call.
type step struct {
	kind stepKind
	path string  // of the field
	at   int     // offset of the part in the item
	to   uintptr // offset of the part in the value
	n    int     // bytes of the part in the item
	big  bool    // the item is big-endian

	unit *timeUnit

	// For numberStep and narrowStep.
	cast   numbers.Loop
	value  int  // bytes of the number in the value
	signed bool // the value is an int

	// For eachStep.
	count     int
	itemStep  int
	valueStep uintptr
	elem      []step // steps of the first element
}

type stepKind uint8

const (
	copyStep     stepKind = iota // n bytes, unchanged
	swapStep                     // n bytes in reverse order
	boolStep                     // one byte, true unless it is 0
	numberStep                   // a number of another type
	narrowStep                   // an integer of 64 bits, in Go an int or uint of 32 bits
	stringStep                   // bytes
	textStep                     // Unicode text
	timeStep                     // a date
	durationStep                 // a timedelta
	eachStep                     // a sub-array
)

// span returns the number of bytes of the item that a step without gaps covers.
func (s *step) span() int {
	if s.kind == eachStep {
		return s.count * s.itemStep
	}
	return s.n
}

// valueSpan returns the number of bytes of the value that a step covers.
func (s *step) valueSpan() uintptr {
	switch s.kind {
	case copyStep, swapStep, boolStep:
		return uintptr(s.n)
	case eachStep:
		return uintptr(s.count) * s.valueStep
	case numberStep:
		return uintptr(s.value)
	}
	return 0
}

// items holds items in memory, one every step bytes.
type items struct {
	b    []byte
	step int
	null func(item int) bool // see Converter.Decode
}

// isNull reports whether an item is null.
func (b *items) isNull(item int) bool { return b.null != nil && b.null(item) }

// address returns the address of the part of value i.
//
// Safe: i is below v.n, and matcher takes s.to from the offset of a field inside of the type of the value.
func (s *step) address(v *Values, i int) unsafe.Pointer {
	return unsafe.Add(v.p, s.to+uintptr(i)*v.step)
}

// memory returns the bytes of the part of value i.
//
// Safe: see address. matcher makes s.n, or s.value for numbers, the size of the part.
func (s *step) memory(v *Values, i int) []byte {
	n := s.n
	if s.value > 0 {
		n = s.value
	}
	return unsafe.Slice((*byte)(s.address(v, i)), n)
}

// memoryOf returns the bytes of the parts of all values, which must be contiguous.
//
// Safe: see address.
func (s *step) memoryOf(v *Values) []byte {
	return unsafe.Slice((*byte)(s.address(v, 0)), v.n*s.value)
}

// item returns the bytes of the part of item i.
func (s *step) item(b *items, i int) []byte {
	at := s.at + i*b.step
	return b.b[at : at+s.n : at+s.n]
}

// badItem returns the error for item i, which cannot be converted.
func (s *step) badItem(i int, why string) error {
	if s.path != "" {
		return fmt.Errorf("ndarray: %w: item %d, field %q: %s", errs.ErrValue, i, s.path, why)
	}
	return fmt.Errorf("ndarray: %w: item %d: %s", errs.ErrValue, i, why)
}

// inner calls f for the elements of sub-arrays: for element k of all values, or for all elements of one value,
// whichever are more. first is the number of the first value of a call, and each is 1 if the call has one element of
// every value, or 0 if it has all elements of one value.
//
// Safe: k is below s.count, which matcher compares with the length of the Go array, and i is below v.n. See address.
func (s *step) inner(v Values, b items, f func(v Values, b items, first, each int) error) error {
	v.p, b.b = unsafe.Add(v.p, s.to), b.b[s.at:]
	if s.count < v.n {
		for k := range s.count {
			w, c := v, b
			w.p, c.b = unsafe.Add(v.p, uintptr(k)*s.valueStep), b.b[k*s.itemStep:]
			if err := f(w, c, 0, 1); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range v.n {
		w := Values{unsafe.Add(v.p, uintptr(i)*v.step), s.valueStep, s.count}
		if err := f(w, items{b.b[i*b.step:], s.itemStep, b.null}, i, 0); err != nil {
			return err
		}
	}
	return nil
}

// decode converts items to values. first is the number of the first item, for errors. each is 1, or 0 if all parts
// belong to that item.
func decode(steps []step, v Values, b items, first, each int) error {
	for k := range steps {
		s := &steps[k]
		var err error
		switch s.kind {
		case eachStep:
			err = s.inner(v, b, func(v Values, b items, i, e int) error {
				return decode(s.elem, v, b, first+each*i, each*e)
			})
		case copyStep:
			s.decodeCopies(v, b)
		case swapStep:
			s.decodeSwapped(v, b)
		case boolStep:
			for i := range v.n {
				*(*bool)(s.address(&v, i)) = b.b[s.at+i*b.step] != 0
			}
		case numberStep:
			if b.step == s.n && v.step == uintptr(s.value) {
				s.cast.Run(s.memoryOf(&v), b.b[s.at:s.at+v.n*s.n])
				continue
			}
			for i := range v.n {
				s.cast.Run(s.memory(&v, i), s.item(&b, i))
			}
		default:
			err = s.decodeChecked(v, b, first, each)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decodeCopies copies parts that need no conversion. Parts of 4 and 8 bytes are copied as one number.
func (s *step) decodeCopies(v Values, b items) {
	n := binary.NativeEndian
	switch s.n {
	case 4:
		for i := range v.n {
			n.PutUint32(s.memory(&v, i), n.Uint32(s.item(&b, i)))
		}
	case 8:
		for i := range v.n {
			n.PutUint64(s.memory(&v, i), n.Uint64(s.item(&b, i)))
		}
	default:
		for i := range v.n {
			copy(s.memory(&v, i), s.item(&b, i))
		}
	}
}

// decodeSwapped copies numbers and reverses their bytes.
func (s *step) decodeSwapped(v Values, b items) {
	n := binary.NativeEndian
	switch s.n {
	case 2:
		for i := range v.n {
			n.PutUint16(s.memory(&v, i), bits.ReverseBytes16(n.Uint16(s.item(&b, i))))
		}
	case 4:
		for i := range v.n {
			n.PutUint32(s.memory(&v, i), bits.ReverseBytes32(n.Uint32(s.item(&b, i))))
		}
	case 8:
		for i := range v.n {
			n.PutUint64(s.memory(&v, i), bits.ReverseBytes64(n.Uint64(s.item(&b, i))))
		}
	}
}

// decodeChecked converts items that may have no Go value.
func (s *step) decodeChecked(v Values, b items, first, each int) error {
	for i := range v.n {
		item, p := s.item(&b, i), s.address(&v, i)
		ok := true
		switch s.kind {
		case stringStep:
			*(*string)(p) = readString(item)
		case textStep:
			text, err := readText(item, s.big)
			if err != nil && !b.isNull(first+each*i) {
				return s.badItem(first+each*i, err.Error())
			}
			*(*string)(p) = text
		case timeStep:
			*(*time.Time)(p), ok = s.unit.time(int64(numbers.Load64(item, s.big)))
		case durationStep:
			*(*time.Duration)(p), ok = s.unit.duration(int64(numbers.Load64(item, s.big)))
		case narrowStep:
			if !s.narrow(p, item) {
				if !b.isNull(first + each*i) {
					return s.badItem(first+each*i, "the number does not fit in 32 bits")
				}
				*(*uint)(p) = 0
			}
		}
		if !ok && !b.isNull(first+each*i) {
			return s.badItem(first+each*i, fmt.Sprintf("%d %s is out of the range of %s",
				int64(numbers.Load64(item, s.big)), s.unit.dtype, [...]string{timeStep: "time.Time", durationStep: "time.Duration"}[s.kind]))
		}
	}
	return nil
}

// narrow sets an int or uint of 32 bits to an integer. It returns false if the integer does not fit.
//
// Safe: matcher.number uses a narrowStep only for these types, which have the size and alignment of uint.
func (s *step) narrow(p unsafe.Pointer, item []byte) bool {
	var x uint64
	if s.n == 4 { // from uint32 to int
		x = uint64(numbers.Load32(item, s.big))
	} else {
		x = numbers.Load64(item, s.big)
	}
	*(*uint)(p) = uint(x)
	if s.signed {
		return int64(int(int64(x))) == int64(x)
	}
	return uint64(uint(x)) == x
}

// encode converts values to items, whose bytes must be zeros. See decode.
func encode(steps []step, v Values, b items, first, each int) error {
	for k := range steps {
		s := &steps[k]
		var err error
		switch s.kind {
		case eachStep:
			err = s.inner(v, b, func(v Values, b items, i, e int) error {
				return encode(s.elem, v, b, first+each*i, each*e)
			})
		case copyStep, boolStep:
			for i := range v.n {
				copy(s.item(&b, i), s.memory(&v, i))
			}
		case swapStep:
			for i := range v.n {
				item := s.item(&b, i)
				copy(item, s.memory(&v, i))
				numbers.Swap(item, s.n)
			}
		case numberStep:
			if b.step == s.n && v.step == uintptr(s.value) {
				s.cast.Run(b.b[s.at:s.at+v.n*s.n], s.memoryOf(&v))
				continue
			}
			for i := range v.n {
				s.cast.Run(s.item(&b, i), s.memory(&v, i))
			}
		default:
			err = s.encodeChecked(v, b, first, each)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// encodeChecked converts values that may not fit in an item.
func (s *step) encodeChecked(v Values, b items, first, each int) error {
	for i := range v.n {
		item, p := s.item(&b, i), s.address(&v, i)
		var x int64
		var err error
		ok := true
		switch s.kind {
		case stringStep:
			err = writeString(item, *(*string)(p))
		case textStep:
			err = writeText(item, *(*string)(p), s.big)
		case timeStep:
			if x, ok = s.unit.ofTime(*(*time.Time)(p)); !ok {
				err = fmt.Errorf("%v is out of the range of %s", *(*time.Time)(p), s.unit.dtype)
			}
			numbers.Store64(item, uint64(x), s.big)
		case durationStep:
			if x, ok = s.unit.ofDuration(*(*time.Duration)(p)); !ok {
				err = fmt.Errorf("%v is out of the range of %s", *(*time.Duration)(p), s.unit.dtype)
			}
			numbers.Store64(item, uint64(x), s.big)
		}
		if err != nil {
			return s.badItem(first+each*i, err.Error())
		}
	}
	return nil
}

// measure sets lengths[path] to the length of the longest string of each text step, in bytes or characters.
func measure(steps []step, v Values, lengths map[string]int) {
	for k := range steps {
		s := &steps[k]
		switch s.kind {
		case eachStep:
			for i := range v.n {
				measure(s.elem, Values{s.address(&v, i), s.valueStep, s.count}, lengths)
			}
		case stringStep, textStep:
			longest := 1 // as in NumPy, if all strings are empty
			for i := range v.n {
				text := *(*string)(s.address(&v, i))
				if n := len(text); n > longest {
					if s.kind == textStep {
						n = utf8.RuneCountInString(text)
					}
					longest = max(longest, n)
				}
			}
			lengths[s.path] = max(lengths[s.path], longest)
		}
	}
}
