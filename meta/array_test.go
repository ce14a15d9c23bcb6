package meta

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestGoldenArrays(t *testing.T) {
	forms := map[byte]int{}
	for _, g := range goldens(t) {
		if g.Array == nil {
			continue
		}
		for name, text := range g.Metalayers {
			if name != "b2nd" && name != "caterva" {
				continue
			}
			content := unhex(t, text)
			forms[content[0]]++
			a, err := ParseArray(content, g.TypeSize)
			if err != nil {
				t.Errorf("%s: %v", g.Name, err)
				continue
			}
			want := &Array{Shape: g.Array.Shape, ChunkShape: g.Array.Chunks, BlockShape: g.Array.Blocks, DType: g.Array.DType}
			if !reflect.DeepEqual(a, want) {
				t.Errorf("%s: %+v, want %+v", g.Name, a, want)
			}
			if err := a.Validate(g.TypeSize); err != nil {
				t.Errorf("%s: %v", g.Name, err)
			}
			again, err := a.Append(nil)
			if err != nil || content[0] == 0x97 && !bytes.Equal(again, content) {
				t.Errorf("%s: written again (%v)\n%x\nwant\n%x", g.Name, err, again, content)
			}
		}
	}
	if forms[0x97] < 20 || forms[0x96] < 3 || forms[0x95] < 3 {
		t.Errorf("forms seen: %v", forms)
	}
}

func TestArrayForms(t *testing.T) {
	want := &Array{Version: 0, Shape: []int64{300, 7}, ChunkShape: []int32{100, 7}, BlockShape: []int32{50, 2}, DType: "<i4"}
	shapes := "92 d3000000000000012c d30000000000000007 92 d200000064 d200000007 92 d200000032 d200000002"
	none := *want
	none.DType = "|S4"
	name := *want
	name.DType = "int32"
	future := *want
	future.Version, future.DTypeFormat = 3, 5
	for _, c := range []struct {
		what, bytes string
		want        *Array // nil: rejected
	}{
		{"seven elements", "970002" + shapes + "00 db00000003 3c6934", want},
		{"bytes after the dtype", "970002" + shapes + "00 db00000003 3c6934 ffff", want},
		{"six elements", "960002" + shapes + "db00000003 3c6934", want},
		{"six elements with a name", "960002" + shapes + "db00000005 696e743332", &name},
		{"five elements", "950002" + shapes, &none},
		{"empty dtype", "970002" + shapes + "00 db00000000", &none},
		{"version and format to come", "970302" + shapes + "05 db00000003 3c6934", &future},
		{"short strings", "970002" + shapes + "00 a3 3c6934", want},
		{"draft with a short string", "960002" + shapes + "a3 3c6934", want},
		{"str8 and str16", "970002" + shapes + "00 d903 3c6934", want},
		{"str16", "970002" + shapes + "00 da0003 3c6934", want},
		{"narrow integers", "970002 92 cd012c 07 92 64 07 92 32 02 00 db00000003 3c6934", want},
		{"wide integers", "97cc00d002 dc0002 ce0000012c cf0000000000000007 dd00000002 d10064 cc07 92 d300000000000000 32 02 d000 db00000003 3c6934", want},
		{"array markers of any count", "000002" + strings.ReplaceAll(shapes, "92 ", "00 ") + "00 db00000003 3c6934", want},
		{"nothing", "", nil},
		{"17 dimensions", "970011" + strings.Repeat("00", 300), nil},
		{"negative dimensions", "9700ff" + shapes, nil},
		{"negative version", "97ff02" + shapes, nil},
		{"negative length", "970001 91 ff 91 01 91 01", nil},
		{"shape beyond int64", "970001 91 cf8000000000000000 91 01 91 01", nil},
		{"chunk beyond int32", "970001 91 01 91 ce80000000 91 01", nil},
		{"float for an integer", "970001 91 ca00000000 91 01 91 01", nil},
		{"dtype format without dtype", "970002" + shapes + "00", nil},
		{"negative dtype format", "970002" + shapes + "ff db00000003 3c6934", nil},
		{"dtype longer than the record", "970002" + shapes + "00 db00000004 3c6934", nil},
		{"dtype of 4 GiB", "970002" + shapes + "00 dbffffffff 3c6934", nil},
		{"bytes for a dtype", "970002" + shapes + "00 c403 3c6934", nil},
	} {
		got, err := ParseArray(unhex(t, c.bytes), 4)
		if c.want == nil {
			if !errors.Is(err, ErrCorrupt) || got != nil {
				t.Errorf("%s: %+v, %v", c.what, got, err)
			}
		} else if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.what, got, err, c.want)
		}
	}
	if _, err := ParseArray(unhex(t, "950000 90 90 90"), 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("items of 0 bytes: %v", err)
	}
}

func ones[T int32 | int64](n int) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

