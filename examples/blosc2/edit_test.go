package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// newArray creates an array of 6 x 5 int32 and returns its name.
func newArray(t testing.TB, args ...string) string {
	t.Helper()
	out := t.TempDir() + "/a.b2nd"
	must(t, numbers(30), append([]string{"create", "-shape", "6,5", "-dtype", "<i4", "-chunks", "4,3", "-blocks", "2,2", out}, args...)...)
	return out
}

// TestAppend appends to arrays and super-chunks.
func TestAppend(t *testing.T) {
	for _, name := range []string{"objects.b2b", "batches.b2b", "tensor.bl2", "lazy_expr.b2nd"} { // not as raw bytes
		b, err := os.ReadFile(filepath.Join("../../testdata/stores", name))
		if err != nil {
			t.Fatal(err)
		}
		path := writeFile(t, name, string(b))
		fails(t, 1, "", "12345678", "append", "-raw", path)
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, b) {
			t.Errorf("%s: changed", name)
		}
	}
	data := numbers(30)
	for _, args := range [][]string{nil, {"-sparse"}} {
		out := newArray(t, args...)
		must(t, numbers(10), "append", "-raw", out)
		if got := must(t, "", "dump", out); got != data+numbers(10) {
			t.Errorf("%v: raw rows: the data differs", args)
		}
		must(t, "", "append", out, writeFile(t, "x.npy", npyFile([]int64{1, 5}, false, numbers(5))))
		must(t, npyFile([]int64{9, 2}, true, toFortran([]int64{9, 2}, numbers(18))), "append", "-axis", "1", out)
		if got := must(t, "", "slice", out, ":, 5:"); got != numbers(18) {
			t.Errorf("%v: columns: the data differs", args)
		}
		if got := must(t, "", "slice", out, "8, :5"); got != numbers(5) {
			t.Errorf("%v: rows of a .npy file: the data differs", args)
		}
		must(t, "", "append", "-raw", out)
		fails(t, 1, "", "abc", "append", "-raw", out)
		fails(t, 1, "", numbers(7), "append", "-raw", out, "-axis", "2")
		fails(t, 1, "axis -1", npyFile([]int64{1, 7}, false, numbers(7)), "append", out, "-axis", "-1")
		fails(t, 1, "(1, 6)", npyFile([]int64{1, 6}, false, numbers(6)), "append", out)
		fails(t, 1, "dtype", strings.Replace(npyFile([]int64{1, 7}, false, numbers(7)), "<i4", "<f4", 1), "append", out)
		fails(t, 1, "do not match", npyFile([]int64{7}, false, numbers(7)), "append", out)
		if got := must(t, "", "verify", out) + must(t, "", "dump", out); len(got) != 4*9*7 {
			t.Errorf("%v: %d bytes after failures", args, len(got))
		}
	}
	for _, name := range []string{"schunk_append_c.b2frame", "schunk_append_s", "schunk_empty.b2frame"} {
		path := copyTree(t, fixturesDir+"/python-blosc2/"+name)
		before := must(t, "", "dump", path)
		must(t, "four", "append", path)
		if must(t, "", "dump", path) != before+"four" || must(t, "", "verify", path) != "" {
			t.Errorf("%s: the data differs", name)
		}
		fails(t, 1, "no axes", "abcd", "append", "-axis", "1", path)
		fails(t, 1, "empty", "", "append", path)
	}
}

// TestAppendNoItems appends steps without items, of which a .npy file has the number.
func TestAppendNoItems(t *testing.T) {
	a := filepath.Join(t.TempDir(), "a")
	npy := writeFile(t, "x.npy", npyFile([]int64{3, 0}, false, ""))
	must(t, "", "create", a, npy)
	must(t, "", "append", a, npy)
	must(t, "", "append", "-axis", "1", a, writeFile(t, "y.npy", npyFile([]int64{6, 0}, false, "")))
	if got := must(t, "", "slice", "-text", a, ":"); got != "[] # shape (6, 0)\n" {
		t.Errorf("%q", got)
	}
}

