package main

import (
	"bufio"
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// TestEqualBins expects integers where the edges are integers, and edges that ascend even if the range times the number
// of bins is infinite.
func TestEqualBins(t *testing.T) {
	for _, n := range []int{3, 10, 49, 10000} {
		for i, x := range equalBins(0, float64(n), n) {
			if x != float64(i) {
				t.Errorf("%d bins: edge %d is %v", n, i, x)
			}
		}
	}
	for _, ends := range [][2]float64{{0, 1e308}, {-1e307, 1.5e308}, {0, math.MaxFloat64}, {-math.MaxFloat64, -1}, {1, 1 + 0x1p-52}, {0, 5e-324}} {
		for _, n := range []int{1, 2, 10, 10000} {
			edges := equalBins(ends[0], ends[1], n)
			if len(edges) != n+1 || edges[0] != ends[0] || edges[n] != ends[1] || !slices.IsSorted(edges) {
				t.Errorf("%v, %d bins: %v", ends, n, edges[:min(len(edges), 20)])
			}
		}
	}
}

// TestStatsWithoutHistogram expects the other statistics of items whose histogram cannot be counted, and its error.
func TestStatsWithoutHistogram(t *testing.T) {
	a, err := ndarray.Create(t.Context(), "", []int64{2}, []int32{1, 5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := []statistic{{"min", ndarray.OpMax}, {"max", ndarray.OpMin}} // for edges that descend
	for _, v := range []statsCmd{{}, {JSON: true}} {
		var out bytes.Buffer
		e := &env{ctx: t.Context(), out: bufio.NewWriter(&out)}
		err := v.whole(e, a, list)
		e.out.Flush()
		if text := strings.NewReplacer(`"`, "", ":", "").Replace(squeeze(out.String())); !errors.Is(err, ndarray.ErrParam) ||
			!strings.Contains(text, "min 5") || !strings.Contains(text, "max 1") {
			t.Errorf("JSON %v: %v, %q", v.JSON, err, text)
		}
	}
}
