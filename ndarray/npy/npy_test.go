package npy

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// TestNPYHeader compares headers with those of numpy.save in NumPy 2.2.
func TestNPYHeader(t *testing.T) {
	for _, c := range []struct {
		dtype   string
		shape   []int64
		version byte
		size    int
		text    string
	}{
		{"<f4", nil, 1, 128, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }"},
		{">f8", []int64{0}, 1, 128, "{'descr': '>f8', 'fortran_order': False, 'shape': (0,), }"},
		{"|u1", []int64{7}, 1, 128, "{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }"},
		{"<U6", []int64{3, 4}, 1, 128, "{'descr': '<U6', 'fortran_order': False, 'shape': (3, 4), }"},
		{"<M8[25s]", []int64{1e9, 0}, 1, 128, "{'descr': '<M8[25s]', 'fortran_order': False, 'shape': (1000000000, 0), }"},
		{"?", []int64{1, 2, 3}, 1, 128, "{'descr': '|b1', 'fortran_order': False, 'shape': (1, 2, 3), }"},
		{"('<i4', (2, 3))", []int64{5}, 1, 128, "{'descr': '<i4', 'fortran_order': False, 'shape': (5, 2, 3), }"},
		{"[('a', '<i4'), ('b', '<f8', (2, 3))]", []int64{2}, 1, 128, "{'descr': [('a', '<i4'), ('b', '<f8', (2, 3))], 'fortran_order': False, 'shape': (2,), }"},
		{"[(('title', 'n'), '<i2'), ('c', [('x', '<f4'), ('y', '|V3')])]", []int64{2}, 1, 192,
			"{'descr': [(('title', 'n'), '<i2'), ('c', [('x', '<f4'), ('y', '|V3')])], 'fortran_order': False, 'shape': (2,), }"},
		{"{'names':['a','b'],'formats':['i1','<f8'],'offsets':[2,8],'itemsize':24}", []int64{2}, 1, 192,
			"{'descr': [('', '|V2'), ('a', '|i1'), ('', '|V5'), ('b', '<f8'), ('', '|V8')], 'fortran_order': False, 'shape': (2,), }"},
		{"[('é', '<i4')]", []int64{1}, 1, 128, "{'descr': [('\xe9', '<i4')], 'fortran_order': False, 'shape': (1,), }"},
		{"[('日', '<i4')]", []int64{1}, 3, 128, "{'descr': [('日', '<i4')], 'fortran_order': False, 'shape': (1,), }"},
		{`[("it's", '<i4'), ('q"', 'i1'), ('t\t\\', 'i1')]`, []int64{1}, 1, 192,
			`{'descr': [("it's", '<i4'), ('q"', '|i1'), ('t\t\\', '|i1')], 'fortran_order': False, 'shape': (1,), }`},
	} {
		d, err := meta.ParseDType(c.dtype)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Header{DType: d, Shape: c.shape}.Append(nil)
		if err != nil {
			t.Errorf("%s: %v", c.dtype, err)
			continue
		}
		b, start := bytes.NewReader(got), 10
		if c.version == 3 {
			start = 12
		}
		if len(got) != c.size || got[6] != c.version || strings.TrimRight(string(got[start:len(got)-1]), " ") != c.text || got[len(got)-1] != '\n' {
			t.Errorf("%s: %q", c.dtype, got)
		}
		h, err := ReadHeader(b)
		if err != nil || b.Len() != 0 || h.Fortran {
			t.Fatalf("%s read again: %+v, %v", c.dtype, h, err)
		}
		for d.Elem != nil {
			c.shape, d = append(c.shape, 2, 3), *d.Elem
		}
		if h.DType.String() != d.String() || pyTuple(h.Shape) != pyTuple(c.shape) {
			t.Errorf("%s read again: %v %v", c.dtype, h.DType, h.Shape)
		}
	}
	for _, dtype := range []string{"O", "{'names':['a','b'],'formats':['<i4','<i4'],'offsets':[0,2]}"} {
		d, err := meta.ParseDType(dtype)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Header{DType: d}).Append(nil); err == nil {
			t.Errorf("%s: no error", dtype)
		}
	}
}

