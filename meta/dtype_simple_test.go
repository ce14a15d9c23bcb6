package meta

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// The table holds texts for simple dtypes with dtype.str of NumPy, or "" if NumPy rejects the text.
func TestSimpleDTypes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"<i4", "<i4"}, {">f8", ">f8"}, {"|b1", "|b1"}, {"|S5", "|S5"}, {"<U3", "<U3"}, {"|V5", "|V5"}, {"?", "|b1"}, {">?", "|b1"},
		{"i4", "<i4"}, {"=i4", "<i4"}, {"|i4", "<i4"}, {"f2", "<f2"}, {"c8", "<c8"}, {"c16", "<c16"}, {"<i1", "|i1"}, {">u1", "|u1"},
		{">S5", "|S5"}, {"=S5", "|S5"}, {"|U3", "<U3"}, {">U3", ">U3"}, {"S", "|S0"}, {"U", "<U0"}, {"V", "|V0"}, {"O", "|O"}, {"|O8", "|O"},
		{"int8", "|i1"}, {"uint16", "<u2"}, {"int32", "<i4"}, {"int64", "<i8"}, {"int", "<i8"}, {"uint", "<u8"}, {"intp", "<i8"},
		{"float16", "<f2"}, {"float32", "<f4"}, {"float64", "<f8"}, {"float", "<f8"}, {"double", "<f8"}, {"half", "<f2"}, {"single", "<f4"},
		{"complex64", "<c8"}, {"complex128", "<c16"}, {"complex", "<c16"}, {"csingle", "<c8"}, {"bool", "|b1"}, {"bool_", "|b1"},
		{"str", "<U0"}, {"bytes", "|S0"}, {"void", "|V0"}, {"object", "|O"}, {"c", "|S1"}, {"b", "|i1"}, {">b", "|i1"}, {"B", "|u1"},
		{"|h", "<i2"}, {">H", ">u2"}, {"i", "<i4"}, {"I", "<u4"}, {"l", "<i8"}, {"L", "<u8"}, {"q", "<i8"}, {"Q", "<u8"}, {"p", "<i8"},
		{"P", "<u8"}, {"e", "<f2"}, {"f", "<f4"}, {"=d", "<f8"}, {"F", "<c8"}, {">D", ">c16"}, {"f16", "<f16"}, {"c32", "<c32"},
		{"<M8[ns]", "<M8[ns]"}, {">m8[25s]", ">m8[25s]"}, {"M8[1s]", "<M8[s]"}, {"M8", "<M8"}, {"m8", "<m8"}, {"M", "<M8"}, {"|M8[s]", "<M8[s]"},
		{"M8[03W]", "<M8[3W]"}, {"M8[generic]", "<M8"}, {"M8[2generic]", "<M8"}, {"M8[\u03bcs]", "<M8[us]"}, {"datetime64[ms]", "<M8[ms]"},
		{"timedelta64[12h]", "<m8[12h]"}, {"datetime64", "<M8"}, {"m8[2147483647as]", "<m8[2147483647as]"}, {"S05", "|S5"}, {"S2147483647", "|S2147483647"},

		{"", ""}, {"<", ""}, {"|", ""}, {"x", ""}, {"u", ""}, {"i3", ""}, {"i16", ""}, {"f1", ""}, {"f10", ""}, {"c4", ""}, {"b2", ""}, {"?1", ""}, {"u3", ""},
		{"int128", ""}, {"INT32", ""}, {"int32 ", ""}, {" i4 i4", ""}, {"<int32", ""}, {"=int32", ""}, {">float", ""}, {"S5x", ""}, {"S-1", ""},
		{"f4[s]", ""}, {"S5[ns]", ""}, {"M[ns]", ""}, {"M8[]", ""}, {"M8[3]", ""}, {"M8[s", ""}, {"M8[s]x", ""}, {"M8[ns][ns]", ""}, {"M8[-3s]", ""},
		{"M8[minutes]", ""}, {"m8[2147483648s]", ""}, {"M4[s]", ""}, {"^i4", ""}, {"i4f", ""}, {"\xff", ""}, {"<\x00", ""}, {"i\xff", ""},
	} {
		d, err := ParseDType(c.text)
		if c.want == "" {
			if !errors.Is(err, ErrType) || d.Kind != 0 {
				t.Errorf("%q: %v, %v, want ErrType", c.text, d, err)
			}
			continue
		}
		if err != nil || strings.TrimSuffix(d.String(), "8") != strings.TrimSuffix(c.want, "8") {
			t.Errorf("%q: %v, %v, want %s", c.text, d, err, c.want)
		}
		if again, err := ParseDType(d.String()); err != nil || !reflect.DeepEqual(again, d) {
			t.Errorf("%q: read back %+v, %v, want %+v", c.text, again, err, d)
		}
	}
}

