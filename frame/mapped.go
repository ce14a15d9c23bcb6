package frame

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"unsafe"
)

// mapped is a Storage in a file that is only read and that the system shows as memory. What is behind the end that the
// file had when it was opened is read. The memory stays until the frame is closed and nothing reads it any more.
type mapped struct {
	fileToRead
	mem  []byte
	uses atomic.Int64 // the storage itself, until it is closed, and those that read
}

// mapStorage returns the file that a storage is in as memory, or the storage where that cannot be.
func mapStorage(st Storage) Storage {
	r, ok := st.(fileToRead)
	if !ok {
		return st
	}
	f, ok := r.systemFile.(*os.File)
	if !ok {
		return st
	}
	size, err := r.Size()
	if err != nil || size <= 0 || size != int64(int(size)) {
		return st
	}
	mem, err := mapFile(f, int(size))
	if err != nil {
		return st
	}
	m := &mapped{fileToRead: r, mem: mem}
	m.uses.Store(1)
	return m
}

// view returns bytes [off, off+n), or nil when they are not all in memory.
func (m *mapped) view(off, n int64) []byte {
	if off < 0 || off > int64(len(m.mem)) || n > int64(len(m.mem))-off {
		return nil
	}
	return m.mem[off : off+n : off+n]
}

// hold keeps the memory until drop, and returns false when it is gone.
func (m *mapped) hold() bool {
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

func (m *mapped) drop() error {
	if m.uses.Add(-1) == 0 {
		return unmapFile(m.mem)
	}
	return nil
}

// recoverFault is deferred where a goroutine reads the memory for chunk i: when the system cannot provide bytes of the file,
// as it was truncated or the disk fails, that read is a fault, which is made an error here. No check before the read could
// find it. was is what debug.SetPanicOnFault(true) has returned, which belongs to the goroutine. All other panics go on. A
// worker w, which may be nil, is in the middle of a block then and not used again.
func (m *mapped) recoverFault(was bool, f *Frame, i int, w *worker, err *error) {
	debug.SetPanicOnFault(was)
	p := recover()
	if p == nil {
		return
	}
	fault, ok := p.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		panic(p)
	}
	off := fault.Addr() - uintptr(unsafe.Pointer(unsafe.SliceData(m.mem))) // wraps around before the memory
	if off >= uintptr(len(m.mem)) {
		panic(p)
	}
	if w != nil {
		w.Worker = nil
	}
	*err = &Error{Path: f.path, Part: "chunk", Chunk: i, Off: -1,
		Err: fmt.Errorf("cannot read byte %d of the mapped file, which was truncated, or the disk fails: %w", off, ErrChanged)}
}

// Close closes the file. The memory goes with its last reader.
func (m *mapped) Close() error {
	err := m.fileToRead.Close()
	if e := m.drop(); err == nil {
		err = e
	}
	return err
}
