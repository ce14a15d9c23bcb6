package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/ndarray"
)

// statusError is an error with a status.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return e.text }

// errorf returns an error with a status.
func errorf(code int, format string, args ...any) error {
	return &statusError{code, fmt.Sprintf(format, args...)}
}

// refuse returns a handler that returns an error.
func refuse(code int, text string) handler {
	return func(*response, *http.Request) error { return errorf(code, "%s", text) }
}

// statusGone is the status in the metrics of requests that were canceled before an answer: their client left, or the
// server stopped.
const statusGone = 499

// statusOf returns the status for an error.
func statusOf(err error) int {
	var status *statusError
	switch {
	case errors.As(err, &status):
		return status.code
	case errors.Is(err, errBusy), errors.Is(err, errChanging), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, fs.ErrPermission):
		return http.StatusForbidden
	case errors.Is(err, ndarray.ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, ndarray.ErrCorrupt), errors.Is(err, ndarray.ErrChanged):
		return http.StatusInternalServerError
	case errors.Is(err, ndarray.ErrNotArray), errors.Is(err, ndarray.ErrFormat), errors.Is(err, errors.ErrUnsupported), errors.Is(err, ndarray.ErrType):
		return http.StatusUnprocessableEntity
	case errors.Is(err, ndarray.ErrBounds), errors.Is(err, ndarray.ErrShape), errors.Is(err, ndarray.ErrParam), errors.Is(err, ndarray.ErrValue):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// clean removes the name of the folder from an error.
func (s *Server) clean(err error) error {
	if text := err.Error(); strings.Contains(text, s.dir) {
		return &statusError{statusOf(err), strings.ReplaceAll(strings.ReplaceAll(text, s.dir+"/", ""), s.dir, ".")}
	}
	return err
}

// fail answers with an error, as one line of text. A canceled request gets a status without text.
func fail(w *response, r *http.Request, err error) {
	code := statusOf(err)
	text := err.Error()
	switch {
	case r.Context().Err() != nil && code >= 500:
		// A client that has closed only its half of the connection takes an answer, which must not be 200.
		w.code = statusGone
		code, text = http.StatusServiceUnavailable, ""
	case code == http.StatusNotFound:
		text = "not found"
	case code == http.StatusMethodNotAllowed:
		w.Header().Set("Allow", "GET, HEAD")
	case errors.Is(err, errBusy), errors.Is(err, errChanging):
		w.Header().Set("Retry-After", "1")
	case errors.Is(err, context.DeadlineExceeded):
		text = "the request takes too long"
	}
	if text != "" {
		text = strings.Join(strings.Fields(text), " ") + "\n"
	}
	h := w.Header()
	h.Del("ETag")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		// An error of writing means that the client has left.
		_, _ = w.Write([]byte(text))
	}
}
