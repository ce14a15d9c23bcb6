package meta

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// valueRow is a line of testdata/values.tsv: a value and the bytes that Python's msgpack writes.
type valueRow struct {
	value any
	bytes []byte
}

func valueRows(t testing.TB) []valueRow {
	t.Helper()
	text, err := os.ReadFile("testdata/values.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var rows []valueRow
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		typed, code, _ := strings.Cut(strings.TrimSpace(line), "\t")
		var v []any
		if err := json.Unmarshal([]byte(typed), &v); err != nil {
			t.Fatalf("%s: %v", typed, err)
		}
		rows = append(rows, valueRow{valueOf(t, v), unhex(t, code)})
	}
	if len(rows) < 300 {
		t.Fatalf("%d values", len(rows))
	}
	return rows
}

// valueOf converts the typed JSON of values.tsv. Maps become Map.
func valueOf(t testing.TB, v []any) any {
	switch v[0] {
	case "nil":
		return nil
	case "int":
		if n, err := strconv.ParseInt(v[1].(string), 10, 64); err == nil {
			return n
		}
		n, err := strconv.ParseUint(v[1].(string), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	case "float":
		return math.Float64frombits(binary.BigEndian.Uint64(unhex(t, v[1].(string))))
	case "bin":
		return unhex(t, v[1].(string))
	case "ext":
		return Ext{Type: int8(v[1].(float64)), Data: unhex(t, v[2].(string))}
	case "list", "tuple":
		list := make([]any, 0)
		for _, x := range v[1].([]any) {
			list = append(list, valueOf(t, x.([]any)))
		}
		if v[0] == "tuple" {
			return Tuple(list)
		}
		return list
	case "map":
		m := Map{}
		for _, x := range v[1].([]any) {
			entry := x.([]any)
			m = append(m, Entry{valueOf(t, entry[0].([]any)), valueOf(t, entry[1].([]any))})
		}
		return m
	}
	return v[1] // bool, str
}

func TestValuesAgainstPython(t *testing.T) {
	for _, row := range valueRows(t) {
		if b, err := Marshal(row.value); err != nil || !bytes.Equal(b, row.bytes) {
			t.Errorf("%v: %x, %v, want %x", row.value, b, err, row.bytes)
		}
		// With a Map as target, maps keep their order, so that values can be compared.
		wrapped, err := Marshal(Map{{"x", row.value}})
		if err != nil {
			t.Fatal(err)
		}
		var m Map
		if err := Unmarshal(wrapped, &m); err != nil || !reflect.DeepEqual(m, Map{{"x", row.value}}) {
			t.Errorf("%x: %#v, %v, want %#v", row.bytes, m, err, row.value)
		}
		var x any
		if err := Unmarshal(row.bytes, &x); err != nil || !reflect.DeepEqual(x, natural(row.value)) {
			t.Errorf("%x: %#v, %v, want %#v", row.bytes, x, err, row.value)
		}
	}
}

// The test reads metalayers that python-blosc2 wrote, and compares them with the values it stored.
func TestPythonMetalayers(t *testing.T) {
	for _, c := range []struct {
		hex  string
		want any
	}{
		{"a766697874757265", "fixture"},
		{"82a5616c70686101a46265746192cb3ff800000000000002", map[string]any{"alpha": int64(1), "beta": []any{1.5, int64(2)}}},
		{"a668c3a96c6c6f", "héllo"},
		{"fb", int64(-5)},
		{"cb4004000000000000", 2.5},
		{"9501a374776fcb4008000000000000c0c3", []any{int64(1), "two", 3.0, nil, true}},
		{"81a16b920102", map[string]any{"k": []any{int64(1), int64(2)}}},
		{"cd012c", int64(300)},
		{"94a95f5f7475706c655f5fa56e756d707992a95f5f7475706c655f5f0aa33c6938", Tuple{"numpy", Tuple{int64(10)}, "<i8"}},
	} {
		var x any
		if err := Unmarshal(unhex(t, c.hex), &x); err != nil || !reflect.DeepEqual(x, c.want) {
			t.Errorf("%s: %#v, %v, want %#v", c.hex, x, err, c.want)
		}
		if b, err := Marshal(x); err != nil || hex.EncodeToString(b) != c.hex {
			t.Errorf("%#v: %x, %v, want %s", x, b, err, c.hex)
		}
	}
}

type inner struct {
	A int    `msgpack:"a"`
	B []byte `msgpack:"b,omitempty"`
}

type outer struct {
	Name   string
	Shape  [2]int32          `msgpack:"shape"`
	Ratio  float32           `msgpack:"ratio"`
	Tags   map[string]uint16 `msgpack:"tags,omitempty"`
	In     *inner            `msgpack:"in"`
	List   []inner           `msgpack:"list,omitempty"`
	Any    any               `msgpack:"any"`
	Skip   func()            `msgpack:"-"`
	Sum    [3]byte           `msgpack:"sum"`
	hidden int
}

func TestGoTypes(t *testing.T) {
	type text string
	type code uint8
	p := new(int)
	*p = 7
	for _, c := range []struct {
		value any
		want  any // Unmarshal of the bytes into an any
	}{
		{int8(-3), int64(-3)}, {uint64(1 << 63), uint64(1 << 63)}, {float32(0.5), 0.5}, {text("x"), "x"}, {p, int64(7)}, {&p, int64(7)},
		{[]int{1, 2}, []any{int64(1), int64(2)}}, {[2]bool{true, false}, []any{true, false}}, {[]byte{1}, []byte{1}}, {[3]byte{1, 2, 3}, []byte{1, 2, 3}},
		{[]code{4, 5}, []byte{4, 5}}, {[]any(nil), nil}, {[]byte(nil), nil}, {Tuple(nil), nil}, {Map(nil), nil}, {map[string]int(nil), nil}, {(*int)(nil), nil},
		{[]any{}, []any{}}, {Tuple{}, Tuple{}}, {Map{}, map[string]any{}}, {[]byte{}, []byte{}}, {struct{}{}, map[string]any{}},
		{map[string]int{"b": 1, "a": 2}, map[string]any{"a": int64(2), "b": int64(1)}},
		{map[int]string{-1: "x"}, Map{{int64(-1), "x"}}}, {map[any]any{"s": 1, 2: "t"}, Map{{int64(2), "t"}, {"s", int64(1)}}},
		{Map{{"a", 1}, {"a", 2}}, map[string]any{"a": int64(2)}}, {[]any{map[string]any{"t": Tuple{1}}}, []any{map[string]any{"t": Tuple{int64(1)}}}},
		{inner{A: 1}, map[string]any{"a": int64(1)}}, {&inner{A: 1, B: []byte{2}}, map[string]any{"a": int64(1), "b": []byte{2}}},
		{Ext{ExtRef, []byte{1, 2, 3}}, Ext{43, []byte{1, 2, 3}}}, {[]Ext{{-1, []byte{}}}, []any{Ext{-1, []byte{}}}},
	} {
		b, err := Marshal(c.value)
		if err != nil {
			t.Errorf("%#v: %v", c.value, err)
			continue
		}
		var got any
		if err := Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%#v: %x gave %#v, %v, want %#v", c.value, b, got, err, c.want)
		}
		back := reflect.New(reflect.TypeOf(c.value)).Interface()
		if err := Unmarshal(b, back); err != nil {
			t.Errorf("%x into %T: %v", b, back, err)
		}
	}
	in := outer{Name: "n", Shape: [2]int32{3, -4}, Ratio: 0.25, Tags: map[string]uint16{"x": 1, "y": 65535}, In: &inner{A: 5},
		List: []inner{{A: 1}, {A: 2, B: []byte("b")}}, Any: Tuple{"t", int64(1)}, Sum: [3]byte{9, 8, 7}, hidden: 1}
	b, err := Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("hidden")) || bytes.Contains(b, []byte("Skip")) {
		t.Errorf("%q has fields that are not exported or left out", b)
	}
	in.hidden = 0
	var out outer
	if err := Unmarshal(b, &out); err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("%+v, %v, want %+v", out, err, in)
	}
}

