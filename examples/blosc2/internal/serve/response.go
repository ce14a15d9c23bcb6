package serve

import (
	"net/http"
	"time"
)

// piece is the number of bytes for which a client has the time Limits.Stall.
const piece = 1 << 20

// response counts what is sent, and gives up if the client does not take it.
type response struct {
	http.ResponseWriter
	stall time.Duration
	code  int
	bytes int64
	left  int // bytes until the next deadline
}

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements io.Writer.
func (w *response) Write(p []byte) (n int, err error) {
	for err == nil && n < len(p) {
		var k int
		k, err = w.writePiece(p[n:min(n+piece, len(p))])
		n += k
	}
	return n, err
}

// writePiece writes at most a piece.
func (w *response) writePiece(p []byte) (int, error) {
	w.start(len(p))
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// start sets the deadline for the next n bytes.
func (w *response) start(n int) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	if w.left -= n; w.left <= 0 {
		w.left = piece
		// A connection without deadlines, as in a test, needs none.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.stall))
	}
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
