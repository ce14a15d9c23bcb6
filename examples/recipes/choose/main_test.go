package main

import (
	"strings"
	"testing"
)

// TestRun prints the tables for a small array.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, []int64{64, 30, 40}, 1); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 8+1+14 {
		t.Errorf("%d lines:\n%s", n, &out)
	}
}