// TestResize changes the shape of an array.
func TestResize(t *testing.T) {
	out := newArray(t)
	must(t, "", "resize", out, "7,2")
	want := ""
	for row := range 6 {
		want += numbers(30)[20*row:][:8]
	}
	if got := must(t, "", "dump", out); got != want+strings.Repeat("\x00", 8) {
		t.Error("the data differs")
	}
	must(t, "", "resize", out, "(0, 2)")
	if got := must(t, "", "dump", out); got != "" {
		t.Errorf("%d bytes", len(got))
	}
	fails(t, 1, "", "", "resize", out, "3")
	fails(t, 1, "", "", "resize", out, "--", "-3,2")
	fails(t, 1, "not an array", "", "resize", copyTree(t, fixturesDir+"/python-blosc2/schunk_zstd.b2frame"), "3")
}

// TestSet writes to selections.
func TestSet(t *testing.T) {
	out := newArray(t)
	want := []byte(numbers(30))
	put := func(row, col int, item string) { copy(want[20*row+4*col:], item) }
	must(t, "", "set", out, "-1, ::2", "-value", "-2")
	for _, col := range []int{0, 2, 4} {
		put(5, col, "\xfe\xff\xff\xff")
	}
	must(t, "abcdefghijkl", "set", "-raw", out, "1:4, 1")
	put(1, 1, "abcd")
	put(2, 1, "efgh")
	put(3, 1, "ijkl")
	must(t, "", "set", out, "2:0:-1, 3:5", writeFile(t, "x.npy", npyFile([]int64{2, 2}, true, "AAAABBBBCCCCDDDD")))
	put(2, 3, "AAAA")
	put(1, 3, "BBBB")
	put(2, 4, "CCCC")
	put(1, 4, "DDDD")
	if got := must(t, "", "dump", out); got != string(want) {
		t.Errorf("the data differs\n%x\n%x", got, want)
	}
	fails(t, 1, "out of range", "", "set", out, "6", "-value", "0")
	fails(t, 1, "bytes", "abc", "set", "-raw", out, "0, 0")
	fails(t, 1, "shape", npyFile([]int64{2}, false, "AAAABBBB"), "set", out, "0, :3")
	fails(t, 1, "dtype <i4", "", "set", out, ":", "-value", "1.5")
	if got := must(t, "", "dump", out); got != string(want) {
		t.Error("the data differs after failures")
	}
}

