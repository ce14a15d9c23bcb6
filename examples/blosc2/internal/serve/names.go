package serve

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// target is what a path names: a file or a directory, or a leaf or group of a store in a file.
type target struct {
	name string // of the file or directory below the root, in the notation of the operating system
	info fs.FileInfo
	key  string // in the store that the file holds, without a slash at the beginning; "" = the file itself
}

// cleanPath returns a path without slashes at its ends. It reports whether the path can name something: it has no empty
// element, no element that begins with a dot, and nothing that the operating system does not allow.
func cleanPath(p string) (string, bool) {
	p = strings.TrimSuffix(strings.TrimPrefix(p, "/"), "/")
	if p == "" {
		return ".", true
	}
	for element := range strings.SplitSeq(p, "/") {
		if element == "" || element[0] == '.' {
			return "", false
		}
	}
	_, err := filepath.Localize(p)
	return p, err == nil
}

// resolve finds what a path names. It returns fs.ErrNotExist for everything that clients cannot see.
func (s *Server) resolve(p string) (target, error) {
	slash := strings.HasSuffix(p, "/")
	p, ok := cleanPath(p)
	if !ok {
		return target{}, fs.ErrNotExist
	}
	info, err := s.stat(p)
	if err == nil && slash && !info.IsDir() && !isStoreName(p) {
		return target{}, fs.ErrNotExist
	}
	if err == nil {
		return target{name: filepath.FromSlash(p), info: info}, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return target{}, fs.ErrPermission
	}
	if t, ok := s.resolveLeaf(p); ok {
		return t, nil
	}
	return target{}, fs.ErrNotExist
}

// stat describes a file or directory. Devices, pipes and sockets do not exist for clients.
func (s *Server) stat(p string) (fs.FileInfo, error) {
	info, err := s.root.Stat(filepath.FromSlash(p))
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	return info, err
}

// resolveLeaf finds the leaf or group of a store that a path below the store names. The store is a file, or the last
// directory with embed.b2e on the path. In a directory store, a leaf is a file with an extension, or else in the embed
// store.
func (s *Server) resolveLeaf(p string) (target, bool) {
	var embed target
	for at := range len(p) {
		if p[at] != '/' {
			continue
		}
		name, key := p[:at], p[at+1:]
		info, err := s.stat(name)
		if err != nil {
			break
		}
		if !info.IsDir() {
			return target{filepath.FromSlash(name), info, key}, isStoreName(name)
		}
		name = path.Join(name, "embed.b2e")
		if info, err := s.stat(name); err == nil && !info.IsDir() {
			embed = target{filepath.FromSlash(name), info, key}
		}
	}
	if embed.name == "" {
		return target{}, false
	}
	for _, ext := range []string{".b2nd", ".b2f", ".b2b"} {
		if leaf, err := s.stat(p + ext); err == nil && !leaf.IsDir() {
			return target{name: filepath.FromSlash(p + ext), info: leaf}, true
		}
	}
	return embed, true
}

// isStoreName reports whether the name of a file is that of a store.
func isStoreName(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".b2z" || ext == ".b2e"
}

// sparseIndex returns the target of the index of a sparse frame in a directory.
func (s *Server) sparseIndex(t target) (fs.FileInfo, error) {
	info, err := s.root.Lstat(filepath.Join(t.name, "chunks.b2frame"))
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	return info, err
}

// sparsePath returns the name by which package frame opens the sparse frame of a target. The error is ErrNotExist if an
// element of the path is a link.
func (s *Server) sparsePath(t target) (string, error) {
	name := filepath.Join(s.dir, t.name)
	real, err := filepath.EvalSymlinks(name)
	if err != nil || real != name {
		return "", fs.ErrNotExist
	}
	return name, nil
}

// samePlace reports whether a name outside of the root is that of a target.
func (s *Server) samePlace(name string, t target) bool {
	outside, err := os.Stat(name)
	if err != nil {
		return false
	}
	inside, err := s.root.Stat(t.name)
	return err == nil && os.SameFile(outside, inside)
}
