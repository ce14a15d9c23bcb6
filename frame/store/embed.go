package store

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
)

// embedNode is a leaf in the map of an embed store.
type embedNode struct {
	Offset int64  `msgpack:"offset"`
	Length int64  `msgpack:"length"`
	URL    string `msgpack:"urlbase"`
	Path   string `msgpack:"path"`
}

// embedMeta is the variable-length metalayer "estore_metadata".
type embedMeta struct {
	Map map[string]embedNode `msgpack:"embed_map"`
}

// readEmbed adds the leaves of an embed store of stored bytes. The store then owns the frame.
func (s *Store) readEmbed(f *frame.Frame, stored int64) error {
	marked := false
	for layout, name := range []string{LayoutEmbed: "b2embed", LayoutDict: "b2dict", LayoutTree: "b2tree"} {
		if _, ok := frames.MetaLayer(f, name); ok {
			s.layout, marked = Layout(layout), true
			break
		}
	}
	if !marked {
		return faults.Formatf("not a store: a frame without the metalayer b2embed, b2dict or b2tree")
	}
	nodes, err := readEmbedMap(f)
	if err != nil {
		return err
	}
	if n, most := len(nodes)+s.index.len(), s.opts.maxLeaves(); n > most {
		return faults.TooLargef("%d leaves, more than MaxLeaves allows (%d)", n, most)
	}
	size := f.Info().NBytes
	for key, n := range nodes {
		if err := checkKey(key); err != nil {
			return err
		}
		l := &leaf{key: key, off: n.Offset, size: n.Length}
		if n.Path != "" || n.URL != "" {
			l.ref, l.size = &Reference{Kind: "c2array", Path: n.Path, URL: n.URL}, 0
		} else if n.Offset < 0 || n.Length <= 0 || n.Offset > size || n.Length > size-n.Offset {
			return faults.Corruptf("%s: %d bytes at %d, but the store has %d", key, n.Length, n.Offset, size)
		}
		if s.index.get(key) == nil { // an external leaf counts
			s.index.leaves[key] = l
		}
	}
	s.embed, s.size = f, stored
	s.pool.Store(&pool{f})
	return nil
}

// readEmbedMap returns the map of an embed store. A store without the metalayer is empty.
func readEmbedMap(f *frame.Frame) (map[string]embedNode, error) {
	b, ok, err := frames.VLMeta(f, embedLayer)
	if err != nil || !ok {
		return nil, err
	}
	var m embedMeta
	if err := frames.UnmarshalMeta(f, b, &m); err != nil {
		return nil, fmt.Errorf("metalayer %s: %w", embedLayer, err)
	}
	return m.Map, nil
}

// pool is the decoded bytes of an embed store as a source. Edits only append to them.
type pool struct{ f *frame.Frame }

func (p *pool) ReadAtContext(ctx context.Context, b []byte, off int64) (int, error) {
	return p.f.Content(ctx).ReadAt(b, off)
}

func (p *pool) Size() int64 { return p.f.Info().NBytes }

// embedLayer is the variable-length metalayer with the map of an embed store.
const embedLayer = "estore_metadata"
