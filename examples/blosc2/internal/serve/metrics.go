package serve

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Kinds of requests in the metrics.
const (
	kindFile    = "file"
	kindListing = "listing"
	kindSlice   = "slice"
	kindInfo    = "info"
	kindFetch   = "fetch"
	kindChunk   = "chunk"
	kindViewer  = "viewer"
	kindMetrics = "metrics"
	kindOther   = "other"
)

// bounds are the upper ends of the buckets of the histograms of durations, in seconds.
var bounds = [...]float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30}

// metrics counts requests.
type metrics struct {
	mu       sync.Mutex
	requests map[requestKey]int64
	kinds    map[string]*kindCount
	slices   int // that are read at the moment
}

// requestKey are the labels of a counter of requests.
type requestKey struct {
	kind string
	code int
}

// kindCount counts what requests of a kind used.
type kindCount struct {
	bytes   int64
	seconds float64
	buckets [len(bounds) + 1]int64 // the last one is for longer durations
}

// newMetrics returns counters at zero.
func newMetrics() *metrics {
	return &metrics{requests: map[requestKey]int64{}, kinds: map[string]*kindCount{}}
}

// observe counts a request.
func (m *metrics) observe(kind string, code int, bytes int64, took time.Duration) {
	if code == 0 {
		code = http.StatusOK
	}
	seconds := took.Seconds()
	at, _ := slices.BinarySearch(bounds[:], seconds)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[requestKey{kind, code}]++
	k := m.kinds[kind]
	if k == nil {
		k = &kindCount{}
		m.kinds[kind] = k
	}
	k.bytes += bytes
	k.seconds += seconds
	k.buckets[at]++
}

// addSlices changes the number of slices that are read at the moment.
func (m *metrics) addSlices(n int) {
	m.mu.Lock()
	m.slices += n
	m.mu.Unlock()
}

// serveMetrics answers with the counters in the text format of Prometheus.
func (s *Server) serveMetrics(w *response, r *http.Request) error {
	var b bytes.Buffer
	s.metrics.write(&b)
	open, opened := s.cache.counts()
	gauge := func(kind, name, help string, value int64) {
		fmt.Fprintf(&b, "# HELP blosc2_%s %s\n# TYPE blosc2_%[1]s %[3]s\nblosc2_%[1]s %[4]d\n", name, help, kind, value)
	}
	gauge("gauge", "requests_in_flight", "Requests that are answered at the moment.", int64(s.requests.used()))
	gauge("gauge", "open_arrays", "Open arrays and stores.", int64(open))
	gauge("counter", "opened_arrays_total", "Arrays and stores that were opened.", opened)
	gauge("gauge", "result_bytes", "Bytes of answers in memory, such as selections.", s.memory.used.Load())
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	return s.send(w, r, b.Bytes())
}

// write writes the counters of requests.
func (m *metrics) write(b *bytes.Buffer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Fprint(b, "# HELP blosc2_requests_total Answered requests by kind and status. Status 499 means that the request was canceled.\n# TYPE blosc2_requests_total counter\n")
	byName := func(a, b requestKey) int { return cmp.Or(cmp.Compare(a.kind, b.kind), a.code-b.code) }
	for _, k := range slices.SortedFunc(maps.Keys(m.requests), byName) {
		fmt.Fprintf(b, "blosc2_requests_total{kind=%q,code=\"%d\"} %d\n", k.kind, k.code, m.requests[k])
	}
	kinds := slices.Sorted(maps.Keys(m.kinds))
	fmt.Fprint(b, "# HELP blosc2_response_bytes_total Bytes of the bodies of answers.\n# TYPE blosc2_response_bytes_total counter\n")
	for _, kind := range kinds {
		fmt.Fprintf(b, "blosc2_response_bytes_total{kind=%q} %d\n", kind, m.kinds[kind].bytes)
	}
	fmt.Fprint(b, "# HELP blosc2_request_seconds Seconds from the header of a request to the end of the answer.\n# TYPE blosc2_request_seconds histogram\n")
	for _, kind := range kinds {
		k := m.kinds[kind]
		total := int64(0)
		for i, n := range k.buckets {
			total += n
			le := "+Inf"
			if i < len(bounds) {
				le = strconv.FormatFloat(bounds[i], 'g', -1, 64)
			}
			fmt.Fprintf(b, "blosc2_request_seconds_bucket{kind=%q,le=%q} %d\n", kind, le, total)
		}
		fmt.Fprintf(b, "blosc2_request_seconds_sum{kind=%q} %g\nblosc2_request_seconds_count{kind=%[1]q} %[3]d\n", kind, k.seconds, total)
	}
	fmt.Fprintf(b, "# HELP blosc2_slices_in_flight Selections that are read at the moment.\n# TYPE blosc2_slices_in_flight gauge\nblosc2_slices_in_flight %d\n", m.slices)
}
