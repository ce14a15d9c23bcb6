package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
)

// isURL reports whether a path is a URL, which is read over HTTP.
func isURL(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// openURL opens a frame, a leaf of a store or a single chunk on a server.
func openURL(e *env, address string) (_ *source, err error) {
	ctx := e.ctx
	if _, key, ok := splitURL(address); ok && key != "/" {
		return openInStore(e, address, nil)
	}
	s := &source{path: address}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if isDirURL(address) {
		return openDirURL(e, s)
	}
	if s.remote, err = remote.Open(ctx, address, remoteOptions(e)); err != nil {
		return nil, err
	}
	s.path = s.remote.String()
	e.opened = s.path
	if s.frame, err = frame.OpenSource(ctx, s.remote, nil); err == nil {
		s.findArray()
		e.track.expect(s.remote.Size())
		return s, nil
	}
	if errors.Is(err, frame.ErrFormat) {
		c, chunkErr := newChunkFile(remoteReader{ctx, s.remote}, s.remote.Size())
		if chunkErr == nil {
			s.chunk = c
			return s, nil
		}
		if strings.HasSuffix(s.path, ".chunk") {
			err = s.chunkError(chunkErr)
		}
	}
	err = named(err, s.path)
	if _, _, ok := splitURL(address); ok {
		_, err = openInStore(e, address, err) // why it is no leaf
		return nil, err
	}
	return nil, noRemoteStore(address, err)
}

// noRemoteStore adds to the error of opening a URL that a store in a directory cannot be read from a server, if the URL
// looks like one.
func noRemoteStore(address string, err error) error {
	if before, _, ok := strings.Cut(address, ".b2d"); ok && errors.Is(err, frame.ErrFormat) {
		store := before + ".b2d"
		return fmt.Errorf("%w; a store in a directory is not read from a server: name a file in it, such as %s/KEY.b2nd, or use a store in one file (.b2z)", err, store)
	}
	return err
}

// isDirURL reports whether a URL is that of the directory of a sparse frame.
func isDirURL(rawURL string) bool {
	u, err := url.Parse(rawURL)
	return err == nil && strings.HasSuffix(u.Path, "/")
}

// openDirURL opens the sparse frame in the directory at the URL s.path.
func openDirURL(e *env, s *source) (*source, error) {
	dir, err := remote.OpenDir(e.ctx, s.path, remoteOptions(e))
	if err != nil {
		return nil, err
	}
	s.dir, s.path = dir, dir.String()
	e.opened = s.path
	if s.frame, err = frame.OpenSource(e.ctx, dir, nil); err != nil {
		return nil, named(err, s.path)
	}
	s.findArray()
	e.track.expect(s.frame.Info().CBytes)
	return s, nil
}

// remoteReader reads under a context, so that an interrupt ends it.
type remoteReader struct {
	ctx context.Context
	src *remote.Object
}

// ReadAt implements io.ReaderAt.
func (r remoteReader) ReadAt(p []byte, off int64) (int, error) {
	return r.src.ReadAtContext(r.ctx, p, off)
}

// splitURL splits the URL STORE/KEY of a leaf, or the URL of a store, whose key is "/". It reports whether the path has
// an element with the extension of a store. A URL with a query is that of one file. The key may be escaped: see find.
func splitURL(address string) (name, key string, ok bool) {
	scheme, path, _ := strings.Cut(address, "://")
	if strings.ContainsAny(path, "?#") {
		return "", "", false
	}
	at := strings.IndexByte(path, '/')
	for at >= 0 {
		end := strings.IndexByte(path[at+1:], '/')
		element := path[at+1:]
		if end >= 0 {
			element = element[:end]
		}
		at += 1 + len(element)
		if hasStoreExtension(element) {
			return scheme + "://" + path[:at], "/" + strings.TrimPrefix(path[at:], "/"), true
		}
		if end < 0 {
			break
		}
	}
	return "", "", false
}
