package ndarray

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/golden"
)

func parseInts(t testing.TB, s string) []int64 {
	t.Helper()
	list := []int64{}
	for f := range strings.SplitSeq(s, ",") {
		if f == "" {
			continue
		}
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

// positions lists the flat C order positions of what a selection takes from a shape, in the order of the result.
func positions(shape []int64, s *selection) []int64 {
	if s.items == 0 { // the other axes may be of any length
		return nil
	}
	list := []int64{0}
	for i, n := range shape {
		var next []int64
		for _, p := range list {
			for k := range s.axes[i].count {
				next = append(next, p*n+s.axes[i].start+k*s.axes[i].step)
			}
		}
		list = next
	}
	return list
}

// TestSelectionsAsNumPy compares with NumPy; testdata/selections.py made the cases.
func TestSelectionsAsNumPy(t *testing.T) {
	lines, failed := golden.Lines(t, "testdata/selections.txt.gz"), 0
	for _, line := range lines {
		f := strings.Split(line, ";")
		if f[0] == "long" {
			checkLongSlice(t, line, f)
			continue
		}
		shape := parseInts(t, f[0])
		sel, err := ParseSelection(f[1])
		var s selection
		if err == nil {
			s, err = resolve(shape, sel)
		}
		if f[2] == "error" {
			if failed++; !errors.Is(err, ErrBounds) {
				t.Errorf("%s: error %v", line, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !slices.Equal(s.shape(), parseInts(t, f[2])) {
			t.Errorf("%s: shape %v", line, s.shape())
		}
		sum, at := crc32.NewIEEE(), positions(shape, &s)
		binary.Write(sum, binary.LittleEndian, at)
		if want, _ := strconv.ParseUint(f[3], 16, 32); uint64(sum.Sum32()) != want || int64(len(at)) != s.items {
			t.Errorf("%s: other items %v", line, at)
		}
		checkNotation(t, shape, sel, &s)
	}
	if len(lines) < 5000 || failed < 100 {
		t.Errorf("%d cases, %d of them errors", len(lines), failed)
	}
}

// checkNotation checks that the String methods give back what was parsed.
func checkNotation(t *testing.T, shape []int64, sel []Index, want *selection) {
	t.Helper()
	words := make([]string, len(sel))
	for i, x := range sel {
		words[i] = x.String()
	}
	text := strings.Join(words, ", ")
	again, err := ParseSelection(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if got, err := resolve(shape, again); err != nil || got != *want {
		t.Fatalf("%s: %v after a round trip (%v)", text, got, err)
	}
}

func checkLongSlice(t *testing.T, line string, f []string) {
	n := parseInts(t, f[1])
	sel, err := ParseSelection(f[2])
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	s, err := resolve(n, sel)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	start, _ := strconv.ParseInt(f[3], 10, 64)
	step, _ := strconv.ParseInt(f[4], 10, 64) // one beyond 64 bits becomes the nearest
	count, _ := strconv.ParseInt(f[5], 10, 64)
	a := s.axes[0]
	if a.count != count || count > 0 && a.start != start || count > 1 && a.step != step || count < 2 && a.step != 1 {
		t.Errorf("%s: %+v", line, a)
	}
}

// TestPartitionsAsPython compares with python-blosc2's compute_chunks_blocks, run for the default cache sizes.
// A line is "shape;chunks;blocks;item size;block hint;chunks;blocks"; "-" is a shape that was not given.
func TestPartitionsAsPython(t *testing.T) {
	given := func(s string) []int32 {
		if s == "-" {
			return nil
		}
		list, err := narrow(parseInts(t, s))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	lines := golden.Lines(t, "testdata/partitions.txt.gz")
	if len(lines) < 1000 {
		t.Fatalf("%d cases", len(lines))
	}
	for _, line := range lines {
		f := strings.Split(line, ";")
		itemSize, hint := parseInts(t, f[3])[0], parseInts(t, f[4])[0]
		shape := parseInts(t, f[0])
		chunks, blocks, err := partition(shape, given(f[1]), given(f[2]), itemSize, hint)
		if f[5] == "error" {
			if !errors.Is(err, ErrShape) && !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s: error %v", line, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if !slices.Equal(chunks, given(f[5])) || !slices.Equal(blocks, given(f[6])) {
			t.Errorf("%s: chunks %v blocks %v", line, chunks, blocks)
		}
		// Some of the arrays are too large to exist, but no chunk that was chosen is.
		if _, err := newGeometry(widen(chunks), chunks, blocks, itemSize); f[1] == "-" && err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// applyStep applies a step as testdata/views.py writes it.
func applyStep(t testing.TB, r Reader, step string, rng *rand.Rand) (Reader, error) {
	word, text, _ := strings.Cut(step, " ")
	var axes []int
	if word != "slice" && word != "field" && text != "" {
		for _, x := range parseInts(t, text) {
			axes = append(axes, int(x))
		}
	}
	var v *View
	var err error
	switch word {
	case "slice":
		sel, wrong := ParseSelection(text)
		if wrong != nil {
			return nil, wrong
		}
		v, err = Slice(r, sel...)
	case "transpose":
		v, err = Transpose(r, axes...)
	case "flip":
		v, err = Flip(r, axes...)
	case "expand":
		v, err = ExpandDims(r, axes...)
	case "squeeze":
		v, err = Squeeze(r, axes...)
	case "broadcast":
		v, err = BroadcastTo(r, parseInts(t, text)...)
	case "field":
		v, err = Field(r, text)
	case "reshape":
		a, err := Reshape(context.Background(), r, "", parseInts(t, text), nil)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { a.Close() })
		o := a.Options()
		o.Chunks, o.Blocks = randomPartition(rng, a.Shape())
		return Reshape(context.Background(), r, "", parseInts(t, text), o)
	default:
		t.Fatalf("step %q", step)
	}
	return v, err
}

// TestViewsAsNumPy makes the chains of views of testdata/views.py and compares with NumPy.
func TestViewsAsNumPy(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(4, 4))
	steps := map[string]int{}
	for n, line := range golden.Lines(t, "testdata/views.txt.gz") {
		f := strings.Split(line, ";")
		if f[0] != "v" || testing.Short() && n%8 > 0 {
			continue
		}
		dt, err := meta.ParseDType(f[1])
		if err != nil {
			t.Fatal(err)
		}
		shape := parseInts(t, f[2])
		items, _ := product(shape)
		data := make([]byte, items*int64(dt.Size))
		for i := range data {
			data[i] = byte(i*i*31 + i*7 + i>>3)
		}
		o := &Options{}
		o.Chunks, o.Blocks = randomPartition(rng, shape)
		a, err := CreateBytes(ctx, "", shape, f[1], data, o)
		if err != nil {
			t.Fatal(err)
		}
		var r Reader = a
		for step := range strings.SplitSeq(f[3], "|") {
			if step == "" {
				continue
			}
			if r, err = applyStep(t, r, step, rng); err != nil {
				t.Fatalf("%s: %s: %v", line, step, err)
			}
			word, _, _ := strings.Cut(step, " ")
			steps[word]++
		}
		got := make([]byte, int(r.Size())*r.ItemSize())
		err = r.ReadBytes(ctx, got)
		kind := r.DType().String()
		if r.DType().Fields != nil {
			kind = strconv.Itoa(r.ItemSize())
		}
		if err != nil || !slices.Equal(r.Shape(), parseInts(t, f[4])) || kind != f[5] || fmt.Sprintf("%08x", crc32.ChecksumIEEE(got)) != f[6] {
			t.Errorf("%s: shape %v, dtype %s, sum %08x, %v", line, r.Shape(), kind, crc32.ChecksumIEEE(got), err)
		}
		a.Close()
	}
	for _, step := range []string{"slice", "transpose", "flip", "expand", "squeeze", "broadcast", "field", "reshape"} {
		if steps[step] < 50 {
			t.Errorf("%d steps of kind %s", steps[step], step)
		}
	}
}

// TestAsTypeAsNumPy converts the items of testdata/views.py and compares with NumPy, bit by bit.
func TestAsTypeAsNumPy(t *testing.T) {
	ctx := context.Background()
	var a *Array
	pairs := 0
	for _, line := range golden.Lines(t, "testdata/views.txt.gz") {
		f := strings.Split(line, ";")
		if f[0] == "v" {
			continue
		}
		items, err := hex.DecodeString(f[2])
		if err != nil {
			t.Fatal(err)
		}
		dt, err := meta.ParseDType(f[1])
		if err != nil {
			t.Fatal(err)
		}
		if f[0] == "s" {
			n := int32(len(items) / dt.Size)
			o := &Options{Chunks: []int32{n/2 + 1}, Blocks: []int32{n/3 + 1}}
			if a, err = CreateBytes(ctx, "", []int64{int64(n)}, f[1], items, o); err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			continue
		}
		pairs++
		b, err := AsType(ctx, a, "", f[1], nil)
		if err != nil {
			t.Errorf("%v to %s: %v", a.DType(), f[1], err)
			continue
		}
		got := make([]byte, len(items))
		if err := b.ReadBytes(ctx, got); err != nil || b.dtypeRaw != f[1] {
			t.Errorf("%v to %s: %v", a.DType(), f[1], err)
		}
		b.Close()
		wrong := 0
		from := make([]byte, int(a.Size())*a.ItemSize())
		if err := a.ReadBytes(ctx, from); err != nil {
			t.Fatal(err)
		}
		for i := 0; i*dt.Size < len(items) && wrong < 4; i++ {
			x, y := got[i*dt.Size:][:dt.Size], items[i*dt.Size:][:dt.Size]
			if !bytes.Equal(x, y) {
				wrong++
				t.Errorf("%v to %s: item %d, %x: %x, want %x", a.DType(), f[1], i, from[i*a.ItemSize():][:a.ItemSize()], x, y)
			}
		}
	}
	if pairs < 450 {
		t.Errorf("%d pairs of types", pairs)
	}
}
