package main

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// resetPeak makes the peak of the memory start again.
func resetPeak() error { return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peak returns the largest memory of the process since resetPeak, in bytes.
func peak() (int64, error) {
	kb, err := procField("/proc/self/status", "VmHWM:")
	return kb << 10, err
}

// ioBytes returns the bytes that calls of the system have read and written so far.
func ioBytes() (u usage, err error) {
	if u.read, err = procField("/proc/self/io", "rchar:"); err == nil {
		u.write, err = procField("/proc/self/io", "wchar:")
	}
	return u, err
}

// procField returns the number after a name in a file.
func procField(name, field string) (n int64, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	_, rest, found := bytes.Cut(data, []byte(field))
	if !found {
		return 0, fmt.Errorf("%s: no %s", name, field)
	}
	_, err = fmt.Sscan(string(rest), &n)
	return n, err
}

// dropCache writes a file to the disk and drops it from the cache of the operating system.
func dropCache(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return err
	}
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}
