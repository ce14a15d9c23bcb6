package serve

import (
	"bufio"
	"runtime"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// Config are the settings of a Server. Zero fields are the defaults.
type Config struct {
	// Limits bound what clients can use.
	Limits Limits
	// Hosts are accepted in the header Host. Other hosts get status 421. An empty list accepts every host. On a
	// loopback address a list stops websites that resolve their name to that address.
	Hosts []string
	// CORS is the origin whose scripts may read answers, or "*" for all. Empty means none.
	CORS string
	// Viewer is a folder with a web page, which is served below /viewer/. Its scripts may run. Empty means none.
	Viewer string
	// ItemText returns an item that is not a boolean, a complex number or structured, as text for JSON. Integers and
	// finite floats must be numbers as JSON has them.
	ItemText func(d meta.DType, b []byte) string
	// Attribute writes the content of an attribute as JSON. If that has numbers that JSON does not know, such as NaN,
	// the server makes it a string. An error of decoding comes before anything is written, and those of w need not be
	// returned. nil leaves attributes out. check returns an error if the value takes too much memory: see
	// meta.UnmarshalWithin.
	Attribute func(w *bufio.Writer, content []byte, check func(n int64) error) error
}

// Limits bound what clients can use. Zero fields select the defaults.
type Limits struct {
	Result   int64         // bytes of a selection, fetched sparse frame, listing or description of an array; 64 MiB
	Memory   int64         // bytes of all these at a time, an eighth for small ones; 512 MiB, and at least Result
	Requests int           // requests at a time; 256
	Decoders int           // requests that open or decode at a time; twice GOMAXPROCS
	Wait     time.Duration // for a free place; 2 s
	Time     time.Duration // to open and decode; 30 s
	Header   time.Duration // for a client to send the header of a request; 10 s
	Stall    time.Duration // for a client to take the next MiB of an answer; 60 s
	Rate     int64         // bytes a second that it must take on average while memory is short; 64 KiB
	Arrays   int           // open arrays and stores; 64, and fewer if their indexes are large
	Entries  int           // entries of a listing; 10,000
	Bytes    int64         // bytes that may be allocated because a file claims a size, as MaxBytes in frame; 1 GiB
	Chunks   int           // chunks of an array; 1<<24
	Threads  int           // goroutines that decode one selection; GOMAXPROCS
	Grace    time.Duration // for the requests that run when the server stops; 10 s
}

// withDefaults returns the limits with the defaults filled in.
func (l Limits) withDefaults() Limits {
	set(&l.Result, 64<<20)
	set(&l.Memory, max(512<<20, l.Result))
	set(&l.Requests, 256)
	set(&l.Decoders, 2*runtime.GOMAXPROCS(0))
	set(&l.Wait, 2*time.Second)
	set(&l.Time, 30*time.Second)
	set(&l.Header, 10*time.Second)
	set(&l.Stall, time.Minute)
	set(&l.Rate, 64<<10)
	set(&l.Arrays, 64)
	set(&l.Entries, 10_000)
	set(&l.Bytes, 1<<30)
	set(&l.Chunks, 1<<24)
	set(&l.Grace, 10*time.Second)
	return l
}

// set sets *p to def if it is zero.
func set[T int | int64 | time.Duration](p *T, def T) {
	if *p == 0 {
		*p = def
	}
}

// frameOptions returns the options for opening frames.
func (l Limits) frameOptions() *frame.OpenOptions {
	return &frame.OpenOptions{MaxBytes: l.Bytes, MaxChunks: l.Chunks, Concurrency: l.Threads}
}
