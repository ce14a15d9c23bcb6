package simulated

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/goblosc/blosc2/frame/internal/storage"
)

// ErrDisk is the error of a call that fails.
var ErrDisk = errors.New("the disk is full")

// System is a storage.System in memory. Its fields may be changed between calls.
type System struct {
	Image  Image    // what the disk holds
	Log    []Change // all changes and syncs
	Opened int      // files that are open

	FailAt     int    // the number of the call that fails with ErrDisk, counted from 1; 0 = none
	Forever    bool   // all calls after it fail as well
	Short      bool   // a failing read or write moves half of its bytes
	Calls      int    // the number of calls
	Failed     string // the kind of the first call that failed, "write" for instance
	Before     func() // if set, called before each call; it may make calls itself
	NoExchange bool   // it cannot exchange names
	Blocked    func() // if set, called after a call that has failed to lock a file; it may make calls itself

	mu    sync.Mutex
	next  int                    // the number of the next node
	locks map[int]map[*File]bool // of nodes, by the file that holds it; true = exclusive
}

// New returns a system with an empty disk.
func New() *System { return On(Image{0: {Dir: map[string]int{}}}) }

// On returns a system with a disk that holds m. It does not copy m.
func On(m Image) *System {
	s := &System{Image: m}
	for id := range m {
		s.next = max(s.next, id+1)
	}
	return s
}

// lock locks s.mu for a call.
func (s *System) lock() {
	if s.Before != nil {
		s.Before()
	}
	s.mu.Lock()
}

// fails counts a call and reports whether it fails. s.mu is held.
func (s *System) fails(what string) bool {
	s.Calls++
	if s.FailAt == 0 || s.Calls != s.FailAt && !(s.Forever && s.Calls > s.FailAt) {
		return false
	}
	if s.Failed == "" {
		s.Failed = what
	}
	return true
}

func (s *System) do(o Change) {
	o.Apply(s.Image, false, nil)
	s.Log = append(s.Log, o)
}

// find returns the directory that holds name, which counts from the directory at, and the node of name or -1.
func (s *System) find(at int, name string) (dir int, base string, id int) {
	parts := strings.Split(strings.Trim(path.Clean(strings.ReplaceAll(name, "\\", "/")), "/"), "/")
	if parts[0] == "." || parts[0] == "" {
		return at, ".", at
	}
	id = at
	for i, p := range parts {
		dir, base = id, p
		next, ok := s.Image[dir].Dir[p]
		if !ok {
			if i < len(parts)-1 {
				return -1, p, -1
			}
			return dir, p, -1
		}
		id = next
	}
	return dir, base, id
}

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// names are the names that count from the directory at.
type names struct {
	*System
	at int
}

func (s *System) root() names { return names{s, 0} }

func (s names) Open(name string, flag int, _ fs.FileMode) (storage.File, error) {
	s.lock()
	defer s.mu.Unlock()
	if s.fails("open") {
		return nil, pathError("open", name, ErrDisk)
	}
	dir, base, id := s.find(s.at, name)
	switch {
	case id < 0 && (flag&os.O_CREATE == 0 || dir < 0):
		return nil, pathError("open", name, fs.ErrNotExist)
	case id >= 0 && flag&os.O_EXCL != 0:
		return nil, pathError("open", name, fs.ErrExist)
	case id >= 0 && s.Image[id].Dir != nil && flag&(os.O_WRONLY|os.O_RDWR) != 0:
		return nil, pathError("open", name, fs.ErrInvalid)
	case id < 0:
		id = s.next
		s.next++
		s.do(Change{Kind: "create", ID: id, dir: dir, name: base})
	case flag&os.O_TRUNC != 0:
		s.do(Change{Kind: "truncate", ID: id})
	}
	s.Opened++
	return &File{s: s.System, id: id, name: name}, nil
}

// Open opens or creates a file.
func (s *System) Open(name string, flag int, mode fs.FileMode) (storage.File, error) {
	return s.root().Open(name, flag, mode)
}