// TestParseItem parses items of all kinds of dtypes.
func TestParseItem(t *testing.T) {
	for _, c := range []struct{ dtype, text, want string }{
		{"<i4", "-2", "feffffff"}, {">i2", "258", "0102"}, {"<i1", "0x7f", "7f"}, {"<i1", "-0X7F", "81"}, {"<i1", "045", "2d"}, {"<i1", "-045", "d3"}, {"<u1", "089", "59"},
		{"<i4", "1_000", "e8030000"}, {"<i4", "0x1_0", "10000000"}, {"<i4", "-01_0", "f6ffffff"}, {"<i4", "0_10", ""}, {"<i4", "00x10", ""}, {"<i4", "1__0", ""},
		{"<i1", "-0", "00"}, {"<u1", "00", "00"}, {"<i1", "+07", "07"}, {"<i4", "+-5", ""},
		{"<u1", "0o17", "0f"}, {"<i1", "-0b11", "fd"}, {"<M8[s]", "010", "0a00000000000000"}, {"<i1", "128", ""}, {"<u1", "255", "ff"}, {"<u1", "256", ""},
		{"<u8", "18446744073709551615", "ffffffffffffffff"}, {"<u4", "-1", ""}, {"<i4", "1.0", ""}, {"<i8", "", ""},
		{"<f4", "1", "0000803f"}, {">f4", "-2.5e0", "c0200000"}, {"<f8", "inf", "000000000000f07f"}, {"<f8", "-Infinity", "000000000000f0ff"},
		{"<f4", "1e99", ""}, {"<f4", "-1e40", ""}, {"<f4", "3.4028235e38", "ffff7f7f"}, {"<f4", "-inf", "000080ff"}, {">f2", "65520", ""}, {"<f2", "-65519", "fffb"},
		{"<f2", "inf", "007c"}, {"<c8", "1e40", ""}, {"<c8", "1e40j", ""}, {"<c8", "infj", "000000000000807f"}, {"<c16", "1e400", ""}, {"<f16", "1", ""}, {"<c32", "1", ""}, {"<f16", "000102030405060708090a0b0c0d0e0f", "000102030405060708090a0b0c0d0e0f"}, {"<f8", "1e400", ""}, {"<f8", "x", ""}, {"<f2", "1", "003c"}, {">f2", "-65504", "fbff"},
		{"<c8", "1+2j", "0000803f00000040"}, {">c8", "(1-2j)", "3f800000c0000000"}, {"<c16", "2j", "00000000000000000000000000000040"}, {"<c8", "1+", ""},
		{"?", "true", "01"}, {"?", "0", "00"}, {"?", "2", ""}, {"S4", "ab", "61620000"}, {"S2", "abc", ""},
		{"<U2", "é", "e900000000000000"}, {">U1", "日", "000065e5"}, {"<U1", "ab", ""}, {"<U1", "\xff", ""},
		{"<M8[s]", "5", "0500000000000000"}, {"<m8[D]", "NaT", "0000000000000080"}, {"<M8[s]", "today", ""},
		{"V2", "0aff", "0aff"}, {"V2", "0x0aff", "0aff"}, {"V2", "0a", ""}, {"[('a', '<i2')]", "0100", "0100"}, {"[('a', '<i2')]", "1", ""},
	} {
		d, err := meta.ParseDType(c.dtype)
		if err != nil {
			t.Fatal(err)
		}
		b, err := parseItem(d, c.text)
		if got := hex.EncodeToString(b); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %q: %s, %v; want %q", c.dtype, c.text, got, err, c.want)
		}
	}
	d := meta.Of('f', 8)
	if b, err := parseItem(d, "nan"); err != nil || b[7]&0x7f != 0x7f || b[6]&0xf8 != 0xf8 {
		t.Errorf("nan: %x, %v", b, err)
	}
}

// TestParseRange checks the errors for numbers outside the range of a dtype.
func TestParseRange(t *testing.T) {
	for _, c := range []struct{ dtype, text, want string }{
		{"<f4", "1e39", "is too large for dtype <f4"}, {"<f4", "-1e39", "is below the smallest number of dtype <f4"},
		{"<f8", "1e400", "is too large for dtype <f8"}, {"<f2", "65520", "is too large for dtype <f2"},
		{"<c8", "1-1e39j", "is too large for dtype <c8"}, {"<c16", "1e400j", "is too large for dtype <c16"},
		{"|u1", "256", "is too large for dtype |u1"}, {"|i1", "-129", "is below the smallest number of dtype |i1"},
		{"|u1", "-1", "is not a value of dtype |u1"}, {"<f4", "x", "is not a value of dtype <f4"},
	} {
		d, err := meta.ParseDType(c.dtype)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseItem(d, c.text); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.dtype, c.text, err, c.want)
		}
	}
	if help := strings.Join(strings.Fields(must(t, "", "help", "set")), " "); !strings.Contains(help, "long doubles (<f16 <c32) the bytes of an item in hexadecimal") {
		t.Errorf("help: %s", help)
	}
}

