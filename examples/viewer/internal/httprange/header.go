package httprange

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// version names the content of an object.
type version struct{ etag, modified string }

// versionOf returns the version that an answer names. A malformed ETag counts as missing.
func versionOf(resp *Response) version {
	v := version{resp.Header("ETag"), resp.Header("Last-Modified")}
	tag := strings.TrimPrefix(v.etag, "W/")
	if len(tag) < 2 || tag[0] != '"' || tag[len(tag)-1] != '"' || strings.ContainsAny(tag[1:len(tag)-1], "\"\x00\r\n") {
		v.etag = ""
	}
	if v.modified == "" && !v.strong() { // a weak ETag alone names no bytes
		v = version{}
	}
	return v
}

// strong reports whether equal ETags mean equal bytes.
func (v version) strong() bool { return strings.HasPrefix(v.etag, `"`) }

// same reports whether two answers are about the same version. A strong ETag decides alone. Otherwise weak ETags are
// compared, too: they notice a second change within the second of Last-Modified.
func (v version) same(w version) bool {
	if v.strong() {
		return v.etag == w.etag
	}
	return v == w
}

// condition asks the server to answer only if the object has this version. An ETag with a space is not valid, and
// servers may never match it. Then the answers are compared only here.
func (v version) condition(header map[string]string) {
	switch {
	case v.strong() && strings.Contains(v.etag, " "):
	case v.strong():
		header["If-Match"] = v.etag
	case v.modified != "":
		header["If-Unmodified-Since"] = v.modified
	}
}

// shown returns a version for a message. With tags, it is a weak ETag, too, because the ETags differ.
func (v version) shown(tags bool) string {
	switch {
	case v.strong() || tags && v.etag != "":
		return v.etag
	case v.modified != "":
		return v.modified
	}
	return "unknown"
}

// contentRange parses the header Content-Range: "bytes FIRST-LAST/SIZE".
func contentRange(resp *Response) (first, last, size int64, err error) {
	s := resp.Header("Content-Range")
	if s == "" {
		return 0, 0, 0, unsupported("no Content-Range in the answer; a server of another origin must name it, and ETag, in Access-Control-Expose-Headers")
	}
	if e := resp.Header("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return 0, 0, 0, unsupported("the server encodes the content (Content-Encoding %.40q)", e)
	}
	bad := unsupported("Content-Range is %.100q, want bytes FIRST-LAST/SIZE", s)
	name, rest, _ := strings.Cut(s, " ")
	span, total, ok1 := strings.Cut(rest, "/")
	lo, hi, ok2 := strings.Cut(span, "-")
	if !ok1 || !ok2 || !strings.EqualFold(name, "bytes") {
		return 0, 0, 0, bad
	}
	first, e1 := parseSize(lo)
	last, e2 := parseSize(hi)
	size, e3 := parseSize(total)
	if e1 != nil || e2 != nil || e3 != nil || first > last || last >= size {
		return 0, 0, 0, bad
	}
	return first, last, size, nil
}

// unsatisfied parses the header Content-Range of an answer with status 416: "bytes */SIZE".
func unsatisfied(resp *Response) (int64, error) {
	total, ok := strings.CutPrefix(strings.ToLower(resp.Header("Content-Range")), "bytes */")
	if !ok {
		return 0, unsupported("the server refuses the range")
	}
	return parseSize(total)
}

// parseSize parses an unsigned decimal number below 1<<63.
func parseSize(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err
}

// readBody reads a body of n bytes.
func readBody(resp *Response, n int64) ([]byte, error) {
	b := make([]byte, n)
	if k, err := io.ReadFull(resp.Body, b); err != nil {
		return nil, temporary{fmt.Errorf("the answer broke off after %d of %d bytes: %w", k, n, err)}
	}
	var one [1]byte
	if k, _ := io.ReadFull(resp.Body, one[:]); k > 0 {
		return nil, unsupported("the answer has more than the %d bytes of its Content-Range", n)
	}
	return b, nil
}

// readWhole reads an object from a server that ignores ranges.
func readWhole(resp *Response) ([]byte, error) {
	size, err := parseSize(resp.Header("Content-Length"))
	known := err == nil && resp.Header("Content-Encoding") == ""
	if known && size > maxWhole {
		return nil, unsupported("the server ignores ranges, and the object has %d bytes, more than %d", size, maxWhole)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxWhole+1))
	switch {
	case err != nil:
		return nil, temporary{fmt.Errorf("reading the whole object: %w", err)}
	case len(b) > maxWhole:
		return nil, unsupported("the server ignores ranges, and the object has more than %d bytes", maxWhole)
	case known && int64(len(b)) != size:
		return nil, temporary{fmt.Errorf("the answer has %d bytes, want %d: %w", len(b), size, io.ErrUnexpectedEOF)}
	}
	return b, nil
}
