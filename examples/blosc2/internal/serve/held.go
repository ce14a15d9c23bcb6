package serve

import (
	"bytes"
	"net/http"
)

// held collects an answer. Its memory belongs to a budget until free is called.
type held struct {
	bytes  []byte
	what   string // that is collected, for errors
	limit  int64  // of the length
	memory *budget
	taken  int64
}

// Write implements io.Writer. The error is errBusy if the budget has not enough memory, and has status 413 if the
// answer is longer than the limit.
func (h *held) Write(p []byte) (int, error) {
	n := int64(len(h.bytes)) + int64(len(p))
	if n > h.limit {
		return 0, errorf(http.StatusRequestEntityTooLarge, "%s: more than the limit of %d bytes", h.what, h.limit)
	}
	if n > int64(cap(h.bytes)) {
		if err := h.grow(n); err != nil {
			return 0, err
		}
	}
	h.bytes = append(h.bytes, p...)
	return len(p), nil
}

// grow makes room for n bytes. While it copies bytes, the budget counts the old memory and the new, up to the limit of
// the budget for such an answer: one that fits only without the old memory is not refused.
func (h *held) grow(n int64) error {
	limit := h.memory.most
	if n <= h.memory.small {
		limit = h.memory.small
	}
	size := max(n, min(2*int64(cap(h.bytes)), h.limit, limit))
	both := max(size, min(h.taken+size, limit))
	if err := h.memory.take(both-h.taken, size); err != nil {
		return err
	}
	h.bytes = append(make([]byte, 0, size), h.bytes...)
	h.memory.give(both - size)
	h.taken = size
	return nil
}

// text writes a string.
func (h *held) text(s string) error {
	_, err := h.Write([]byte(s))
	return err
}

// json writes a value as JSON. Use it for small values, as the JSON is in memory twice.
func (h *held) json(v any) error {
	b, err := encodeJSON(v)
	if err == nil {
		_, err = h.Write(b)
	}
	return err
}

// openObject writes a struct as JSON, without the brace at its end, so that fields can follow.
func (h *held) openObject(v any) error {
	b, err := encodeJSON(v)
	if err == nil {
		_, err = h.Write(bytes.TrimSuffix(b, []byte("}")))
	}
	return err
}

// free gives the memory back. The answer is empty again.
func (h *held) free() {
	h.memory.give(h.taken)
	h.bytes, h.taken = nil, 0
}
