package filters

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// goldenBlock makes the block that the generator of filters.txt filters: random bytes, or floats where floats is their
// size.
func goldenBlock(n, floats int) []byte {
	p := make([]byte, n)
	x := uint32(12345)
	for i := 0; i < n; i += max(floats, 1) {
		x = x*1664525 + 1013904223
		switch floats {
		case 4:
			binary.LittleEndian.PutUint32(p[i:], math.Float32bits(float32(x>>12)/7))
		case 8:
			binary.LittleEndian.PutUint64(p[i:], math.Float64bits(float64(x>>12)/7))
		default:
			p[i] = byte(x >> 24)
		}
	}
	return p
}

// TestGolden compares all filters with what C-Blosc2 3.3.5 made of the same blocks (see the generator beside the file).
func TestGolden(t *testing.T) {
	file, err := os.Open("../../testdata/shuffle/filters.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	type line struct {
		id, size, meta, n int
		shape             []int32
		sum               uint64
	}
	var lines []line
	for s := bufio.NewScanner(file); s.Scan(); {
		var l line
		var shape string
		if _, err := fmt.Sscanf(s.Text(), "%d %d %d %d %s %x", &l.id, &l.size, &l.meta, &l.n, &shape, &l.sum); err != nil {
			t.Fatalf("%q: %v", s.Text(), err)
		}
		for f := range strings.SplitSeq(shape, ",") {
			if d, err := strconv.Atoi(f); err == nil {
				l.shape = append(l.shape, int32(d))
			}
		}
		lines = append(lines, l)
	}
	if len(lines) != 966 {
		t.Fatalf("%d lines, want 966", len(lines))
	}
	forEachKernel(t, func(t *testing.T) {
		for _, l := range lines {
			floats := 0
			if l.id == 33 {
				floats = l.size
			}
			src := goldenBlock(l.n, floats)
			dst, back := make([]byte, l.n), make([]byte, l.n)
			lossless := true
			var err, errBack error
			switch l.id {
			case 1:
				width := l.size
				if l.meta != 0 {
					width = l.meta
				}
				Shuffle(dst, src, width)
				Unshuffle(back, dst, width)
			case 2:
				BitShuffle(dst, src, l.size)
				BitUnshuffle(back, dst, l.size)
			case 3:
				DeltaEncode(dst, src, nil, l.size)
				DeltaDecode(back, dst, nil, l.size)
			case 4:
				err, lossless = TruncPrec(dst, src, l.size, int8(l.meta)), false
			case 32:
				err = CellEncode(dst, src, l.size, l.meta, l.shape)
				errBack = CellDecode(back, dst, l.size, l.meta, l.shape)
			case 33:
				err, lossless = MeanEncode(dst, src, l.size, l.meta, l.shape), false
			case 35:
				ByteDeltaEncode(dst, src, l.meta)
				ByteDeltaDecode(back, dst, l.meta)
			case 36:
				err, lossless = IntTrunc(dst, src, l.size, int8(l.meta)), false
			default:
				t.Fatalf("unknown filter %d", l.id)
			}
			if err := errors.Join(err, errBack); err != nil {
				t.Errorf("filter %d, type size %d, parameter %d, shape %v: %v", l.id, l.size, l.meta, l.shape, err)
				continue
			}
			h := fnv.New64a()
			h.Write(dst)
			if h.Sum64() != l.sum {
				t.Errorf("filter %d, type size %d, parameter %d, %d bytes, shape %v: not as C-Blosc2", l.id, l.size, l.meta, l.n, l.shape)
			}
			if lossless && string(back) != string(src) {
				t.Errorf("filter %d, type size %d, parameter %d, %d bytes, shape %v: decoded wrong", l.id, l.size, l.meta, l.n, l.shape)
			}
		}
	})
}
