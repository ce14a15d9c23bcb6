package frame

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame/internal/storage"
)

// simNode is a file or a directory of an image, by number.
type simNode struct {
	data []byte
	dir  map[string]int // nil for files
}

// simImage is what a disk holds. Node 0 is the root.
type simImage map[int]*simNode

func (m simImage) clone() simImage {
	c := simImage{}
	for id, n := range m {
		c[id] = &simNode{slices.Clone(n.data), maps.Clone(n.dir)}
	}
	return c
}

// simOp is one change of an image, or a sync of the node id.
type simOp struct {
	kind     string // "write", "truncate", "create", "rename", "remove", "sync"
	id       int
	isDir    bool
	off      int64
	data     []byte
	dir      int // where name is
	name     string
	from     int // of a rename
	fromName string
}

// apply does the change again; torn: only some of the sectors of a write.
func (o simOp) apply(m simImage, torn bool, rng *rand.Rand) {
	if n := m[o.id]; n == nil && o.kind != "sync" {
		m[o.id] = &simNode{}
		if o.isDir {
			m[o.id].dir = map[string]int{}
		}
	}
	switch n := m[o.id]; o.kind {
	case "write":
		mem := &Memory{b: n.data}
		op{off: o.off, data: o.data}.apply(mem, torn, rng)
		n.data = mem.b
	case "truncate":
		n.data = n.data[:min(int64(len(n.data)), o.off)]
	case "create":
		m[o.dir].dir[o.name] = o.id
	case "rename":
		if d := m[o.from].dir; d[o.fromName] == o.id {
			delete(d, o.fromName)
		}
		m[o.dir].dir[o.name] = o.id
	case "remove":
		if d := m[o.dir].dir; d[o.name] == o.id {
			delete(d, o.name)
		}
	}
}

// syncs reports whether a sync of the node id makes the change durable.
func (o simOp) syncs(id int) bool {
	switch o.kind {
	case "write", "truncate":
		return id == o.id
	case "rename":
		return id == o.dir && (o.from == o.dir) // of one directory only: others are not needed
	case "create", "remove":
		return id == o.dir
	}
	return false
}

// simSystem is a system in memory that records what is done to its disk, and fails when told to.
type simSystem struct {
	mu      sync.Mutex
	image   simImage
	next    int
	log     []simOp
	opened  int // files that are open
	failAt  int // the number of the call that fails, counted from 1; 0 = none
	short   bool
	forever bool
	calls   int
	failed  string
}

func newSim() *simSystem { return simOn(simImage{0: {dir: map[string]int{}}}) }

func simOn(m simImage) *simSystem {
	s := &simSystem{image: m}
	for id := range m {
		s.next = max(s.next, id+1)
	}
	return s
}

// fails counts a call and reports whether it fails. s.mu is held.
func (s *simSystem) fails(what string) bool {
	s.calls++
	if s.failAt == 0 || s.calls != s.failAt && !(s.forever && s.calls > s.failAt) {
		return false
	}
	if s.failed == "" {
		s.failed = what
	}
	return true
}

func (s *simSystem) do(o simOp) {
	o.apply(s.image, false, nil)
	s.log = append(s.log, o)
}

