package serve

import (
	"context"
	"errors"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goblosc/blosc2/frame/store"
)

// listing is what JSON shows of a directory or a store.
type listing struct {
	Path      string  `json:"path"`
	Kind      string  `json:"kind"` // directory or store
	Entries   []child `json:"entries,omitempty"`
	Truncated bool    `json:"truncated"` // there are more entries
}

// child is a file or directory, or a leaf, table or group of a store.
type child struct {
	Name  string     `json:"name"` // relative to the path of the listing
	Kind  string     `json:"kind"`
	Size  *int64     `json:"size,omitempty"`
	MTime *time.Time `json:"mtime,omitempty"`
	Shape []int64    `json:"shape,omitempty"`
	DType string     `json:"dtype,omitempty"`
	Error string     `json:"error,omitempty"`
}

// serveListing answers with the entries of a directory or of a store.
func (s *Server) serveListing(w *response, r *http.Request) error {
	format := r.URL.Query().Get("format")
	if format != "" && format != "json" {
		return errorf(http.StatusBadRequest, "format %q, want json or none for a listing", format)
	}
	ctx, decoder, leave, err := s.enterDecoder(r)
	if err != nil {
		return err
	}
	l, err := s.list(ctx, decoder, w, r.URL.Path)
	leave()
	if err != nil {
		return err
	}
	w.Header().Set("Vary", "Accept")
	w.Header().Set("Cache-Control", "no-cache")
	h := held{what: "the listing", limit: s.limits.Result, memory: s.memory}
	defer h.free()
	if format == "json" || prefersJSON(r) {
		w.Header().Set("Content-Type", "application/json")
		err = l.writeJSON(&h)
	} else {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		err = page.Execute(&h, l)
	}
	if err != nil {
		return err
	}
	return s.send(w, r, h.bytes)
}

// writeJSON writes a listing as JSON, entry by entry.
func (l *listing) writeJSON(h *held) error {
	head := *l
	head.Entries = nil
	if err := errors.Join(h.openObject(head), h.text(`,"entries":[`)); err != nil {
		return err
	}
	for i, c := range l.Entries {
		if i > 0 {
			if err := h.text(","); err != nil {
				return err
			}
		}
		if err := h.json(c); err != nil {
			return err
		}
	}
	return h.text("]}")
}

// prefersJSON reports whether a client accepts JSON and not HTML.
func prefersJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// list returns the listing of a path.
func (s *Server) list(ctx context.Context, decoder *seat, w *response, p string) (l *listing, err error) {
	t, err := s.resolve(p)
	switch {
	case err != nil:
		return nil, err
	case t.info.IsDir():
		return s.listDir(ctx, p, t)
	case t.key != "" || isStoreName(t.name):
		err = s.stable(ctx, decoder, w, p, func(t target, _ stamp) error {
			l, err = s.listStore(ctx, p, t)
			return err
		})
		return l, err
	}
	return nil, fs.ErrNotExist
}

// listDir returns the listing of a directory.
func (s *Server) listDir(ctx context.Context, p string, t target) (*listing, error) {
	d, err := s.root.Open(t.name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	l := &listing{Path: p, Kind: "directory", Entries: []child{}}
	for {
		entries, err := d.ReadDir(256)
		for _, e := range entries {
			c, ok := s.describe(path.Join(p, e.Name()), e.Name())
			if !ok {
				continue
			}
			if len(l.Entries) == s.limits.Entries {
				l.Truncated = true
				break
			}
			l.Entries = append(l.Entries, c)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == io.EOF || l.Truncated {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(l.Entries, func(a, b child) int { return strings.Compare(a.Name, b.Name) })
	return l, nil
}

// describe returns the entry of a file or directory. It reports whether clients can see it.
func (s *Server) describe(p, name string) (child, bool) {
	p, ok := cleanPath(p)
	if !ok {
		return child{}, false
	}
	info, err := s.stat(p)
	if err != nil {
		return child{}, false
	}
	modified := info.ModTime().UTC()
	if info.IsDir() {
		return child{Name: name + "/", Kind: "directory", MTime: &modified}, true
	}
	size, kind := info.Size(), "file"
	if isStoreName(name) {
		kind = "store"
	}
	return child{Name: name, Kind: kind, Size: &size, MTime: &modified}, true
}

// listStore returns the listing of a store or of a group in it, with everything below it.
func (s *Server) listStore(ctx context.Context, p string, t target) (*listing, error) {
	st, err := s.openStore(ctx, t)
	if err != nil {
		return nil, err
	}
	defer st.release()
	group := "/" + t.key
	if !st.store.Has(group) {
		return nil, fs.ErrNotExist
	}
	l := &listing{Path: p, Kind: "store", Entries: []child{}}
	for e, err := range st.store.Walk(ctx, group) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if _, ok := cleanPath(e.Key); !ok { // clients cannot see it
			continue
		}
		if len(l.Entries) == s.limits.Entries {
			l.Truncated = true
			break
		}
		c := child{Name: strings.TrimPrefix(strings.TrimPrefix(e.Key, group), "/"), Kind: e.Kind.String()}
		switch {
		case err != nil:
			c.Error = err.Error()
		case e.Kind == store.KindGroup:
			c.Name += "/"
		default:
			c.Shape, c.DType = e.Shape, e.DType.String()
			c.Size = &e.Size
		}
		l.Entries = append(l.Entries, c)
	}
	return l, nil
}

// escape returns a relative path as a URL.
func escape(name string) string { return (&url.URL{Path: name}).EscapedPath() }

// page is the listing for people.
var page = template.Must(template.New("listing").Funcs(template.FuncMap{
	"link": func(name string) string { return "./" + escape(name) },
	"open": func(c child) bool { return c.Kind == "store" },
}).Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Path}}</title>
<style>
:root { color-scheme: light dark; }
body { font-family: system-ui, sans-serif; margin: 1rem; }
table { border-collapse: collapse; }
caption { text-align: left; padding: 0.3rem 0; }
th, td { text-align: left; padding: 0.2rem 1rem 0.2rem 0; }
td.size { text-align: right; font-variant-numeric: tabular-nums; }
</style>
</head>
<body>
<main>
<h1>{{.Path}}</h1>
{{if ne .Path "/"}}<p><a href="../">Parent folder</a></p>
{{end}}<table>
<caption>{{len .Entries}} entries{{if .Truncated}}, and more that are not shown{{end}}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">Size in bytes</th><th scope="col">Shape and dtype</th><th scope="col">Changed</th></tr></thead>
<tbody>
{{range .Entries}}<tr><th scope="row"><a href="{{link .Name}}">{{.Name}}</a>{{if open .}} (<a href="{{link .Name}}/">leaves</a>){{end}}</th><td>{{.Kind}}</td><td class="size">{{with .Size}}{{.}}{{end}}</td><td>{{with .Error}}{{.}}{{end}}{{with .Shape}}{{.}}{{end}} {{.DType}}</td><td>{{with .MTime}}<time datetime="{{.Format "2006-01-02T15:04:05Z07:00"}}">{{.Format "2006-01-02 15:04:05"}} UTC</time>{{end}}</td></tr>
{{end}}</tbody>
</table>
</main>
</body>
</html>
`))
