package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/frame/store/internal/source"
	"github.com/goblosc/blosc2/ndarray"
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

// readEmbed adds the leaves of the embed store in src. The store then owns the frame. head may be nil.
func (s *Store) readEmbed(f *frame.Frame, head *embedHead, src source.Source) error {
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
		return faults.TooLargef("%d leaves, more than option MaxLeaves allows (%d)", n, most)
	}
	p, err := newPool(f)
	if err != nil {
		return err
	}
	p.head, p.src = head, src
	size, inside := p.Size(), []*leaf(nil)
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
			if l.ref == nil {
				inside = append(inside, l)
			}
		}
	}
	refuseOverlaps(inside)
	s.embed, s.size = f, src.Size()
	s.pool.Store(p)
	return nil
}

// refuseOverlaps gives a fault to leaves that share bytes of the embed store with another leaf. No library writes such
// leaves, and reading all of them could take time out of proportion to the size of the store. As many leaves as
// possible stay readable: of leaves with the same bytes, the one with the first key.
func refuseOverlaps(leaves []*leaf) {
	refuse := func(l *leaf) {
		l.fault = faults.Corruptf("its %d bytes at %d in the embed store belong in part to another leaf", l.size, l.off)
	}
	byEnd := make(map[int64]*leaf, len(leaves)) // of the leaves with the same end, the shortest
	for _, l := range leaves {
		other := byEnd[l.off+l.size]
		if other != nil && (other.off > l.off || other.off == l.off && other.key < l.key) {
			l, other = other, l
		}
		byEnd[l.off+l.size] = l
		if other != nil {
			refuse(other)
		}
	}
	last := int64(0) // the end of the last readable leaf
	for _, end := range slices.Sorted(maps.Keys(byEnd)) {
		if l := byEnd[end]; l.off < last {
			refuse(l)
		} else {
			last = end
		}
	}
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
type pool struct {
	f     *frame.Frame
	array *ndarray.Array // the embed store is an array: its frame may have padding between the bytes
	kept  int64          // bytes in chunks that an edit does not replace: it completes the last chunk
	head  *embedHead     // nil if no other Store edits the file
	src   source.Source  // of the stored bytes, nil after an edit
}

// newPool returns the pool of an embed store in a frame.
func newPool(f *frame.Frame) (*pool, error) {
	info := f.Info()
	p := &pool{f: f}
	if _, ok := frames.MetaLayer(f, "b2nd"); ok {
		var err error
		if p.array, err = ndarray.OpenFrame(f); err != nil {
			return nil, err
		}
		if d := p.array.DType(); d.Size != 1 || len(p.array.Shape()) != 1 {
			return nil, faults.Corruptf("an embed store in an array of dtype %s and shape %v", d, p.array.Shape())
		}
	} else if size := int64(info.ChunkSize); size > 0 {
		p.kept = info.NBytes - info.NBytes%size
	}
	return p, nil
}

func (p *pool) ReadAtContext(ctx context.Context, b []byte, off int64) (int, error) {
	n, err := p.read(ctx, b, off)
	if p.head != nil && off+int64(len(b)) > p.kept {
		if headErr := p.head.check(ctx); headErr != nil {
			return 0, headErr
		}
	}
	return n, err
}

func (p *pool) read(ctx context.Context, b []byte, off int64) (int, error) {
	if p.array == nil {
		return p.f.Content(ctx).ReadAt(b, off)
	}
	size := p.Size()
	if off < 0 || off >= size {
		return 0, io.EOF
	}
	n := min(int64(len(b)), size-off)
	if err := p.array.ReadBytes(ctx, b[:n], ndarray.Span(off, off+n)); err != nil {
		return 0, err
	}
	if n < int64(len(b)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

func (p *pool) Size() int64 {
	if p.array != nil {
		return p.array.Shape()[0]
	}
	return p.f.Info().NBytes
}

// Refresh asks the source whether its bytes were replaced. It does not read the embed store again.
func (p *pool) Refresh(ctx context.Context) error { return source.Refresh(ctx, p.src) }

// embedHead is the fixed part of the header of an embed store, as it was when the store was opened. It has the number
// of decoded bytes, so each Put of another Store changes it. The Put after that may overwrite the chunk that the first
// one replaced.
type embedHead struct {
	src source.Source
	b   [87]byte
}

// openEmbedFrame opens the frame of an embed store. If other Stores may edit its file, it returns its header, too.
// now is src with the number of bytes that the file has then.
func openEmbedFrame(ctx context.Context, src source.Source, shared bool, o *frame.OpenOptions) (f *frame.Frame, h *embedHead, now source.Source, err error) {
	if !shared {
		f, err = frame.OpenSource(ctx, src, o)
		return f, nil, src, err
	}
	for try := 1; ; try++ {
		h = &embedHead{src: src}
		if err := h.read(ctx, h.b[:]); err != nil {
			return nil, nil, nil, err
		}
		now, err := sizeNow(src) // at least the bytes that the header counts
		if err != nil {
			return nil, nil, nil, err
		}
		f, err := frame.OpenSource(ctx, now, o)
		edited := h.check(ctx) // then the frame may look damaged
		if err == nil && edited == nil {
			return f, h, now, nil
		}
		if err == nil {
			f.Close()
		}
		if edited != nil {
			err = edited
		} else if again, e := sizeNow(src); e == nil && (again.Size() != now.Size() || cut(now)) {
			err = errEdited() // by an edit that keeps the header
		}
		if try == mostReplaced || !errors.Is(err, frame.ErrChanged) {
			return nil, nil, nil, err
		}
	}
}

// sizeNow returns the bytes of a file, as many as it has now, or src if it is something else.
func sizeNow(src source.Source) (source.Source, error) {
	d, ok := src.(dirFile)
	if !ok {
		return src, nil
	}
	fi, err := d.file.Stat()
	if err != nil {
		return nil, err
	}
	return &sizedFile{Source: source.FromReader(d.file, fi.Size())}, nil
}

// sizedFile is a file with the number of bytes that it had at one time.
type sizedFile struct {
	source.Source
	cut atomic.Bool // a read found fewer bytes: the file was truncated, although it may be as long again
}

func (f *sizedFile) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := f.Source.ReadAtContext(ctx, p, off)
	if err == io.EOF && n < len(p) && off+int64(len(p)) <= f.Size() {
		f.cut.Store(true)
	}
	return n, err
}

// cut reports whether a file of sizeNow was found to be shorter.
func cut(src source.Source) bool {
	f, ok := src.(*sizedFile)
	return ok && f.cut.Load()
}

// errEdited returns the error for bytes of an embed store that another Store may have overwritten.
func errEdited() error {
	return fmt.Errorf("the embed store was edited; open the store again: %w", frame.ErrChanged)
}

// read reads the header that is stored now. A file with fewer bytes is no frame.
func (h *embedHead) read(ctx context.Context, b []byte) error {
	if _, err := h.src.ReadAtContext(ctx, b, 0); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// check returns frame.ErrChanged if the stored header is another one.
func (h *embedHead) check(ctx context.Context) error {
	var now [len(h.b)]byte
	if err := h.read(ctx, now[:]); err != nil {
		return err
	}
	if now != h.b {
		return errEdited()
	}
	return nil
}

// embedLayer is the variable-length metalayer with the map of an embed store.
const embedLayer = "estore_metadata"
