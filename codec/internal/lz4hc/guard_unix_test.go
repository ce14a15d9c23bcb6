//go:build linux || darwin

package lz4hc

import (
	"math/rand"
	"os"
	"runtime/debug"
	"syscall"
	"testing"
)

// guardPages returns memory of size bytes or more, whole pages, with a page before and a page behind that cannot be
// touched.
func guardPages(t *testing.T, size int) []byte {
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
	return mem[page : page+size]
}

// TestGuardPages compresses with the input and the output at pages that cannot be touched: a kernel that reads or writes
// outside of them faults.
func TestGuardPages(t *testing.T) {
	const size = 1 << 17
	srcMem, dstMem := guardPages(t, size), guardPages(t, size)
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for level := 1; level <= 9; level += 4 {
		r := rand.New(rand.NewSource(int64(level)))
		kernel, plain := NewEncoder(level), NewEncoder(level)
		for i := range rounds {
			content := pieces(r, r.Intn(1<<r.Intn(18)))
			room := r.Intn(len(content) + 1)
			src, dst := srcMem[:len(content)], dstMem[:room]
			if i%2 > 0 {
				src = srcMem[len(srcMem)-len(content):]
			}
			if i&2 > 0 {
				dst = dstMem[len(dstMem)-room:]
			}
			copy(src, content)
			encodeBoth(t, kernel, plain, dst, src)
		}
	}
}