func TestMarshalIsDeterministic(t *testing.T) {
	ints, names := map[int]int{}, map[string]any{}
	for i := range 100 {
		ints[i*7%100-50] = i
		names[fmt.Sprint(i)] = ints
	}
	first, err := Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if again, _ := Marshal(names); !bytes.Equal(again, first) {
			t.Fatal("two encodings of one map")
		}
	}
	var m Map
	if err := Unmarshal(first, &m); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(m, func(a, b Entry) int { return strings.Compare(a.Key.(string), b.Key.(string)) }) {
		t.Error("strings are not sorted")
	}
	if !slices.IsSortedFunc(m[0].Value.(Map), func(a, b Entry) int { return int(a.Key.(int64) - b.Key.(int64)) }) {
		t.Error("integers are not sorted by value")
	}
}

// The test checks markers at the lengths where the form changes.
func TestLengths(t *testing.T) {
	for _, c := range []struct {
		n                    int
		str, bin, list, dict string
	}{
		{0, "a0", "c400", "90", "80"}, {15, "af", "c40f", "9f", "8f"}, {16, "b0", "c410", "dc0010", "de0010"}, {31, "bf", "c41f", "dc001f", "de001f"},
		{32, "d920", "c420", "dc0020", "de0020"}, {255, "d9ff", "c4ff", "dc00ff", "de00ff"}, {256, "da0100", "c50100", "dc0100", "de0100"},
		{65535, "daffff", "c5ffff", "dcffff", "deffff"}, {65536, "db00010000", "c600010000", "dd00010000", "df00010000"},
	} {
		dict := make(map[int]bool, c.n)
		for i := range c.n {
			dict[i] = true
		}
		for i, v := range []any{strings.Repeat("s", c.n), make([]byte, c.n), make([]any, c.n), dict} {
			head := unhex(t, []string{c.str, c.bin, c.list, c.dict}[i])
			b, err := Marshal(v)
			if err != nil || !bytes.HasPrefix(b, head) {
				t.Errorf("%T of %d: %x, %v, want %x", v, c.n, b[:min(len(b), 8)], err, head)
			}
			back := reflect.New(reflect.TypeOf(v))
			if err := Unmarshal(b, back.Interface()); err != nil || !reflect.DeepEqual(back.Elem().Interface(), v) {
				t.Errorf("%T of %d does not read back: %v", v, c.n, err)
			}
		}
	}
}

