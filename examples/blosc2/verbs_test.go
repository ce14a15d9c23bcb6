package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// TestStats compares statistics with values that are easy to see.
func TestStats(t *testing.T) {
	a := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, strings.Repeat("\x00", 6*8), "create", "-dtype", "<f8", "-shape", "2,3", a)
	for at, x := range map[string]string{"0, 1": "1", "0, 2": "2", "1, 0": "3", "1, 1": "nan", "1, 2": "-6"} {
		must(t, "", "set", a, at, "-value", x)
	}
	var got struct {
		Path, Dtype         string
		Shape               []int
		Items, Nans, Zeros  int
		Min, Max, Mean, Std float64
		Histogram           struct{ Edges, Counts []float64 }
		Axis                int
		Index               []int
		Q5                  float64 `json:"quantile 0.5"`
	}
	if err := json.Unmarshal([]byte(must(t, "", "stats", "-json", "-bins", "3", "-quantiles", "0.5", a)), &got); err != nil {
		t.Fatal(err)
	}
	if got.Items != 6 || got.Nans != 1 || got.Zeros != 1 || got.Min != -6 || got.Max != 3 || got.Mean != 0 || got.Q5 != 1 ||
		len(got.Histogram.Counts) != 3 || got.Histogram.Counts[2] != 4 || len(got.Shape) != 2 {
		t.Errorf("%+v", got)
	}
	golden(t, "stats_axis", must(t, "", "stats", "-axis", "0", a))
	golden(t, "stats_axis_last", must(t, "", "stats", "-axis", "-1", a))
	fails(t, 1, "-axis 2: an array of shape (2, 3) has no such axis", "", "stats", "-axis", "2", a)
	huge := filepath.Join(t.TempDir(), "huge")
	b, err := ndarray.Zeros(t.Context(), huge, []int64{1e12, 2}, "<i4", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	fails(t, 1, "1000000000000 rows, more than 262144", "", "stats", "-axis", "0", huge)
	if out := must(t, "", "stats", "-axis", "0", huge, "-2:"); strings.Count(out, "\n") != 3 {
		t.Errorf("%s", out)
	}
	fails(t, 1, "have no statistics", "", "stats", fixturesDir+"/python-blosc2/dtype_S5.b2nd")
	fails(t, 2, "from 0 to 1", "", "stats", "-quantiles", "2", a)
	empty := filepath.Join(t.TempDir(), "e")
	must(t, "", "create", "-dtype", "<i4", empty)
	if out := must(t, "", "stats", empty); !strings.Contains(squeeze(out), "min -\n") {
		t.Errorf("an empty array: %s", out)
	}
}

// TestStatsJSON expects exact integers, and dates of all units as text.
func TestStatsJSON(t *testing.T) {
	for dtype, want := range map[string]string{
		"<u8": `"min": 9223372036854775813, "max": 9223372036854775813`, "<i8": `"min": -9223372036854775803, "max": -9223372036854775803`,
		"<M8[Y]": `"min": "2005", "max": "2005"`, "<M8[D]": `"min": "1970-02-05", "max": "1970-02-05"`, "<m8[Y]": `"min": 35, "max": 35`,
	} {
		item := "\x05\x00\x00\x00\x00\x00\x00\x80"
		if strings.Contains(dtype, "8[") {
			item = "\x23" + strings.Repeat("\x00", 7)
		}
		a := filepath.Join(t.TempDir(), "a")
		must(t, item, "create", "-dtype", dtype, a)
		if got := must(t, "", "stats", "-json", a); !strings.Contains(got, want) {
			t.Errorf("%s: %s", dtype, got)
		}
		want = strings.NewReplacer(`": `, `": [`, `, "`, `], "`).Replace(want)
		if got := must(t, "", "stats", "-json", "-axis", "0", a); !strings.Contains(got, want) {
			t.Errorf("%s: %s", dtype, got)
		}
	}
}

// TestStatsHistogramCountsAll checks that the minimum and the maximum of float16 and float32 are in the histogram.
func TestStatsHistogramCountsAll(t *testing.T) {
	for _, name := range []string{"dtype_f2", "dtype_f4", "dtype_f8", "dtype_u8", "dtype_be_i4"} {
		var got struct {
			Items     int
			Histogram struct{ Counts []int }
		}
		if err := json.Unmarshal([]byte(must(t, "", "stats", "-json", fixturesDir+"/python-blosc2/"+name+".b2nd")), &got); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, n := range got.Histogram.Counts {
			sum += n
		}
		if sum != got.Items || sum == 0 {
			t.Errorf("%s: %d of %d items", name, sum, got.Items)
		}
	}
}

