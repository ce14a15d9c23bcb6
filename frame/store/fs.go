package store

import (
	"context"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goblosc/blosc2/frame/store/internal/source"
)

// Open opens a leaf or a group as a file or a directory: it implements fs.FS. The name is the key without its first
// slash, and "." is the whole store. A file holds the stored frame. If a key has both a leaf and other keys below it,
// its name is that of the directory, and the file has ".b2frame" appended to its name. The files of attributes and of
// the columns of tables are included. References without a frame are empty files. For a leaf in an embed store whose
// size the stored bytes of the embed store do not justify (see frame.Frame.CheckAlloc), Open and the method Info of
// fs.DirEntry return an error that wraps ErrTooLarge, because fs.ReadFile takes memory for that size. With
// OpenOptions.Frames.MaxBytes, a leaf may have at most that many bytes, or as many as the embed store takes.
func (s *Store) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if s.closed.Load() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrClosed}
	}
	n, ok := s.index.find(keyOfName(name))
	switch {
	case !ok:
		if n, ok = s.hidden(name); !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
	case n.group:
		return &groupFile{s: s, name: name, info: fileInfo{name: path.Base(name), dir: true}}, nil
	}
	if n.leaf.ref != nil {
		return &leafFile{SectionReader: io.NewSectionReader(nil, 0, 0), info: fileInfo{name: path.Base(name)}}, nil
	}
	file, err := s.wholeBytes(n.leaf)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &leafFile{source.Reader(context.Background(), file.src), fileInfo{name: path.Base(name), size: file.src.Size()}, file}, nil
}

// wholeBytes is bytesOnce for a caller who may read the whole leaf into memory.
func (s *Store) wholeBytes(l *leaf) (*openFile, error) {
	l, file, err := s.bytesOnce(context.Background(), s.files.box, l)
	if err != nil {
		return nil, err
	}
	if err := s.checkWhole(l); err != nil {
		return nil, err
	}
	return file, nil
}

// hiddenSuffix is appended to the name of a leaf with keys below it.
const hiddenSuffix = ".b2frame"

// hidden returns the leaf of a name with the suffix.
func (s *Store) hidden(name string) (entryName, bool) {
	if key := keyOfName(name); len(key) > len(hiddenSuffix) && key[len(key)-len(hiddenSuffix):] == hiddenSuffix {
		n, ok := s.index.find(key[:len(key)-len(hiddenSuffix)])
		return n, ok && n.group && n.leaf != nil
	}
	return entryName{}, false
}

// list returns the files in a group, sorted by name.
func (s *Store) list(group string) []fs.DirEntry {
	var list []fs.DirEntry
	for n := range s.in(group) {
		base := path.Base(n.key)
		if n.group {
			list = append(list, fs.FileInfoToDirEntry(fileInfo{name: base, dir: true}))
			base += hiddenSuffix
			if _, taken := s.index.find(n.key + hiddenSuffix); taken {
				continue
			}
		}
		if n.leaf != nil {
			list = append(list, leafEntry{fileInfo{name: base}, s, n.leaf})
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

// fileInfo describes a leaf or a group as fs.FileInfo.
type fileInfo struct {
	name string
	size int64
	dir  bool
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) IsDir() bool        { return i.dir }
func (i fileInfo) Sys() any           { return nil }
func (i fileInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// leafEntry is a leaf as fs.DirEntry. The size is only known once the leaf is opened.
type leafEntry struct {
	fileInfo
	s *Store
	l *leaf
}

func (e leafEntry) Type() fs.FileMode { return 0 }
func (e leafEntry) Info() (fs.FileInfo, error) {
	info := e.fileInfo
	if e.l.ref != nil {
		return info, nil
	}
	file, err := e.s.wholeBytes(e.l)
	if err != nil {
		return nil, err
	}
	info.size = file.src.Size()
	return info, file.Close()
}

// leafFile is an open leaf. Its methods Read, Seek and ReadAt are those of the section.
type leafFile struct {
	*io.SectionReader
	info fileInfo
	file *openFile // nil for a reference
}

func (f *leafFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *leafFile) Close() error {
	if f.file == nil {
		return nil
	}
	file := f.file
	f.file = nil
	return file.Close()
}

// groupFile is an open group.
type groupFile struct {
	s    *Store
	name string
	info fileInfo
	list []fs.DirEntry // what ReadDir has not returned yet
	read bool
}

func (g *groupFile) Stat() (fs.FileInfo, error) { return g.info, nil }
func (g *groupFile) Close() error               { return nil }
func (g *groupFile) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: g.name, Err: fs.ErrInvalid}
}

// ReadDir returns the next n entries, or all if n is not positive.
func (g *groupFile) ReadDir(n int) ([]fs.DirEntry, error) {
	if !g.read {
		g.list, g.read = g.s.list(keyOfName(g.name)), true
	}
	if n <= 0 || n > len(g.list) {
		if n > 0 && len(g.list) == 0 {
			return nil, io.EOF
		}
		n = len(g.list)
	}
	list := g.list[:n:n]
	g.list = g.list[n:]
	return list, nil
}

var _ fs.FS = (*Store)(nil)