// TestFloat16 checks that the result is the nearest of all half-precision numbers, ties to even.
func TestFloat16(t *testing.T) {
	float16 := func(x float64) uint16 { return uint16(ndarray.Float16Of(x)) }
	value := func(bits uint16) float64 {
		exp, frac := int(bits>>10&31), float64(bits&1023)
		switch {
		case exp == 31:
			return math.Inf(1) // as 65536 for rounding, see below
		case exp == 0:
			return math.Ldexp(frac, -24)
		}
		return math.Ldexp(1024+frac, exp-25)
	}
	for bits := range uint16(0x7c00) {
		x, next := value(bits), value(bits+1)
		if math.IsInf(next, 1) {
			next = 65536
		}
		half := (x + next) / 2
		even := bits + bits&1
		if float16(x) != bits || float16(-x) != bits|0x8000 || float16(half) != even || float16(math.Nextafter(half, 0)) != bits ||
			float16(math.Nextafter(half, 1e9)) != bits+1 {
			t.Fatalf("%v: %x %x %x, want %x", x, float16(x), float16(half), float16(math.Nextafter(half, 1e9)), bits)
		}
	}
	if float16(math.Inf(-1)) != 0xfc00 || float16(1e300) != 0x7c00 || float16(math.NaN())&0x7fff != 0x7e00 || float16(math.Copysign(0, -1)) != 0x8000 {
		t.Error("special values")
	}
}

// TestVLMeta sets, gets and deletes variable-length metalayers.
func TestVLMeta(t *testing.T) {
	for _, args := range [][]string{nil, {"-sparse"}} {
		out := newArray(t, args...)
		for _, v := range []struct{ json, packed, shown string }{
			{"1", "01", "1"}, {"-1", "ff", "-1"}, {"1.0", "cb3ff0000000000000", "1.0"}, {"1e2", "cb4059000000000000", "100.0"}, {"1e300", "cb7e37e43c8800759c", "1e+300"},
			{"18446744073709551615", "cfffffffffffffffff", "18446744073709551615"}, {`"h\u00e9"`, "a368c3a9", `"hé"`}, {"null", "c0", "null"},
			{`{"b": {"z": 1, "a": 2}, "a": [true, {}]}`, "82a16282a17a01a16102a16192c380", `{"b": {"z": 1, "a": 2}, "a": [true, {}]}`},
			{`{"a": 1, "b": 2, "a": 3}`, "82a16103a16202", `{"a": 3, "b": 2}`}, {"[]", "90", "[]"}, {`"<&>"`, "a33c263e", `"<&>"`},
			{`["__tuple__", 1]`, "92a95f5f7475706c655f5f01", "[1]"},
		} {
			must(t, "", "vlmeta", out, "set", "name", v.json)
			if got := must(t, "", "vlmeta", out, "get", "name", "-hex"); got != v.packed+"\n" {
				t.Errorf("%s: stored as %s", v.json, got)
			}
			if got := must(t, "", "vlmeta", out, "get", "name"); got != v.shown+"\n" {
				t.Errorf("%s: shown as %s", v.json, got)
			}
		}
		for packed, shown := range map[string]string{
			"c403010203": `"bytes 010203"`, "d405ff": `"extension 5 ff"`, "cb7ff8000000000000": "NaN", "cbfff0000000000000": "-Infinity", "cb7ff0000000000000": "Infinity",
			"8101c0": `{"1": null}`, "81920102c3": `{"[1, 2]": true}`,
		} {
			must(t, "", "vlmeta", out, "set", "other", packed, "-hex")
			if got := must(t, "", "vlmeta", out, "get", "other"); got != shown+"\n" {
				t.Errorf("%s: shown as %s", packed, got)
			}
		}
		must(t, "", "vlmeta", out, "set", "other", "-hex", "ff00")
		fails(t, 1, "-hex", "", "vlmeta", out, "get", "other")
		if got := must(t, "", "vlmeta", out, "list", "-hex"); got != "name: 92a95f5f7475706c655f5f01\nother: ff00\n" {
			t.Errorf("list: %s", got)
		}
		must(t, "", "vlmeta", out, "set", "last", "2")
		code, got, errOut := callFree("", "vlmeta", out)
		if code != 1 || string(got) != "name: [1]\nlast: 2\n" || !strings.Contains(errOut, "vlmeta other: ") {
			t.Errorf("list with a value that is not MessagePack: exit %d, %q, %q", code, got, errOut)
		}
		must(t, "", "vlmeta", out, "delete", "last")
		must(t, "", "vlmeta", out, "delete", "other")
		if got := must(t, "", "vlmeta", out); got != "name: [1]\n" {
			t.Errorf("list: %s", got)
		}
		fails(t, 1, "not found", "", "vlmeta", out, "get", "other")
		fails(t, 1, "not found", "", "vlmeta", out, "delete", "other")
		fails(t, 1, "want 1 to 31 bytes: bad parameter", "", "vlmeta", out, "set", strings.Repeat("n", 32), "1")
		if must(t, "", "verify", out) != "" || must(t, "", "dump", out) != numbers(30) {
			t.Error("the array changed")
		}
	}
	got := must(t, "", "vlmeta", fixturesDir+"/python-blosc2/vlmeta.b2nd", "get", "list")
	if got != "[1, \"two\", 3.0, null, true]\n" {
		t.Error(got)
	}
}

