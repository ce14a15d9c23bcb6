package storage

import (
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Mapped is the Bytes of a file that is only read and that the system maps into memory. Bytes after the end of the file
// at the time of opening are read. The memory is unmapped when the Mapped is closed and its last reader has ended.
type Mapped struct {
	ReadOnlyFile
	mem  []byte
	uses atomic.Int64 // the Mapped itself, until it is closed, and readers
}

// Map maps a file into memory. It returns b if it is not a file that is only read, or cannot be mapped.
func Map(b Bytes) Bytes {
	r, ok := b.(ReadOnlyFile)
	if !ok {
		return b
	}
	f, ok := r.File.(*os.File)
	if !ok {
		return b
	}
	size, err := r.Size()
	if err != nil || size <= 0 || size != int64(int(size)) {
		return b
	}
	mem, err := mapFile(f, int(size))
	if err != nil {
		return b
	}
	m := &Mapped{ReadOnlyFile: r, mem: mem}
	m.uses.Store(1)
	return m
}

// View returns bytes [off, off+n), or nil if not all of them are in memory.
func (m *Mapped) View(off, n int64) []byte {
	if off < 0 || off > int64(len(m.mem)) || n > int64(len(m.mem))-off {
		return nil
	}
	return m.mem[off : off+n : off+n]
}

// Pin keeps the memory until Unpin. It returns false if the memory is already unmapped.
func (m *Mapped) Pin() bool {
	for {
		n := m.uses.Load()
		if n == 0 {
			return false
		}
		if m.uses.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Unpin undoes Pin.
func (m *Mapped) Unpin() error {
	if m.uses.Add(-1) == 0 {
		return unmapFile(m.mem)
	}
	return nil
}

// Uses returns the number of pins, and one more until the Mapped is closed.
func (m *Mapped) Uses() int64 { return m.uses.Load() }

// Fault reports whether a recovered panic is a fault inside the memory, because the file was truncated or the disk
// fails, and returns the offset. It needs debug.SetPanicOnFault.
func (m *Mapped) Fault(p any) (off uintptr, ok bool) {
	fault, ok := p.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		return 0, false
	}
	// Safe: the address is only compared with the bounds of the mapping.
	off = fault.Addr() - uintptr(unsafe.Pointer(unsafe.SliceData(m.mem))) // wraps around before the memory
	return off, off < uintptr(len(m.mem))
}

// Close closes the file. The last reader unmaps the memory.
func (m *Mapped) Close() error {
	err := m.ReadOnlyFile.Close()
	if e := m.Unpin(); err == nil {
		err = e
	}
	return err
}