// find returns the directory that holds name, which counts from the directory at, and the node of name or -1.
func (s *simSystem) find(at int, name string) (dir int, base string, id int) {
	parts := strings.Split(strings.Trim(path.Clean(strings.ReplaceAll(name, "\\", "/")), "/"), "/")
	if parts[0] == "." || parts[0] == "" {
		return at, ".", at
	}
	id = at
	for i, p := range parts {
		dir, base = id, p
		next, ok := s.image[dir].dir[p]
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

func simError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// simNames are the names that count from the directory at.
type simNames struct {
	*simSystem
	at int
}

func (s *simSystem) root() simNames { return simNames{s, 0} }

func (s simNames) Open(name string, flag int, _ fs.FileMode) (storage.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails("open") {
		return nil, simError("open", name, errDisk)
	}
	dir, base, id := s.find(s.at, name)
	switch {
	case id < 0 && (flag&os.O_CREATE == 0 || dir < 0):
		return nil, simError("open", name, fs.ErrNotExist)
	case id >= 0 && flag&os.O_EXCL != 0:
		return nil, simError("open", name, fs.ErrExist)
	case id < 0:
		id = s.next
		s.next++
		s.do(simOp{kind: "create", id: id, dir: dir, name: base})
	case flag&os.O_TRUNC != 0:
		s.do(simOp{kind: "truncate", id: id})
	}
	s.opened++
	return &simFile{s: s.simSystem, id: id, name: name}, nil
}

func (s *simSystem) Open(name string, flag int, mode fs.FileMode) (storage.File, error) {
	return s.root().Open(name, flag, mode)
}

func (s *simSystem) OpenRoot(dir string) (storage.Root, error) {
	f, err := s.Open(dir, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	d := f.(*simFile)
	return simRoot{simNames{s, d.id}, d}, nil
}

func (s *simSystem) Mkdir(name string, _ fs.FileMode) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails("mkdir") {
		return simError("mkdir", name, errDisk)
	}
	dir, base, id := s.find(0, name)
	if id >= 0 {
		return simError("mkdir", name, fs.ErrExist)
	}
	s.do(simOp{kind: "create", id: s.next, isDir: true, dir: dir, name: base})
	s.next++
	return nil
}

func (s *simSystem) Rename(old, name string) error { return s.root().Rename(old, name) }

func (s simNames) Rename(old, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails("rename") {
		return simError("rename", old, errDisk)
	}
	from, fromName, id := s.find(s.at, old)
	dir, base, _ := s.find(s.at, name)
	if id < 0 || dir < 0 {
		return simError("rename", old, fs.ErrNotExist)
	}
	s.do(simOp{kind: "rename", id: id, dir: dir, name: base, from: from, fromName: fromName})
	return nil
}

func (s *simSystem) Remove(name string) error { return s.root().Remove(name) }

func (s simNames) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unlink(name)
}

// unlink is Remove with s.mu held.
func (s simNames) unlink(name string) error {
	if s.fails("remove") {
		return simError("remove", name, errDisk)
	}
	dir, base, id := s.find(s.at, name)
	if id < 0 {
		return simError("remove", name, fs.ErrNotExist)
	}
	s.do(simOp{kind: "remove", id: id, dir: dir, name: base})
	return nil
}

func (s *simSystem) RemoveAll(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _, id := s.find(0, name)
	if id < 0 {
		return nil
	}
	for _, base := range slices.Sorted(maps.Keys(s.image[id].dir)) {
		if err := s.root().unlink(name + "/" + base); err != nil {
			return err
		}
	}
	return s.root().unlink(name)
}

func (s *simSystem) Stat(name string) (fs.FileInfo, error)  { return s.root().Lstat(name) }
func (s *simSystem) Lstat(name string) (fs.FileInfo, error) { return s.root().Lstat(name) }

// Lstat is Stat as well: there are no links.
func (s simNames) Lstat(name string) (fs.FileInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails("stat") {
		return nil, simError("stat", name, errDisk)
	}
	_, base, id := s.find(s.at, name)
	if id < 0 {
		return nil, simError("stat", name, fs.ErrNotExist)
	}
	return s.info(base, id), nil
}

func (s *simSystem) Resolve(name string) (string, error) { return name, nil }
func (s *simSystem) Same(a, b fs.FileInfo) bool          { return a.Sys() == b.Sys() }
func (s *simSystem) info(name string, id int) simInfo    { return simInfo{name, id, *s.image[id]} }

// simRoot is an opened directory.
type simRoot struct {
	simNames
	dir *simFile
}

func (r simRoot) Stat() (fs.FileInfo, error) { return r.dir.Stat() }
func (r simRoot) Sync() error                { return storage.SyncOpened(r.Open(".", os.O_RDONLY, 0)) }
func (r simRoot) Close() error               { return r.dir.Close() }

func (r simRoot) ReadDir() ([]fs.DirEntry, error) {
	if err := r.dir.begin("readdir"); err != nil {
		r.mu.Unlock()
		return nil, err
	}
	defer r.mu.Unlock()
	var list []fs.DirEntry
	names := r.image[r.at].dir
	for _, base := range slices.Sorted(maps.Keys(names)) {
		list = append(list, fs.FileInfoToDirEntry(r.info(base, names[base])))
	}
	return list, nil
}

type simInfo struct {
	name string
	id   int
	node simNode
}

func (i simInfo) Name() string       { return i.name }
func (i simInfo) Size() int64        { return int64(len(i.node.data)) }
func (i simInfo) ModTime() time.Time { return time.Time{} }
func (i simInfo) IsDir() bool        { return i.node.dir != nil }
func (i simInfo) Sys() any           { return i.id }
func (i simInfo) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir | 0o777
	}
	return 0o666
}

