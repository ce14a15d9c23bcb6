package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goblosc/blosc2/internal/paths"
)

// Server answers requests for the files of a folder. It is an http.Handler, and safe for concurrent use.
type Server struct {
	config   Config
	limits   Limits
	dir      string // of root, without links
	root     *os.Root
	viewer   *os.Root // or nil
	cache    *cache
	requests *gate
	decoders *gate
	memory   *budget
	buffers  buffers
	metrics  *metrics
}

// New returns a server of a folder. Close it after the last request.
func New(dir string, c Config) (*Server, error) {
	dir, err := paths.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	var viewer *os.Root
	if c.Viewer != "" {
		if viewer, err = os.OpenRoot(c.Viewer); err != nil {
			root.Close()
			return nil, err
		}
	}
	l := c.Limits.withDefaults()
	return &Server{
		config: c, limits: l, dir: dir, root: root, viewer: viewer, cache: newCache(l.Arrays, l.Time),
		requests: newGate(l.Requests, l.Wait), decoders: newGate(l.Decoders, l.Wait),
		memory: newBudget(l), metrics: newMetrics(),
	}, nil
}

// Close closes all files.
func (s *Server) Close() error {
	s.cache.clear()
	err := s.root.Close()
	if s.viewer != nil {
		err = errors.Join(err, s.viewer.Close())
	}
	return err
}

// Serve answers requests of a listener, which it closes, until ctx is done. It then waits for the requests that run, at
// most for Limits.Grace, and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	h := &http.Server{
		Handler:           s,
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: s.limits.Header,
		ReadTimeout:       2 * s.limits.Header,
		WriteTimeout:      s.limits.Wait*2 + s.limits.Time*2 + s.limits.Stall,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	select {
	case err := <-done:
		h.Close()
		return err
	case <-ctx.Done():
	}
	grace, stop := context.WithTimeout(base, s.limits.Grace)
	defer stop()
	if err := h.Shutdown(grace); err != nil {
		// Clients must not take what a canceled read returns for an answer, so connections are closed first.
		h.Close()
		cancel()
		// The reads that still run end in a moment.
		for end := time.Now().Add(10 * time.Second); s.requests.used() > 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	start := time.Now()
	w := &response{ResponseWriter: rw, stall: s.limits.Stall, rate: s.limits.Rate}
	kind, serve := s.route(r)
	defer func() { s.metrics.observe(kind, w.code, w.bytes, time.Since(start)) }()
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-downloads")
	s.setCORS(h)
	if kind != kindMetrics {
		if err := s.requests.enter(r.Context()); err != nil {
			fail(w, r, err)
			return
		}
		defer s.requests.leave()
	}
	if err := serve(w, r); err != nil {
		fail(w, r, s.clean(err))
	}
}

// handler answers a request. If it returns an error, it has written nothing.
type handler func(w *response, r *http.Request) error

// route returns the kind of a request for the metrics, and its handler.
func (s *Server) route(r *http.Request) (kind string, serve handler) {
	p := r.URL.Path
	query, err := url.ParseQuery(r.URL.RawQuery)
	switch {
	case !s.knownHost(r.Host):
		return kindOther, refuse(http.StatusMisdirectedRequest, "unknown host")
	case r.Method == http.MethodOptions && s.config.CORS != "":
		return kindOther, preflight
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return kindOther, refuse(http.StatusMethodNotAllowed, "only GET and HEAD are allowed")
	case err != nil:
		return kindOther, refuse(http.StatusBadRequest, err.Error())
	case p == "/metrics":
		return kindMetrics, s.serveMetrics
	case s.viewer != nil && strings.HasPrefix(p, "/viewer/"):
		return kindViewer, s.serveViewer
	case strings.HasPrefix(p, "/api/info/"):
		return kindInfo, s.serveInfo
	case strings.HasPrefix(p, "/api/fetch/"):
		return kindFetch, s.serveFetch
	case strings.HasPrefix(p, "/api/chunk/"):
		return kindChunk, s.serveChunk
	case query.Has("sel"):
		return kindSlice, s.serveSlice
	case strings.HasSuffix(p, "/"):
		return kindListing, s.serveListing
	}
	return kindFile, s.serveFile
}

// serveViewer answers with a file of the viewer.
func (s *Server) serveViewer(w *response, r *http.Request) error {
	w.Header().Del("Content-Security-Policy")
	w.Header().Set("Cache-Control", "no-cache")
	http.StripPrefix("/viewer", http.FileServerFS(s.viewer.FS())).ServeHTTP(w, r)
	return nil
}

// knownHost reports whether the header Host of a request has a name that the server accepts.
func (s *Server) knownHost(host string) bool {
	if len(s.config.Hosts) == 0 {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	for _, known := range s.config.Hosts {
		if strings.EqualFold(host, known) {
			return true
		}
	}
	return false
}

// setCORS sets the headers that let scripts of other origins read the answer.
func (s *Server) setCORS(h http.Header) {
	if s.config.CORS == "" {
		return
	}
	h.Set("Access-Control-Allow-Origin", s.config.CORS)
	h.Set("Access-Control-Expose-Headers", "Accept-Ranges, Content-Length, Content-Range, ETag, Retry-After")
	if s.config.CORS != "*" {
		h.Add("Vary", "Origin")
	}
}

// preflight answers the question of a browser whether a script may send a request.
func preflight(w *response, _ *http.Request) error {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, HEAD")
	h.Set("Access-Control-Allow-Headers", "Range, If-Match, If-None-Match, If-Range, If-Modified-Since")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
	return nil
}
