package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/source"
	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray"
)

// Frame opens the frame of a leaf in place. Closing it does not close the store.
func (s *Store) Frame(ctx context.Context, key string) (*frame.Frame, error) {
	key = cleanKey(key)
	f, err := s.frame(ctx, key)
	return f, atKey(key, err)
}

// frame is Frame with a clean key.
func (s *Store) frame(ctx context.Context, key string) (*frame.Frame, error) {
	ctx = task.Context(ctx)
	l := s.index.get(key)
	if l == nil {
		if _, ok := s.index.find(key); ok {
			return nil, faults.Formatf("a group, not a leaf")
		}
		return nil, errs.ErrNotExist
	}
	l, file, err := s.bytesNow(ctx, l)
	if err != nil {
		return nil, err
	}
	return s.openLeaf(ctx, l, file)
}

// bytesNow is bytes of a leaf, or of the one that an edit has put in its place. It returns that leaf, too.
func (s *Store) bytesNow(ctx context.Context, l *leaf) (*leaf, *openFile, error) {
	for {
		file, err := s.bytes(ctx, l)
		if err == nil {
			return l, file, nil
		}
		if l = s.moved(l, err); l == nil {
			return nil, nil, err
		}
	}
}

// moved returns the leaf that an edit has put in the place of l since the caller looked, if err is that the file of l
// does not exist. Otherwise it returns nil.
func (s *Store) moved(l *leaf, err error) *leaf {
	if !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if now := s.index.get(l.key); now != l {
		return now
	}
	return l.next
}

// bytes returns the stored bytes of a leaf.
func (s *Store) bytes(ctx context.Context, l *leaf) (*openFile, error) {
	switch {
	case s.closed.Load():
		return nil, errs.ErrClosed
	case l.fault != nil:
		return nil, l.fault
	case l.ref != nil:
		return nil, faults.Unsupportedf("%s, which is not in the store", l.ref)
	case l.file == "":
		return &openFile{src: source.Section(s.pool.Load(), l.off, l.size)}, nil
	}
	return s.files.get(ctx, l.file)
}

// checkWhole returns ErrTooLarge if the stored bytes of the embed store do not justify memory for a whole leaf in it,
// which fs.ReadFile takes. The frame of a leaf is read in place, and needs no such memory.
func (s *Store) checkWhole(l *leaf) error {
	if o := s.opts.frames(); l.file != "" || o.MaxBytes > 0 && l.size <= s.embed.Info().FrameLen {
		return nil // MaxBytes does not limit memory for bytes that are stored
	}
	if err := s.embed.CheckAlloc(l.size); err != nil {
		return fmt.Errorf("a leaf of the embed store: %w", err)
	}
	return nil
}

// leafName returns the name of a leaf in errors: the name of the store and the key.
func (s *Store) leafName(key string) string { return strings.TrimSuffix(s.name, "/") + key }

// openLeaf opens the frame of a leaf. Its Close closes the file.
func (s *Store) openLeaf(ctx context.Context, l *leaf, file *openFile) (*frame.Frame, error) {
	o := s.opts.frames()
	if l.file == "" {
		o = s.embedded()
	}
	f, err := frame.OpenSource(ctx, storage.Owned{Source: source.Named(file.src, s.leafName(l.key)), Closer: file}, &o)
	if err != nil {
		file.Close()
	}
	return f, err
}

// embedded returns the options for the frames in the embed store, which grows while it is edited.
func (s *Store) embedded() frame.OpenOptions {
	return s.opts.embedded(max(s.size, s.embed.Info().FrameLen))
}

// Array opens the array of a leaf in place. A tensor is copied into memory instead, because its chunks are not those of
// an array. A cache of another array reads where its chunks are present. The error wraps ErrFormat if the leaf is of
// another kind, and errors.ErrUnsupported if it is a reference without data.
func (s *Store) Array(ctx context.Context, key string) (*ndarray.Array, error) {
	key = cleanKey(key)
	f, err := s.frame(ctx, key)
	if err != nil {
		return nil, atKey(key, err)
	}
	a, err := ArrayOf(ctx, f)
	if err != nil {
		f.Close()
		return nil, atKey(key, err)
	}
	return a, nil
}

// ArrayOf returns the array in an open frame: see Store.Array. After success the array owns the frame.
func ArrayOf(ctx context.Context, f *frame.Frame) (*ndarray.Array, error) {
	if kindOf(f) == KindTensor {
		a, err := copyTensor(ctx, f)
		if err == nil {
			f.Close()
		}
		return a, err
	}
	return ndarray.OpenFrame(f)
}

// Objects opens the object, batch or list array of a leaf in place.
func (s *Store) Objects(ctx context.Context, key string) (*objects.Array, error) {
	key = cleanKey(key)
	f, err := s.frame(ctx, key)
	if err != nil {
		return nil, atKey(key, err)
	}
	o, err := objects.New(ctx, f)
	if err != nil {
		f.Close()
		return nil, atKey(key, err)
	}
	return o, nil
}

// Sub opens the store inside a leaf of kind KindStore, in place. The error wraps ErrTooLarge for a leaf of an embed
// store that Store.Open refuses because of its size.
func (s *Store) Sub(ctx context.Context, key string) (*Store, error) {
	ctx = task.Context(ctx)
	key = cleanKey(key)
	l := s.index.get(key)
	if l == nil {
		return nil, atKey(key, errs.ErrNotExist)
	}
	l, file, err := s.bytesNow(ctx, l)
	if err == nil {
		err = s.checkWhole(l)
	}
	if err != nil {
		return nil, atKey(key, err)
	}
	o := &OpenOptions{MaxLeaves: s.opts.maxLeaves()}
	fo := s.opts.frames()
	if l.file == "" {
		fo = s.embedded()
	}
	o.Frames = &fo
	var closer io.Closer // of a file of the operating system
	if file.close != nil {
		closer = file
	}
	sub, err := openSource(ctx, file.src, closer, o)
	if err != nil {
		file.Close()
		return nil, atKey(key, err)
	}
	sub.name, sub.far = s.leafName(key), s.far
	return sub, nil
}
