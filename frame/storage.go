package frame

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync"
)

// Storage holds the bytes of a contiguous frame. ReadAt is called by any number of goroutines, also while one
// goroutine at a time calls the other methods. It may then cover bytes that are just being written; what it returns
// for those does not matter.
type Storage interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Size returns the number of bytes there.
	Size() (int64, error)
	// Truncate cuts the end off.
	Truncate(size int64) error
	// Sync returns when all that was written will survive a power cut.
	Sync() error
}

// file is a Storage in a file.
type file struct{ systemFile }

func (f file) Size() (int64, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// fileToRead is a Storage in a file that is only read.
type fileToRead struct{ file }

func (fileToRead) WriteAt([]byte, int64) (int, error) { return 0, ErrReadOnly }
func (fileToRead) Truncate(int64) error               { return ErrReadOnly }
func (fileToRead) Sync() error                        { return ErrReadOnly }

func openFile(in directory, name string, write bool) (Storage, error) {
	flag := os.O_RDONLY
	if write {
		flag = os.O_RDWR
	}
	f, err := in.open(name, flag, 0)
	switch {
	case err != nil:
		return nil, err
	case write:
		return file{f}, nil
	}
	return fileToRead{file{f}}, nil
}

// readOnly is a Storage that only reads.
type readOnly struct {
	io.ReaderAt
	size int64
}

func (r readOnly) Size() (int64, error)               { return r.size, nil }
func (r readOnly) WriteAt([]byte, int64) (int, error) { return 0, ErrReadOnly }
func (r readOnly) Truncate(int64) error               { return ErrReadOnly }
func (r readOnly) Sync() error                        { return ErrReadOnly }
func (r readOnly) Close() error                       { return nil }

// Memory is a Storage in memory. The zero value is empty and ready for use. Frames read its bytes without copying.
type Memory struct {
	mu sync.RWMutex
	b  []byte
}

// NewMemory returns a Memory that holds b and from now on owns it.
func NewMemory(b []byte) *Memory { return &Memory{b: b} }

// Bytes returns the bytes that it holds. They are the Memory's own: do not change them, and expect them to change
// when a frame in it is edited.
func (m *Memory) Bytes() []byte {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.b
}

// view returns bytes [off, off+n), or nil when they are not all there.
func (m *Memory) view(off, n int64) []byte {
	b := m.Bytes()
	if off < 0 || off > int64(len(b)) || n > int64(len(b))-off {
		return nil
	}
	return b[off : off+n : off+n]
}

// ReadAt implements io.ReaderAt.
func (m *Memory) ReadAt(p []byte, off int64) (int, error) {
	b := m.Bytes()
	if off < 0 {
		return 0, fmt.Errorf("reading at %d: %w", off, ErrBounds)
	}
	if off >= int64(len(b)) {
		return 0, io.EOF
	}
	n := copy(p, b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements io.WriterAt; writing past the end makes it longer.
func (m *Memory) WriteAt(p []byte, off int64) (int, error) {
	const most = int64(^uint(0) >> 1)
	if off < 0 || off > most-int64(len(p)) {
		return 0, fmt.Errorf("writing at %d: %w", off, ErrBounds)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if end := int(off) + len(p); end > len(m.b) {
		had := len(m.b)
		if end > cap(m.b) {
			m.grow(end, 0)
		}
		m.b = m.b[:end]
		if int(off) > had {
			clear(m.b[had:off])
		}
	}
	return copy(m.b[off:], p), nil
}

// grow makes room for n bytes, and for some more: for as many as are likely, or twice as many as there are. Smaller
// steps copy the frame several times over.
func (m *Memory) grow(n int, likely int64) {
	const most = 1 << 29
	if likely > int64(n) && likely <= most {
		n = int(likely)
	} else if len(m.b) < most {
		n = max(n, 2*len(m.b))
	}
	b := make([]byte, len(m.b), n)
	copy(b, m.b)
	m.b = b
}

// reserve makes room for n bytes if there is none, and then for as many as are likely.
func (m *Memory) reserve(n, likely int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > int64(cap(m.b)) && n <= math.MaxInt {
		m.grow(int(n), likely)
	}
}

// likely tells how many bytes the chunks of an Encode will take.
type likely struct {
	size            int64 // of their content; 0 = who knows
	stored, content int64 // of those so far
}

// add notes a chunk.
func (l *likely) add(stored, content int) {
	l.stored += int64(stored)
	l.content += int64(content)
}

// left returns how many bytes are likely to come behind the chunks so far.
func (l *likely) left() int64 {
	if l.content == 0 || l.content >= l.size {
		return 0
	}
	return int64(float64(l.stored) / float64(l.content) * float64(l.size-l.content) * 17 / 16)
}

// Size returns the number of bytes.
func (m *Memory) Size() (int64, error) { return int64(len(m.Bytes())), nil }

// Truncate cuts the end off.
func (m *Memory) Truncate(size int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if size < 0 || size > int64(len(m.b)) {
		return fmt.Errorf("truncating %d bytes to %d: %w", len(m.b), size, ErrBounds)
	}
	m.b = m.b[:size]
	return nil
}

// Sync does nothing.
func (m *Memory) Sync() error { return nil }

// Close does nothing; the bytes stay.
func (m *Memory) Close() error { return nil }

var _ Storage = (*Memory)(nil)
