package store

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/internal/errs"
)

// Attrs returns the names of the attributes of a group, "/" for the whole store, in the order in which they are stored.
// Only tree stores and tables have such attributes. For the attributes of an array, see ndarray.Array.Attrs.
func (s *Store) Attrs(ctx context.Context, group string) ([]string, error) {
	var names []string
	err := s.visitAttrs(ctx, group, func(f *frame.Frame) error {
		names = f.VLMetaNames()
		return nil
	})
	return names, err
}

// Attr decodes an attribute of a group into the value that v points to, as meta.Unmarshal does. The error wraps
// fs.ErrNotExist if there is none with that name.
func (s *Store) Attr(ctx context.Context, group, attr string, v any) error {
	found := false
	err := s.visitAttrs(ctx, group, func(f *frame.Frame) error {
		b, ok, err := frames.VLMeta(f, attr)
		if found = ok; err != nil || !ok {
			return err
		}
		return frames.Unmarshal(f, b, v)
	})
	if err == nil && !found {
		err = fmt.Errorf("store: %s: attribute %s: %w", cleanKey(group), attr, errs.ErrNotExist)
	}
	return err
}

// attrsKey returns the key of the leaf with the attributes of a group. Tables have another one.
func (s *Store) attrsKey(group string) string {
	if s.looksLikeTable(group) && (s.layout != LayoutTree || s.index.get(join(group, groupMeta)) == nil) {
		return join(group, tableVLMeta)
	}
	return join(group, groupMeta)
}

// checkNotLeaf returns an error that wraps kind for a key that is a leaf and not a group.
func (s *Store) checkNotLeaf(key string, kind error) error {
	if n, ok := s.index.find(key); ok && !n.group {
		return fmt.Errorf("a leaf has no attributes of a group; ndarray.Array has those of an array: %w", kind)
	}
	return nil
}

// visitAttrs calls see with the frame that holds the attributes of a group, if it exists.
func (s *Store) visitAttrs(ctx context.Context, group string, see func(f *frame.Frame) error) error {
	group = cleanKey(group)
	if err := s.checkNotLeaf(group, errs.ErrNotExist); err != nil {
		return atKey(group, err)
	}
	if !s.Has(group) {
		return atKey(group, errs.ErrNotExist)
	}
	l := s.index.get(s.attrsKey(group))
	if l == nil || s.layout != LayoutTree && !s.looksLikeTable(group) { // in a dict store, /__vlmeta__ is any leaf
		return nil
	}
	return atKey(l.key, s.visit(ctx, s.files.box, l, func(f *frame.Frame, _ int64) error { return see(f) }))
}
