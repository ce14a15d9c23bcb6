package storage

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapFile returns the first n bytes of a file as memory that must not be written to.
func mapFile(f *os.File, n int) ([]byte, error) {
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(h) // the memory remains mapped
	addr, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(n))
	if err != nil {
		return nil, err
	}
	// Safe: MapViewOfFile succeeded for n bytes.
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), n), nil
}

func unmapFile(mem []byte) error {
	// Safe: mapFile returned mem, and its address is only passed on.
	return windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(mem))))
}
