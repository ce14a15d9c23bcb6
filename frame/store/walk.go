package store

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/frame/store/internal/rows"
	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// An Entry describes a leaf, a table or a group. Shape and DType are set for arrays and tensors. Shape is also set for
// object, batch and list arrays (the number of objects, batches or lists) and for tables (the number of rows). The
// caller may change it.
type Entry struct {
	Key   string
	Kind  Kind
	Shape []int64
	DType meta.DType
	Size  int64      // stored bytes of the frame; 0 for groups and tables
	Ref   *Reference // of kind KindReference
}

// Walk returns the entries below a group, "/" for the whole store, in the order of fs.WalkDir: after a group everything
// below it, then the next key. It opens each leaf for its Kind. The leaves of a table are part of the entry of the
// table. A table at the top has the key "/". For a leaf that cannot be opened, Walk yields an error with an Entry that
// has its Key, and continues. But if the source of [OpenSource] or [OpenReaderAt] returns errors for four leaves or
// tables in a row, it is likely down: Walk then ends after the last of these errors. If more keys follow, the text of
// that error reports that they are not listed. If the source of a zip file has the method ReadRanges, Walk reads the
// required bytes of many leaves at once.
func (s *Store) Walk(ctx context.Context, group string) iter.Seq2[Entry, error] {
	ctx = task.Context(ctx)
	group = cleanKey(group)
	return func(yield func(Entry, error) bool) {
		if err := s.checkOpen(group); err != nil {
			yield(Entry{Key: group}, err)
			return
		}
		if e, ok := s.index.find(group); !ok || !e.group {
			yield(Entry{Key: group}, atKey(group, errs.ErrNotExist))
			return
		}
		table := "" // key of the table whose leaves are skipped
		if is, err := s.isTable(ctx, s.files.box, group); is || err != nil {
			e, err := s.tableEntry(ctx, s.files.box, group)
			yield(e, err)
			return
		}
		var e Entry
		var err error
		box, unread := s.readAhead(group), 0
		for n := range s.below(group) {
			if table != "" && isInside(n.key, table) || s.isGroupMeta(n.key) {
				continue
			}
			if unread == errs.MostUnread {
				yield(e, fmt.Errorf("%w; the source seems to be down: the keys after this one are not listed", err))
				return
			}
			if err := ctx.Err(); err != nil {
				yield(Entry{Key: n.key}, err)
				return
			}
			e, err = s.entry(ctx, box, n)
			if e.Kind == KindTable && err == nil {
				table = n.key
			}
			switch {
			case err != nil && s.far && errs.MayBeDown(err):
				unread++
			case err == nil && (e.Kind == KindTable || n.leaf != nil && n.leaf.ref == nil): // something was read
				unread = 0
			}
			if unread < errs.MostUnread && !yield(e, err) {
				return
			}
		}
		if unread == errs.MostUnread {
			yield(e, err)
		}
	}
}

// Stat describes the leaf, table or group with a key. The error wraps fs.ErrNotExist if none of them has that key.
func (s *Store) Stat(ctx context.Context, key string) (Entry, error) {
	ctx = task.Context(ctx)
	key = cleanKey(key)
	n, ok := s.index.find(key)
	if !ok {
		return Entry{Key: key}, atKey(key, errs.ErrNotExist)
	}
	return s.entry(ctx, s.files.box, n)
}

// entry describes a leaf or a group. box opens its files.
func (s *Store) entry(ctx context.Context, box opener, n entryName) (Entry, error) {
	e := Entry{Key: n.key, Kind: KindGroup}
	if err := s.checkOpen(n.key); err != nil {
		return e, err
	}
	if n.leaf == nil {
		is, err := s.isTable(ctx, box, n.key)
		if is && err == nil {
			return s.tableEntry(ctx, box, n.key)
		}
		return e, atKey(n.key, err)
	}
	l := n.leaf
	e.Kind, e.Size = KindFrame, max(l.size, 0)
	if l.ref != nil {
		e.Kind, e.Ref = KindReference, l.ref
		return e, nil
	}
	err := s.visit(ctx, box, l, func(f *frame.Frame, size int64) error {
		e.Size = size
		return e.describe(ctx, f)
	})
	return e, atKey(n.key, err)
}