// TestGaps reads dtypes with fields without a name as numpy.load does.
func TestGaps(t *testing.T) {
	for descr, want := range map[string]string{
		"[('a','<i2'),('','|V2')]":                             "{'names':['a'],'formats':['<i2'],'offsets':[0],'itemsize':4}",
		"[('f1','<i2'),('','|V2')]":                            "{'names':['f1'],'formats':['<i2'],'offsets':[0],'itemsize':4}",
		"[('a', '<i2'), ( '' , 'V2' )]":                        "{'names':['a'],'formats':['<i2'],'offsets':[0],'itemsize':4}",
		`[("a","<i2"),("","|V2")]`:                             "{'names':['a'],'formats':['<i2'],'offsets':[0],'itemsize':4}",
		"[('','|V2'),('f0','<i2'),('','|V2')]":                 "{'names':['f0'],'formats':['<i2'],'offsets':[2],'itemsize':6}",
		"[('a','<i2'),('','|V2',(2,)),(('t','b'),'<i2',(2,))]": "{'names':['a','b'],'formats':['<i2',('<i2',(2,))],'offsets':[0,6],'itemsize':10,'titles':[None,'t']}",
		"[('a','<i2'),('',('|V1',(2,)))]":                      "{'names':['a'],'formats':['<i2'],'offsets':[0],'itemsize':4}",
		"[('a',[('b','<i2'),('','|V1')]),('','|V1')]":          "{'names':['a'],'formats':[{'names':['b'],'formats':['<i2'],'offsets':[0],'itemsize':3}],'offsets':[0],'itemsize':4}",
		"[('a',[('b','|i1'),('','|V1')],(2,))]":                "[('a',({'names':['b'],'formats':['|i1'],'offsets':[0],'itemsize':2},(2,)))]",
		"[('','|V2')]":                                         "{'names':[],'formats':[],'offsets':[],'itemsize':2}",
		"[('a','<i2'),('','|V0')]":                             "[('a','<i2')]",
		"[('a','<i2'),('b','|V2')]":                            "[('a','<i2'),('b','|V2')]",
		`[("('', '|V2')",'<i2'),('b','<i4')]`:                  `[("('', '|V2')",'<i2'),('b','<i4')]`,
		`[('\x01gap0','<i2'),('','V2')]`:                       `{'names':['\x01gap0'],'formats':['<i2'],'offsets':[0],'itemsize':4}`,
		"[('', '<i2'), ('b', '<i4')]":                          "[('f0', '<i2'), ('b', '<i4')]", // NumPy: no name
	} {
		d, err := meta.ParseDType(want)
		if err != nil {
			t.Fatal(want, err)
		}
		h, err := parseText("{'descr': " + descr + ", 'fortran_order': False, 'shape': (2,)}")
		if err != nil || h.DType.String() != d.String() {
			t.Errorf("%s: %v %v, want %v", descr, h.DType, err, d)
		}
	}
	deep := "{'descr': " + strings.Repeat("[('',", 200000) + "'V1'" + strings.Repeat(")]", 200000) + ", 'fortran_order': False, 'shape': ()}"
	if _, err := parseText(deep); !errors.Is(err, ndarray.ErrFormat) {
		t.Error(err)
	}
}

// TestBadNPYHeaders checks the errors of invalid headers.
func TestBadNPYHeaders(t *testing.T) {
	good := "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }"
	if h, err := parseText(good); err != nil || h.DType.Size != 4 {
		t.Fatal(err)
	}
	for _, text := range []string{
		"", "{", "{}", "[]", "{'descr': '<i4'}", strings.Replace(good, "False", "Maybe", 1), strings.Replace(good, "(2,)", "2", 1),
		strings.Replace(good, "(2,)", "(x,)", 1), strings.Replace(good, "<i4", "<q9", 1), strings.Replace(good, "'<i4'", "('<i4'", 1),
		strings.Replace(good, "'<i4'", "", 1), strings.Replace(good, ":", "", 1),
	} {
		if _, err := parseText(text); !errors.Is(err, ndarray.ErrFormat) {
			t.Errorf("%q: %v", text, err)
		}
	}
	gaps := "{'descr': [" + strings.Repeat("('', '|V1'), ", 60000) + "], 'fortran_order': False, 'shape': (2,), }"
	if h, err := parseText(gaps); err != nil && !errors.Is(err, ndarray.ErrFormat) || err == nil && len(h.DType.Fields) > 0 {
		t.Errorf("many gaps: %v", err)
	}
	for _, in := range []string{
		"", magic, magic + "\x01\x00", magic + "\x01\x00\x40\x00{", magic + "\x04\x00\x40\x00{",
		magic + "\x02\x00\xff\xff\xff\xff", magic + "\x02\x00\x01",
	} {
		if _, err := ReadHeader(strings.NewReader(in)); !errors.Is(err, ndarray.ErrFormat) {
			t.Errorf("%q: %v", in, err)
		}
	}
	for version, valid := range map[string]bool{"\x01\x00": true, "\x00\x00": false, "\x04\x00": false, "\x01\x31": false, "\x01\x01": false} {
		in := magic + version + string([]byte{byte(len(good)), 0}) + good
		if _, err := ReadHeader(strings.NewReader(in)); (err == nil) != valid || err != nil && !errors.Is(err, ndarray.ErrFormat) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// FuzzNPYHeader reads any header. If that succeeds, writing and reading it must produce the same header.
func FuzzNPYHeader(f *testing.F) {
	f.Add("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }")
	f.Add("{'descr': \"|S3\", 'fortran_order': True, 'shape': (), }")
	f.Add("{'descr': [('a', '<i4'), ('', '|V4'), (('t', 'b'), '<f8', (2, 3))], 'fortran_order': False, 'shape': (2,), }")
	f.Add("{'descr': [('日', '>c16')], 'fortran_order': False, 'shape': (2, 0), }")
	f.Fuzz(func(t *testing.T, text string) {
		b := frameText(text)
		h, err := ReadHeader(strings.NewReader(string(b)))
		if err != nil {
			return
		}
		out, err := h.Append(nil)
		if err != nil {
			return
		}
		again, err := ReadHeader(bytes.NewReader(out))
		if err != nil {
			t.Fatalf("%q written as %q: %v", b, out, err)
		}
		if h.DType.Elem == nil && (again.DType.Size != h.DType.Size || pyTuple(again.Shape) != pyTuple(h.Shape)) {
			t.Fatalf("%q: %v %v, then %v %v", b, h.DType, h.Shape, again.DType, again.Shape)
		}
	})
}
