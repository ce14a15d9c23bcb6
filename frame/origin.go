package frame

import (
	"fmt"

	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/meta"
)

// findOrigin returns the origin of a state, or nil if its chunks hold the data. It looks for metalayers in the order in
// which python-blosc2 does.
func (f *Frame) findOrigin(s *snapshot) *origin {
	for _, name := range [...]string{engine.ProxyLayer, engine.ObjectLayer, engine.OldLazyLayer} {
		if findLayer(s.meta, name) < 0 {
			continue
		}
		o := &origin{layer: name}
		if name == engine.ProxyLayer {
			o.findFetched(f, s)
		}
		return o
	}
	return nil
}

// findFetched finds out which chunks a proxy cache holds. Newer caches list blocks or chunks in a variable-length
// metalayer, because a stored chunk may have only some of its blocks, and a fetched one may be a special value. Without
// such a list, the stored chunks are those that were fetched. If a list does not fit the frame, no chunk counts as
// fetched, as in python-blosc2.
func (o *origin) findFetched(f *Frame, s *snapshot) {
	blocks, byBlock := f.smallVLMeta(s, "proxy-fetched-blocks")
	chunks, byChunk := f.smallVLMeta(s, "proxy-fetched")
	parts := 1
	if byBlock {
		if n, ok := f.smallVLMeta(s, "proxy-fetched-bpc"); ok {
			if count, ok := n.(int64); ok && count > 0 && count <= chunk.MaxBytes {
				parts = int(count)
			}
		} else if s.blockSize > 0 && s.chunkSize > 0 {
			parts = int((s.chunkSize-1)/s.blockSize) + 1
		}
	}
	switch {
	case byBlock && o.take(blocks, s.index.n, parts):
	case byChunk && o.take(chunks, s.index.n, 1):
	case !byBlock && !byChunk:
		o.byIndex = true
	}
}

// take sets the bits of n chunks from list, which has parts bits for each, and reports whether its length fits.
func (o *origin) take(list any, n, parts int) bool {
	bits, ok := list.([]byte)
	if ok = ok && int64(len(bits)) == (int64(n)*int64(parts)+7)/8; ok {
		o.bits = bits
		if parts > 1 {
			o.bits = make([]byte, (n+7)/8)
			for i := range n {
				if from := int64(i) * int64(parts); allSet(bits, from, from+int64(parts)) {
					o.bits[i/8] |= 1 << (i % 8)
				}
			}
		}
	}
	return ok
}

// allSet reports whether bits [from, to) of list are set.
func allSet(list []byte, from, to int64) bool {
	for from < to {
		if from%8 == 0 && to-from >= 8 {
			if list[from/8] != 0xff {
				return false
			}
			from += 8
			continue
		}
		if list[from/8]&(1<<(from%8)) == 0 {
			return false
		}
		from++
	}
	return true
}

// holds reports whether the frame holds the data of chunk i, whose index entry is e.
func (o *origin) holds(i int, e entry) bool {
	special, err := e.special()
	switch {
	case o.bits == nil:
		return o.byIndex && err == nil && special == chunk.Regular
	case special == chunk.Uninit:
		return false // it was evicted
	}
	return o.bits[i/8]&(1<<(i%8)) != 0
}

// checkFetched returns ErrBounds if there is no chunk i, and errors.ErrUnsupported if its data is not in the frame.
// Every read of decoded bytes calls it, once for each chunk.
func (f *Frame) checkFetched(s *snapshot, i int) error {
	if err := f.checkBounds(s, i); err != nil {
		return err
	}
	if s.origin == nil || s.origin.holds(i, s.index.at(i)) {
		return nil
	}
	text, kind := f.checkOrigin(s)
	if s.origin.layer != engine.ProxyLayer {
		return f.wrap("data", -1, fmt.Errorf("%s; its data is not in the file: %w", text, kind))
	}
	return f.chunkError(s, i, fmt.Errorf("%s, and this chunk was not fetched: %w", text, kind))
}

// checkOrigin describes a frame with an origin, for error messages, and returns the kind of these errors. Only the
// first call decodes metalayers.
func (f *Frame) checkOrigin(s *snapshot) (text string, kind error) {
	o := s.origin
	o.load.Do(func() {
		o.text, o.kind = f.describe(s), errs.ErrUnsupported
		if s.isKnownOrigin() {
			o.kind = errs.ErrElsewhere
		}
	})
	return o.text, o.kind
}

// isKnownOrigin reports whether the metalayer of an origin is a valid one of a known kind.
func (s *snapshot) isKnownOrigin() bool {
	content := s.meta[findLayer(s.meta, s.origin.layer)].Content
	var fields struct {
		Kind string `msgpack:"kind"`
	}
	switch s.origin.layer {
	case engine.ObjectLayer:
		err := smallValue(content, &fields)
		return err == nil && (fields.Kind == "lazyexpr" || fields.Kind == "lazyudf" || fields.Kind == "c2array")
	case engine.ProxyLayer:
		return smallValue(content, &fields) == nil
	}
	var value any
	return smallValue(content, &value) == nil
}

// checkAllFetched is checkFetched for all chunks.
func (f *Frame) checkAllFetched(s *snapshot) error {
	for i := 0; i < s.index.n && s.origin != nil; i++ {
		if err := f.checkFetched(s, i); err != nil {
			return err
		}
	}
	return nil
}

