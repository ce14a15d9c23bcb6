//go:build linux || darwin

package crc32c

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/internal/guardpage"
)

// TestGuardPages computes checksums of what begins or ends at a page that cannot be touched.
func TestGuardPages(t *testing.T) {
	page := os.Getpagesize()
	p := guardpage.New(t, page)
	copy(p, randomBytes(page, 6))
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for n := 0; n <= 2048; n += 1 + n/1024*6 {
		for _, q := range [][]byte{p[:n], p[page-n:]} {
			if got, want := Checksum(q), updateGeneric(0, q); got != want {
				t.Fatalf("%d bytes: %#x, want %#x", n, got, want)
			}
		}
	}
}
