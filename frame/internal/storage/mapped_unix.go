//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package storage

import (
	"os"
	"syscall"
)

// mapFile returns the first n bytes of a file as memory that must not be written to.
func mapFile(f *os.File, n int) (mem []byte, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	e := conn.Control(func(fd uintptr) {
		mem, err = syscall.Mmap(int(fd), 0, n, syscall.PROT_READ, syscall.MAP_SHARED)
	})
	if e != nil {
		return nil, e
	}
	return mem, err
}

func unmapFile(mem []byte) error { return syscall.Munmap(mem) }
