package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// TestVerifyUnfinished verifies an array that several processes fill, before and after a chunk is damaged.
func TestVerifyUnfinished(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "a.b2nd")
	r, err := ndarray.CreateRegions(ctx, path, []int64{5, 1000}, "<i4", &ndarray.CreateOptions{Chunks: []int64{1, 1000}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	write := func(i int64) {
		items := make([]int32, 1000)
		for k := range items {
			items[k] = int32(k * k)
		}
		if err := ndarray.Write(ctx, r, items, ndarray.At(i)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(faults int, message string) {
		t.Helper()
		code, out, errOut := call(t, "", "verify", path)
		if n := strings.Count(string(out), "\n"); code != 1 || n != faults || !strings.Contains(errOut, message) {
			t.Errorf("exit %d, %s%s, want %d faults and %q", code, out, errOut, faults, message)
		}
	}
	want(0, "no faults; 0 of 5 chunks are written")
	for _, i := range []int64{0, 2, 3} {
		write(i)
	}
	want(0, "no faults; 3 of 5 chunks are written")
	name := filepath.Join(path, "00000002.chunk")
	b := readFile(t, name)
	writeFile(t, name, b[:len(b)-9])
	want(1, "faults found: 1; intact: 2 of 5 chunks")
	broken := []byte(b)
	for i := range 8 {
		broken[32+i] = 0xff // the position of the first block, and its beginning
	}
	writeFile(t, name, string(broken))
	want(1, "faults found: 1; intact: 2 of 5 chunks")
	for i := range int64(5) {
		write(i)
	}
	want(0, "no faults; 5 of 5 chunks are written")
	if err := r.Finish(ctx); err != nil {
		t.Fatal(err)
	}
	if code, out, errOut := call(t, "", "verify", path); code != 0 || len(out) != 0 {
		t.Errorf("exit %d, %s%s", code, out, errOut)
	}
}