// TestStatsEdges expects edges of bins that differ, or the reason why there are none.
func TestStatsEdges(t *testing.T) {
	for _, c := range []struct {
		text string
		bins string
		want string
	}{
		{"1000000000 1000000025", "2", " 1000000000 .. 1000000012.5 1 ████\n1000000012.5 .. 1000000025 1 ████\n"},
		{"-7 1", "2", "-7 .. -3 1 ████\n-3 .. 1 1 ████\n"},
		{"100000.25 100000.5", "1", "100000.25 .. 100000.5 2 ████\n"},
		{"0 3", "3", "0 .. 1 1 ████\n1 .. 2 0\n2 .. 3 1 ████\n"},
		{"1000000000 1000000000", "2", "1e+09 .. 1e+09 2 ████\n"},
		{"1 inf", "2", "histogram none, because the minimum, the maximum or their distance is infinite\n"},
		{"-inf -inf", "2", "histogram none, because the minimum, the maximum or their distance is infinite\n"},
		{"-1e308 1e308", "2", "histogram none, because the minimum, the maximum or their distance is infinite\n"},
		{"0 1e308", "2", " 0 .. 5e+307 1 ████\n5e+307 .. 1e+308 1 ████\n"},
		{"0 1e308", "3", " 0 .. 3.33333e+307 1 ████\n3.33333e+307 .. 6.66667e+307 0\n6.66667e+307 .. 1e+308 1 ████\n"},
		{"1 inf", "0", "zeros 0\n"},
		{"nan nan", "2", "zeros 0\n"},
	} {
		a := filepath.Join(t.TempDir(), "a.b2nd")
		must(t, strings.Repeat("\x00", 16), "create", "-dtype", "<f8", a)
		for i, x := range strings.Fields(c.text) {
			must(t, "", "set", a, "-value="+x, fmt.Sprint(i))
		}
		out := squeeze(regexp.MustCompile("█+").ReplaceAllString(must(t, "", "stats", "-bins", c.bins, a), "████"))
		if !strings.HasSuffix(out, "\n"+c.want) {
			t.Errorf("%s: %s", c.text, out)
		}
	}
}

// TestStatsLongDouble expects the path in the error of a dtype without statistics.
func TestStatsLongDouble(t *testing.T) {
	for _, dtype := range []string{"<f16", "<c32"} {
		path := filepath.Join(t.TempDir(), "a.b2nd")
		must(t, strings.Repeat("\x00", 64), "create", "-raw", "-dtype", dtype, path)
		fails(t, 1, path+": items of dtype "+dtype+" have no statistics: ", "", "stats", path)
	}
}

// differs runs diff, which must exit with a status, and returns its output.
func differs(t *testing.T, code int, args ...string) string {
	t.Helper()
	got, out, errOut := callFree("", append([]string{"diff"}, args...)...)
	if got != code || (errOut != "") != (code == 2) {
		t.Errorf("diff %q: exit %d, %q, %q; want %d", args, got, out, errOut, code)
	}
	return string(out)
}

