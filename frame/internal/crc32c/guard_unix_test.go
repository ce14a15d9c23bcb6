//go:build linux || darwin

package crc32c

import (
	"os"
	"runtime/debug"
	"syscall"
	"testing"
)

// TestGuardPages computes checksums of what begins or ends at a page that cannot be touched.
func TestGuardPages(t *testing.T) {
	page := os.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(mem)
	p := mem[page : 2*page]
	copy(p, randomBytes(page, 6))
	for _, p := range [][]byte{mem[:page], mem[2*page:]} {
		if err := syscall.Mprotect(p, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for n := 0; n <= 2048; n += 1 + n/1024*6 {
		for _, q := range [][]byte{p[:n], p[page-n:]} {
			if got, want := Checksum(q), updateGeneric(0, q); got != want {
				t.Fatalf("%d bytes: %#x, want %#x", n, got, want)
			}
		}
	}
}
