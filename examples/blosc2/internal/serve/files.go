package serve

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/goblosc/blosc2/frame"
)

// maxRanges is the largest number of ranges of a request.
const maxRanges = 256

// etag returns the strong ETag of a file in a state, or of something in it that parts identify.
func etag(st stamp, parts ...string) string {
	tag := fmt.Sprintf(`"%x-%x-%x`, st.size, st.mtime, st.inode)
	if len(parts) > 0 {
		h := fnv.New128a()
		for _, p := range parts {
			fmt.Fprintf(h, "%d:%s", len(p), p)
		}
		tag += fmt.Sprintf("-%x", h.Sum(nil))
	}
	return tag + `"`
}

// serveFile answers with the bytes of a file or of a leaf of a store. It redirects paths of directories.
func (s *Server) serveFile(w *response, r *http.Request) error {
	t, err := s.resolve(r.URL.Path)
	if err != nil {
		return err
	}
	switch {
	case t.key != "":
		return s.serveLeaf(w, r)
	case t.info.IsDir():
		redirectToSlash(w, r)
		return nil
	}
	return s.serveRegular(w, r, t)
}

// serveRegular answers with the bytes of a regular file.
func (s *Server) serveRegular(w *response, r *http.Request, t target) error {
	f, info, err := s.openRegular(t.name)
	if err != nil {
		return err
	}
	defer f.Close()
	now := stampOf(info)
	return serveContent(w, r, path.Ext(r.URL.Path), etag(now), info.ModTime(), &oneState{f, f, now})
}

// serveLeaf answers with the stored frame of a leaf. If the store changes before the answer begins, it opens it again.
func (s *Server) serveLeaf(w *response, r *http.Request) error {
	return s.stable(r.Context(), nil, w, r.URL.Path, func(t target, _ stamp) error {
		st, err := s.enterStore(r, t)
		if err != nil {
			return err
		}
		defer st.release()
		f, err := st.store.Open(t.key)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		content, ok := f.(io.ReadSeeker)
		if info.IsDir() || !ok {
			redirectToSlash(w, r)
			return nil
		}
		now := s.cache.stampOf(st)
		d := &decoded{content: &oneState{content, st.file, now}, ctx: r.Context(), decoders: s.decoders}
		return serveContent(w, r, "", etag(now, t.key), time.Unix(0, now.mtime), d)
	})
}

// oneState is a content whose reads fail when its file is edited, so that an answer has the bytes of one state.
type oneState struct {
	io.ReadSeeker
	file  *os.File
	state stamp
}

// Read implements io.Reader.
func (o *oneState) Read(p []byte) (int, error) {
	n, err := o.ReadSeeker.Read(p)
	if info, e := o.file.Stat(); e != nil || stampOf(info) != o.state {
		return 0, frame.ErrChanged
	}
	return n, err
}

// mostDecoded is the largest number of bytes of a leaf that are read ahead.
const mostDecoded = 256 << 10

// decoded is the content of a leaf, whose bytes may have to be decoded. It reads them on a free decoder, and ever more
// at once: each read may decode a large block.
type decoded struct {
	content  io.ReadSeeker
	ctx      context.Context
	decoders *gate
	buf      []byte // bytes that were read at once
	rest     []byte // those that Read has not returned yet
}

// Read implements io.Reader.
func (d *decoded) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		size := max(len(p), min(2*len(d.buf), mostDecoded))
		if cap(d.buf) < size {
			d.buf = make([]byte, size)
		}
		if err := d.fill(size); err != nil {
			return 0, err
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// fill reads up to n bytes. In the middle of an answer it waits for a decoder until the client leaves.
func (d *decoded) fill(n int) error {
	err := d.decoders.enter(d.ctx)
	for err == errBusy {
		err = d.decoders.enter(d.ctx)
	}
	if err != nil {
		return err
	}
	defer d.decoders.leave()
	d.buf = d.buf[:n]
	n, err = io.ReadFull(d.content, d.buf)
	d.rest = d.buf[:n]
	if n > 0 {
		return nil
	}
	return err
}

// Seek implements io.Seeker.
func (d *decoded) Seek(off int64, whence int) (int64, error) {
	if whence == io.SeekCurrent {
		off -= int64(len(d.rest))
	}
	d.buf, d.rest = d.buf[:0], nil
	return d.content.Seek(off, whence)
}

// enterStore opens the store of a target while a decoder is free.
func (s *Server) enterStore(r *http.Request, t target) (*entry, error) {
	if err := s.decoders.enter(r.Context()); err != nil {
		return nil, err
	}
	defer s.decoders.leave()
	return s.openStore(r.Context(), t)
}

// serveContent answers with ranges of a content, or with all of it.
func serveContent(w *response, r *http.Request, ext, tag string, modified time.Time, content io.ReadSeeker) error {
	if f := r.URL.Query().Get("format"); f != "" {
		return errorf(http.StatusBadRequest, "format=%s is for selections and listings, not for stored bytes; add sel= to select all items", f)
	}
	if strings.Count(r.Header.Get("Range"), ",") >= maxRanges {
		return errorf(http.StatusRequestedRangeNotSatisfiable, "more than %d ranges", maxRanges)
	}
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Type", contentType(ext))
	http.ServeContent(w, r, "", modified, content)
	return nil
}

// contentType returns the type of files with an extension. Those of Blosc2 are bytes.
func contentType(ext string) string {
	if t := mime.TypeByExtension(ext); t != "" && !strings.HasPrefix(ext, ".b2") {
		return t
	}
	return "application/octet-stream"
}

// redirectToSlash answers with the path that ends in a slash. It is relative, so that it cannot lead to another host.
func redirectToSlash(w *response, r *http.Request) {
	to := "./" + escape(path.Base(r.URL.Path)) + "/"
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusMovedPermanently)
}

// send answers with content that is in memory.
func (s *Server) send(w *response, r *http.Request, content []byte) error {
	w.memory = s.memory
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		// An error of writing means that the client has left.
		_, _ = w.Write(content)
	}
	return nil
}

// notModified answers a request whose client has the state with an ETag, and reports whether it has.
func notModified(w *response, r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "no-cache")
	for _, list := range r.Header.Values("If-None-Match") {
		for known := range strings.SplitSeq(list, ",") {
			if known = strings.TrimSpace(known); known == "*" || strings.TrimPrefix(known, "W/") == tag {
				w.WriteHeader(http.StatusNotModified)
				return true
			}
		}
	}
	return false
}