func TestDiff(t *testing.T) {
	a, b := newArray(t), newArray(t)
	if out := differs(t, 0, a, b); out != "" {
		t.Errorf("%q", out)
	}
	must(t, "", "set", b, "2, 1:4", "-value", "7")
	golden(t, "diff_items", differs(t, 1, "-n", "2", a, b))
	if out := differs(t, 1, "-quiet", a, b); out != "" {
		t.Errorf("%q", out)
	}
	differs(t, 0, "-tolerance", "1000", a, b)
	other := newArray(t)
	must(t, "", "resize", other, "6,4")
	golden(t, "diff_shape", differs(t, 1, a, other))
	dir := fixturesDir + "/python-blosc2/"
	golden(t, "diff_dtype", differs(t, 1, "-n", "1", dir+"dtype_f4.b2nd", dir+"dtype_f8.b2nd"))
	golden(t, "diff_kind", differs(t, 1, dir+"dtype_f4.b2nd", dir+"schunk_zstd.b2frame"))
	golden(t, "diff_bytes", differs(t, 1, dir+"schunk_ts1.b2frame", dir+"schunk_ts255.b2frame"))
	sparse := filepath.Join(t.TempDir(), "sparse")
	must(t, "", "copy", "-sparse", "-codec", "lz4", dir+"schunk_ts1.b2frame", sparse)
	differs(t, 0, dir+"schunk_ts1.b2frame", sparse)
	differs(t, 2, a, dir+"nothing")
	differs(t, 2, a)
	differs(t, 2, "-n", "-1", a, b)
	nan := filepath.Join(t.TempDir(), "nan")
	must(t, strings.Repeat("\x00", 16), "create", "-dtype", "<f8", nan)
	must(t, "", "set", nan, "0", "-value", "nan")
	copied := copyTree(t, nan)
	differs(t, 0, nan, copied)
	must(t, "", "set", copied, "0", "-value", "1")
	if out, want := differs(t, 1, "-tolerance", "5", nan, copied), "items: 1 of 2 differ\n  (0,): nan and 1.0\n"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
	big := filepath.Join(t.TempDir(), "big")
	must(t, strings.Repeat("\xff", 8), "create", "-dtype", "<u8", big)
	less := copyTree(t, big)
	must(t, "", "set", less, "0", "-value", "18446744073709551614")
	differs(t, 1, big, less)
}

// TestDiffFields compares structured items by their fields, without padding.
func TestDiffFields(t *testing.T) {
	const dtype = "{'names': ['i', 's', 'f'], 'formats': ['u1', 'S1', ('<f2', (2,))], 'offsets': [0, 2, 4], 'itemsize': 9}"
	array := func(items string) string {
		path := filepath.Join(t.TempDir(), "a.b2nd")
		must(t, items, "create", "-dtype", dtype, path)
		return path
	}
	a := array("\x07-a-\x00\x3c\x00\x40-\x01-b-\x00\x3c\x00\x7e-") // (7, b'a', [1, 2]), (1, b'b', [1, nan])
	b := array("\x07+a+\x00\x3c\x00\x40+\x01+b+\x00\x3c\x01\x7e+")
	c := array("\x08+a+\x00\x3c\x00\x42+\x01+\n+\x00\x3c\x01\x7e+") // (8, b'a', [1, 3]), (1, b'\n', [1, nan])
	differs(t, 0, a, b)
	for tolerance, want := range map[string]string{
		"0.5": "items: 2 of 2 differ\n  (0,): (7, b'a', [1.0, 2.0]) and (8, b'a', [1.0, 3.0])\n  (1,): (1, b'b', [1.0, nan]) and (1, b'\\n', [1.0, nan])\n",
		"1":   "items: 1 of 2 differ\n  (1,): (1, b'b', [1.0, nan]) and (1, b'\\n', [1.0, nan])\n",
	} {
		if out := differs(t, 1, "-tolerance", tolerance, a, c); out != want {
			t.Errorf("-tolerance %s: %q, want %q", tolerance, out, want)
		}
	}
}

// TestOverlappingFields prints items whose fields are all the same bytes, unless they are too many.
func TestOverlappingFields(t *testing.T) {
	array := func(fields int, items string) string {
		var names, formats, offsets []string
		for i := range fields {
			names, formats, offsets = append(names, fmt.Sprintf("'f%d'", i)), append(formats, "'S2000'"), append(offsets, "0")
		}
		dtype := fmt.Sprintf("{'names':[%s],'formats':[%s],'offsets':[%s],'itemsize':2000}",
			strings.Join(names, ","), strings.Join(formats, ","), strings.Join(offsets, ","))
		path := filepath.Join(t.TempDir(), "a.b2nd")
		must(t, items, "create", "-dtype", dtype, path)
		return path
	}
	text := strings.Repeat("x", 2000)
	few, other := array(2, text), array(2, strings.ToUpper(text))
	if got := must(t, "", "slice", "-csv", few, ":"); got != "f0,f1\n"+text+","+text+"\n" {
		t.Errorf("%q", got)
	}
	if got := must(t, "", "slice", "-text", few, ":"); got != "[(b'"+text+"', b'"+text+"')]\n" {
		t.Errorf("%q", got)
	}
	differs(t, 1, few, other)
	many := array(10, text)
	if got := must(t, "", "slice", many, ":"); got != text {
		t.Errorf("%q", got)
	}
	const words = "the fields of an item of 2000 bytes overlap, and together have 20000"
	fails(t, 1, words, "", "slice", "-csv", many, ":")
	fails(t, 1, words, "", "slice", "-text", many, ":")
	fails(t, 2, words, "", "diff", many, many)
	if hasTerminal {
		fails(t, 1, words, "", "view", many)
	}
}

