package serve

import (
	"io"
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

// ReadFrom implements io.ReaderFrom, so that the operating system can copy a file to the connection.
func (w *response) ReadFrom(r io.Reader) (total int64, err error) {
	from, ok := w.ResponseWriter.(io.ReaderFrom)
	if !ok {
		return io.Copy(struct{ io.Writer }{w}, r)
	}
	limit := int64(1<<63 - 1)
	l, limited := r.(*io.LimitedReader)
	if limited {
		r, limit = l.R, l.N
	}
	for total < limit {
		n := min(limit-total, piece)
		w.left = 0
		w.start(piece)
		k, err := from.ReadFrom(&io.LimitedReader{R: r, N: n})
		total += k
		w.bytes += k
		if limited {
			l.N -= k
		}
		if err != nil || k < n {
			return total, err
		}
	}
	return total, nil
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