// TestCopy copies fixtures with various options.
func TestCopy(t *testing.T) {
	dir := t.TempDir()
	n := 0
	for _, name := range []string{
		"python-blosc2/part_0_f8.b2nd", "python-blosc2/edited_sframe", "python-blosc2/meta.b2nd", "python-blosc2/vlmeta.b2nd", "python-blosc2/shape_00.b2nd",
		"python-blosc2/zeros.b2nd", "python-blosc2/schunk_edit_c.b2frame", "python-blosc2/schunk_fill_s", "legacy/varchunks_s.b2frame", "legacy/vl_lz4_c.b2frame",
		"legacy/legacy_b2nd_draft6_3d_c.b2nd",
	} {
		from := fixturesDir + "/" + name
		array := strings.Contains(must(t, "", "info", from), "\nkind             array") || strings.Contains(must(t, "", "info", from), "\nshape ")
		runs := [][]string{{}, {"-sparse"}, {"-contiguous"}, {"-codec", "lz4"}, {"-level", "9", "-filters", "bitshuffle"}, {"-split", "never", "-sparse"}}
		if !array {
			runs = append(runs, []string{"-chunksize", "1000"})
		}
		for _, args := range runs {
			n++
			to := dir + "/copy"
			if slices.Contains(args, "-chunksize") && strings.Contains(name, "/vl_") {
				fails(t, 1, "unsupported", "", append([]string{"copy", from, dir + "/vl"}, args...)...)
				continue
			}
			must(t, "", append([]string{"copy", "-overwrite", from, to}, args...)...)
			if must(t, "", "dump", to) != must(t, "", "dump", from) || must(t, "", "verify", to) != "" {
				t.Errorf("%s %v: the data differs", name, args)
			}
			if must(t, "", "vlmeta", to) != must(t, "", "vlmeta", from) {
				t.Errorf("%s %v: the vlmeta differs", name, args)
			}
			info := must(t, "", "info", to)
			sparse := strings.Contains(info, "sparse directory")
			wantSparse := strings.Contains(must(t, "", "info", from), "sparse directory")
			for i, a := range args {
				switch a {
				case "-sparse":
					wantSparse = true
				case "-contiguous":
					wantSparse = false
				case "-codec", "-filters":
					if !strings.Contains(info, args[i+1]) {
						t.Errorf("%s %v:\n%s", name, args, info)
					}
				}
			}
			if sparse != wantSparse {
				t.Errorf("%s %v: sparse %v", name, args, sparse)
			}
		}
	}
	if n < 60 {
		t.Errorf("%d copies", n)
	}
	from := newArray(t, "-meta", "m=1")
	must(t, "", "copy", "-chunks", "3,2", from, dir+"/p")
	if info := squeeze(must(t, "", "info", dir+"/p")); !strings.Contains(info, "chunks (3, 2)") || !strings.Contains(info, "metalayer m 1") {
		t.Error(info)
	}
	must(t, "", "copy", "-chunks", "6,5", "-blocks", "1,5", from, dir+"/q")
	if info := squeeze(must(t, "", "info", dir+"/q")); !strings.Contains(info, "blocks (1, 5)") || must(t, "", "dump", dir+"/q") != numbers(30) {
		t.Error(info)
	}
	must(t, "", "copy", "-blocks", "1,3", from, dir+"/b") // keeps the chunks
	if info := squeeze(must(t, "", "info", dir+"/b")); !strings.Contains(info, "chunks (4, 3)") || !strings.Contains(info, "blocks (1, 3)") {
		t.Error(info)
	}
	fails(t, 1, "exists", "", "copy", from, dir+"/p")
	fails(t, 1, "exists", "", "copy", "-level", "1", from, dir+"/p")
	fails(t, 2, "-chunksize is for", "", "copy", "-chunksize", "10", from, dir+"/r")
	fails(t, 2, "are for arrays", "", "copy", "-chunks", "10", fixturesDir+"/python-blosc2/schunk_zstd.b2frame", dir+"/r")
	fails(t, 1, "single chunk", "", "copy", fixturesDir+"/python-blosc2/chunk_small_1.chunk", dir+"/r")
}

