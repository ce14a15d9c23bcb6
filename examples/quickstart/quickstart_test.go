package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

const want = `A year of temperatures, created and compressed:
  temperature.b2nd: shape [365 37 72], dtype <f4, chunks [32 37 72], blocks [8 37 72]
  4091904 bytes in 12 chunks take less than 16% of their size

One day, a[200], is a plane of 2664 items. At longitude 0:
  +90°: -2.0 +60°: 7.2 +30°: 24.3 +0°: 28.0 -30°: 9.3 -60°: -18.7 -90°: -32.0
Every 60th day at 45° north, 10° east, a[::60, 9, 2]:
  [-3.9 -1.7 8.2 16.2 14.4 4.6 -3.6]

A correction of three days, read back with its neighbors, a[99:104, 9, 2]:
  [4.4 11.5 12.0 12.5 5.1]
One more day is appended: shape [366 37 72], a[-1, 9, 2] = -3.9

An array that python-blosc2 wrote and edited, edited_cframe.b2nd: shape [33 26], dtype <i4
  a[2:4, 0:12:4] = [105 99 98 98 95 93]
  its metalayer "edited" is true
`

// TestQuickstart compares the output of the program, and reads the file that it wrote.
func TestQuickstart(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := run(t.Context(), &out, dir, filepath.Join("..", "..", "testdata")); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("output:\n%s\nwant:\n%s", out.String(), want)
	}
	// The file has the items that the program printed, and all others.
	a, err := ndarray.Open(t.Context(), filepath.Join(dir, "temperature.b2nd"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	got, err := ndarray.Read[float32](t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	for day := range days + 1 {
		for i, x := range globe(day) {
			if corrected := day >= 100 && day < 103 && i == 9*lons+2; !corrected && got[day*lats*lons+i] != x {
				t.Fatalf("day %d, item %d: %v, want %v", day, i, got[day*lats*lons+i], x)
			}
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("remaining files: %v (%v)", left, err)
	}
	if err := run(t.Context(), &out, t.TempDir(), "nowhere"); err == nil {
		t.Error("no error without test data")
	}
}
