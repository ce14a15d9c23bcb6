package convert

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/float16"
)

// dtypeMaker creates dtypes and matching Go types from bytes.
type dtypeMaker struct {
	choices []byte
	unused  int // bytes in gaps of items
}

// types maps the Go types of this test.
var types = Types{Float16: reflect.TypeFor[float16.Float16]()}

func (m *dtypeMaker) pick(n int) int {
	if len(m.choices) == 0 {
		return 0
	}
	c := int(m.choices[0])
	m.choices = m.choices[1:]
	return c % n
}

// simple returns a simple dtype and one of the matching Go types.
func (m *dtypeMaker) simple() (meta.DType, reflect.Type) {
	order := "<>"[m.pick(2):][:1]
	rows := []struct {
		dtype string
		value any
	}{
		{"?", true}, {"i1", int8(0)}, {order + "i2", int16(0)}, {order + "i4", int32(0)}, {order + "i8", int64(0)}, {"u1", uint8(0)},
		{order + "u2", uint16(0)}, {order + "u4", uint32(0)}, {order + "u8", uint64(0)}, {order + "f2", float16.Float16(0)}, {order + "f2", float32(0)},
		{order + "f4", float32(0)}, {order + "f8", float64(0)}, {order + "c8", complex64(0)}, {order + "c16", complex128(0)},
		{"S3", ""}, {"S", ""}, {order + "U2", ""}, {order + "M8[s]", time.Time{}}, {order + "M8[7D]", time.Time{}}, {order + "M8[M]", time.Time{}},
		{order + "M8[ps]", time.Time{}}, {order + "m8[ms]", time.Duration(0)}, {order + "m8[ns]", time.Duration(0)}, {order + "m8[fs]", time.Duration(0)},
		{order + "M8[us]", int64(0)}, {order + "m8[Y]", int64(0)}, {"V3", [3]byte{}}, {"S2", [2]byte{}}, {"V8", [8]byte{}}, {order + "f16", [16]byte{}},
	}
	row := rows[m.pick(len(rows))]
	d, err := meta.ParseDType(row.dtype)
	if err != nil {
		panic(err)
	}
	return d, reflect.TypeOf(row.value)
}

func (m *dtypeMaker) make(depth int) (meta.DType, reflect.Type) {
	switch m.pick(4 + depth) {
	case 4, 5:
		elem, t := m.make(depth - 1)
		if elem.Size == 0 {
			return m.simple()
		}
		shape := make([]int, 1+m.pick(3))
		size := elem.Size
		for i := len(shape) - 1; i >= 0; i-- {
			shape[i] = m.pick(4)
			size *= shape[i]
			t = reflect.ArrayOf(shape[i], t)
		}
		return meta.DType{Kind: 'V', Order: '|', Size: size, Elem: &elem, Shape: shape}, t
	case 3, 6:
		if depth == 0 {
			break
		}
		d := meta.DType{Kind: 'V', Order: '|', Fields: []meta.Field{}}
		var fields []reflect.StructField
		for i := range 1 + m.pick(4) {
			f, t := m.make(depth - 1)
			gap := 0
			if m.pick(3) == 0 {
				gap = m.pick(5)
			}
			name := string(rune('a' + i))
			d.Fields = append(d.Fields, meta.Field{Name: name, Offset: d.Size + gap, Type: f})
			d.Size += gap + f.Size
			m.unused += gap
			fields = append(fields, reflect.StructField{Name: strings.ToUpper(name), Type: t, Tag: reflect.StructTag(`b2:"` + name + `"`)})
		}
		if m.pick(2) == 0 { // in another order
			for i := len(fields) - 1; i > 0; i-- {
				j := m.pick(i + 1)
				fields[i], fields[j] = fields[j], fields[i]
			}
		}
		return d, reflect.StructOf(fields)
	}
	return m.simple()
}

// naiveValue sets v to the value of an item by reflection. It returns false if v cannot hold the item.
func naiveValue(d meta.DType, item []byte, v reflect.Value) bool {
	switch {
	case d.Fields != nil:
		for _, f := range d.Fields {
			if !naiveValue(f.Type, item[f.Offset:f.Offset+f.Type.Size], v.FieldByName(strings.ToUpper(f.Name))) {
				return false
			}
		}
		return true
	case d.Elem != nil:
		inner := *d.Elem
		if len(d.Shape) > 1 {
			inner.Elem, inner.Shape, inner.Fields, inner.Size = d.Elem, d.Shape[1:], nil, d.Elem.Size
			for _, n := range d.Shape[1:] {
				inner.Size *= n
			}
		}
		for i := range v.Len() {
			if !naiveValue(inner, item[i*inner.Size:(i+1)*inner.Size], v.Index(i)) {
				return false
			}
		}
		return true
	case v.Kind() == reflect.Array:
		reflect.Copy(v, reflect.ValueOf(item))
		return true
	case v.Kind() == reflect.String && d.Kind == 'S':
		v.SetString(strings.TrimRight(string(item), "\x00"))
		return true
	}
	var order binary.ByteOrder = binary.LittleEndian
	if d.Order == '>' {
		order = binary.BigEndian
	}
	if d.Kind == 'U' {
		var text []rune
		for i := 0; i < len(item); i += 4 {
			c := order.Uint32(item[i:])
			if c >= 0xd800 && c < 0xe000 || c > 0x10ffff {
				return false
			}
			text = append(text, rune(c))
		}
		v.SetString(strings.TrimRight(string(text), "\x00"))
		return true
	}
	var x uint64
	for i, b := range item[:min(8, len(item))] {
		if d.Order == '>' {
			x = x<<8 | uint64(b)
		} else {
			x |= uint64(b) << (8 * i)
		}
	}
	return naiveNumber(d, item, x, order, v)
}

