package store

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
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

// attrsKey returns the key of the leaf with the attributes of a group, which need not exist, or "" if the group can
// have none. Tables have another leaf than groups.
func (s *Store) attrsKey(ctx context.Context, group string) (string, error) {
	key, tree := join(group, groupMeta), s.layout == LayoutTree
	if tree && s.index.get(key) != nil {
		return key, nil
	}
	is, err := s.isTable(ctx, s.files.box, group)
	switch {
	case err != nil:
		return "", err
	case is:
		return join(group, tableVLMeta), nil
	case tree:
		return key, nil
	}
	return "", nil // in a dict store, /__vlmeta__ is any leaf
}

// onlyAttrs returns the leaf with the attributes of a group that has nothing else, or nil.
func (s *Store) onlyAttrs(group string) *leaf {
	var attrs *leaf
	for e := range s.in(group) {
		if !s.isGroupMeta(e.key) || e.group {
			return nil
		}
		attrs = e.leaf
	}
	return attrs
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
	ctx = task.Context(ctx)
	group = cleanKey(group)
	if err := s.checkOpen(group); err != nil {
		return err
	}
	if err := s.checkNotLeaf(group, errs.ErrNotExist); err != nil {
		return atKey(group, err)
	}
	if !s.Has(group) {
		return atKey(group, errs.ErrNotExist)
	}
	key, err := s.attrsKey(ctx, group)
	if isDamage(err) { // of a table, probably, whose attributes may be intact
		key, err = join(group, tableVLMeta), nil
	}
	if err != nil {
		return atKey(group, err)
	}
	l := s.index.get(key)
	if l == nil {
		return nil
	}
	return atKey(l.key, s.visit(ctx, s.files.box, l, func(f *frame.Frame, _ int64) error { return see(f) }))
}

// SetAttr sets an attribute of a group of a tree store, "/" for the whole store, or of a table in it. It creates a
// group that does not exist. v is encoded as meta.Marshal does. The name must be UTF-8 of 1 to 31 bytes without a NUL,
// because other libraries misread other names; otherwise SetAttr returns ErrParam. For a leaf, too, SetAttr returns
// ErrParam: set the attributes of an array with ndarray.Array.SetAttr before Put. For a store that is no tree it
// returns errors.ErrUnsupported.
func (s *Store) SetAttr(ctx context.Context, group, attr string, v any) error {
	ctx = task.Context(ctx)
	group = cleanKey(group)
	return s.editing(ctx, group, func() error { return s.setAttr(ctx, group, attr, v) })
}

// setAttr is SetAttr with a clean key, during an edit.
func (s *Store) setAttr(ctx context.Context, group, attr string, v any) error {
	if s.layout != LayoutTree {
		return faults.Unsupportedf("groups have attributes only in a tree store, not in this %s", s.layout)
	}
	key, err := s.attrsKey(ctx, group)
	if err == nil {
		err = s.checkNotLeaf(group, ErrParam)
	}
	if err == nil && group != "/" {
		err = s.checkTable(ctx, group)
	}
	if err == nil {
		err = s.checkStored(key)
	}
	if err != nil {
		return err
	}
	content, err := meta.Marshal(v)
	if err != nil {
		return err
	}
	f, err := s.copyAttrs(ctx, key)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := frames.SetVLMeta(ctx, f, attr, content); err != nil {
		return err
	}
	return s.put(ctx, key, f)
}

// copyAttrs returns a copy of the leaf with the attributes of a group, or a new frame if there is none. The copy keeps
// attributes of other libraries whatever their names.
func (s *Store) copyAttrs(ctx context.Context, key string) (f *frame.Frame, err error) {
	l := s.index.get(key)
	if l == nil {
		return frame.Create(ctx, "", nil)
	}
	err = s.visit(ctx, s.files.box, l, func(from *frame.Frame, _ int64) (err error) {
		f, err = frame.Copy(ctx, "", from, nil)
		return err
	})
	return f, err
}