func TestMarshalErrors(t *testing.T) {
	loop := []any{nil}
	loop[0] = loop
	type ring *ring
	var r ring
	r = &r
	self := map[string]any{}
	self["self"] = self
	type named string
	mark := "__tuple__"
	for _, c := range []struct {
		what string
		v    any
		want error
	}{
		{"channel", make(chan int), ErrType}, {"function", func() {}, ErrType}, {"complex", 1i, ErrType}, {"uintptr", uintptr(1), ErrType},
		{"time", time.Now(), ErrType}, {"not UTF-8", "\xff", ErrType}, {"inside", []any{map[string]any{"x": struct{ F func() }{func() {}}}}, ErrType},
		{"tuple in strings", []string{"__tuple__", "x"}, ErrType}, {"tuple in an array", [1]named{"__tuple__"}, ErrType},
		{"tuple inside", Tuple{1, []any{any(&mark)}}, ErrType}, {"tuple as a key", map[[1]string]int{{"__tuple__"}: 1}, ErrType}, {"rings", []ring{r}, ErrTooLarge},
		{"key", map[complex128]int{1i: 1}, ErrType}, {"slice in itself", loop, ErrTooLarge}, {"pointer to itself", r, ErrTooLarge}, {"map in itself", self, ErrTooLarge},
	} {
		if b, err := Marshal(c.v); !errors.Is(err, c.want) || b != nil {
			t.Errorf("%s: %x, %v, want %v", c.what, b, err, c.want)
		}
	}
	_, err := Marshal([]any{map[string]any{"x": struct{ F func() }{func() {}}}})
	if want := "meta: marshal: element 0: value of key x: field F: func() has no encoding: wrong type"; err.Error() != want {
		t.Errorf("%v, want %v", err, want)
	}
	_, err = Marshal([]any{[]string{"__tuple__"}})
	if want := `meta: marshal: element 0: []string that begins with the string "__tuple__", which marks tuples; use Tuple for one: wrong type`; err.Error() != want {
		t.Errorf("%v, want %v", err, want)
	}
	for _, v := range []any{Tuple{"__tuple__", "x"}, []any{"x", "__tuple__"}, map[string]any{"__tuple__": "__tuple__"}} {
		b, err := Marshal(v)
		var got any
		if err == nil {
			err = Unmarshal(b, &got)
		}
		if err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%v is read as %v, %v", v, got, err)
		}
	}
	if _, err = Marshal(loop); len(err.Error()) > 100 {
		t.Errorf("a long message: %v", err)
	}
}

