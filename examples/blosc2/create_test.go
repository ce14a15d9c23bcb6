package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// numbers returns n little-endian int32: a smooth sequence with some noise.
func numbers(n int) string {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, uint32(i*3+i*i%7))
	}
	return string(b)
}

// npyFile returns a .npy file of int32 in C or Fortran order.
func npyFile(shape []int64, fortran bool, data string) string {
	h, err := npy.Header{DType: meta.Of('i', 4), Fortran: fortran, Shape: shape}.Append(nil)
	if err != nil {
		panic(err)
	}
	return string(h) + data
}

// toFortran returns int32 items, given in C order, in Fortran order.
func toFortran(shape []int64, data string) string {
	out := make([]byte, len(data))
	at := make([]int64, len(shape))
	for k := range len(data) / 4 {
		flat := int64(0)
		for i := len(shape) - 1; i >= 0; i-- {
			flat = flat*shape[i] + at[i]
		}
		copy(out[4*flat:], data[4*k:4*k+4])
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < shape[i] {
				break
			}
			at[i] = 0
		}
	}
	return string(out)
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	data := numbers(3 * 40 * 50)
	raw := writeFile(t, dir+"/in.raw", data)
	shape := []int64{3, 40, 50}
	npy := writeFile(t, dir+"/in.npy", npyFile(shape, false, data))
	fortran := writeFile(t, dir+"/fortran", npyFile(shape, true, toFortran(shape, data)))
	var first []byte
	for i, c := range []struct {
		stdin string
		args  []string
	}{
		{"", []string{raw, "-shape", "3,40,50", "-dtype", "<i4"}},
		{data, []string{"-shape", "(3, 40, 50)", "-dtype=int32"}},
		{data, []string{"-shape", "3,40,50", "-dtype", "<i4", "-"}},
		{"", []string{npy}}, {"", []string{fortran}},
		{npyFile(shape, false, data), nil}, {npyFile(shape, true, toFortran(shape, data)), nil},
		{npyFile([]int64{120, 50}, false, data), []string{"-shape", "3,40,50"}}, {npyFile(shape, false, data), []string{"-dtype", "int32"}},
	} {
		out := fmt.Sprintf("%s/out%d.b2nd", dir, i)
		must(t, c.stdin, append([]string{"create", out}, c.args...)...)
		if got := must(t, "", "dump", out); got != data {
			t.Errorf("%v: the data differs", c.args)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			t.Errorf("%v: the file differs from the first", c.args)
		}
	}
	out := dir + "/bytes.b2nd"
	must(t, npyFile(shape, false, data), "create", "-dtype", "V4", out)
	if must(t, "", "dump", out) != data {
		t.Error("-dtype V4: the data differs")
	}
	const version = "/proc/version" // a regular file of size 0
	if b, err := os.ReadFile(version); err == nil && len(b) > 0 {
		must(t, "", "create", "-overwrite", "-raw", out, version)
		if must(t, "", "dump", out) != string(b) {
			t.Errorf("%s: the data differs", version)
		}
	}
	must(t, "", "create", "-overwrite", "-raw", out, writeFile(t, dir+"/empty", ""))
	if must(t, "", "dump", out) != "" {
		t.Error("an empty file: the data differs")
	}
	// The library creates the same file.
	a, err := ndarray.CreateBytes(t.Context(), dir+"/lib.b2nd", shape, "<i4", []byte(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	if b, _ := os.ReadFile(dir + "/lib.b2nd"); !bytes.Equal(b, first) {
		t.Error("the file differs from the one that the library creates")
	}
}

// TestCreateInPieces creates arrays with little memory and with enough memory.
func TestCreateInPieces(t *testing.T) {
	dir := t.TempDir()
	data := numbers(30 * 40 * 5)
	shape := []int64{30, 40, 5}
	chunkShapes := []string{"7,11,3", "30,40,5", "1,1,5", "40,50,6"}
	if testing.Short() {
		chunkShapes = chunkShapes[:2]
	}
	files := map[string]string{"raw": data, "c.npy": npyFile(shape, false, data), "f.npy": npyFile(shape, true, toFortran(shape, data))}
	for name, content := range files {
		in := writeFile(t, dir+"/"+name, content)
		for _, chunks := range chunkShapes {
			for _, mem := range []int64{1, 2000, 1 << 20} {
				for _, stdin := range []bool{false, true} {
					out := dir + "/out.b2nd"
					args := []string{"create", "-overwrite", "-chunks", chunks, "-vlmeta", "v=1", "-meta", "m=[2]", out}
					if name == "raw" {
						args = append(args, "-shape", "30,40,5", "-dtype", "<i4")
					}
					input := content
					if !stdin {
						args, input = append(args, in), ""
					}
					if _, err := inPieces(t, mem, input, args...); err != nil {
						t.Fatalf("%s %v %v: %v", name, args, mem, err)
					}
					if must(t, "", "dump", out) != data || must(t, "", "verify", out) != "" || must(t, "", "vlmeta", out) != "v: 1\n" {
						t.Errorf("%s %v %v: the data differs", name, args, mem)
					}
				}
			}
		}
	}
	for _, c := range []struct{ stdin, words string }{{data[4:], "ends before|bytes, want"}, {data + "x", "more than|bytes, want"}} {
		for _, mem := range []int64{1, 2000, 1 << 20} {
			_, err := inPieces(t, mem, c.stdin, "create", dir+"/no", "-shape", "30,40,5", "-dtype", "<i4")
			one, two, _ := strings.Cut(c.words, "|")
			if err == nil || !strings.Contains(err.Error(), one) && !strings.Contains(err.Error(), two) {
				t.Errorf("%v: %v", mem, err)
			}
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 4 {
		t.Errorf("remaining files: %v", left)
	}
}

// TestCreateBlocks checks blocks of create and copy without lengths of chunks. Those blocks keep their lengths only
// with a 0 or -1 among them. Otherwise a note on standard error names the blocks, also if the array is written to
// standard output.
func TestCreateBlocks(t *testing.T) {
	data := strings.Repeat("\x01", 100*200)
	from := filepath.Join(t.TempDir(), "from.b2nd")
	must(t, data, "create", "-shape", "100,200", "-dtype", "u1", from)
	for _, x := range []struct{ chunks, blocks, got, note string }{
		{"", "50,2", "(1, 100)", "note: the blocks are (1, 100), not (50, 2): without lengths in -chunks, "},
		{"0,0", "50,2", "(1, 100)", "note: the blocks are (1, 100), not (50, 2): without lengths in -chunks, "},
		{"0,50", "50,2", "(50, 2)", ""},
		{"", "-1,2", "(100, 2)", ""},
		{"", "50,0", "(50, 200)", ""},
		{"100,200", "50,2", "(50, 2)", ""},
		{"", "1,100", "(1, 100)", ""},
	} {
		args := []string{"-blocks", x.blocks}
		if x.chunks != "" {
			args = append(args, "-chunks", x.chunks)
		}
		for _, verb := range [][]string{{"create", "-shape", "100,200", "-dtype", "u1", "-"}, {"copy", from, "-"}} {
			if verb[0] == "copy" && x.chunks == "" {
				continue // it keeps the chunks
			}
			code, out, errOut := call(t, data, slices.Concat(verb[:1], args, verb[1:])...)
			if code != 0 || x.note == "" && errOut != "" || !strings.Contains(errOut, x.note) {
				t.Errorf("%s %v: exit %d, %q", verb[0], x, code, errOut)
			}
			a, err := ndarray.OpenBytes(out, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := pyTuple(a.Blocks()); got != x.got {
				t.Errorf("%s %v: blocks %s", verb[0], x, got)
			}
			a.Close()
		}
	}
}

func TestCreateOptions(t *testing.T) {
	dir := t.TempDir()
	data := numbers(1000)
	out := dir + "/out.b2nd"
	must(t, data, "create", "-shape", "10,100", "-dtype", ">i4", "-chunks", "4,50", "-blocks", "2,25", "-codec", "lz4", "-level", "9",
		"-filters", "bitshuffle, bytedelta", "-filters-meta", "0,-3", "-split", "never", "-sparse", "-meta", `a={"z": 1, "b": [1.5, null]}`,
		"-meta", "b=2", "-vlmeta", `c="x"`, out)
	a, err := ndarray.Open(t.Context(), out, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	p := a.Frame().Info().Params
	filters := coder.Params(p).Pipeline()
	if d, _ := storedDType(a); d != ">i4" || pyTuple(a.Shape()) != "(10, 100)" || pyTuple(a.Chunks()) != "(4, 50)" ||
		pyTuple(a.Blocks()) != "(2, 25)" || p.Codec.String() != "lz4" || p.Level != 9 || !a.Frame().Info().Sparse ||
		filters[0] != chunk.BitShuffle || filters[1] != chunk.ByteDelta.With(253) ||
		filters[5] != chunk.NoFilter || p.Split != chunk.SplitNever {
		t.Errorf("%s %+v", d, a.Frame().Info())
	}
	layers := a.Frame().Meta()
	want, _ := meta.Marshal(meta.Map{{Key: "z", Value: 1}, {Key: "b", Value: []any{1.5, nil}}})
	if len(layers) != 3 || layers[1].Name != "a" || !bytes.Equal(layers[1].Content, want) || layers[2].Name != "b" {
		t.Errorf("metalayers %q", layers)
	}
	if must(t, "", "vlmeta", out, "get", "c") != "\"x\"\n" {
		t.Error("vlmeta")
	}
	fails(t, 1, "-overwrite", data, "create", "-shape", "1000", "-dtype", "<i4", out)
	must(t, data, "create", "-shape", "1000", "-dtype", "<i4", "-overwrite", "-level", "0", "-filters", "", out)
	if fi, err := os.Stat(out); err != nil || fi.IsDir() || fi.Size() < 4000 {
		t.Errorf("not replaced by an uncompressed file: %v", err)
	}
	if got := must(t, "", "info", out); !strings.Contains(got, "level 0") || !strings.Contains(squeeze(got), "filters none") {
		t.Error(got)
	}
}

func TestCreateShapes(t *testing.T) {
	out := t.TempDir() + "/out"
	for _, c := range []struct{ stdin, shape, dtype, want string }{
		{"abcd", "", "<i4", "()"}, {"", "0", "<i4", "(0,)"}, {"", "3,0,2", "", "(3, 0, 2)"}, {"abcdef", "2,3", "", "(2, 3)"},
		{"abcdef", "-", "", "(6,)"}, {"abcdef", "-", "S3", "(2,)"}, {"", "-", "<f8", "(0,)"},
	} {
		args := []string{"create", "-overwrite", out}
		if c.shape != "-" {
			args = append(args, "-shape", c.shape)
		}
		if c.dtype != "" {
			args = append(args, "-dtype", c.dtype)
		} else {
			args = append(args, "-raw")
		}
		must(t, c.stdin, args...)
		if got := must(t, "", "dump", out); got != c.stdin || !strings.Contains(squeeze(must(t, "", "info", out)), "\nshape "+c.want+"\n") {
			t.Errorf("%+v: %q", c, got)
		}
	}
	dir := t.TempDir()
	for _, c := range []struct{ words, stdin, args string }{
		{"5 bytes, want 6", "abcde", "-raw -shape 2,3"}, {"more than 6", "abcdefg", "-raw -shape 2,3"}, {"a multiple of the item size", "abcde", "-dtype <i4"},
		{"too large", "", "-raw -shape 4000000000,4000000000"}, {"dtype", "", "-dtype nonsense -shape 3"}, {"no bytes", "", "-dtype S0 -shape 3"},
		{"cannot be changed to", npyFile([]int64{2}, false, "12345678"), "-shape 3"}, {"-dtype is <i8, but the .npy file states the dtype of its items, <i4", npyFile([]int64{2}, false, "12345678"), "-dtype <i8"},
		{"-dtype is >i4, but", npyFile([]int64{2}, false, "12345678"), "-dtype >i4"}, {"-dtype is <f4, but", npyFile([]int64{2}, false, "12345678"), "-dtype <f4"},
		{"-dtype is >i4, but", npyFile([]int64{2}, false, "12345678"), "-dtype >i4 -chunksize 4"}, {"-dtype is |V8, but", npyFile([]int64{2}, false, "12345678"), "-dtype V8"},
		{"shape must be", npyFile([]int64{1, 2}, true, "12345678"), "-shape 2,1"}, {"bytes", npyFile([]int64{3}, false, "12345678"), ""},
		{"Fortran", npyFile([]int64{1, 2}, true, "12345678"), "-chunksize 4"},
		{"", "abc", "-raw -shape 3 -chunks 2,2"}, {"", "abc", "-raw -shape 3 -chunks 2 -blocks 3"}, {"", "abc", "-raw -shape 3 -meta " + strings.Repeat("n", 40) + "=1"},
	} {
		fails(t, 1, c.words, c.stdin, append([]string{"create", dir + "/no"}, strings.Fields(c.args)...)...)
	}
	fails(t, 1, "directory", "", "create", dir+"/no", dir)
	fails(t, 1, "not a valid .npy", "", "create", dir+"/no", writeFile(t, "x.npy", "plain"))
	fails(t, 1, "already exists", "abc", "create", dir)
	fails(t, 1, "frame", "abc", "create", "-raw", "-overwrite", dir)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("failures left %v (%v)", left, err)
	}
}

func TestCreateSuperChunk(t *testing.T) {
	dir := t.TempDir()
	data := numbers(1000)
	for i, args := range [][]string{{"-typesize", "4"}, {"-dtype", "<i4"}, {"-sparse", "-codec", "blosclz"}, {"-vlmeta", "a=1", "-meta", "b=2"}} {
		out := fmt.Sprintf("%s/out%d", dir, i)
		must(t, data, append([]string{"create", "-chunksize", "1500", out}, args...)...)
		f, err := frame.Open(t.Context(), out, nil)
		if err != nil {
			t.Fatal(err)
		}
		info := f.Info()
		f.Close()
		if info.NumChunks != 3 || info.ChunkSize != 1500 || i < 2 && info.TypeSize != 4 || must(t, "", "dump", out) != data {
			t.Errorf("%v: %+v", args, info)
		}
	}
	if must(t, "", "vlmeta", dir+"/out3", "get", "a") != "1\n" {
		t.Error("vlmeta")
	}
	out := filepath.Join(dir, "npy")
	must(t, npyFile([]int64{1000}, false, data), "create", "-chunksize", "400", out)
	if must(t, "", "dump", out) != data {
		t.Error("super-chunk from a .npy file: the data differs")
	}
	for _, c := range []struct{ data, fault string }{
		{data[1:], "the input has 3999 bytes, want 4000"}, {data[:400], "the input has 400 bytes, want 4000"}, {data + "x", "bytes"},
	} {
		content := npyFile([]int64{1000}, false, c.data)
		in := writeFile(t, filepath.Join(dir, "in"), content)
		fails(t, 1, c.fault, "", "create", "-chunksize", "400", dir+"/no", in)
		fails(t, 1, c.fault, content, "create", "-chunksize", "400", dir+"/no")
		fails(t, 1, c.fault, "", "append", out, in)
		fails(t, 1, c.fault, content, "append", out)
	}
	if _, err := os.Stat(dir + "/no"); err == nil || must(t, "", "dump", out) != data {
		t.Error("a .npy file of the wrong size is stored")
	}
	must(t, npyFile([]int64{100}, false, data[:400]), "append", out)
	if must(t, "", "dump", out) != data+data[:400] {
		t.Error("a .npy file appended to a super-chunk: the data differs")
	}
	must(t, "", "create", "-chunksize", "2000000000", dir+"/empty")
	must(t, "ab", "create", "-chunksize", "2000000000", dir+"/small")
	if must(t, "", "dump", dir+"/empty") != "" || must(t, "", "dump", dir+"/small") != "ab" {
		t.Error("small super-chunks")
	}
}

// TestCreateCodecs creates arrays with every codec and filter. An error must name a codec or filter that is
// unsupported.
func TestCreateCodecs(t *testing.T) {
	data := numbers(1024)
	later := []string{"ndlz", "zfp_acc", "zfp_prec", "zfp_rate", "ndcell", "ndmean"}
	check := func(name string, args ...string) {
		t.Helper()
		out := t.TempDir() + "/out"
		code, _, errOut := call(t, data, append([]string{"create", "-shape", "32,32", "-dtype", "<i4", out}, args...)...)
		known := true
		for _, l := range later {
			known = known && l != name
		}
		switch {
		case code == 0:
			if got := must(t, "", "dump", out); known && got != data {
				t.Errorf("%s: the data differs", name)
			}
			if !strings.Contains(must(t, "", "info", out), name) {
				t.Errorf("%s: info does not mention it", name)
			}
		case known || !strings.Contains(errOut, name):
			t.Errorf("%s: %s", name, errOut)
		}
	}
	for _, codec := range []string{"blosclz", "lz4", "lz4hc", "zlib", "zstd", "ndlz", "zfp_acc", "zfp_prec", "zfp_rate"} {
		check(codec, "-codec", codec, "-codec-meta", "4", "-filters", "")
	}
	for _, f := range []string{"none", "shuffle", "bitshuffle", "delta"} {
		check(f, "-filters", f)
	}
	check("bytedelta", "-filters", "shuffle,bytedelta")
	check("trunc_prec", "-filters", "trunc_prec,shuffle", "-filters-meta", "23")
	check("trunc_prec", "-filters", "trunc_prec:23,shuffle")
	check("int_trunc", "-filters", "int_trunc", "-filters-meta", "32")
	check("ndcell", "-filters", "ndcell", "-filters-meta", "4")
	check("ndmean", "-filters", "ndmean", "-filters-meta", "4")
	check("dictionaries", "-dict", "-codec", "zstd")
}

// TestLossy expects that lossy codecs and filters are refused for items that they would destroy.
func TestLossy(t *testing.T) {
	data, dir := numbers(1024), t.TempDir()
	out := filepath.Join(dir, "out")
	const zfp, trunc, mean, bits = "-codec=zfp_acc -codec-meta=-2", "-filters=trunc_prec:12", "-filters=ndmean:4", "-filters=int_trunc:5"
	for _, c := range []struct{ dtype, option, fault string }{
		{"<i4", zfp, "-codec zfp_acc is for items of dtype <f4 and <f8, not of <i4"},
		{">f4", zfp, "not of >f4"},
		{"<c8", zfp, "not of <c8"},
		{"<f4", zfp, ""},
		{"<u8", trunc, "-filters trunc_prec is for items of dtype <f4 and <f8, not of <u8"},
		{">f8", trunc, "not of >f8"},
		{"<M8[s]", trunc, "not of <M8[s]"},
		{"<f8", trunc, ""},
		{"<i4", "-filters=trunc_prec:23", ""}, // clears no bit
		{"<i4", "-filters=trunc_prec:23 -level=0", ""},
		{"<i4", trunc + " -level=0", "not of <i4"}, // a copy with another level would apply it
		{"<i4", mean, "-filters ndmean is for items"},
		{"<f4", mean, ""},
		{"<f8", bits, "-filters int_trunc is for little-endian integers, not for items of dtype <f8"},
		{">i2", bits, "dtype >i2"},
		{"|b1", bits, "dtype |b1"},
		{"[('a', '<i4')]", bits, "for little-endian integers"},
		{"<i8", bits, ""},
		{"|u1", bits, ""},
		{"<f4", "-filters=int_trunc:32", ""},
		{"<f4", bits + " -level=0", "not for items of dtype <f4"},
	} {
		array := filepath.Join(dir, "array")
		must(t, data, "create", "-overwrite", "-dtype", c.dtype, "-shape", "16,-1", "-filters", "", array)
		options := strings.Fields(c.option)
		for stdin, args := range map[string][]string{"": {"copy", array}, data: {"create", "-dtype", c.dtype, "-shape", "16,-1"}} {
			args = append(append(args, "-overwrite", out), options...)
			if c.fault == "" {
				must(t, stdin, args...)
			} else {
				fails(t, 1, c.fault, stdin, args...)
			}
		}
	}
	fails(t, 1, "not of <i4", data, "create", "-chunksize", "1024", "-dtype", "<i4", trunc, out+"2")
	fails(t, 1, "not of <i4", data, "create", "-chunksize", "1024", "-typesize", "4", "-dtype", "<i4", trunc, out+"2")
	must(t, data, "create", "-chunksize", "1024", "-dtype", "<f4", trunc, out+"2")
}

// TestCodecMeta expects that codecs are refused without the parameter that they need, as they would lose the items.
func TestCodecMeta(t *testing.T) {
	a, out := filepath.Join(t.TempDir(), "a.b2nd"), filepath.Join(t.TempDir(), "out")
	must(t, numbers(256), "create", "-dtype", "<f4", "-shape", "16,16", "-filters", "", a)
	for codec, want := range map[string]string{"zfp_rate": "1 to 100", "zfp_prec": "1 to 64"} {
		want = "-codec " + codec + " needs -codec-meta, " + want + " (see"
		fails(t, 2, want, numbers(16), "create", "-dtype", "<f4", "-shape", "4,4", "-codec", codec, out)
		for _, meta := range []string{"", "-codec-meta=0", "-codec-meta=-1", "-codec-meta=101"} {
			args := []string{"copy", "-codec", codec, a, out}
			if meta != "" {
				args = append(args, meta)
			}
			fails(t, 2, want, "", args...)
		}
		must(t, "", "copy", "-overwrite", "-codec", codec, "-codec-meta", "64", a, out)
	}
	fails(t, 2, "-codec zfp_acc needs -codec-meta, the decimal exponent", "", "copy", "-overwrite", "-codec", "zfp_acc", a, out)
	must(t, "", "copy", "-overwrite", "-codec", "zfp_acc", "-codec-meta", "0", a, out)
	for _, args := range [][]string{{}, {"-codec-meta", "5"}} {
		fails(t, 2, "-codec ndlz needs -codec-meta, 4 or 8", "", append([]string{"copy", "-codec", "ndlz", a, out}, args...)...)
	}
	must(t, "abcd", "create", "-raw", "-shape", "2,2", "-codec", "ndlz", "-codec-meta", "4", out+"2")
}
