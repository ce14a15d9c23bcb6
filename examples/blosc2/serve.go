package main

import (
	"bufio"
	"fmt"
	"net"
	"time"

	"github.com/goblosc/blosc2/examples/blosc2/internal/serve"
)

// serveCmd serves a folder over HTTP.
type serveCmd struct {
	Addr     string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"address to listen at; default: 127.0.0.1:8080. Port 0 chooses a free one. Without a host, as in :8080, it is every address of the machine"`
	Host     []string      `placeholder:"NAME" help:"also accept NAME in the header Host, such as the name of a proxy's server; may be repeated. At a loopback address the server accepts localhost, 127.0.0.1, ::1 and its own address, elsewhere every name unless there is a -host"`
	CORS     string        `name:"cors" placeholder:"ORIGIN" help:"let scripts of this origin read answers, such as https://example.org; \"*\" means all origins"`
	Viewer   string        `placeholder:"DIR" help:"serve the web page in this folder below /viewer/, with its scripts. Files of the served folder cannot run scripts"`
	Result   size          `default:"67108864" placeholder:"BYTES" help:"largest number of bytes of the items of a selection, or of a listing, an answer of api/info or a fetched sparse frame; default: 64 MiB"`
	Memory   int64         `default:"536870912" placeholder:"BYTES" help:"largest number of bytes of all these at a time, and of attributes while they are decoded; default: 512 MiB"`
	Requests int           `default:"256" placeholder:"N" help:"largest number of requests at a time; others wait for 2 seconds, and then get status 503; default: 256"`
	Decoders int           `placeholder:"N" help:"largest number of requests that open or decode at a time; default: twice the number of CPUs"`
	Threads  int           `placeholder:"N" help:"goroutines that decode one selection; default: the number of CPUs"`
	Time     time.Duration `default:"30s" placeholder:"DURATION" help:"longest time to open an array and read a selection; default: 30s"`
	Arrays   int           `default:"64" placeholder:"N" help:"number of arrays and stores to keep open, fewer if they have many millions of chunks; default: 64"`
	Path     string        `arg:"" name:"DIR"`
}

// Help describes the verb.
func (serveCmd) Help() string {
	return `
Serves the files below DIR over HTTP until an interrupt or SIGTERM, and prints its URL. It only reads, and accepts GET
and HEAD. Names that begin with a dot are not served, nor are links that lead out of DIR. There is no encryption and no
password: use a proxy for both.

  /PATH                 a file, with ranges; or the stored frame of STORE/KEY
  /PATH/                the entries of a folder or store, as HTML, or as JSON if the client asks for it
  /PATH?sel=SEL         a selection of an array, as .npy, or as JSON
  /metrics              counters for Prometheus
  /api/info/PATH        shape, dtype and compression of an array, as JSON
  /api/fetch/PATH       a frame, with ranges unless it is sparse; with slice_=SEL, a selection as a frame
  /api/chunk/PATH       the stored bytes of chunk nchunk=N

An empty SEL selects all items. With format=npy or format=json, or the header Accept, a client asks for a form of a
selection, and with format=json for a listing in JSON. Other formats are errors, as is format without sel for a file.
In JSON, byte strings are text, or {"bytes": hexadecimal} if they are not UTF-8, and codes of text that UTF-8 cannot
have are escapes such as \ud800. The paths below /api are those of Caterva2 that C2Array of python-blosc2 reads.
Attributes are schunk.vlmeta of /api/info; schunk.vlmeta_errors has the errors of those that cannot be decoded.

If the answers in memory reach -memory, further ones get status 503. An eighth of it, or -memory minus -result if that
is less, is only for small answers: with the defaults, those of up to 256 KiB. The size of a selection is that of its
items, also as JSON or as a frame. While it is read, its index arrays take 16 more bytes for each item that they list
after broadcasting. A client that takes less than 1 MiB of an answer in a minute is disconnected. While other requests
are refused memory, a client is also disconnected if it takes an answer from memory at less than 64 KiB a second on
average. The server looks at this after each MiB.

Examples:
  blosc2 serve data
  blosc2 serve -addr :8080 -host data.example.org -cors '*' data
  curl 'http://127.0.0.1:8080/a.b2nd?sel=0,2:5&format=json'
`
}

// Run runs the verb.
func (v *serveCmd) Run(e *env) error {
	for _, n := range []struct {
		name  string
		value int
	}{{"decoders", v.Decoders}, {"threads", v.Threads}} {
		if n.value < 0 {
			return usagef("-%s must not be negative", n.name)
		}
	}
	for _, n := range []struct {
		name  string
		value int64
	}{{"requests", int64(v.Requests)}, {"time", int64(v.Time)}, {"arrays", int64(v.Arrays)}} {
		if n.value <= 0 { // 0 would be the default
			return usagef("-%s must be above 0", n.name)
		}
	}
	if v.Addr == "" {
		return usagef("-addr is empty; want HOST:PORT, or :PORT for every address of the machine")
	}
	if v.Memory < int64(v.Result) {
		return usagef("-memory %d is less than -result %d", v.Memory, v.Result)
	}
	l, err := net.Listen("tcp", v.Addr)
	if err != nil {
		return err
	}
	defer l.Close()
	c := serve.Config{
		Hosts: append(hostsOf(l.Addr()), v.Host...), CORS: v.CORS, Viewer: v.Viewer, ItemText: itemText,
		Attribute: func(w *bufio.Writer, b []byte, check func(n int64) error) error { return writeUnpacked(w, b, check) },
		Limits: serve.Limits{
			Result: int64(v.Result), Memory: v.Memory, Requests: v.Requests, Decoders: v.Decoders,
			Threads: v.Threads, Time: v.Time, Arrays: v.Arrays,
		},
	}
	s, err := serve.New(v.Path, c)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintf(e.out, "http://%s/\n", l.Addr())
	if err := e.out.Flush(); err != nil {
		return err
	}
	return s.Serve(e.ctx, l)
}

// hostsOf returns the names of a loopback address, and none for other addresses.
func hostsOf(addr net.Addr) []string {
	a, ok := addr.(*net.TCPAddr)
	if !ok || !a.IP.IsLoopback() {
		return nil
	}
	return []string{"localhost", "127.0.0.1", "::1", a.IP.String()}
}
