package remote

import (
	"io"
	"sync"
	"time"

	"github.com/goblosc/blosc2/internal/ranges"
)

// costs is the latency and the bandwidth of a server. They start at the options or their defaults, and those that the
// options do not set are learned from the requests: exponential averages within bounds. costs reads no clock, so that
// tests can choose the times.
type costs struct {
	model                        ranges.Model // at the beginning
	learnLatency, learnBandwidth bool

	mu        sync.Mutex
	latency   time.Duration
	bandwidth float64       // bytes per second of all requests
	bodies    int           // that are being received
	since     time.Time     // the last event while a body was being received
	busy      time.Duration // of receiving bytes
	bytes     int64
}

// The bounds of learned latencies and bandwidths.
const (
	leastLatency, mostLatency     = 100 * time.Microsecond, 2 * time.Second
	leastBandwidth, mostBandwidth = 1 << 20, 10 << 30
	// sampleBytes is the number of bytes whose time is a sample of the bandwidth.
	sampleBytes = 1 << 20
	// leastBody is the size of the bodies that count. Shorter ones may arrive together with the header.
	leastBody = 128 << 10
)

// newCosts returns the costs of a model. The latency and the bandwidth change only if they are to be learned.
func newCosts(m ranges.Model, learnLatency, learnBandwidth bool) *costs {
	return &costs{
		model: m, learnLatency: learnLatency, learnBandwidth: learnBandwidth,
		latency: m.Latency, bandwidth: float64(m.Bandwidth),
	}
}

// cost returns the model with the latency and the bandwidth known so far.
func (c *costs) cost() ranges.Model {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.model
	if c.learnLatency {
		m.Latency = c.latency
	}
	if c.learnBandwidth {
		m.Bandwidth = int64(c.bandwidth)
	}
	return m
}

// idle reports whether no body is being received. Only then is the time to an answer the latency: otherwise it also
// depends on the bytes in flight.
func (c *costs) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bodies == 0
}

// answered notes that the header of an answer has arrived after some time. A request may wait for a new connection, so
// short times count more than long ones.
func (c *costs) answered(took time.Duration) {
	took = min(max(took, leastLatency), mostLatency)
	c.mu.Lock()
	defer c.mu.Unlock()
	weight := time.Duration(16)
	if took < c.latency {
		weight = 4
	}
	c.latency += (took - c.latency) / weight
}

// begin notes that a body is being received.
func (c *costs) begin(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	c.bodies++
}

// advance adds the time since the last event if a body was being received.
func (c *costs) advance(now time.Time) {
	if c.bodies > 0 {
		c.busy += now.Sub(c.since)
	}
	c.since = now
}

// received notes n bytes of a body.
func (c *costs) received(now time.Time, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	if c.bytes += int64(n); c.bytes < sampleBytes {
		return
	}
	if took := c.busy.Seconds(); took > 0 {
		sample := min(max(float64(c.bytes)/took, leastBandwidth), mostBandwidth)
		c.bandwidth += (sample - c.bandwidth) / 4
	}
	c.busy, c.bytes = 0, 0
}

// end notes the end of a body.
func (c *costs) end(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(now)
	c.bodies--
}

// costBody is a body that reports received bytes to costs.
type costBody struct {
	io.ReadCloser
	costs *costs
	once  sync.Once
}

// body returns a body that reports to c.
func (c *costs) body(b io.ReadCloser) io.ReadCloser {
	c.begin(time.Now())
	return &costBody{ReadCloser: b, costs: c}
}

// Read implements io.Reader.
func (b *costBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.costs.received(time.Now(), n)
	}
	return n, err
}

// Close implements io.Closer.
func (b *costBody) Close() error {
	b.once.Do(func() { b.costs.end(time.Now()) })
	return b.ReadCloser.Close()
}
