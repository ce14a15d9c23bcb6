package ndarray

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"testing"

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