func naiveNumber(d meta.DType, item []byte, x uint64, order binary.ByteOrder, v reflect.Value) bool {
	signed := int64(x<<(64-8*min(8, len(item)))) >> (64 - 8*min(8, len(item)))
	switch p := v.Addr().Interface().(type) {
	case *bool:
		*p = x != 0
	case *float16.Float16:
		*p = float16.Float16(x)
	case *float32:
		if *p = math.Float32frombits(uint32(x)); d.Size == 2 {
			*p = float16.Float16(x).Float32()
		}
	case *float64:
		*p = math.Float64frombits(x)
	case *complex64:
		*p = complex(math.Float32frombits(order.Uint32(item)), math.Float32frombits(order.Uint32(item[4:])))
	case *complex128:
		*p = complex(math.Float64frombits(x), math.Float64frombits(order.Uint64(item[8:])))
	case *time.Time:
		u, _ := timeUnitOf(d)
		t, ok := u.time(signed)
		*p = t
		return ok
	case *time.Duration:
		nanos := map[string]string{"ms": "1000000", "ns": "1", "fs": "1/1000000"}[d.Unit]
		if signed == NaT {
			*p = NaT
			return true
		}
		n, _ := new(big.Rat).SetString(nanos)
		n.Mul(n, new(big.Rat).SetInt64(signed))
		whole := new(big.Int).Div(n.Num(), n.Denom())
		*p = time.Duration(whole.Int64())
		return whole.IsInt64()
	default:
		if v.CanInt() {
			v.SetInt(signed)
		} else {
			v.SetUint(x)
		}
	}
	return true
}

// checkMatch decodes items of a random dtype, compares them with naiveValue, and encodes them again.
func checkMatch(t *testing.T, choices, content []byte) {
	m := dtypeMaker{choices: choices}
	d, gt := m.make(3)
	if d.Size == 0 || d.Size > 1<<12 || gt.Size() > 1<<12 || len(content) == 0 {
		return
	}
	r := matcher{types: types}
	steps, err := r.match("", d, gt, 0, 0)
	if err != nil || r.missing != "" {
		t.Fatalf("%v and %v: %v, missing %q", d, gt, err, r.missing)
	}
	n := 1 + len(content)%5
	raw := bytes.Repeat(content, n*d.Size/len(content)+1)[:n*d.Size]
	got, want := reflect.MakeSlice(reflect.SliceOf(gt), n, n), reflect.New(gt).Elem()
	v := Values{got.UnsafePointer(), gt.Size(), n}
	err = decode(steps, v, items{b: raw, step: d.Size}, 0, 1)
	for i := range n {
		if !naiveValue(d, raw[i*d.Size:(i+1)*d.Size], want) {
			if !errors.Is(err, errs.ErrValue) || !strings.Contains(err.Error(), "item ") {
				t.Fatalf("%v: item %x: %v", d, raw[i*d.Size:(i+1)*d.Size], err)
			}
			return
		}
	}
	if err != nil {
		t.Fatalf("%v: %x: %v", d, raw, err)
	}
	for i := range n {
		naiveValue(d, raw[i*d.Size:(i+1)*d.Size], want)
		// NaNs differ from themselves, so compare the text. Encoding compares the bits.
		if have := got.Index(i); fmt.Sprint(have.Interface()) != fmt.Sprint(want.Interface()) {
			t.Fatalf("%v: item %x is %v, want %v", d, raw[i*d.Size:(i+1)*d.Size], have, want)
		}
	}
	w := matcher{types: types, way: Writing}
	if steps, err = w.match("", d, gt, 0, 0); errors.Is(err, errs.ErrType) && strings.Contains(err.Error(), "convert the values") {
		return // a float32 was read from a float16
	}
	if err != nil {
		t.Fatalf("%v and %v: %v", d, gt, err)
	}
	encoded := make([]byte, n*d.Size)
	if err := encode(steps, v, items{b: encoded, step: d.Size}, 0, 1); err != nil {
		// Only a rounded value may be out of range.
		if !strings.Contains(d.String(), "[ps]") && !strings.Contains(d.String(), "[fs]") {
			t.Fatalf("%v: %v", d, err)
		}
		return
	}
	again := reflect.MakeSlice(reflect.SliceOf(gt), n, n)
	if err := decode(steps, Values{again.UnsafePointer(), gt.Size(), n}, items{b: encoded, step: d.Size}, 0, 1); err != nil {
		t.Fatalf("%v: %v", d, err)
	}
	if fmt.Sprint(got.Interface()) != fmt.Sprint(again.Interface()) {
		t.Fatalf("%v: %v, encoded and decoded, is %v", d, got, again)
	}
	if text := d.String(); m.unused == 0 && text != "|b1" && !strings.ContainsAny(text, "?SUMm") && !bytes.Equal(raw, encoded) {
		t.Fatalf("%v: %x, decoded and encoded, is %x", d, raw, encoded)
	}
}

// TestMatchRandom converts items of random dtypes.
func TestMatchRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		choices, content := make([]byte, 60), make([]byte, 1+rng.IntN(400))
		for i := range choices {
			choices[i] = byte(rng.Uint32())
		}
		for i := range content {
			if content[i] = byte(rng.Uint32()); rng.IntN(2) == 0 {
				content[i] &= 1
			}
		}
		checkMatch(t, choices, content)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add([]byte{3, 1, 2, 3}, []byte("content"))
	f.Add([]byte{4, 4, 1, 2, 30, 20}, []byte{0, 0, 1})
	f.Add([]byte{6, 3, 0, 0, 17, 1, 1, 0, 0, 18}, []byte{0})
	f.Fuzz(checkMatch)
}
