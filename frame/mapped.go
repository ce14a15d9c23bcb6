package frame

import (
	"os"
	"sync/atomic"
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

// Close closes the file. The memory goes with its last reader.
func (m *mapped) Close() error {
	err := m.fileToRead.Close()
	if e := m.drop(); err == nil {
		err = e
	}
	return err
}
