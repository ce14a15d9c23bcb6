package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
)

// A Reference describes where the data of a leaf is, if it is not in the store. Fields that do not apply are empty.
type Reference struct {
	// Kind is "proxy" for a cache of another array, "c2array" for a remote array, "lazyexpr" for an expression,
	// "lazyudf" for a function, "urlpath" for a file, "dictstore_key" for a leaf of another store, or another word that
	// is in the file.
	Kind       string
	URL        string               // of the server of a remote array
	Path       string               // of a file, a store, or an array on the server
	Key        string               // of the leaf of a store
	Expression string               // of a lazy expression
	Name       string               // of a lazy function
	Operands   map[string]Reference // of an expression or a function
}

// String returns one line, such as "lazyexpr (o0 + o1) with o0 = a.b2nd, o1 = b.b2nd".
func (r Reference) String() string {
	var b strings.Builder
	b.WriteString(r.Kind)
	for _, text := range []string{r.Expression, r.Name, r.Path, r.Key} {
		if text != "" {
			b.WriteString(" " + text)
		}
	}
	if r.URL != "" {
		b.WriteString(" at " + r.URL)
	}
	for i, name := range slices.Sorted(maps.Keys(r.Operands)) {
		o := r.Operands[name]
		sep := ", "
		if i == 0 {
			sep = " with "
		}
		fmt.Fprintf(&b, "%s%s = %s", sep, name, o)
	}
	return b.String()
}

// referenceOf returns the reference in the frame of a leaf.
func referenceOf(f *frame.Frame) (*Reference, error) {
	if b, ok := frames.MetaLayer(f, engine.ProxyLayer); ok {
		return proxyReference(f, b)
	}
	for _, name := range []string{engine.ObjectLayer, "_LazyArray"} {
		b, ok, err := frames.VLMeta(f, name)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		var m map[string]any
		if err := frames.UnmarshalMeta(f, b, &m); err != nil {
			return nil, fmt.Errorf("metalayer %s: %w", name, err)
		}
		r := referenceFromMap(m, 0)
		if r.Kind == "" && name == "_LazyArray" {
			r.Kind = "lazyexpr"
			if r.Expression == "" {
				r.Kind = "lazyudf"
			}
		}
		return &r, nil
	}
	return &Reference{Kind: "unknown"}, nil
}

// ReadReference returns the reference in a MessagePack extension of type meta.ExtRef, which objects may contain. The
// error wraps ErrType for an extension of another type, ErrTooLarge or ErrCorrupt.
func ReadReference(e meta.Ext) (*Reference, error) {
	if e.Type != meta.ExtRef {
		return nil, fmt.Errorf("store: extension of type %d, want %d: %w", e.Type, meta.ExtRef, ErrType)
	}
	var m map[string]any
	err := meta.UnmarshalWithin(e.Data, &m, func(n int64) error {
		if n > maxReference {
			return faults.TooLargef("%d bytes of values", n)
		}
		return nil
	})
	if errors.Is(err, errs.ErrTooLarge) {
		return nil, fmt.Errorf("store: extension of type %d: %w", e.Type, err)
	}
	if err != nil {
		return nil, fmt.Errorf("store: extension of type %d: %w (%w)", e.Type, ErrCorrupt, err)
	}
	r := referenceFromMap(m, 0)
	return &r, nil
}

// maxReference is the largest number of bytes of memory of a reference in an object.
const maxReference = 64 << 20

// maxOperandDepth is how deep the operands of operands are followed.
const maxOperandDepth = 8

// referenceFromMap reads the map of a reference. Values of other types than expected are left out.
func referenceFromMap(m map[string]any, depth int) Reference {
	if inner, ok := m["ref"].(map[string]any); ok && depth < maxOperandDepth {
		return referenceFromMap(inner, depth+1)
	}
	text := func(names ...string) string {
		for _, name := range names {
			if s, ok := m[name].(string); ok && s != "" {
				return s
			}
		}
		return ""
	}
	r := Reference{Kind: text("kind"), URL: text("urlbase"), Path: text("urlpath", "path"), Key: text("key"),
		Expression: text("expression"), Name: text("name")}
	operands, _ := m["operands"].(map[string]any)
	for name, v := range operands {
		if r.Operands == nil {
			r.Operands = map[string]Reference{}
		}
		switch v := v.(type) {
		case map[string]any:
			if depth < maxOperandDepth {
				r.Operands[name] = referenceFromMap(v, depth+1)
			}
		case string:
			r.Operands[name] = Reference{Kind: "urlpath", Path: v}
		}
	}
	return r
}

// proxyReference reads the metalayer of a cache. The token for access to a server is left out.
func proxyReference(f *frame.Frame, b []byte) (*Reference, error) {
	var source struct {
		Path any `msgpack:"local_abspath"`
		URL  any `msgpack:"urlpath"`
	}
	if err := frames.UnmarshalMeta(f, b, &source); err != nil {
		return nil, fmt.Errorf("metalayer proxy-source: %w", err)
	}
	r := &Reference{Kind: "proxy"}
	if path, ok := source.Path.(string); ok {
		r.Path = path
	}
	if remote, ok := source.URL.(meta.Tuple); ok && len(remote) >= 2 {
		r.Path, _ = remote[0].(string)
		r.URL, _ = remote[1].(string)
	}
	return r, nil
}
