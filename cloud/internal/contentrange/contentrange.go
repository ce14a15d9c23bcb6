// Package contentrange compares the range of an answer with the one that was asked for.
package contentrange

import (
	"errors"
	"fmt"
)

// Check returns errors.ErrUnsupported unless got, the header Content-Range of an answer, is that of n bytes at off of
// an object of size bytes, or of its last n bytes if off is negative. An answer with the whole object may have none.
// For no bytes, gocloud.dev asks for one.
func Check(got string, off, n, size int64) error {
	from, to := off, min(off+n, size)
	if off < 0 {
		from, to = max(size-n, 0), size
	}
	want := fmt.Sprintf("bytes %d-%d/%d", from, to-1, size)
	if n == 0 || got == want || got == "" && from == 0 {
		return nil
	}
	return fmt.Errorf("Content-Range is %.100q, want %q: %w", got, want, errors.ErrUnsupported)
}
