package serve

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"github.com/goblosc/blosc2/examples/blosc2/internal/selection"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// maxAxes is the largest number of axes of a result, as in NumPy.
const maxAxes = 64

// result is a selection of an array.
type result struct {
	shape []int64
	dtype meta.DType
	items []byte // nil for HEAD and if the client has the result
	taken int64  // of the budget of memory
}

// serveSlice answers with a selection of an array.
func (s *Server) serveSlice(w *response, r *http.Request) error {
	q := r.URL.Query()
	format, err := sliceFormat(w, r, q)
	if err != nil {
		return err
	}
	sel, err := parseSelection(q.Get("sel"))
	if err != nil {
		return err
	}
	res, done, err := s.readSlice(w, r, sel, "slice", q.Get("sel"), format)
	if err != nil || done {
		return err
	}
	defer s.discard(&res)
	if format == "json" {
		return s.sendJSON(w, r, res)
	}
	return s.sendNPY(w, r, res)
}

// sliceFormat returns the format of the result: npy or json.
func sliceFormat(w *response, r *http.Request, q url.Values) (string, error) {
	switch f := q.Get("format"); f {
	case "npy", "json":
		return f, nil
	case "":
		w.Header().Add("Vary", "Accept")
		if prefersJSON(r) {
			return "json", nil
		}
		return "npy", nil
	default:
		return "", errorf(http.StatusBadRequest, "format %q, want npy or json", f)
	}
}

// parseSelection parses a selection. An empty one selects everything.
func parseSelection(text string) ([]ndarray.Index, error) {
	if text == "" {
		return nil, nil
	}
	sel, err := ndarray.ParseSelection(text)
	if err != nil {
		return nil, errorf(http.StatusBadRequest, "selection %q: %s", text, selection.Reason(err))
	}
	return sel, nil
}

// readSlice reads a selection. It reports done if it has answered, because the client has what parts identify already.
// Otherwise the caller discards the result.
func (s *Server) readSlice(w *response, r *http.Request, sel []ndarray.Index, parts ...string) (res result, done bool, err error) {
	err = s.decode(w, r, func(ctx context.Context, t target, e *entry) error {
		s.discard(&res) // of a state that has changed
		s.metrics.addSlices(1)
		defer s.metrics.addSlices(-1)
		n, lists, err := s.measure(&res, e.array, sel)
		if err != nil {
			return err
		}
		if done = notModified(w, r, etag(s.stateOf(e), append(parts, t.key)...)); done || r.Method == http.MethodHead {
			return nil
		}
		size := n
		if lists > 4*s.memory.small {
			size = max(n, lists) // not a small answer
		}
		lists = min(lists, max(0, s.memory.most-n))
		if err := s.memory.take(n+lists, size); err != nil {
			return err
		}
		defer s.memory.give(lists)
		res.items, res.taken = s.buffers.get(n), n
		return e.array.ReadBytes(ctx, res.items, sel...)
	})
	if err != nil {
		s.discard(&res)
	}
	return res, done, err
}

// discard releases the memory of a result.
func (s *Server) discard(res *result) {
	s.buffers.put(res.items)
	s.memory.give(res.taken)
	res.items, res.taken = nil, 0
}

// enterDecoder waits for a free decoder. The caller calls leave at the end. The context ends at the limit of time, or
// when the client leaves.
func (s *Server) enterDecoder(r *http.Request) (ctx context.Context, decoder *seat, leave func(), err error) {
	decoder = &seat{gate: s.decoders}
	if err := decoder.take(r.Context()); err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.limits.Time)
	return ctx, decoder, func() { cancel(); decoder.leave() }, nil
}

// decode runs a function with the array at the path of a request, on a free decoder. It runs it again if the file
// changes in the meantime: see withArray.
func (s *Server) decode(w *response, r *http.Request, run func(ctx context.Context, t target, e *entry) error) error {
	ctx, decoder, leave, err := s.enterDecoder(r)
	if err != nil {
		return err
	}
	defer leave()
	return s.withArray(ctx, decoder, w, r.URL.Path, func(t target, e *entry) error { return run(ctx, t, e) })
}

// stateOf returns the stamp of the file that holds an entry.
func (s *Server) stateOf(e *entry) stamp { return s.cache.stampOf(e) }

// measure sets shape and dtype of a result. It returns its size in bytes, and that of the index arrays while they are
// read.
func (s *Server) measure(res *result, a *ndarray.Array, sel []ndarray.Index) (size, lists int64, err error) {
	shape, err := a.SelectionShape(sel...)
	if err == nil {
		lists, err = a.SelectionMemory(sel...)
	}
	if err != nil {
		return 0, 0, errorf(statusOf(err), "selection: %s", selection.Reason(err))
	}
	if len(shape) > maxAxes {
		return 0, 0, errorf(http.StatusBadRequest, "the selection has %d axes, the limit is %d", len(shape), maxAxes)
	}
	res.shape, res.dtype = shape, a.DType()
	size, ok := byteCount(shape, res.dtype.Size)
	if !ok || size > s.limits.Result {
		return 0, 0, errorf(http.StatusRequestEntityTooLarge, "the selection is larger than the limit of %d bytes", s.limits.Result)
	}
	// Index arrays that are small in comparison do not make a selection too large that would fit without them.
	if most := s.memory.most; lists > most/16 && lists > most-size {
		return 0, 0, errorf(http.StatusRequestEntityTooLarge,
			"the selection takes %d bytes of memory, and its index arrays %d; the limit for both is %d", size, lists, most)
	}
	return size, lists, nil
}

// byteCount returns the size of items of a shape. It reports whether the size fits an int64.
func byteCount(shape []int64, itemSize int) (int64, bool) {
	n := int64(itemSize)
	for _, d := range shape {
		if d == 0 {
			return 0, true
		}
	}
	for _, d := range shape {
		if n > 0 && d > math.MaxInt64/n {
			return 0, false
		}
		n *= d
	}
	return n, n == int64(int(n))
}

// sendNPY answers with a .npy file.
func (s *Server) sendNPY(w *response, r *http.Request, res result) error {
	head, err := npy.Header{DType: res.dtype, Shape: res.shape}.Append(nil)
	if err != nil {
		return err
	}
	w.memory = s.memory
	n, _ := byteCount(res.shape, res.dtype.Size)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(int64(len(head))+n, 10))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	// An error of writing means that the client has left.
	if _, err := w.Write(head); err == nil {
		_, _ = w.Write(res.items)
	}
	return nil
}