func TestUnmarshalErrors(t *testing.T) {
	for _, c := range []struct {
		hex  string
		into any
		want error
	}{
		{"", new(any), ErrCorrupt}, {"c1", new(any), ErrCorrupt}, {"0101", new(any), ErrCorrupt}, {"91", new(any), ErrCorrupt}, {"81a161", new(any), ErrCorrupt},
		{"ddffffffff", new(any), ErrCorrupt}, {"dfffffffff", new(any), ErrCorrupt}, {"df80000000", new(any), ErrCorrupt}, {"dbffffffff", new(any), ErrCorrupt},
		{"c6ffffffff", new(any), ErrCorrupt}, {"c9ffffffff2a", new(any), ErrCorrupt}, {"d8 2a 00", new(any), ErrCorrupt},
		{"01", nil, ErrType}, {"01", 5, ErrType}, {"01", (*int)(nil), ErrType}, {"01", new(string), ErrType}, {"a161", new(int), ErrType}, {"a161", new([]byte), ErrType},
		{"c40161", new(string), ErrType}, {"cd0100", new(uint8), ErrType}, {"ff", new(uint), ErrType}, {"cfffffffffffffffff", new(int64), ErrType},
		{"cb3ff8000000000000", new(int), ErrType}, {"01", new(bool), ErrType}, {"c3", new(int), ErrType}, {"9101", new([2]int), ErrType}, {"c40101", new([2]byte), ErrType},
		{"9101", new([]string), ErrType}, {"9101", new(Map), ErrType}, {"80", new([]any), ErrType}, {"80", new(Tuple), ErrType}, {"80", new(Ext), ErrType}, {"90", new(Ext), ErrType},
		{"90", new(map[string]any), ErrType}, {"90", new(inner), ErrType}, {"81a161a161", new(inner), ErrType}, {"810101", new(map[string]int), ErrType},
		{"81a16101", new(map[string]string), ErrType}, {"819001", new(map[any]any), ErrType}, {"01", new(fmt.Stringer), ErrType}, {"01", new(chan int), ErrType},
		{"cb7e37e43c8800759c", new(float32), ErrType}, {"92cb7e37e43c8800759c01", new([]float32), ErrType}, // 1e300
	} {
		err := Unmarshal(unhex(t, c.hex), c.into)
		if !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), "meta: unmarshal") {
			t.Errorf("%s into %T: %v, want %v", c.hex, c.into, err, c.want)
		}
	}
}

func TestUnmarshalFits(t *testing.T) {
	for _, c := range []struct {
		hex  string
		want any // a value of the type to fill
	}{
		{"cd00ff", uint8(255)}, {"d3ffffffffffffff80", int8(-128)}, {"05", 5.0}, {"cfffffffffffffffff", float32(1 << 64)}, {"ca3f800000", 1.0}, {"c0", 0}, {"c0", ""}, {"c0", []int(nil)},
		{"93a95f5f7475706c655f5f0102", []int{1, 2}}, {"93a95f5f7475706c655f5f0102", [2]int{1, 2}}, {"93a95f5f7475706c655f5f0102", []any{int64(1), int64(2)}},
		{"920102", Tuple{int64(1), int64(2)}}, {"920102", []byte{1, 2}}, {"c4020102", []uint8{1, 2}}, {"c4020102", [2]byte{1, 2}}, {"9181a161c0", []any{map[string]any{"a": nil}}},
		{"9181a161c0", Tuple{map[string]any{"a": nil}}}, {"81a17881a161c0", Map{{"x", Map{{"a", nil}}}}}, {"82a16101a17a02", inner{A: 1}}, {"8101c3", map[int8]bool{1: true}},
		{"a1ff", "\xff"}, {"8190c0", Map{{[]any{}, nil}}}, {"cb7ff0000000000000", float32(math.Inf(1))},
	} {
		got := reflect.New(reflect.TypeOf(c.want))
		if err := Unmarshal(unhex(t, c.hex), got.Interface()); err != nil || !reflect.DeepEqual(got.Elem().Interface(), c.want) {
			t.Errorf("%s: %#v, %v, want %#v", c.hex, got.Elem().Interface(), err, c.want)
		}
	}
}

func TestValueDepth(t *testing.T) {
	nest := func(n int) (v any, b []byte) {
		v = []any{}
		for range n {
			v = []any{v}
		}
		return v, append(bytes.Repeat([]byte{0x91}, n), 0x90)
	}
	v, b := nest(MaxValueDepth)
	var x any
	if got, err := Marshal(v); err != nil || !bytes.Equal(got, b) {
		t.Errorf("deepest: %v", err)
	}
	if err := Unmarshal(b, &x); err != nil || !reflect.DeepEqual(x, v) {
		t.Errorf("deepest: %v", err)
	}
	v, b = nest(MaxValueDepth + 1)
	if _, err := Marshal(v); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one more: %v", err)
	}
	for _, b := range [][]byte{b, bytes.Repeat([]byte{0x91}, 1<<24), bytes.Repeat([]byte{0x81}, 1<<24)} {
		if err := Unmarshal(b, &x); !errors.Is(err, ErrTooLarge) {
			t.Errorf("one more: %v", err)
		}
	}
}

