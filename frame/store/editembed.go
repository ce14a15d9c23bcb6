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

// mapWithout returns the stored map as it is, except for one key.
func (s *Store) mapWithout(key string) (nodes map[string]map[string]any, had bool, err error) {
	b, ok, err := frames.VLMeta(s.embed, embedLayer)
	if err != nil {
		return nil, false, err
	}
	var m struct {
		Map map[string]map[string]any `msgpack:"embed_map"`
	}
	if ok {
		if err := frames.UnmarshalMeta(s.embed, b, &m); err != nil {
			return nil, false, err
		}
	}
	if m.Map == nil {
		m.Map = map[string]map[string]any{}
	}
	_, had = m.Map[key]
	delete(m.Map, key)
	return m.Map, had, nil
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
	nodes, _, err := s.mapWithout(key)
	if err != nil {
		return nil, err
	}
	offset, size := s.embed.Info().NBytes, int64(len(content))
	nodes[key] = map[string]any{"offset": offset, "length": size}
	text, err := marshalMap(nodes, offset+size)
	if err == nil {
		err = s.afterCommit(ctx, frames.AppendContent(ctx, s.embed, content, embedLayer, text))
	}
	if err != nil {
		return nil, err
	}
	return &leaf{key: key, off: offset, size: size}, nil
}

// unmap removes a key from the map of the embed store, if it is there.
func (s *Store) unmap(ctx context.Context, key string) error {
	nodes, had, err := s.mapWithout(key)
	if err != nil || !had {
		return err
	}
	if s.pool.Load().array != nil {
		return errInArray()
	}
	text, err := marshalMap(nodes, s.embed.Info().NBytes)
	if err != nil {
		return err
	}
	return s.afterCommit(ctx, frames.SetVLMeta(ctx, s.embed, embedLayer, text))
}

// errInArray returns the error for edits of an embed store in an array.
func errInArray() error { return faults.Unsupportedf("editing an embed store in an array") }

// afterCommit returns the error of a commit of the embed store. If that left the stored state unknown, the store takes
// no more edits, because its index may not agree with the files.
func (s *Store) afterCommit(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	b, brokenErr := s.embed.Begin(context.WithoutCancel(ctx))
	if brokenErr != nil {
		s.edit.broken = brokenErr
	} else {
		b.Rollback()
	}
	return err
}
