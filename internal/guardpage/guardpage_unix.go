//go:build linux || darwin

package guardpage

import (
	"os"
	"syscall"
	"testing"
)

// New returns at least size bytes of memory, rounded up to whole pages, between two inaccessible pages. The memory is
// released when the test ends.
func New(t testing.TB, size int) []byte {
	t.Helper()
	page := os.Getpagesize()
	size = (size + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	for _, p := range [][]byte{mem[:page], mem[page+size:]} {
		if err := syscall.Mprotect(p, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return mem[page : page+size : page+size]
}
