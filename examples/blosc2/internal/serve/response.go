package serve

import (
	"net/http"
	"time"
)

// piece is the number of bytes for which a client has the time Limits.Stall.
const piece = 1 << 20

// response counts what is sent, and gives up if the client does not take it, or so slowly that others must wait.
type response struct {
	http.ResponseWriter
	stall time.Duration
	code  int
	bytes int64
	left  int // bytes until the next deadline

	memory  *budget   // of an answer that is in memory, or nil
	rate    int64     // Limits.Rate
	began   time.Time // when the first bytes of an answer in memory were sent
	refused int64     // of memory, at the last deadline
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

// start sets the deadline for the next n bytes. It has passed already if the client is too slow.
func (w *response) start(n int) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	if w.left -= n; w.left <= 0 {
		w.left = piece
		deadline := time.Now()
		if !w.isTooSlow(deadline) {
			deadline = deadline.Add(w.stall)
		}
		// A connection without deadlines, as in a test, needs none.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(deadline)
	}
}

// isTooSlow reports whether the client should not keep the memory of the answer any longer: others were refused memory
// since the last deadline, and the client takes less than Limits.Rate.
func (w *response) isTooSlow(now time.Time) bool {
	if w.memory == nil {
		return false
	}
	was := w.refused
	w.refused = w.memory.refused.Load()
	if w.began.IsZero() {
		w.began = now
		return false
	}
	return w.refused != was && float64(w.bytes) < float64(w.rate)*now.Sub(w.began).Seconds()
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