// The test covers all numbers of dimensions: at 16 the marker leaves the range of array markers.
func TestArrayDims(t *testing.T) {
	for nd := range MaxDims + 1 {
		a := &Array{Shape: ones[int64](nd), ChunkShape: ones[int32](nd), BlockShape: ones[int32](nd), DType: "|u1"}
		b, err := a.Append([]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != 1+3+1+9*nd+2*(1+5*nd)+1+5+3 || b[4] != byte(0x90+nd) {
			t.Errorf("%d dimensions: %x", nd, b)
		}
		if got, err := ParseArray(b[1:], 1); err != nil || !reflect.DeepEqual(got, a) {
			t.Errorf("%d dimensions: %+v, %v", nd, got, err)
		}
		// The same record with the array marker of MessagePack for 16 elements.
		if nd == 16 {
			b = bytes.ReplaceAll(b[1:], []byte{0xa0}, []byte{0xdc, 0, 16})
			if got, err := ParseArray(b, 1); err != nil || !reflect.DeepEqual(got, a) {
				t.Errorf("array16: %+v, %v", got, err)
			}
		}
	}
}

func TestArrayAppendErrors(t *testing.T) {
	ok := Array{Shape: ones[int64](2), ChunkShape: ones[int32](2), BlockShape: ones[int32](2), DType: "|u1"}
	for _, c := range []struct {
		edit func(*Array)
		want error
	}{
		{func(a *Array) { a.ChunkShape = a.ChunkShape[:1] }, ErrType},
		{func(a *Array) { a.BlockShape = nil }, ErrType},
		{func(a *Array) { a.DType = "" }, ErrType},
		{func(a *Array) { a.Version = 128 }, ErrTooLarge},
		{func(a *Array) { a.DTypeFormat = -1 }, ErrTooLarge},
		{func(a *Array) {
			a.Shape, a.ChunkShape, a.BlockShape = ones[int64](17), ones[int32](17), ones[int32](17)
		}, ErrTooLarge},
	} {
		a := ok
		c.edit(&a)
		if b, err := a.Append([]byte("x")); !errors.Is(err, c.want) || string(b) != "x" {
			t.Errorf("%+v: %q, %v, want %v", a, b, err, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	const m32, m64 = math.MaxInt32, math.MaxInt64
	for _, c := range []struct {
		shape         []int64
		chunks, block []int32
		item          int
		want          error
	}{
		{nil, nil, nil, 1, nil},
		{nil, nil, nil, m32, nil},
		{[]int64{7}, []int32{3}, []int32{2}, 8, nil},
		{[]int64{7}, []int32{30}, []int32{40}, 8, nil}, // larger chunks and blocks are legal
		{[]int64{0}, []int32{0}, []int32{0}, 8, nil},
		{[]int64{0}, []int32{5}, []int32{5}, 8, nil},
		{[]int64{0}, []int32{0}, []int32{5}, 8, nil},
		{[]int64{0}, []int32{5}, []int32{0}, 8, ErrCorrupt},
		{[]int64{5}, []int32{0}, []int32{0}, 8, ErrCorrupt},
		{[]int64{5}, []int32{5}, []int32{0}, 8, ErrCorrupt},
		{[]int64{-1}, []int32{5}, []int32{5}, 8, ErrCorrupt},
		{[]int64{5}, []int32{-5}, []int32{5}, 8, ErrCorrupt},
		{[]int64{5}, []int32{5}, []int32{-5}, 8, ErrCorrupt},
		{[]int64{5, 5}, []int32{5}, []int32{5}, 8, ErrCorrupt},
		{[]int64{5}, []int32{5}, []int32{5}, 0, ErrCorrupt},
		{[]int64{5}, []int32{5}, []int32{5}, -1, ErrCorrupt},
		{ones[int64](17), ones[int32](17), ones[int32](17), 1, ErrCorrupt},
		{ones[int64](16), ones[int32](16), ones[int32](16), 1, nil},
		{[]int64{m64}, []int32{1}, []int32{1}, 1, nil},
		{[]int64{m64}, []int32{1}, []int32{1}, 2, ErrTooLarge},
		{[]int64{m64}, []int32{m32}, []int32{1}, 1, ErrTooLarge}, // the last chunk is whole
		{[]int64{m64, 2}, []int32{1, 1}, []int32{1, 1}, 1, ErrTooLarge},
		{[]int64{0, m64, 2}, []int32{0, 1, 1}, []int32{0, 1, 1}, 1, ErrTooLarge},
		{[]int64{0, 1 << 20, 1 << 20}, []int32{0, 1 << 20, 1 << 20}, []int32{0, 1 << 20, 1 << 20}, 1, nil},
		{[]int64{1, 1 << 20, 1 << 20}, []int32{1, 1 << 20, 1 << 20}, []int32{1, 1, 1}, 1, ErrTooLarge},
		{[]int64{1, 1 << 20, 1 << 20}, []int32{1, 1, 1}, []int32{1, 1 << 20, 1 << 20}, 1, ErrTooLarge},
		{[]int64{1 << 40}, []int32{m32}, []int32{m32}, 1, nil},
		{[]int64{1 << 40}, []int32{m32}, []int32{m32 - 1}, 1, ErrTooLarge}, // rounds up to two blocks
		{[]int64{1 << 40}, []int32{1 << 28}, []int32{1 << 28}, 8, ErrTooLarge},
		{[]int64{1 << 40}, []int32{1<<28 - 1}, []int32{1<<28 - 1}, 8, nil},
	} {
		a := &Array{Shape: c.shape, ChunkShape: c.chunks, BlockShape: c.block, DType: "|u1"}
		err := a.Validate(c.item)
		if !errors.Is(err, c.want) || c.want != nil && !errors.Is(err, ErrCorrupt) || c.want == ErrCorrupt && errors.Is(err, ErrTooLarge) {
			t.Errorf("%v %v %v, %d bytes: %v, want %v", c.shape, c.chunks, c.block, c.item, err, c.want)
		}
	}
}

// This test compares the overflow rules with plain big integers.
func TestValidateBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(limit int64) int64 {
		v := rng.Int64() >> rng.IntN(63)
		if rng.IntN(8) == 0 {
			v = 0
		}
		return min(v, limit)
	}
	var seen [2]int
	for range 20000 {
		nd := rng.IntN(4)
		a := &Array{DType: "|u1"}
		item := 1 + rng.IntN(300)
		items, chunk, block, ext, all := big.NewInt(1), big.NewInt(1), big.NewInt(1), big.NewInt(int64(item)), big.NewInt(int64(item))
		for range nd {
			n, cs, bs := pick(math.MaxInt64), pick(math.MaxInt32)>>rng.IntN(31), pick(math.MaxInt32)>>rng.IntN(31)
			if n > 0 {
				cs = max(cs, 1)
			}
			if cs > 0 {
				bs = max(bs, 1)
			}
			a.Shape, a.ChunkShape, a.BlockShape = append(a.Shape, n), append(a.ChunkShape, int32(cs)), append(a.BlockShape, int32(bs))
			whole, grid := int64(0), int64(0)
			if cs > 0 {
				whole, grid = (cs+bs-1)/bs*bs, n/cs
				if n%cs > 0 {
					grid++
				}
			}
			for _, m := range []struct {
				p *big.Int
				v int64
			}{{items, max(n, 1)}, {chunk, cs}, {block, bs}, {ext, whole}, {all, whole}, {all, grid}} {
				m.p.Mul(m.p, big.NewInt(m.v))
			}
		}
		m32 := big.NewInt(math.MaxInt32)
		ok := items.IsInt64() && all.IsInt64() && chunk.Cmp(m32) <= 0 && block.Cmp(m32) <= 0 && ext.Cmp(m32) <= 0
		if err := a.Validate(item); (err == nil) != ok || !ok && !errors.Is(err, ErrTooLarge) {
			t.Fatalf("%+v, %d bytes: %v, want ok %v", a, item, err, ok)
		}
		if ok {
			seen[1]++
		} else {
			seen[0]++
		}
	}
	if min(seen[0], seen[1]) < 1000 {
		t.Errorf("rejected and accepted: %v", seen)
	}
}

func checkArray(t *testing.T, b []byte) {
	t.Helper()
	a, err := ParseArray(b, 4)
	if err != nil {
		if a != nil || !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%x: %+v, %v", b, a, err)
		}
		return
	}
	_ = a.Validate(4)
	again, err := a.Append(nil)
	if err != nil {
		t.Fatalf("%x: %v", b, err)
	}
	if got, err := ParseArray(again, 4); err != nil || !reflect.DeepEqual(got, a) {
		t.Fatalf("%x: %+v, %v, want %+v", b, got, err, a)
	}
}

func TestHostileArrays(t *testing.T) {
	for _, g := range goldens(t) {
		for _, text := range g.Metalayers {
			b := unhex(t, text)
			for n := range b {
				checkArray(t, b[:n:n])
			}
			flip(b, func() { checkArray(t, b) })
		}
	}
}

func FuzzArray(f *testing.F) {
	for _, g := range goldens(f) {
		for _, text := range g.Metalayers {
			f.Add(unhex(f, text))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkArray(t, b) })
}

func BenchmarkArray(b *testing.B) {
	a := &Array{Shape: ones[int64](3), ChunkShape: ones[int32](3), BlockShape: ones[int32](3), DType: "<f8"}
	record, err := a.Append(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(record)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseArray(record, 8); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		b.SetBytes(int64(len(record)))
		b.ReportAllocs()
		dst := slices.Clone(record)[:0]
		for b.Loop() {
			if _, err := a.Append(dst); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestArrayIsACopy(t *testing.T) {
	b, _ := hex.DecodeString("95000191079107910700a3") // shape 7
	b = append(b, "<i4"...)
	a, err := ParseArray(b, 4)
	if err != nil {
		t.Fatal(err)
	}
	clear(b)
	if a.Shape[0] != 7 || a.DType != "<i4" {
		t.Errorf("%+v shares memory with its source", a)
	}
}