// TestCopyManyBlocks copies a frame with blocks of variable size in which a chunk claims 3 million blocks of one byte.
func TestCopyManyBlocks(t *testing.T) {
	ctx, blocks := t.Context(), [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error {
		return errors.Join(b.AppendBlocks(ctx, blocks[:2]), b.AppendBlocks(ctx, blocks))
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.ChunkInfo(ctx, 1)
	if err != nil || !f.Info().VLBlocks || info.CBytes < 33 {
		t.Fatal(info, err)
	}
	var b bytes.Buffer
	if _, err := f.Save(ctx, &b); err != nil {
		t.Fatal(err)
	}
	c := b.Bytes()[info.Off:]
	clear(c[:33])
	c[0], c[1], c[2], c[3], c[31], c[32] = 5, 1, 5, 1, 3<<4, 'x' // one value for the whole chunk
	binary.LittleEndian.PutUint32(c[4:], 3<<20)
	binary.LittleEndian.PutUint32(c[8:], 1)
	binary.LittleEndian.PutUint32(c[12:], 33)
	fails(t, 1, "too large", b.String(), "copy", "-codec", "lz4", "-", t.TempDir()+"/copy")
}

// TestVerifyDamage changes single bytes. verify must print nothing, or end with status 1, and no verb may crash.
func TestVerifyDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	for _, name := range []string{"python-blosc2/vlmeta.b2nd", "python-blosc2/grid_036_lz4hc_bit_V300.b2nd", "legacy/varchunks_c.b2frame", "python-blosc2/chunk_zstd_shuffle_12.chunk", "legacy/vl_zstd_c.b2frame"} {
		content := readFile(t, fixturesDir+"/"+name)
		path := copyTree(t, fixturesDir+"/"+name)
		for range 60 {
			b := []byte(content)
			b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
			writeFile(t, path, string(b))
			code, out, _ := call(t, "", "verify", path)
			if code != 0 && code != 1 || code == 0 && len(out) != 0 {
				t.Fatalf("%s: exit %d, %q", name, code, out)
			}
			if len(out) > 0 {
				found++
			}
			call(t, "", "info", path)
			call(t, "", "info", "-json", path)
			call(t, "", "dump", path)
		}
		for range 10 {
			writeFile(t, path, content[:rng.IntN(len(content))])
			if code, _, _ := call(t, "", "verify", path); code != 1 {
				t.Errorf("%s: exit %d for a truncated file", name, code)
			}
		}
	}
	if found < 60 {
		t.Errorf("found only %d faults", found)
	}
}

// TestVerifyReportsFaults checks the faults that verify reports for damaged files.
func TestVerifyReportsFaults(t *testing.T) {
	out := t.TempDir() + "/a.b2nd"
	must(t, numbers(4000), "create", "-shape", "4,1000", "-dtype", "<i4", "-chunks", "1,1000", "-sparse", out)
	for _, k := range []string{"1", "3"} {
		name := out + "/0000000" + k + ".chunk"
		b := []byte(readFile(t, name))
		writeFile(t, name, string(b[:len(b)-9]))
	}
	code, report, errOut := call(t, "", "verify", out)
	lines := strings.Split(strings.TrimSpace(string(report)), "\n")
	if code != 1 || len(lines) != 2 || !strings.Contains(lines[0], "chunk 1") || !strings.Contains(lines[1], "chunk 3") || !strings.Contains(errOut, "faults found: 2") {
		t.Errorf("exit %d, %s%s", code, report, errOut)
	}
	path := copyTree(t, fixturesDir+"/python-blosc2/chunk_zstd_shuffle_12.chunk")
	writeFile(t, path, readFile(t, path)+"tail")
	code, report, _ = call(t, "", "verify", path)
	if code != 1 || !strings.Contains(string(report), "4 bytes after the end of the chunk") {
		t.Errorf("exit %d, %s", code, report)
	}
	path = copyTree(t, fixturesDir+"/python-blosc2/meta.b2nd")
	b := readFile(t, path)
	writeFile(t, path, strings.Replace(b, "<i4", "<i8", 1))
	code, report, _ = call(t, "", "verify", path)
	if code != 1 || !strings.Contains(string(report), "dtype") {
		t.Errorf("exit %d, %s", code, report)
	}
	// The shape does not match the chunks. info still prints the rest, and no verb reads the frame as an array.
	writeFile(t, path, strings.Replace(b, "\xd3\x00\x00\x00\x00\x00\x00\x00\x14", "\xd3\x00\x00\x00\x00\x00\x00\x00\x50", 1))
	code, report, _ = call(t, "", "verify", path)
	if code != 1 || !strings.Contains(string(report), "metalayer b2nd") || !strings.Contains(must(t, "", "info", path), "damaged: ") {
		t.Errorf("exit %d, %s", code, report)
	}
	fails(t, 1, "metalayer b2nd", "", "dump", path)
	fails(t, 1, "metalayer b2nd", "abcd", "append", path)
}

// TestAppendToSuperChunk expects that append refuses what it would ignore: a dtype, and the order of a .npy file.
func TestAppendToSuperChunk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.b2frame")
	must(t, numbers(6), "create", "-chunksize", "24", path)
	fails(t, 1, path+": not an array: a super-chunk has no dtype for -dtype; use -raw", numbers(6), "append", "-raw", "-dtype", "<i8", path)
	fails(t, 1, "cannot append a .npy file in Fortran order", npyFile([]int64{2, 3}, true, numbers(6)), "append", path)
	must(t, npyFile([]int64{2, 3}, false, numbers(6)), "append", path)
	must(t, numbers(6), "append", "-raw", path)
	if got := must(t, "", "dump", path); got != strings.Repeat(numbers(6), 3) {
		t.Errorf("%q", got)
	}
}

// TestDTypeOfNPY expects that append and set check -dtype for a .npy file, too.
func TestDTypeOfNPY(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, numbers(6), "create", "-dtype", "<i4", path)
	file := npyFile([]int64{6}, false, numbers(6))
	for _, verb := range [][]string{{"append", path}, {"set", path, ":6"}} {
		fails(t, 1, "-dtype: ", file, append(verb, "-dtype", "foo")...)
		fails(t, 1, "the array has dtype <i4, not <f8", file, append(verb, "-dtype", "<f8")...)
		must(t, file, append(verb, "-dtype", "<i4")...)
	}
	if got := must(t, "", "dump", path); got != strings.Repeat(numbers(6), 2) {
		t.Errorf("%q", got)
	}
}
