package remote

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/goblosc/blosc2/internal/errs"
)

// Errors, the same values as in the other packages of the module. Test with errors.Is.
var (
	// ErrChanged is returned by Refresh and by reads that find that the object on the server is no longer the version
	// that was opened. Open it again.
	ErrChanged = errs.ErrChanged
	// ErrBounds is returned by reads outside the object.
	ErrBounds = errs.ErrBounds
	// ErrParam is returned by Open for an invalid URL or invalid options.
	ErrParam = errs.ErrParam
)

// Error is an error of a request. It wraps ErrChanged if the object has changed, errors.ErrUnsupported if the server
// cannot be used for reading ranges, fs.ErrNotExist for status 404 or 410, fs.ErrPermission for status 401 or 403,
// os.ErrDeadlineExceeded if the server sends nothing for Options.Stall, or an error of the connection. For an object of
// OpenGetter, URL is its name, and Err wraps the error of the Getter.
type Error struct {
	URL    string // without the password and the query, which may hold secrets
	Status int    // HTTP status of the answer, or 0 if there was none or it came from a Getter
	Err    error
}

// Error returns "URL: cause".
func (e *Error) Error() string { return e.URL + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Largest texts of the errors of others, in bytes. Errors of package net/http quote whole lines of an answer.
const (
	maxText       = 300
	maxGetterText = 1 << 10 // libraries of stores write several lines
)

// shortened is an error with a shorter text.
type shortened struct {
	error
	text string
}

// Error returns the beginning of the text of the error.
func (s *shortened) Error() string { return s.text }

// Unwrap returns the error.
func (s *shortened) Unwrap() error { return s.error }

// shorten returns err with at most n bytes of its text, and dots if the text has more.
func shorten(err error, n int) error {
	text := err.Error()
	if len(text) <= n {
		return err
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return &shortened{err, strings.Clone(text[:n]) + "..."}
}

// changed is ErrChanged in words for an object on a server.
type changed string

const (
	errReplaced changed = "the object was replaced; open it again"
	errRemoved  changed = "the object was removed"
)

// Error implements error.
func (c changed) Error() string { return string(c) }

// Unwrap returns ErrChanged.
func (c changed) Unwrap() error { return ErrChanged }

// public returns a URL for messages, without the password and the query.
func public(u *url.URL) string {
	c := *u
	c.RawQuery, c.ForceQuery, c.Fragment, c.RawFragment = "", false, "", ""
	if c.Host == "" && strings.Contains(c.Opaque+c.Path, "@") { // such as user:password@host, without http://
		c = url.URL{Scheme: c.Scheme, Opaque: "xxxxx"}
	}
	return c.Redacted()
}

// statusError returns the error of a status that the protocol of ranges does not expect. A status 404 of an object that
// was opened before is a change.
func statusError(status int, opened bool) error {
	err := fmt.Errorf("status %d %s", status, http.StatusText(status))
	switch status {
	case http.StatusNotFound, http.StatusGone:
		if err = fmt.Errorf("%w: %w", err, errs.ErrNotExist); opened {
			err = fmt.Errorf("%w: %w", err, errRemoved)
		}
	case http.StatusUnauthorized, http.StatusForbidden:
		err = fmt.Errorf("%w: %w", err, fs.ErrPermission)
	case http.StatusPreconditionFailed:
		if opened {
			err = fmt.Errorf("%w: %w", err, errReplaced)
		}
	}
	return err
}

// unsupported returns an error that wraps errors.ErrUnsupported.
func unsupported(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, errs.ErrUnsupported)...)
}