// OpenRoot opens a directory.
func (s *System) OpenRoot(dir string) (storage.Root, error) {
	f, err := s.Open(dir, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	d := f.(*File)
	if s.Image[d.id].Dir == nil {
		f.Close()
		return nil, pathError("open", dir, fs.ErrInvalid)
	}
	return root{names{s, d.id}, d}, nil
}

// Mkdir creates a directory.
func (s *System) Mkdir(name string, mode fs.FileMode) error { return s.root().Mkdir(name, mode) }

func (s names) Mkdir(name string, _ fs.FileMode) error {
	s.lock()
	defer s.mu.Unlock()
	if s.fails("mkdir") {
		return pathError("mkdir", name, ErrDisk)
	}
	dir, base, id := s.find(s.at, name)
	switch {
	case id >= 0:
		return pathError("mkdir", name, fs.ErrExist)
	case dir < 0:
		return pathError("mkdir", name, fs.ErrNotExist)
	}
	s.do(Change{Kind: "create", ID: s.next, isDir: true, dir: dir, name: base})
	s.next++
	return nil
}

// Rename renames a file or directory, and replaces what has the name.
func (s *System) Rename(old, name string) error { return s.root().Rename(old, name) }

func (s names) Rename(old, name string) error {
	s.lock()
	defer s.mu.Unlock()
	if s.fails("rename") {
		return pathError("rename", old, ErrDisk)
	}
	from, fromName, id := s.find(s.at, old)
	dir, base, target := s.find(s.at, name)
	if id < 0 || dir < 0 {
		return pathError("rename", old, fs.ErrNotExist)
	}
	if s.full(target) || target >= 0 && (s.Image[target].Dir == nil) != (s.Image[id].Dir == nil) {
		return pathError("rename", name, fs.ErrExist)
	}
	s.do(Change{Kind: "rename", ID: id, dir: dir, name: base, from: from, fromName: fromName})
	return nil
}

// Exchange exchanges two names.
func (s *System) Exchange(a, b string) error {
	s.lock()
	defer s.mu.Unlock()
	if s.NoExchange {
		return pathError("exchange", a, errors.ErrUnsupported)
	}
	if s.fails("exchange") {
		return pathError("exchange", a, ErrDisk)
	}
	from, fromName, id := s.find(0, a)
	dir, base, other := s.find(0, b)
	if id < 0 || other < 0 {
		return pathError("exchange", a, fs.ErrNotExist)
	}
	s.do(Change{Kind: "exchange", ID: id, dir: dir, name: base, from: from, fromName: fromName, other: other})
	return nil
}

// Link gives a file another name.
func (s *System) Link(old, name string) error {
	s.lock()
	defer s.mu.Unlock()
	if s.fails("link") {
		return pathError("link", old, ErrDisk)
	}
	_, _, id := s.find(0, old)
	dir, base, target := s.find(0, name)
	switch {
	case target >= 0:
		return pathError("link", name, fs.ErrExist)
	case id < 0 || dir < 0:
		return pathError("link", old, fs.ErrNotExist)
	}
	s.do(Change{Kind: "create", ID: id, dir: dir, name: base})
	return nil
}

// Remove removes a name.
func (s *System) Remove(name string) error { return s.root().Remove(name) }

func (s names) Remove(name string) error {
	s.lock()
	defer s.mu.Unlock()
	return s.unlink(name)
}

// unlink is Remove with s.mu held.
func (s names) unlink(name string) error {
	if s.fails("remove") {
		return pathError("remove", name, ErrDisk)
	}
	dir, base, id := s.find(s.at, name)
	if id < 0 {
		return pathError("remove", name, fs.ErrNotExist)
	}
	if s.full(id) {
		return pathError("remove", name, fs.ErrExist)
	}
	s.do(Change{Kind: "remove", ID: id, dir: dir, name: base})
	return nil
}

// full reports whether a node is a directory that is not empty.
func (s *System) full(id int) bool { return id >= 0 && len(s.Image[id].Dir) > 0 }

// RemoveAll removes the names in a directory and then the directory.
func (s *System) RemoveAll(name string) error {
	s.lock()
	defer s.mu.Unlock()
	return s.removeAll(name)
}

// removeAll is RemoveAll with s.mu held.
func (s *System) removeAll(name string) error {
	_, _, id := s.find(0, name)
	if id < 0 {
		return nil
	}
	for _, base := range slices.Sorted(maps.Keys(s.Image[id].Dir)) {
		if err := s.removeAll(name + "/" + base); err != nil {
			return err
		}
	}
	return s.root().unlink(name)
}

// Stat describes a file or directory. There are no links.
func (s *System) Stat(name string) (fs.FileInfo, error) { return s.root().Lstat(name) }

// Lstat is Stat.
func (s *System) Lstat(name string) (fs.FileInfo, error) { return s.root().Lstat(name) }

// Lstat is Stat as well: there are no links.
func (s names) Lstat(name string) (fs.FileInfo, error) {
	s.lock()
	defer s.mu.Unlock()
	if s.fails("stat") {
		return nil, pathError("stat", name, ErrDisk)
	}
	_, base, id := s.find(s.at, name)
	if id < 0 {
		return nil, pathError("stat", name, fs.ErrNotExist)
	}
	return s.info(base, id), nil
}

// Resolve returns name, because there are no links.
func (s *System) Resolve(name string) (string, error) { return name, nil }

// Same reports whether a and b describe the same node.
func (s *System) Same(a, b fs.FileInfo) bool    { return a.Sys() == b.Sys() }
func (s *System) info(name string, id int) info { return info{name, id, *s.Image[id]} }