func TestDTypeParts(t *testing.T) {
	for _, c := range []struct {
		text string
		want DType
	}{
		{"<i4", DType{Kind: 'i', Order: '<', Size: 4}},
		{">U3", DType{Kind: 'U', Order: '>', Size: 12}},
		{"|b1", DType{Kind: 'b', Order: '|', Size: 1}},
		{"O", DType{Kind: 'O', Order: '|', Size: 8}},
		{"<M8[25s]", DType{Kind: 'M', Order: '<', Size: 8, Unit: "s", Count: 25}},
		{"<m8[ns]", DType{Kind: 'm', Order: '<', Size: 8, Unit: "ns", Count: 1}},
		{"<m8", DType{Kind: 'm', Order: '<', Size: 8}},
		{"('<f4', (2, 3))", DType{Kind: 'V', Order: '|', Size: 24, Elem: &DType{Kind: 'f', Order: '<', Size: 4}, Shape: []int{2, 3}}},
		{"[]", DType{Kind: 'V', Order: '|', Fields: []Field{}}},
		{"[(('t', 'a'), 'S3'), ('b', '<f8', 2)]", DType{Kind: 'V', Order: '|', Size: 19, Fields: []Field{
			{Name: "a", Title: "t", Type: DType{Kind: 'S', Order: '|', Size: 3}},
			{Name: "b", Offset: 3, Type: DType{Kind: 'V', Order: '|', Size: 16, Elem: &DType{Kind: 'f', Order: '<', Size: 8}, Shape: []int{2}}},
		}}},
		{"{'names': ['a', 'b'], 'formats': ['i1', [('x', 'i2')]], 'aligned': True}", DType{Kind: 'V', Order: '|', Size: 4, Aligned: true, Fields: []Field{
			{Name: "a", Type: DType{Kind: 'i', Order: '|', Size: 1}},
			{Name: "b", Offset: 2, Type: DType{Kind: 'V', Order: '|', Size: 2, Aligned: true, Fields: []Field{{Name: "x", Type: DType{Kind: 'i', Order: '<', Size: 2}}}}},
		}}},
	} {
		if d, err := ParseDType(c.text); err != nil || !reflect.DeepEqual(d, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.text, d, err, c.want)
		}
	}
	if s := (DType{}).String(); s != "" {
		t.Errorf("zero dtype: %q", s)
	}
}

// String differs from NumPy's text where that would read back as another dtype.
func TestDTypeTextDiffers(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// NumPy prints [('a', [('x', 'i1'), ('y', '<f8')]), ('b', 'i1')], which has 10 bytes and not 17.
		{"[('a', {'names': ['x', 'y'], 'formats': ['i1', 'f8'], 'aligned': True}), ('b', 'i1')]",
			"[('a', {'names': ['x', 'y'], 'formats': ['i1', '<f8'], 'offsets': [0, 8], 'itemsize': 16}), ('b', 'i1')]"},
		// NumPy prints [('', '<i4')], whose field is called f0.
		{"{'names': [''], 'formats': ['i4']}", "{'names': [''], 'formats': ['<i4'], 'offsets': [0], 'itemsize': 4}"},
	} {
		d, err := ParseDType(c.text)
		if err != nil || d.String() != c.want {
			t.Errorf("%s: %v, %v, want %s", c.text, d, err, c.want)
		}
		if again, err := ParseDType(d.String()); err != nil || !reflect.DeepEqual(again, d) {
			t.Errorf("%s: read back %+v, %v, want %+v", c.text, again, err, d)
		}
	}
}