// TestDiffLargeChunk compares arrays with one chunk of 240 MiB in parts. The differences are in C order.
func TestDiffLargeChunk(t *testing.T) {
	a := filepath.Join(t.TempDir(), "a.b2nd")
	shape := []int64{2, 3, 40 << 20}
	zeros, err := ndarray.Zeros(t.Context(), a, shape, "|u1", &ndarray.CreateOptions{Chunks: shape, Blocks: []int64{1, 1, 1 << 20}})
	if err == nil {
		err = zeros.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	b := copyTree(t, a)
	for _, at := range []string{"0,2,41943039", "1,0,17", "1,2,20000000"} {
		must(t, "", "set", b, at, "-value", "7")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	differs(t, 0, a, a)
	out := differs(t, 1, a, b)
	runtime.ReadMemStats(&after)
	want := "items: 3 of 251658240 differ, largest distance 7\n  (0, 2, 41943039): 0 and 7\n  (1, 0, 17): 0 and 7\n  (1, 2, 20000000): 0 and 7\n"
	if out != want {
		t.Errorf("%q, want %q", out, want)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 128<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

// fullDisk is a writer to a disk without space.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space") }

// TestDiffWriteError expects that an error of standard output is reported although the arrays differ.
func TestDiffWriteError(t *testing.T) {
	a, b := newArray(t), newArray(t)
	must(t, "", "set", b, "2, 1", "-value", "7")
	var errOut strings.Builder
	code := run(t.Context(), []string{"diff", a, b}, strings.NewReader(""), fullDisk{}, &errOut)
	if code != 2 || errOut.String() != "blosc2 diff: no space\n" {
		t.Errorf("exit %d, %q", code, &errOut)
	}
}

// TestDiffLargeIntegers compares integers that have the same float64. Their distance is exact.
func TestDiffLargeIntegers(t *testing.T) {
	array := func(dtype string, items ...uint64) string {
		var b []byte
		for _, x := range items {
			b = binary.LittleEndian.AppendUint64(b, x)
		}
		path := filepath.Join(t.TempDir(), "a.b2nd")
		must(t, string(b), "create", "-dtype", dtype, path)
		return path
	}
	const minus = 1 << 63 // as a signed integer
	for _, c := range []struct {
		a, b      string
		tolerance string
		distance  string // "" if they are equal
	}{
		{array("<i8", 1<<53, 5, 7), array("<i8", 1<<53+1, 5, 7), "0", "1"},
		{array("<i8", 1<<53, 5, 7), array("<i8", 1<<53+1, 5, 7), "0.5", "1"},
		{array("<i8", 1<<53, 5, 7), array("<i8", 1<<53+1, 5, 7), "1", ""},
		{array("<i8", 1<<53+1), array("<u8", 1<<53), "0", "1"},
		{array("<u8", 1<<53), array("<i8", 1<<53+1), "0", "1"},
		{array("<i8", minus), array("<u8", 1<<63-1), "0", "18446744073709551615"},
		{array("<u8", 1<<63), array("<i8", minus+1), "0", "18446744073709551615"},
		{array("<u8", 1<<63), array("<i8", minus+1), "18446744073709551616", ""},
		{array("<i8", 1<<64-1), array("<i8", minus), "9223372036854774784", "9223372036854775807"},
		{array("<i8", minus), array("<i8", 1<<64-1), "9223372036854775807", ""},
		{array("<u8", 1<<64-1), array("<u8", 1<<64-2), "0", "1"},
	} {
		code, out, _ := callFree("", "diff", "-tolerance", c.tolerance, c.a, c.b)
		if want := ", largest distance " + c.distance + "\n"; c.distance != "" && (code != 1 || !strings.Contains(string(out), want)) {
			t.Errorf("-tolerance %s: exit %d, %q, want%s", c.tolerance, code, out, want)
		}
		if c.distance == "" && strings.Contains(string(out), "items:") {
			t.Errorf("-tolerance %s: %q", c.tolerance, out)
		}
	}
	differs(t, 0, "-relative", "0.5", array("<i8", 15), array("<i8", 10))
	differs(t, 1, "-relative", "0.4", array("<i8", 15), array("<i8", 10))
}

func TestBench(t *testing.T) {
	a := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, numbers(20000), "create", "-dtype", "<i4", "-chunks", "4000", a)
	out := must(t, "", "bench", "-codecs", "lz4:1,zstd:3", "-filters", "none,shuffle+bytedelta", a)
	for _, w := range []string{"lz4:1 none", "zstd:3 shuffle+bytedelta", "smallest ", "fastest read ", "recommended ", "blosc2 copy -codec "} {
		if !strings.Contains(squeeze(out), squeeze(w)) {
			t.Errorf("%q is missing in\n%s", w, out)
		}
	}
	n, recommended := 0, 0
	npy := writeFile(t, "x.npy", npyFile([]int64{5000}, false, numbers(5000)))
	for line := range strings.Lines(must(t, "", "bench", "-json", "-codecs", "lz4:1,zstd:3", "-filters", "none,shuffle", npy)) {
		var m struct {
			Bytes, Stored int
			Recommended   bool
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Bytes != 20000 || m.Stored < 100 {
			t.Errorf("%s: %v", line, err)
		}
		if n++; m.Recommended {
			recommended++
		}
	}
	if n != 4 || recommended != 1 {
		t.Errorf("%d lines, %d recommended", n, recommended)
	}
	f4 := filepath.Join(t.TempDir(), "f4.b2nd")
	must(t, numbers(20000), "create", "-dtype", "<f4", f4)
	out = must(t, "", "bench", "-codecs", "zstd:1", "-filters", "trunc_prec:-20+shuffle", f4)
	for _, w := range []string{"trunc_prec:-20+shuffle", "-filters trunc_prec:-20,shuffle"} {
		if !strings.Contains(out, w) {
			t.Errorf("%q is missing in\n%s", w, out)
		}
	}
	must(t, "", "copy", "-filters", "trunc_prec:-20,shuffle", f4, filepath.Join(t.TempDir(), "g.b2nd"))
	fails(t, 2, "unknown codec", "", "bench", "-codecs", "x", a)
	fails(t, 2, "-sample", "", "bench", "-sample", "0", a)
}

// TestBenchNPY expects that bench compresses the same chunks of a .npy file as of the array that create makes of it,
// and that it does not hold all items in memory.
func TestBenchNPY(t *testing.T) {
	stored := func(path string) (m struct{ Bytes, Stored int64 }) {
		out := must(t, "", "bench", "-json", "-sample", "1", "-codecs", "lz4:1", "-filters", "none", path)
		if err := json.Unmarshal([]byte(out), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	data := make([]byte, 64<<20) // each eighth byte is 0
	rng := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], rng.Uint64()>>8)
	}
	for _, c := range []struct {
		shape   []int64
		fortran bool
	}{{[]int64{1 << 21}, false}, {[]int64{1000, 2000}, false}, {[]int64{1000, 2000}, true}, {[]int64{60, 150, 200}, true}, {nil, false}} {
		size, _ := byteCount(c.shape, 4)
		in := writeFile(t, "x.npy", npyFile(c.shape, c.fortran, string(data[:size])))
		a := filepath.Join(t.TempDir(), "a.b2nd")
		must(t, "", "create", "-codec", "lz4", "-level", "1", a, in)
		if got, want := stored(in), stored(a); got != want || got.Bytes == size && size > 4 {
			t.Errorf("%v: %v, want %v of %d", c.shape, got, want, size)
		}
	}
	in := writeFile(t, "x.npy", npyFile([]int64{int64(len(data) / 4)}, false, string(data)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	stored(in)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(len(data)) {
		t.Errorf("bench allocates %d bytes, the file has %d", n, len(data))
	}
	short := writeFile(t, "x.npy", npyFile([]int64{5000}, false, numbers(4999)))
	fails(t, 1, "the input has 19996 bytes, want 20000", "", "bench", short)
}

func TestVersion(t *testing.T) {
	if out := must(t, "", "version"); !strings.HasPrefix(out, "blosc2 ") || !strings.Contains(out, "\ngo1.") {
		t.Errorf("%q", out)
	}
	if must(t, "", "--version") != must(t, "", "version") {
		t.Error("--version is not version")
	}
}

// TestCompletion gives the scripts to the shells that are installed, and completes verbs and options with bash.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := must(t, "", "completion", shell)
		for _, v := range newCLI().node().Children {
			if !strings.Contains(script, v.Name) {
				t.Errorf("%s: no verb %s", shell, v.Name)
			}
		}
		if path, err := exec.LookPath(shell); err == nil {
			if out, err := exec.Command(path, "-n", writeFile(t, "script", script)).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", shell, err, out)
			}
		}
	}
	fails(t, 2, `SHELL is "tcsh"`, "", "completion", "tcsh")
	if _, err := exec.LookPath("bash"); err != nil {
		t.Log("no bash: its script is not run")
		return
	}
	script := writeFile(t, "script", must(t, "", "completion", "bash"))
	for words, want := range map[string]string{"blosc2 ver": "verify version", "blosc2 help comp": "compact completion", "blosc2 slice -r": "-raw", "blosc2 copy -codec zl": "zlib",
		"blosc2 plot -kind l": "line", "blosc2 vlmeta a.b2nd s": "set", "blosc2 completion f": "fish"} {
		list := strings.Fields(words)
		c := exec.Command("bash", "-c", `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _blosc2; echo ${COMPREPLY[@]}`, "bash", script)
		c.Args = append(c.Args, list...)
		if out, err := c.Output(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %q, %v; want %q", words, out, err, want)
		}
	}
}

// TestMan checks the man page with groff's warnings, if it is installed.
func TestMan(t *testing.T) {
	page := must(t, "", "man")
	for _, v := range newCLI().node().Children {
		if !strings.Contains(page, ".SS "+v.Name+"\n") {
			t.Errorf("no verb %s", v.Name)
		}
		for _, f := range v.Flags {
			if !strings.Contains(page, roff(flagText(f))) {
				t.Errorf("%s: no option %s", v.Name, f.Name)
			}
		}
	}
	if _, err := exec.LookPath("groff"); err == nil {
		out, err := exec.Command("groff", "-man", "-Tutf8", "-ww", "-z", writeFile(t, "blosc2.1", page)).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("groff: %v: %s", err, out)
		}
	}
}

// TestLeftovers names and removes temporary files, also those of a leaf of a store.
func TestLeftovers(t *testing.T) {
	a := newArray(t)
	dir, other := filepath.Dir(a), a+"2.0123abcd.tmp"
	temp := []string{a + ".0123abcd.tmp", a + ".89abcdef.tmp.old", a + ".input-123.tmp"}
	for _, name := range append(temp, other) {
		writeFile(t, name, "x")
	}
	code, _, errOut := callFree("", "verify", a)
	for _, name := range temp {
		if code != 0 || !strings.Contains(errOut, "note: "+name+": temporary file") {
			t.Errorf("verify: exit %d, %s", code, errOut)
		}
	}
	if strings.Contains(errOut, other) {
		t.Errorf("verify names a file of another frame: %s", errOut)
	}
	if out := must(t, "", "repair", "-clean", a); strings.Count(out, "removed ") != 3 {
		t.Errorf("%s", out)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
	must(t, "", "dump", a)
	writeFile(t, a+".01234567.tmp.old", "the data before")
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	if _, _, errOut := callFree("", "verify", a); !strings.Contains(errOut, "tmp.old: what "+a+" was before") {
		t.Errorf("verify: %s", errOut)
	}
	fails(t, 1, "rename that first", "", "repair", "-clean", a)
	leaf := filepath.Join(copyTree(t, storesDir+"tree.b2d"), "img", "level0")
	left := writeFile(t, leaf+".b2nd.0123abcd.tmp", "x")
	if _, _, errOut := callFree("", "verify", leaf); !strings.Contains(errOut, "note: "+left+": temporary file") {
		t.Errorf("verify: %s", errOut)
	}
	if out := must(t, "", "repair", "-clean", leaf); out != "removed "+left+"\n" {
		t.Errorf("%q", out)
	}
	for _, ext := range []string{".b2nd", ".b2f"} { // a leaf whose file is missing
		lost := filepath.Join(filepath.Dir(leaf), "lost")
		left := writeFile(t, lost+ext+".0123abcd.tmp", "x")
		if _, _, errOut := callFree("", "verify", lost); !strings.Contains(errOut, "note: "+left+": temporary file") {
			t.Errorf("verify: %s", errOut)
		}
		old := writeFile(t, lost+ext+".01234567.tmp.old", "the data before")
		fails(t, 1, "rename that first", "", "repair", "-clean", lost)
		if err := os.Remove(old); err != nil {
			t.Fatal(err)
		}
		if out := must(t, "", "repair", "-clean", lost); out != "removed "+left+"\n" {
			t.Errorf("%q", out)
		}
	}
	fails(t, 2, "exclude", "", "repair", "-clean", a, "b")
	fails(t, 2, "argument NEW is missing", "", "repair", a)
}

// TestControlCharacters checks that names in a file cannot control the terminal.
func TestControlCharacters(t *testing.T) {
	const hidden = "\x1b\x07\u0085\u202e\u2066\U000e0001"
	a := newArray(t, "-meta", "m\x1b[31m=1", "-vlmeta", "v\x1b]0;x\x07=\"\u0085\"")
	must(t, "", "vlmeta", a, "set", "\u202ev", "\"\u2066\U000e0001\"")
	for _, verb := range []string{"info", "vlmeta", "ls"} {
		if out := must(t, "", verb, a); strings.ContainsAny(out, hidden) || verb == "info" && !strings.Contains(out, `m\x1b[31m`) {
			t.Errorf("%s: %q", verb, out)
		}
	}
	must(t, "", "vlmeta", a, "set", "ÿ", "1")
	must(t, "", "vlmeta", a, "set", "þ", "2")
	writeFile(t, a, strings.NewReplacer("ÿ", "\xc3(", "þ", "\xc3)").Replace(readFile(t, a))) // no longer UTF-8
	if out := must(t, "", "info", "-json", a); strings.ContainsAny(out, hidden) || !strings.Contains(out, `"bytes c328":1,"bytes c329":2}`) ||
		!strings.Contains(out, `"\u202ev":"\u2066\udb40\udc01"`) {
		t.Errorf("%q", out)
	}
	key := "k\u0085\u202e"
	dir := storeOf(t, "s.b2d", "/"+key)
	if out := must(t, "", "ls", "-json", dir); strings.ContainsAny(out, hidden) || !strings.Contains(out, `"/k\u0085\u202e"`) {
		t.Errorf("%q", out)
	}
	if out := must(t, "", "info", "-tree", dir+"/"+key); strings.ContainsAny(out, hidden) || strings.Count(out, `k\x85\u202e`) != 2 {
		t.Errorf("%q", out)
	}
	writeFile(t, filepath.Join(dir, key+".b2f.0123abcd.tmp"), "x")
	if out := must(t, "", "repair", "-clean", filepath.Join(dir, key+".b2f")); strings.ContainsAny(out, hidden) || out == "" {
		t.Errorf("%q", out)
	}
	_, _, errOut := callFree("", "vlmeta", a, "get", "no\x1b[31m\x9b")
	if strings.Contains(errOut, "\x1b") || !strings.Contains(errOut, `no\x1b[31m\x9b`) {
		t.Errorf("%q", errOut)
	}
}

// TestSelectionErrors checks that errors of selections name the argument, the axis and where the notation is explained.
func TestSelectionErrors(t *testing.T) {
	path := copyTree(t, fixturesDir+"/python-blosc2/dtype_f4.b2nd") // of shape (30, 20)
	for sel, reason := range map[string]string{
		"3:999999,x": `column 10: unknown word "x"`,
		"0,99":       "index 1: 99 is out of range for axis 1 of length 20",
		"0,[1,99]":   "index 1: entry 1 of the list is 99, out of range for axis 1 of length 20",
		"0,0,0":      "3 axes are indexed, but the array has 2",
		"[True]":     "index 0: mask has length 1, but axis 0 has length 30",
	} {
		want := fmt.Sprintf(": selection %q: %s (see blosc2 help slice)\n", sel, reason)
		for _, args := range [][]string{
			{"slice", path, sel}, {"slice", "-text", path, sel}, {"stats", path, sel}, {"plot", path, "-", sel},
			{"set", path, sel, "-value", "1"},
		} {
			fails(t, 1, "blosc2 "+args[0]+want, "", args...)
		}
	}
	fails(t, 1, "-axis 7: an array of shape (30, 20) has no such axis", "", "stats", "-axis", "7", path)
}