// visit opens a leaf for the time of a call. box opens its file. Unlike Frame it leaves no file open.
func (s *Store) visit(ctx context.Context, box opener, l *leaf, see func(f *frame.Frame, size int64) error) error {
	l, file, err := s.bytesOnce(ctx, box, l)
	if err != nil {
		return err
	}
	f, err := s.openLeaf(ctx, l, file)
	if err != nil {
		return err
	}
	defer f.Close()
	return see(f, file.src.Size())
}

// bytesOnce is bytes of a leaf for a short time. It returns the leaf that has taken the place of l, or l.
func (s *Store) bytesOnce(ctx context.Context, box opener, l *leaf) (*leaf, *openFile, error) {
	for {
		if l.file == "" || l.fault != nil || s.closed.Load() {
			file, err := s.bytes(ctx, l)
			return l, file, err
		}
		file, err := box.open(ctx, l.file)
		now := s.moved(l, err)
		if now == nil {
			return l, file, err
		}
		l = now
	}
}

// describe sets the fields that depend on the frame.
func (e *Entry) describe(ctx context.Context, f *frame.Frame) error {
	e.Kind = kindOf(f)
	switch e.Kind {
	case KindReference:
		var err error
		if e.Ref, err = referenceOf(f); err != nil {
			return err
		}
		if _, ok := frames.MetaLayer(f, "b2nd"); ok {
			return e.describeArray(f)
		}
	case KindArray:
		return e.describeArray(f)
	case KindTensor:
		var err error
		e.Shape, e.DType, err = tensorShape(f)
		return err
	case KindObjects, KindBatches, KindLists:
		o, err := objects.New(ctx, f)
		if err != nil {
			return err
		}
		n := o.Len()
		if e.Kind == KindBatches {
			n = int64(o.Batches())
		}
		e.Shape = []int64{n}
	}
	return nil
}

// describeArray sets shape and dtype.
func (e *Entry) describeArray(f *frame.Frame) error {
	a, err := ndarray.OpenFrame(f)
	if err != nil {
		return err
	}
	e.Shape, e.DType = a.Shape(), a.DType()
	return nil
}

// isTable reports whether the leaves below a key are a table.
func (s *Store) isTable(ctx context.Context, box opener, key string) (bool, error) {
	if !s.looksLikeTable(key) {
		return false, nil
	}
	is := false
	err := s.visit(ctx, box, s.index.get(join(key, tableMeta)), func(f *frame.Frame, _ int64) error {
		b, ok, err := frames.VLMeta(f, "kind")
		if err != nil || !ok {
			return err
		}
		var kind any
		err = frames.UnmarshalMeta(f, b, &kind)
		is = kind == "ctable"
		if raw, isBytes := kind.([]byte); isBytes {
			is = string(raw) == "ctable"
		}
		return err
	})
	return is, err
}

// tableEntry describes a table.
func (s *Store) tableEntry(ctx context.Context, box opener, key string) (Entry, error) {
	e := Entry{Key: key, Kind: KindTable}
	err := s.visit(ctx, box, s.index.get(join(key, tableRows)), func(f *frame.Frame, _ int64) error {
		a, err := ndarray.OpenFrame(f)
		if err != nil {
			return err
		}
		live, err := rows.Count(ctx, a)
		if err == nil {
			e.Shape = []int64{live}
		}
		return err
	})
	return e, atKey(key, err)
}

// Describe returns the entry of an open frame that is not in a store. Its key is empty. The error wraps fs.ErrClosed if
// the frame is closed.
func Describe(ctx context.Context, f *frame.Frame) (Entry, error) {
	e := Entry{Size: f.Info().FrameLen}
	err := e.describe(ctx, f)
	return e, cmp.Or(frames.Closed(f), err)
}