func TestPythonSource(t *testing.T) {
	same := "[('a', '<i4'), ('b', 'S5')]"
	for _, text := range []string{
		`[('a','<i4'),('b','S5')]`, `  [("a", "<i4"), ("b", "|S5"),]  `, "[\n('a', '<i4',),\n\t('b', 'S5'),\r\n]", `[(("a"), ('<i4')), ('b', 'S5', ())]`,
		`[('\x61', '<i4'), ('\u0062', 'S\65')]`, `[('\U00000061', '<\
i4'), ('b', 'S5')]`, `{'names': ('a', 'b'), 'formats': ['<i4', 'S5']}`, `{"formats": ["<i4", "S5"], "names": ["a", "b"], "offsets": [0, +4], 'other': None}`,
		`{'names': 1, 'names': ['a', 'b'], 'formats': ['<i4', 'S5'], 1: 2}`, `(((([('a', '<i4'), ('b', 'S5')]))))`, `[((None, 'a'), '<i4'), (('', 'b'), 'S5')]`,
	} {
		if d, err := ParseDType(text); err != nil || d.String() != same {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
	for _, text := range []string{
		`[`, `(`, `{`, `[]]`, `[,]`, `()`, `('i4',)`, `('i4', (2,), 3)`, `[('a' 'i4')]`, `[('a', 'i4') ('b', 'i4')]`, `[('a', 'i4'`, `[('a', 'i4)]`, `[("a', 'i4")]`,
		"[('a\n', 'i4')]", `[('a\', 'i4')]`, `[('\x6', 'i4')]`, `[('\xzz', 'i4')]`, `[('\u12', 'i4')]`, `[('\U00110000', 'i4')]`, `[('\ud800', 'i4')]`, `[('\N{DASH}', 'i4')]`,
		`[('\q', 'i4')]`, `[('\`, "[('\xff', 'i4')]", `[(a, 'i4')]`, `[('a', i4)]`, `[(b'a', 'i4')]`, `[('a', 'i4', 2.0)]`, `[('a', 'i4', 2L)]`, `[('a', 'i4', 0x2)]`, `[('a', 'i4', -)]`,
		`[('a', 'i4', -1)]`, `[('a', 'i4', (2, -1))]`, `[('a', 'i4', '2')]`, `[('a', 'i4', True)]`, `[('a', 'i4', 99999999999999999999)]`, `[('a', None)]`, `[('a',)]`, `['i4']`, `[['a', 'i4']]`,
		`[('a', 'i4', 2, 3)]`, `[(1, 'i4')]`, `[((1, 'a'), 'i4')]`, `[(('t', ''), 'i4')]`, `[('a', 'i4'), ('a', 'i2')]`, `[(('b', 'a'), 'i4'), ('b', 'i2')]`, `[(('a', 'a'), 'i4')]`,
		`[('f1', 'i4'), ('', 'i2')]`, `{}`, `{'names': ['a']}`, `{'names': ['a'], 'formats': []}`, `{'names': 'a', 'formats': 'b'}`, `{'names' ['a']}`, `{'names': ['a'] 'formats': ['i4']}`,
		`{'names': ['a'], 'formats': ['i4'], 'offsets': [-1]}`, `{'names': ['a'], 'formats': ['i4'], 'offsets': [None]}`, `{'names': ['a'], 'formats': ['i4'], 'offsets': None}`,
		`{'names': ['a'], 'formats': ['i4'], 'offsets': []}`, `{'names': ['a'], 'formats': ['i4'], 'titles': [1]}`, `{'names': ['a'], 'formats': ['i4'], 'itemsize': 3}`,
		`{'names': ['a'], 'formats': ['i4'], 'itemsize': -1}`, `{'names': ['a'], 'formats': ['i4'], 'itemsize': None}`, `{'names': ['a'], 'formats': ['i4'], 'aligned': 1}`,
		`{'names': ['a'], 'formats': ['i4'], 'itemsize': 6, 'aligned': True}`, `{'names': ['a'], 'formats': ['i4'], 'offsets': [2], 'aligned': True}`,
		`('S', (2,))`, `(('i4', 0), 2)`, `('i4', None)`, `(None, 2)`, `(numpy.record, [('a', 'i4')])`, "[('a', 'i4')]\x00",
	} {
		if d, err := ParseDType(text); !errors.Is(err, ErrType) || d.Kind != 0 || !strings.HasPrefix(err.Error(), "meta: dtype ") {
			t.Errorf("%s: %v, %v, want ErrType", text, d, err)
		}
	}
}

func nested(n int) string {
	return strings.Repeat("[('a', ", n) + "'i4'" + strings.Repeat(")]", n)
}

func TestDTypeLimits(t *testing.T) {
	for _, c := range []struct {
		what, text string
		want       error
	}{
		{"deepest structure", nested(MaxDTypeDepth), nil},
		{"too deep", nested(MaxDTypeDepth + 1), ErrTooLarge},
		{"brackets without end", strings.Repeat("[", MaxDTypeText), ErrType},
		{"pairs without end", strings.Repeat("(", 10000) + strings.Repeat(", 1)", 10000), ErrType},
		{"long text", strings.Repeat(" ", MaxDTypeText) + "[]", ErrTooLarge},
		{"many fields", "[('a0', 'i1')" + strings.Repeat(", ('', 'i1')", 10000) + "]", nil},
		{"large string", "S2147483648", ErrTooLarge},
		{"larger string", "V99999999999999999999999", ErrTooLarge},
		{"large number", "i99999999999999999999999", ErrType},
		{"large text", "U536870911", nil},
		{"larger text", "U536870912", ErrTooLarge},
		{"2^31-1 bytes", "('i1', (2147483647,))", nil},
		{"2^31 bytes", "('i2', (1073741824,))", ErrTooLarge},
		{"overflow", "('i1', (65536, 65536, 65536, 65536))", ErrTooLarge},
		{"dimension", "('i1', 2147483648)", ErrTooLarge},
		{"none of too many", "('i1', (65536, 65536, 0))", nil},
		{"64 dimensions", "('i1', (" + strings.Repeat("1, ", 64) + "))", nil},
		{"65 dimensions", "('i1', (" + strings.Repeat("1, ", 65) + "))", ErrTooLarge},
		{"fields of nothing", "([], (65536, 65536))", ErrTooLarge},
		{"sum of fields", "[('a', 'V2147483647'), ('b', 'i1')]", ErrTooLarge},
		{"offset", "{'names': ['a'], 'formats': ['i4'], 'offsets': [2147483644]}", ErrTooLarge},
		{"last offset", "{'names': ['a'], 'formats': ['i4'], 'offsets': [2147483643]}", nil},
		{"padding", "{'names': ['a', 'b'], 'formats': ['i4', 'i1'], 'offsets': [0, 2147483646], 'aligned': True}", ErrTooLarge},
		{"item", "{'names': ['a'], 'formats': ['i4'], 'itemsize': 2147483648}", ErrTooLarge},
		{"long double", "g", errors.ErrUnsupported},
		{"StringDType", "StringDType()", errors.ErrUnsupported},
	} {
		d, err := ParseDType(c.text)
		if !errors.Is(err, c.want) || (err == nil) != (d.Kind != 0) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("%s: error of %d bytes", c.what, len(err.Error()))
		}
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		kind byte
		size int
		want string
	}{
		{'b', 1, "|b1"}, {'i', 1, "|i1"}, {'u', 8, "<u8"}, {'f', 2, "<f2"}, {'c', 16, "<c16"}, {'M', 8, "<M8"}, {'S', 1, "|S1"},
		{'U', 12, "<U3"}, {'V', 300, "|V300"}, {'S', 0, "|S0"}, {'f', 3, ""}, {'i', 16, ""}, {'U', 2, ""}, {'b', 2, ""}, {'S', -1, ""}, {'x', 1, ""}, {0, 0, ""},
	} {
		d := Of(c.kind, c.size)
		if d.String() != c.want {
			t.Errorf("Of(%q, %d): %q, want %q", c.kind, c.size, d, c.want)
		}
		if c.want != "" {
			if p, err := ParseDType(c.want); err != nil || !reflect.DeepEqual(p, d) {
				t.Errorf("%s: %+v, %v, want %+v", c.want, p, err, d)
			}
		}
	}
}

func checkDType(t *testing.T, text string) {
	t.Helper()
	d, err := ParseDType(text)
	if err != nil {
		if !errors.Is(err, ErrType) && !errors.Is(err, ErrTooLarge) && !errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("%q: %v", text, err)
		}
		return
	}
	if d.Size < 0 {
		t.Fatalf("%q: %d bytes", text, d.Size)
	}
	for _, f := range d.Fields {
		if f.Offset < 0 || f.Offset > d.Size-f.Type.Size {
			t.Fatalf("%q: field %q at %d of %d", text, f.Name, f.Offset, d.Size)
		}
	}
	s := d.String()
	if again, err := ParseDType(s); len(s) <= MaxDTypeText && (err != nil || !reflect.DeepEqual(again, d) || again.String() != s) {
		t.Fatalf("%q: read back from %q: %+v, %v, want %+v", text, s, again, err, d)
	}
}

func TestHostileDTypes(t *testing.T) {
	for i, row := range dtypeRows(t, "testdata/dtypes.tsv") {
		for n := range row.text {
			checkDType(t, row.text[:n])
		}
		if i%100 == 0 { // the whole table takes seconds
			b := []byte(row.text)
			flip(b, func() { checkDType(t, string(b)) })
		}
	}
}

func FuzzDType(f *testing.F) {
	for _, row := range dtypeRows(f, "testdata/dtypes.tsv") {
		f.Add(row.text)
	}
	f.Add("datetime64[25s]")
	f.Fuzz(checkDType)
}

func BenchmarkParseDType(b *testing.B) {
	for name, text := range map[string]string{"simple": "<f8", "structure": "[('a', '<i4'), ('b', '<f8', (2, 3)), ('c', [('x', 'S5')])]"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseDType(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
