package store

import (
	"context"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/meta"
)

// marshalMap returns the content of the metalayer. offset is where the next leaf goes.
func marshalMap(nodes map[string]map[string]any, offset int64) ([]byte, error) {
	if nodes == nil {
		nodes = map[string]map[string]any{}
	}
	return meta.Marshal(meta.Map{{Key: "embed_map", Value: nodes}, {Key: "current_offset", Value: offset}})
}

// nodes returns the stored map as it is, decoded once. A caller that changes it calls commitMap.
func (s *Store) nodes() (map[string]map[string]any, error) {
	if s.edit.nodes != nil {
		return s.edit.nodes, nil
	}
	b, ok, err := frames.VLMeta(s.embed, embedLayer)
	if err != nil {
		return nil, err
	}
	var m struct {
		Map map[string]map[string]any `msgpack:"embed_map"`
	}
	if ok {
		if err := frames.UnmarshalMeta(s.embed, b, &m); err != nil {
			return nil, err
		}
	}
	if m.Map == nil {
		m.Map = map[string]map[string]any{}
	}
	s.edit.nodes = m.Map
	return m.Map, nil
}

// commitMap calls commit with the content of the metalayer for a changed map. After an error, the stored one is decoded
// again.
func (s *Store) commitMap(ctx context.Context, nodes map[string]map[string]any, offset int64, commit func(text []byte) error) error {
	s.edit.nodes = nil
	text, err := marshalMap(nodes, offset)
	if err != nil {
		return err
	}
	if err := commit(text); err != nil {
		return s.afterCommit(ctx, err)
	}
	s.edit.nodes = nodes
	return nil
}

// putEmbedded appends a frame to the bytes of the embed store and enters it into the map, in one commit. It returns the
// leaf, which the caller enters into the index.
func (s *Store) putEmbedded(ctx context.Context, key string, f *frame.Frame) (*leaf, error) {
	if s.pool.Load().array != nil {
		return nil, errInArray()
	}
	content, err := frames.Bytes(ctx, f)
	if err != nil {
		return nil, err
	}
	nodes, err := s.nodes()
	if err != nil {
		return nil, err
	}
	offset, size := s.embed.Info().NBytes, int64(len(content))
	nodes[key] = map[string]any{"offset": offset, "length": size}
	err = s.commitMap(ctx, nodes, offset+size, func(text []byte) error {
		return frames.AppendContent(ctx, s.embed, content, embedLayer, text)
	})
	if err != nil {
		return nil, err
	}
	return &leaf{key: key, off: offset, size: size}, nil
}

// unmap removes a key from the map of the embed store, if it is there.
func (s *Store) unmap(ctx context.Context, key string) error {
	nodes, err := s.nodes()
	if _, had := nodes[key]; err != nil || !had {
		return err
	}
	if s.pool.Load().array != nil {
		return errInArray()
	}
	delete(nodes, key)
	return s.commitMap(ctx, nodes, s.embed.Info().NBytes, func(text []byte) error {
		return frames.SetVLMeta(ctx, s.embed, embedLayer, text)
	})
}

// errInArray returns the error for edits of an embed store in an array.
func errInArray() error { return faults.Unsupportedf("editing an embed store in an array") }

// afterCommit returns the error of a failed commit of the embed store. If that left the stored state unknown, the store
// takes no more edits, because its index may not agree with the files.
func (s *Store) afterCommit(ctx context.Context, err error) error {
	b, brokenErr := s.embed.Begin(context.WithoutCancel(ctx))
	if brokenErr != nil {
		s.edit.broken = brokenErr
	} else {
		b.Rollback()
	}
	return err
}
