package remote

import (
	"fmt"
	"net/http"
	"time"

	"github.com/goblosc/blosc2/internal/ranges"
)

// Range is the bytes [Off, Off+Len) of an object.
type Range = ranges.Range

// Options are the options of Open, OpenDir, OpenGetter and OpenDirGetter. A nil *Options and zero fields are the
// defaults.
type Options struct {
	Client *http.Client // sends the requests; nil = a new client for the Object
	Header http.Header  // sent with every request, for example Authorization

	Requests int           // requests in flight; 0 = 16
	Retries  int           // repetitions of a failed request, also of one that is continued; 0 = 5, negative = none
	MaxWait  time.Duration // longest wait before a repetition; if the server demands more, the request fails; 0 = 30 s
	Stall    time.Duration // a request that receives no byte for that long has failed; 0 = 30 s

	// Small expects an object of at most 64 KiB. Open then sends one request, and a second one after it only if the
	// object is larger. Otherwise it sends the two at once.
	Small bool
	// Multipart asks for several ranges with one request: Open sends one request for any object, and ReadRanges up to
	// 64 ranges in each. It divides them among the requests in flight, unless their bytes take less time than a
	// request. Most file servers, such as Apache, nginx and net/http's, answer these requests. Object stores and
	// browsers do not. If a server does not, Open takes one more round trip. With Dir, only Open uses it.
	Multipart bool
	// MaxWhole is the size in bytes up to which Open reads the whole object from a server that ignores ranges. 0 = 16
	// MiB, negative = none.
	MaxWhole int64
	// Unversioned accepts objects whose answers have neither a strong ETag nor Last-Modified. Only a change of their
	// size is detected. Without it, such an object is accepted only if one answer has all of its bytes.
	Unversioned bool

	// The cost of reading. Ranges are read with one request if the gap between them has at most Gap bytes. By default
	// that is Latency*Bandwidth/Requests: reading the gap takes less time than one more request. Latency and Bandwidth
	// that are not set start at their defaults and follow what the requests take. With Dir they keep their defaults, so
	// that later programs request the same ranges. Each request reads at most MaxLen bytes, and with Dir up to 128 KiB
	// more. A call holds at most MaxBytes bytes that are not delivered yet.
	Latency   time.Duration // from sending a request to the first byte; 0 = learned, from 50 ms
	Bandwidth int64         // bytes per second; 0 = learned, from 100 MB/s
	Gap       int64         // 0 = as above, or 4 KiB with Multipart; negative = none
	MaxLen    int64         // 0 = 8 MiB
	MaxBytes  int64         // 0 = 64 MiB

	// Cache is the size in bytes of a cache of received ranges in memory, besides the first and the last 64 KiB; 0 =
	// none. Each range counts 288 bytes more than it has. The cache drops the least recently used ranges.
	Cache int64

	// Dir is a folder for a cache on disk, which several processes may share. Open creates it, with its parents, if it
	// is missing. Its files are readable only by the user. DirBytes limits its size in bytes; 0 = 1 GiB. Each Object
	// and each Dir checks the limit after its first write, and whenever it has written a sixteenth of the limit. So
	// each may exceed the limit by a sixteenth, also if they are in the same process. An object of a server that
	// ignores ranges is not stored if it is larger than half of the limit. Key names the object in the folder, for URLs
	// that change, such as signed ones; "" = the URL.
	Dir      string
	DirBytes int64
	Key      string

	// Trace is called after each request, and for bytes that were found in a cache. Several goroutines may call it at
	// once. It must not use the Object.
	Trace func(Event)

	platform                     platform
	learnLatency, learnBandwidth bool // set by complete
}

// Event reports a request, or bytes that were found in a cache.
type Event struct {
	Kind     EventKind
	Off, Len int64         // the bytes that were received or found, in the object
	Status   int           // HTTP status of a request, or 0 without an answer
	Err      error         // why a request failed
	Duration time.Duration // of a request
}

// EventKind is the kind of an Event.
type EventKind uint8

// The kinds of events.
const (
	Request EventKind = iota // a request was answered or failed
	Memory                   // bytes were in memory, or other goroutines already read them
	Disk                     // bytes were found in the folder Options.Dir
)

// String returns "request", "memory" or "disk".
func (k EventKind) String() string {
	switch k {
	case Request:
		return "request"
	case Memory:
		return "memory"
	case Disk:
		return "disk"
	}
	return fmt.Sprintf("EventKind(%d)", uint8(k))
}

// platform lists features that a platform does not have.
type platform struct {
	noSuffix     bool // suffix ranges
	noConditions bool // If-Match, If-Unmodified-Since and Accept-Encoding
}

// fit leaves out the features that a platform does not have.
func (o *Options) fit(p platform) {
	o.platform.noSuffix = o.platform.noSuffix || p.noSuffix
	o.platform.noConditions = o.platform.noConditions || p.noConditions
	o.Multipart = o.Multipart && !o.platform.noSuffix
}

const (
	keep       = 64 << 10 // bytes at both ends of an object that Open reads and the Object keeps
	maxRequest = 1 << 30  // largest Options.MaxLen
)

// complete returns the options with their defaults filled in, or an error that wraps ErrParam.
func (o *Options) complete() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"Requests", int64(c.Requests)}, {"MaxWait", int64(c.MaxWait)}, {"Stall", int64(c.Stall)}, {"Latency", int64(c.Latency)},
		{"Bandwidth", c.Bandwidth}, {"MaxLen", c.MaxLen}, {"MaxBytes", c.MaxBytes}, {"Cache", c.Cache}, {"DirBytes", c.DirBytes},
	} {
		if f.value < 0 {
			return c, fmt.Errorf("option %s is %d, want at least 0: %w", f.name, f.value, ErrParam)
		}
	}
	if c.Dir == "" && (c.DirBytes > 0 || c.Key != "") {
		return c, fmt.Errorf("options DirBytes and Key need Dir: %w", ErrParam)
	}
	setDefault(&c.Requests, 16)
	setDefault(&c.Retries, 5)
	setDefault(&c.MaxWait, 30*time.Second)
	setDefault(&c.Stall, 30*time.Second)
	setDefault(&c.MaxWhole, 16<<20)
	c.learnLatency, c.learnBandwidth = c.Latency == 0 && c.Dir == "", c.Bandwidth == 0 && c.Dir == ""
	setDefault(&c.Latency, 50*time.Millisecond)
	setDefault(&c.Bandwidth, 100e6)
	setDefault(&c.MaxLen, 8<<20)
	if c.Dir != "" { // whole blocks
		c.MaxLen = (c.MaxLen + blockSize - 1) / blockSize * blockSize
	}
	setDefault(&c.MaxBytes, max(64<<20, c.MaxLen))
	setDefault(&c.DirBytes, 1<<30)
	if c.MaxLen > maxRequest || c.MaxLen > c.MaxBytes {
		return c, fmt.Errorf("option MaxLen is %d, want at most MaxBytes, which is %d, and 1 GiB: %w", c.MaxLen, c.MaxBytes, ErrParam)
	}
	c.Header = c.Header.Clone()
	return c, nil
}

// setDefault sets a field that is zero.
func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// model returns the cost of reading before anything is learned.
func (o *Options) model() ranges.Model {
	return ranges.Model{
		Latency: o.Latency, Bandwidth: o.Bandwidth, Requests: o.Requests, MaxLen: o.MaxLen, MaxBytes: o.MaxBytes, Gap: o.Gap,
	}
}
