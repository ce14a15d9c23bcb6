package ndarray

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"
	"unicode/utf8"
	"unsafe"
)

// step moves a part of an item to a part of a Go value and back. All items of a call go through a step before the
// next one, so that what to do is found out once.
type step struct {
	kind stepKind
	path string  // of the field
	at   int     // where the part starts in the item
	to   uintptr // and in the value
	n    int     // bytes in the item
	big  bool    // the item is big-endian

	unit *timeUnit

	// of eachStep
	count     int
	itemStep  int
	valueStep uintptr
	elem      []step // of the first element
}

type stepKind uint8

const (
	copyStep     stepKind = iota // n bytes as they are
	swapStep                     // n bytes in reverse order
	boolStep                     // a byte that is 0 or not
	halfStep                     // float16, in Go a float32
	stringStep                   // bytes
	textStep                     // Unicode text
	timeStep                     // a date
	durationStep                 // a time difference
	eachStep                     // a sub-array
)

// span returns how many bytes of the item a step takes, which has no gaps there.
func (s *step) span() int {
	if s.kind == eachStep {
		return s.count * s.itemStep
	}
	return s.n
}

// valueSpan returns how many bytes of the value a step takes.
func (s *step) valueSpan() uintptr {
	switch s.kind {
	case copyStep, swapStep, boolStep:
		return uintptr(s.n)
	case eachStep:
		return uintptr(s.count) * s.valueStep
	}
	return 0
}

// values are n Go values in memory, one each step bytes. The pointer keeps them alive.
type values struct {
	p    unsafe.Pointer
	step uintptr
	n    int
}

// items are as many items, one each step bytes.
type items struct {
	b    []byte
	step int
}

// value returns where the part of value i is.
func (s *step) value(v *values, i int) unsafe.Pointer {
	return unsafe.Add(v.p, s.to+uintptr(i)*v.step)
}

// memory returns the bytes of that part.
func (s *step) memory(v *values, i int) []byte {
	return unsafe.Slice((*byte)(s.value(v, i)), s.n)
}

// item returns the bytes of the part of item i.
func (s *step) item(b *items, i int) []byte {
	at := s.at + i*b.step
	return b.b[at : at+s.n : at+s.n]
}

// badItem is the error for an item that cannot be converted.
func (s *step) badItem(i int, why string) error {
	if s.path != "" {
		return fmt.Errorf("ndarray: %w: item %d, field %q: %s", ErrValue, i, s.path, why)
	}
	return fmt.Errorf("ndarray: %w: item %d: %s", ErrValue, i, why)
}

// inner calls f for the elements of a sub-array: those of one value at a time, or those of all values at one place,
// so that each call has many. first returns the number of the value that is the first of a call.
func (s *step) inner(v values, b items, f func(v values, b items, first, each int) error) error {
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
		w := values{unsafe.Add(v.p, uintptr(i)*v.step), s.valueStep, s.count}
		if err := f(w, items{b.b[i*b.step:], s.itemStep}, i, 0); err != nil {
			return err
		}
	}
	return nil
}

// decode turns items into values. first is the number of the first item, for errors, and each 1, or 0 where all
// belong to the same item.
func decode(steps []step, v values, b items, first, each int) error {
	for k := range steps {
		s := &steps[k]
		var err error
		switch s.kind {
		case eachStep:
			err = s.inner(v, b, func(v values, b items, i, e int) error {
				return decode(s.elem, v, b, first+each*i, each*e)
			})
		case copyStep:
			s.decodeCopies(v, b)
		case swapStep:
			s.decodeSwapped(v, b)
		case boolStep:
			for i := range v.n {
				*(*bool)(s.value(&v, i)) = b.b[s.at+i*b.step] != 0
			}
		case halfStep:
			for i := range v.n {
				*(*float32)(s.value(&v, i)) = Float16(load16(s.item(&b, i), s.big)).Float32()
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

func (s *step) decodeCopies(v values, b items) {
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

func (s *step) decodeSwapped(v values, b items) {
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

// decodeChecked is for items that Go may not have a value for.
func (s *step) decodeChecked(v values, b items, first, each int) error {
	for i := range v.n {
		item, p := s.item(&b, i), s.value(&v, i)
		ok := true
		switch s.kind {
		case stringStep:
			*(*string)(p) = readString(item)
		case textStep:
			text, err := readText(item, s.big)
			if err != nil {
				return s.badItem(first+each*i, err.Error())
			}
			*(*string)(p) = text
		case timeStep:
			*(*time.Time)(p), ok = s.unit.time(int64(load64(item, s.big)))
		case durationStep:
			*(*time.Duration)(p), ok = s.unit.duration(int64(load64(item, s.big)))
		}
		if !ok {
			return s.badItem(first+each*i, fmt.Sprintf("%d %s is out of the range of %s",
				int64(load64(item, s.big)), s.unit.dtype, [...]string{timeStep: "time.Time", durationStep: "time.Duration"}[s.kind]))
		}
	}
	return nil
}

// encode turns values into items, whose bytes must be zeros.
func encode(steps []step, v values, b items, first, each int) error {
	for k := range steps {
		s := &steps[k]
		var err error
		switch s.kind {
		case eachStep:
			err = s.inner(v, b, func(v values, b items, i, e int) error {
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
				swap(item, s.n)
			}
		case halfStep:
			for i := range v.n {
				store16(s.item(&b, i), uint16(Float16Of(*(*float32)(s.value(&v, i)))), s.big)
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

// encodeChecked is for values that may not fit in an item.
func (s *step) encodeChecked(v values, b items, first, each int) error {
	for i := range v.n {
		item, p := s.item(&b, i), s.value(&v, i)
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
			store64(item, uint64(x), s.big)
		case durationStep:
			if x, ok = s.unit.ofDuration(*(*time.Duration)(p)); !ok {
				err = fmt.Errorf("%v is out of the range of %s", *(*time.Duration)(p), s.unit.dtype)
			}
			store64(item, uint64(x), s.big)
		}
		if err != nil {
			return s.badItem(first+each*i, err.Error())
		}
	}
	return nil
}

// measure puts into lengths how long the longest string of each text step is, in bytes or characters.
func measure(steps []step, v values, lengths map[string]int) {
	for k := range steps {
		s := &steps[k]
		switch s.kind {
		case eachStep:
			for i := range v.n {
				measure(s.elem, values{s.value(&v, i), s.valueStep, s.count}, lengths)
			}
		case stringStep, textStep:
			longest := 1 // as NumPy has it for empty strings alone
			for i := range v.n {
				text := *(*string)(s.value(&v, i))
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

func load16(b []byte, big bool) uint16 {
	if big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func load32(b []byte, big bool) uint32 {
	if big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func load64(b []byte, big bool) uint64 {
	if big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

func store16(b []byte, x uint16, big bool) {
	if big {
		x = bits.ReverseBytes16(x)
	}
	binary.LittleEndian.PutUint16(b, x)
}

func store32(b []byte, x uint32, big bool) {
	if big {
		x = bits.ReverseBytes32(x)
	}
	binary.LittleEndian.PutUint32(b, x)
}

func store64(b []byte, x uint64, big bool) {
	if big {
		x = bits.ReverseBytes64(x)
	}
	binary.LittleEndian.PutUint64(b, x)
}
