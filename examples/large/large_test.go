package main

import (
	"context"
	"runtime"
	"strings"
	"testing"
)

// TestLarge measures small arrays.
func TestLarge(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("measures on Linux only")
	}
	ctx := context.Background()
	var out strings.Builder
	err := inside(t.TempDir(), func(dir string) error {
		if err := readSpecial(ctx, &out, dir, 1e9); err != nil {
			return err
		}
		if err := readCold(ctx, &out, dir, 20e6, 1); err != nil {
			return err
		}
		return copyRechunked(ctx, &out, dir, 40e6, 8<<20, 16)
	})
	t.Log(out.String())
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 11 {
		t.Errorf("%d lines", n)
	}
}