// simFile is an opened file.
type simFile struct {
	s      *simSystem
	id     int
	name   string
	closed bool
}

// begin begins a call; s.mu is held after it.
func (f *simFile) begin(what string) error {
	f.s.mu.Lock()
	if f.closed {
		return simError(what, f.name, fs.ErrClosed)
	}
	if f.s.fails(what) {
		return simError(what, f.name, errDisk)
	}
	return nil
}

func (f *simFile) ReadAt(p []byte, off int64) (int, error) {
	err := f.begin("read")
	defer f.s.mu.Unlock()
	data := f.s.image[f.id].data
	if err != nil {
		if f.s.short && off < int64(len(data)) {
			return copy(p[:len(p)/2], data[off:]), err
		}
		return 0, err
	}
	if off >= int64(len(data)) {
		return 0, io.EOF
	}
	n := copy(p, data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *simFile) WriteAt(p []byte, off int64) (int, error) {
	err := f.begin("write")
	defer f.s.mu.Unlock()
	n := len(p)
	if err != nil {
		if n /= 2; !f.s.short || n == 0 {
			return 0, err
		}
	}
	f.s.do(simOp{kind: "write", id: f.id, off: off, data: slices.Clone(p[:n])})
	return n, err
}

func (f *simFile) Truncate(size int64) error {
	err := f.begin("truncate")
	defer f.s.mu.Unlock()
	if err == nil {
		f.s.do(simOp{kind: "truncate", id: f.id, off: size})
	}
	return err
}

func (f *simFile) Sync() error {
	err := f.begin("sync")
	defer f.s.mu.Unlock()
	if err == nil {
		f.s.do(simOp{kind: "sync", id: f.id})
	}
	return err
}

func (f *simFile) Chmod(fs.FileMode) error { return nil }

func (f *simFile) Stat() (fs.FileInfo, error) {
	err := f.begin("stat")
	defer f.s.mu.Unlock()
	return f.s.info(path.Base(f.name), f.id), err
}

func (f *simFile) Close() error {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if f.closed {
		return simError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	f.s.opened--
	return nil
}

// TestSimulated checks the simulated system itself with a frame of each kind.
func TestSimulated(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		s := newSim()
		f, err := CreateFunc(t.Context(), "x", func(b *Batch) error { return b.Append(t.Context(), stamped(1, 10)) }, &CreateOptions{sys: s, Sparse: sparse})
		must(t, err)
		must(t, f.Append(t.Context(), stamped(2, 10)))
		must(t, f.Close())
		f, err = Open(t.Context(), "x", &OpenOptions{sys: s})
		must(t, err)
		verify(t, f)
		if s.opened == 0 || f.NumChunks() != 2 || len(s.image[0].dir) != 1 {
			t.Error(s.opened, f.Info(), s.image[0].dir)
		}
		must(t, f.Close())
		if s.opened != 0 || len(s.log) < 5 {
			t.Error(s.opened, fmt.Sprint(s.log))
		}
	}
}
