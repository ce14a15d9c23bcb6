package frame

import (
	"fmt"
	"io"
	"math"
	"sync"
)

// Storage holds the bytes of a contiguous frame. Any number of goroutines call ReadAt, also while one goroutine at a
// time calls another method. Such a ReadAt may cover bytes that are being written, and may return anything for these
// bytes. A power failure may tear a write: a disk writes whole sectors of 512 bytes, in any order. As the sectors of a
// Storage can start anywhere, a commit to a Storage waits for two syncs more than a commit to a file with a short
// header.
type Storage interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Size returns the number of stored bytes.
	Size() (int64, error)
	// Truncate removes the bytes from offset size up.
	Truncate(size int64) error
	// Sync returns when everything written before will survive a power failure.
	Sync() error
}

// Memory is a Storage in memory. The zero value is empty and ready for use. It is safe for concurrent use. Frames read
// its bytes without copying them.
type Memory struct {
	mu sync.RWMutex
	b  []byte
}

// NewMemory returns a Memory that holds b and takes ownership of it: the caller must not use b afterwards.
func NewMemory(b []byte) *Memory { return &Memory{b: b} }

// Bytes returns the stored bytes without copying them. Do not change them. Edits of a frame in the Memory may change
// them.
func (m *Memory) Bytes() []byte {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.b
}

// view returns bytes [off, off+n), or nil if not all of them exist.
func (m *Memory) view(off, n int64) []byte {
	b := m.Bytes()
	if off < 0 || off > int64(len(b)) || n > int64(len(b))-off {
		return nil
	}
	return b[off : off+n : off+n]
}

// ReadAt implements io.ReaderAt.
func (m *Memory) ReadAt(p []byte, off int64) (int, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	b := m.b
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

// grow increases the capacity to at least n bytes.
func (m *Memory) grow(n int, estimate int64) {
	b := make([]byte, len(m.b), capacity(len(m.b), n, estimate))
	copy(b, m.b)
	m.b = b
}

// capacity returns the capacity for a frame of length bytes that must have n: an estimate if that is enough, or twice
// the length, and for large frames 9/8 of it. Smaller steps would copy the frame many times.
func capacity(length, n int, estimate int64) int {
	const most = 1 << 29
	switch {
	case estimate > int64(n) && estimate <= most:
		return int(estimate)
	case length < most:
		return max(n, 2*length)
	}
	return max(n, length+min(length/8, math.MaxInt-length))
}

// reserve grows the capacity to an estimate if it is less than n bytes.
func (m *Memory) reserve(n, estimate int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > int64(cap(m.b)) && n <= math.MaxInt {
		m.grow(int(n), estimate)
	}
}

// Size returns the number of bytes.
func (m *Memory) Size() (int64, error) { return int64(len(m.Bytes())), nil }

// Truncate removes the bytes from offset size up.
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
