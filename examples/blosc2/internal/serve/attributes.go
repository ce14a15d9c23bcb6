package serve

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// writeAttributes writes the fields of a frame for its attributes: vlmeta has their values, and vlmeta_errors, if there
// are any, the errors of those that cannot be decoded, such as one that takes too much memory.
func (s *Server) writeAttributes(h *held, f *frame.Frame) error {
	if err := h.text(`,"vlmeta":{`); err != nil {
		return err
	}
	faults := map[string]string{}
	total := int64(0)
	first := len(h.bytes)
	for _, name := range f.VLMetaNames() {
		if s.config.Attribute == nil {
			break
		}
		b, err := f.VLMeta(name)
		if err != nil {
			return err
		}
		if total += int64(len(b)); total > s.limits.Result {
			return errorf(http.StatusRequestEntityTooLarge, "the attributes are larger than the limit of %d bytes", s.limits.Result)
		}
		if !utf8.ValidString(name) {
			name = fmt.Sprintf("bytes %x", name)
		}
		before := len(h.bytes)
		if before > first {
			err = h.text(",")
		}
		if err = errors.Join(err, h.json(name), h.text(":")); err != nil {
			return err
		}
		if err := s.writeAttribute(h, f, b); errors.Is(err, errBusy) || errors.As(err, new(*statusError)) {
			return err
		} else if err != nil {
			h.bytes = h.bytes[:before]
			faults[name] = s.clean(err).Error()
		}
	}
	if err := h.text("}"); err != nil || len(faults) == 0 {
		return err
	}
	return errors.Join(h.text(`,"vlmeta_errors":`), h.json(faults))
}

// writeAttribute writes the content of an attribute as JSON. What is JSON only for Python is a string. While the
// content is decoded, it takes memory of the budget.
func (s *Server) writeAttribute(h *held, f *frame.Frame, content []byte) error {
	taken := int64(0)
	defer func() { s.memory.give(taken) }()
	take := func(n, size int64) error {
		if n > s.memory.most {
			return fmt.Errorf("%d bytes in memory, the limit is %d: %w", n, s.memory.most, ndarray.ErrTooLarge)
		}
		err := s.memory.take(n, size)
		if err == nil {
			taken += n
		}
		return err
	}
	check := func(n int64) error {
		if err := f.CheckAlloc(n); err != nil {
			return err
		}
		return take(n, n)
	}
	at := len(h.bytes)
	w := bufio.NewWriter(h)
	if err := s.config.Attribute(w, content, check); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if json.Valid(h.bytes[at:]) {
		return nil
	}
	size := int64(len(h.bytes) - at)
	if err := take(3*size, size); err != nil { // for the string and its JSON, of which there are two
		return err
	}
	text := string(h.bytes[at:])
	h.bytes = h.bytes[:at]
	return h.json(text)
}
