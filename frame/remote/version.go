package remote

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// version names the content of an object.
type version struct {
	ETag     string // with its quotes, and W/ if it is weak
	Modified string // Last-Modified
}

// identity is what all answers about a version of an object have in common.
type identity struct {
	version
	Size int64
}

// maxVersion is the size in bytes of the longest name of a version. A Dir keeps one for each of its files.
const maxVersion = 1 << 10

// versionOf returns the version that an answer names. Malformed and long values count as missing.
func versionOf(h http.Header) version {
	v := version{ETag: h.Get("ETag"), Modified: h.Get("Last-Modified")}
	if len(v.ETag) > maxVersion || !validETag(strings.TrimPrefix(v.ETag, "W/")) {
		v.ETag = ""
	}
	if _, err := http.ParseTime(v.Modified); err != nil || len(v.Modified) > maxVersion {
		v.Modified = ""
	}
	return v
}

// validETag reports whether s is a quoted string without control characters.
func validETag(s string) bool {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return false
	}
	return strings.IndexFunc(s[1:len(s)-1], func(r rune) bool { return r < ' ' || r == '"' || r == 0x7f }) < 0
}

// strong reports whether the version has a strong ETag: equal ETags mean equal bytes.
func (v version) strong() bool { return strings.HasPrefix(v.ETag, `"`) }

// named reports whether the version can be told apart from others: by a strong ETag, or by Last-Modified.
func (v version) named() bool { return v.strong() || v.Modified != "" }

// same reports whether two answers are about the same version. A strong ETag decides alone. Otherwise weak ETags are
// compared, too: they notice a second change within the second of Last-Modified.
func (v version) same(w version) bool {
	if v.strong() {
		return v.ETag == w.ETag
	}
	return v == w
}

// settled reports whether Last-Modified was more than a second ago when the server answered, or the version has a
// strong ETag. Otherwise the object may change within the same second and keep its version.
func (v version) settled(h http.Header) bool {
	if v.strong() {
		return true
	}
	modified, err := http.ParseTime(v.Modified)
	date, dateErr := http.ParseTime(h.Get("Date"))
	return err == nil && dateErr == nil && date.Sub(modified) > time.Second
}

// condition asks the server to answer only if the object has this version. An ETag with a space is not valid, and
// servers may never match it. Then the answers are compared only here.
func (v version) condition(h http.Header) {
	switch {
	case v.strong() && strings.Contains(v.ETag, " "):
	case v.strong():
		h.Set("If-Match", v.ETag)
	case v.Modified != "":
		h.Set("If-Unmodified-Since", v.Modified)
	}
}

// String returns the ETag, or the time of the last change, or "".
func (v version) String() string {
	if v.strong() {
		return v.ETag
	}
	return v.Modified
}

// check returns ErrChanged if an answer is about another version or size.
func (id identity) check(other identity) error {
	switch {
	case !id.same(other.version):
		tags := id.ETag != other.ETag
		return fmt.Errorf("version %s, opened as %s: %w", other.shown(tags), id.shown(tags), errReplaced)
	case id.Size != other.Size:
		return fmt.Errorf("%d bytes, opened with %d: %w", other.Size, id.Size, errReplaced)
	}
	return nil
}

// shown returns a version for a message. With tags, it is a weak ETag, too, because the ETags differ.
func (v version) shown(tags bool) string {
	switch {
	case tags && v.ETag != "":
		return v.ETag
	case v.String() != "":
		return v.String()
	}
	return "unknown"
}