// A length field allocates nothing unless the input is long enough.
func TestUnmarshalMemory(t *testing.T) {
	arrays := bytes.Repeat([]byte{0x90}, 1<<16)
	copy(arrays, "\xdc\xff\xfd") // 65533 empty arrays
	for _, b := range [][]byte{unhex(t, "ddffffff00"), unhex(t, "9fddfffffff0"), unhex(t, "dbfffffff000"), unhex(t, "c9fffffff02a"), arrays} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var x any
		_ = Unmarshal(b, &x)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<16+64*uint64(len(b)) {
			t.Errorf("%x...: %d bytes allocated for %d", b[:5], used, len(b))
		}
	}
}

func checkValue(t *testing.T, b []byte) {
	t.Helper()
	var m struct{ X any }
	var x any
	err := Unmarshal(b, &x)
	_ = Unmarshal(b, &m)
	if err != nil {
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooLarge) {
			t.Fatalf("%x: %v", b, err)
		}
		return
	}
	again, err := Marshal(x)
	if err != nil {
		if !strings.Contains(err.Error(), "UTF-8") {
			t.Fatalf("%x: %v", b, err)
		}
		return
	}
	var y any
	if err := Unmarshal(again, &y); err != nil {
		t.Fatalf("%x: %v", b, err)
	}
	third, err := Marshal(y)
	if err != nil || !bytes.Equal(third, again) {
		t.Fatalf("%x: %x, %v, want %x", b, third, err, again)
	}
}

func TestHostileValues(t *testing.T) {
	for i, row := range valueRows(t) {
		for n := range row.bytes {
			var x any
			if err := Unmarshal(row.bytes[:n:n], &x); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%x: %v", row.bytes[:n], err)
			}
		}
		if i%4 == 0 {
			flip(row.bytes, func() { checkValue(t, row.bytes) })
		}
	}
}

// TestUnmarshalWithin compares the memory that UnmarshalWithin expects with that of the values.
func TestUnmarshalWithin(t *testing.T) {
	const n = 1 << 16
	limit := errors.New("limit")
	for name, value := range map[string]string{
		"nil": "\xc0", "number": "\x01", "float": "\xcb12345678", "array": "\x90", "text": "\xa1a", "map": "\x80",
		"map of nil": "\x81\xc0\xc0", "map of text": "\x81\xa1a\xc0", "map of two": "\x82\x01\xc0\x02\xc0",
	} {
		b := append([]byte{0xdd, 0, n >> 16, 0, 0}, strings.Repeat(value, n)...)
		expected := int64(0)
		var x any
		if err := UnmarshalWithin(b, &x, func(n int64) error { expected = n; return limit }); !errors.Is(err, limit) || x != nil {
			t.Errorf("%s: %v, %v", name, x, err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := UnmarshalWithin(b, &x, func(int64) error { return nil }); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > expected || expected > 300*int64(len(b)) {
			t.Errorf("%s: %d bytes for %d of MessagePack, expected %d", name, used, len(b), expected)
		}
		runtime.KeepAlive(x)
	}
	if err := UnmarshalWithin([]byte{0x91}, new(any), func(int64) error { return limit }); !errors.Is(err, ErrCorrupt) {
		t.Errorf("half a value: %v", err)
	}
}

func FuzzValue(f *testing.F) {
	for _, row := range valueRows(f) {
		f.Add(row.bytes)
	}
	f.Fuzz(checkValue)
}

func BenchmarkValue(b *testing.B) {
	v := map[string]any{"kind": "array", "version": 1, "shape": Tuple{1000, 1000}, "data": make([]byte, 1000), "names": []string{"a", "b", "c"}}
	code, err := Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("marshal", func(b *testing.B) {
		b.SetBytes(int64(len(code)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Marshal(v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unmarshal", func(b *testing.B) {
		b.SetBytes(int64(len(code)))
		b.ReportAllocs()
		for b.Loop() {
			var x any
			if err := Unmarshal(code, &x); err != nil {
				b.Fatal(err)
			}
		}
	})
}