// describe is checkOrigin without the kind.
func (f *Frame) describe(s *snapshot) string {
	kind := "super-chunk"
	if findLayer(s.meta, "b2nd") >= 0 || findLayer(s.meta, "caterva") >= 0 {
		kind = "array"
	}
	what := ""
	switch s.origin.layer {
	case engine.ProxyLayer:
		return kind + " is a cache by python-blosc2's Proxy of " + proxySource(s)
	case engine.ObjectLayer:
		what = f.describeObject(s)
	default:
		what = f.describeOldLazy(s)
	}
	return kind + " is " + what + " saved by python-blosc2"
}

// proxySource returns the source of a proxy cache, without the token for access to it.
func proxySource(s *snapshot) string {
	var source struct {
		Path any `msgpack:"local_abspath"`
		URL  any `msgpack:"urlpath"`
	}
	err := smallValue(s.meta[findLayer(s.meta, engine.ProxyLayer)].Content, &source)
	if path, ok := source.Path.(string); ok && err == nil {
		return clipped(path)
	}
	if url, ok := source.URL.(meta.Tuple); ok && err == nil && len(url) >= 2 {
		path, isPath := url[0].(string)
		if base, ok := url[1].(string); ok && isPath {
			return clipped(path) + " at " + clipped(base)
		}
		if isPath {
			return clipped(path)
		}
	}
	return "a source that it does not name"
}

// describeObject describes a persisted object of python-blosc2.
func (f *Frame) describeObject(s *snapshot) string {
	var marker, object struct {
		Kind       string `msgpack:"kind"`
		Expression string `msgpack:"expression"`
		Name       string `msgpack:"name"`
		Path       string `msgpack:"path"`
		URL        string `msgpack:"urlbase"`
	}
	// Omit parts that cannot be decoded.
	smallValue(s.meta[findLayer(s.meta, engine.ObjectLayer)].Content, &marker)
	if b, err := f.smallVLContent(s, engine.ObjectLayer); err == nil {
		smallValue(b, &object)
	}
	switch marker.Kind {
	case "lazyexpr":
		return withName("a lazy expression", object.Expression)
	case "lazyudf":
		return withName("a lazy function", object.Name)
	case "c2array":
		text := withName("a remote array", object.Path)
		if object.URL != "" {
			text += " at " + clipped(object.URL)
		}
		return text
	}
	return withName("an object of kind", marker.Kind)
}

// describeOldLazy describes a lazy array of older versions of python-blosc2.
func (f *Frame) describeOldLazy(s *snapshot) string {
	var object struct {
		Expression any `msgpack:"expression"`
		Function   any `msgpack:"UDF"`
		Name       any `msgpack:"name"`
	}
	if b, err := f.smallVLContent(s, "_LazyArray"); err == nil {
		smallValue(b, &object)
	}
	expression, _ := object.Expression.(string)
	name, isNamed := object.Name.(string)
	if expression == "" && (isNamed || object.Function != nil) {
		return withName("a lazy function", name)
	}
	return withName("a lazy expression", expression)
}

// withName appends a quoted name to a text if there is one.
func withName(text, name string) string {
	if name == "" {
		return text
	}
	return text + " " + clipped(name)
}

// clipped quotes a string from a file, or its beginning.
func clipped(s string) string {
	const most = 200
	if len(s) > most {
		return fmt.Sprintf("%q...", s[:most])
	}
	return fmt.Sprintf("%q", s)
}

// smallValue decodes a value for opening or for an error message. It limits the memory, because few bytes may decode to
// many values.
func smallValue(b []byte, v any) error {
	return meta.UnmarshalWithin(b, v, func(n int64) error {
		if most := int64(len(b)) + 8<<20; n > most {
			return fmt.Errorf("a value of %d bytes, at most %d: %w", n, most, ErrTooLarge)
		}
		return nil
	})
}

// smallVLMeta returns the value of a variable-length metalayer, nil if it cannot be decoded, and reports whether the
// metalayer exists.
func (f *Frame) smallVLMeta(s *snapshot, name string) (v any, exists bool) {
	i := findLayer(s.vlmeta, name)
	if i < 0 {
		return nil, false
	}
	b, err := f.smallContent(s.vlmeta[i])
	if err == nil {
		err = smallValue(b, &v)
	}
	if err != nil {
		return nil, true
	}
	return v, true
}

// smallVLContent decodes a variable-length metalayer for opening or for an error message. It limits the memory, because
// a few bytes may decode to many.
func (f *Frame) smallVLContent(s *snapshot, name string) ([]byte, error) {
	i := findLayer(s.vlmeta, name)
	if i < 0 {
		return nil, errs.ErrNotExist
	}
	return f.smallContent(s.vlmeta[i])
}

// smallContent is smallVLContent for a layer that was found.
func (f *Frame) smallContent(l meta.Layer) ([]byte, error) {
	h, err := coder.ParseHeader(l.Content, int64(len(l.Content)))
	if err != nil {
		return nil, err
	}
	if most := 1<<20 + 64*h.CBytes; h.NBytes > most {
		return nil, fmt.Errorf("%d bytes, at most %d: %w", h.NBytes, most, ErrTooLarge)
	}
	return f.vlContent(l)
}
