package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	pathpkg "path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/paths"
	"github.com/goblosc/blosc2/ndarray"
)

// leafExtensions are the extensions of leaves in files of a directory store.
var leafExtensions = []string{".b2nd", ".b2f", ".b2b"}

// splitStore is findStore for verbs that read. It needs no error: if the path cannot be looked at, opening it fails.
func splitStore(path string) (name, key string, ok bool) {
	name, key, ok, _ = findStore(path)
	return name, key, ok
}

// findStore splits the path STORE/KEY, or the path of a store, whose key is "/". It reports whether there is such a
// store. If it is unknown whether a directory above the path is a store, findStore returns an error.
func findStore(path string) (name, key string, ok bool, err error) {
	if isURL(path) {
		name, key, ok = splitURL(path)
		return name, key, ok, nil
	}
	path = paths.Trim(path)
	store, _ := isStore(path) // whoever uses the path gets the error
	if fi, err := os.Stat(path); err == nil && !fi.IsDir() && !store {
		return "", "", false, nil // a file below the directory of a store, too
	}
	for name = path; ; {
		if store {
			rest := path
			if name != "." {
				rest = path[len(name):]
			}
			return name, pathpkg.Clean("/" + filepath.ToSlash(rest)), true, nil
		}
		if paths.Dir(name) == name || filepath.Base(name) == ".." { // whose parent is not paths.Dir(name)
			return "", "", false, nil
		}
		name = paths.Dir(name)
		store, err = isStore(name)
		if err != nil && !errors.Is(err, fs.ErrPermission) { // as in checkTable
			return "", "", false, err
		}
	}
}

// isStore reports whether a path is a store: a directory with embed.b2e, or a file with the extension of a store.
func isStore(name string) (bool, error) {
	fi, err := os.Stat(name)
	if err == nil && !fi.IsDir() {
		return hasStoreExtension(name), nil
	}
	if err == nil {
		_, err = os.Lstat(paths.Join(name, "embed.b2e"))
	}
	if isMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// isMissing reports whether an error of looking at a path shows that nothing has this path: also if a part of it is a
// file, or if no file can have the name.
func isMissing(err error) bool {
	const invalidName = syscall.Errno(123) // on Windows
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) ||
		runtime.GOOS == "windows" && errors.Is(err, invalidName)
}

// hasStoreExtension reports whether the name of a file is that of a store.
func hasStoreExtension(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".b2z" || ext == ".b2e"
}

// openStore is a store in a file, in a directory or on a server.
type openStore struct {
	*store.Store
	remote *remote.Object // of a URL
}

// newStore opens a store for reading. The name "-" is that of a store in one file on standard input, which is held in
// memory.
func newStore(e *env, name string) (*openStore, error) {
	switch {
	case name == "-":
		b, err := e.stdin()
		if err != nil {
			return nil, err
		}
		st, err := store.OpenReaderAt(e.ctx, bytes.NewReader(b), int64(len(b)), nil)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return &openStore{Store: st}, nil
	case !isURL(name):
		if _, err := os.Stat(name); err != nil {
			return nil, err
		}
		st, err := store.Open(e.ctx, name, nil)
		return &openStore{Store: st}, err
	}
	o, err := remote.Open(e.ctx, name, remoteOptions(e))
	if err != nil {
		return nil, err
	}
	st, err := store.OpenSource(e.ctx, o, nil)
	if err != nil {
		o.Close()
		return nil, noRemoteStore(name, fmt.Errorf("%s: %w", o, err))
	}
	e.opened = o.String()
	return &openStore{st, o}, nil
}

// find returns the key in the store that a key of splitStore means. One in a URL may be escaped.
func (s *openStore) find(key string) string {
	if s.remote == nil || s.Has(key) {
		return key
	}
	if plain, err := url.PathUnescape(key); err == nil && s.Has(plain) {
		return plain
	}
	return key
}

// escapedKey returns a key as URLs have it.
func escapedKey(key string) string { return (&url.URL{Path: key}).EscapedPath() }

// close closes the store.
func (s *openStore) close() {
	s.Close()
	if s.remote != nil {
		s.remote.Close()
	}
}

// openInStore opens the leaf of STORE/KEY for reading. If path is no such path, it returns the error of opening it
// otherwise.
func openInStore(e *env, path string, otherwise error) (*source, error) {
	name, key, ok := splitStore(path)
	if !ok {
		return nil, npyError(path, otherwise)
	}
	st, err := newStore(e, name)
	if err != nil {
		if key == "/" {
			err = otherwise
		}
		return nil, err
	}
	if key == "/" {
		defer st.close()
		return nil, storeError(e, st, path, key, otherwise)
	}
	key = st.find(key)
	s := &source{path: path, store: st}
	if s.frame, err = st.Frame(e.ctx, key); err != nil {
		defer st.close()
		return nil, storeError(e, st, path, key, fmt.Errorf("%s: %w", name, err))
	}
	if s.array, err = store.ArrayOf(e.ctx, s.frame); err != nil && !errors.Is(err, ndarray.ErrNotArray) {
		s.damaged = err
	}
	if s.array != nil && s.array.Frame() != s.frame { // the copy of a tensor, whose frame is closed
		if s.frame, err = st.Frame(e.ctx, key); err != nil {
			st.close()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if st.remote != nil {
		e.track.expect(s.frame.Info().CBytes)
	} else {
		e.track.followReads(s.frame.Info().CBytes)
	}
	return s, nil
}

// changePath is editPath for an edit. It returns an error for a key or a file in a table of a store, because the leaves
// of a table belong together.
func changePath(e *env, path string) (string, error) {
	if path != "-" && !isURL(path) {
		if err := checkTable(e, path); err != nil {
			return "", err
		}
		if target, err := filepath.EvalSymlinks(path); err == nil && target != paths.Trim(path) {
			if err := checkTable(e, target); err != nil {
				return "", err
			}
		}
	}
	return editPath(e, path)
}

// checkTable returns an error for a path in a table of a directory store. It looks only at the folders between them,
// because the store need not be one: any folder may have a file embed.b2e.
func checkTable(e *env, path string) error {
	dir, err := realDir(paths.Dir(path))
	if err != nil {
		return err
	}
	if is, err := isStore(path); err == nil && is && isPlainDir(path) {
		return nil
	}
	top := dir // of the store
	for {
		is, err := isStore(top)
		if err != nil && !errors.Is(err, fs.ErrPermission) { // the working directory may be below a locked one
			return err
		}
		if is && isPlainDir(top) {
			break
		}
		if filepath.Dir(top) == top {
			return nil
		}
		top = filepath.Dir(top)
	}
	var embedded *openStore
	if isInDir(top, "embed.b2e") {
		if embedded, err = newStore(e, filepath.Join(top, "embed.b2e")); err != nil {
			embedded = nil // of no use to an edit of a file
		} else {
			defer embedded.close()
		}
	}
	for ; ; dir = filepath.Dir(dir) {
		key := "/" + strings.Trim(filepath.ToSlash(dir[len(top):]), "/")
		if hasLeaf(e, embedded, dir, key, "_meta") && hasLeaf(e, embedded, dir, key, "_valid_rows") {
			return fmt.Errorf("%s: the leaves of a table cannot be edited one by one: %w", path, errors.ErrUnsupported)
		}
		if dir == top {
			return nil
		}
	}
}

// realDir returns the absolute name of a directory, without symbolic links as far as it exists.
func realDir(dir string) (string, error) {
	dir, err := paths.Abs(dir)
	if err != nil {
		return "", err
	}
	for above := dir; ; above = paths.Dir(above) {
		if target, err := filepath.EvalSymlinks(above); err == nil {
			return filepath.Join(target, dir[len(above):]), nil
		}
		if paths.Dir(above) == above {
			return filepath.Clean(dir), nil
		}
	}
}

// hasLeaf reports whether a folder of a store, which has a key, has a leaf with a name: in a file, or in the store
// embedded unless that is nil. The leaf may be damaged.
func hasLeaf(e *env, embedded *openStore, dir, key, name string) bool {
	for _, ext := range leafExtensions {
		if fi, err := os.Lstat(filepath.Join(dir, name+ext)); err == nil && !fi.IsDir() {
			return true
		}
	}
	if key = strings.TrimSuffix(key, "/") + "/" + name; embedded == nil || !embedded.Has(key) {
		return false
	}
	entry, _ := embedded.Stat(e.ctx, key)
	return entry.Kind != store.KindGroup && entry.Kind != store.KindTable
}

// editPath returns the file of STORE/KEY in a directory store, or path if it is no such path.
func editPath(e *env, path string) (string, error) {
	if path == "-" {
		return "", fmt.Errorf("standard input can only be read: %w", errors.ErrUnsupported)
	}
	if isURL(path) {
		return "", fmt.Errorf("%s: what is on a server can only be read: %w", path, errors.ErrUnsupported)
	}
	name, key, ok, err := findStore(path)
	if err != nil {
		return "", err
	}
	_, err = os.Lstat(path)
	if !ok || key == "/" || err == nil && !isPlainDir(path) {
		return path, nil
	}
	exists := err == nil
	for _, ext := range leafExtensions {
		if file := filepath.FromSlash(key[1:]) + ext; isInDir(name, file) {
			return paths.Join(name, file), nil
		}
	}
	if exists {
		return path, nil
	}
	st, err := newStore(e, name)
	if err != nil {
		return "", err
	}
	defer st.close()
	if entry, err := st.Stat(e.ctx, key); err != nil || entry.Kind == store.KindGroup {
		return "", storeError(e, st, path, key, err)
	}
	return "", fmt.Errorf("%s: only leaves in a file of a store in a directory (.b2d) can be edited: %w", path, errors.ErrUnsupported)
}

// isPlainDir reports whether a path is a directory that is not a sparse frame. In a store, it may have the leaves below
// a leaf.
func isPlainDir(path string) bool {
	fi, err := os.Stat(path)
	if err != nil || !fi.IsDir() {
		return false
	}
	_, err = os.Lstat(paths.Join(path, "chunks.b2frame"))
	return isMissing(err)
}

// isInDir reports whether a directory has a regular file that is reached without symbolic links. They may lead out of a
// store of unknown origin.
func isInDir(dir, file string) bool {
	for parent := filepath.Dir(file); parent != "."; parent = filepath.Dir(parent) {
		if fi, err := os.Lstat(paths.Join(dir, parent)); err != nil || !fi.IsDir() {
			return false
		}
	}
	fi, err := os.Lstat(paths.Join(dir, file))
	return err == nil && fi.Mode().IsRegular()
}

// editError returns the error of editing the file or directory at a path, which is err unless that is a store.
func editError(e *env, path string, err error) error {
	name, key, ok := splitStore(path)
	if !ok || !errors.Is(err, frame.ErrFormat) {
		return err
	}
	st, storeErr := newStore(e, name)
	if storeErr != nil {
		return err
	}
	defer st.close()
	if entry, statErr := st.Stat(e.ctx, key); key != "/" && (statErr != nil || entry.Kind != store.KindGroup) {
		return err
	}
	return storeError(e, st, path, key, err)
}

// openEdit opens a frame for editing. It may be the leaf of a directory store.
func openEdit(e *env, path string) (*frame.Frame, error) {
	file, err := changePath(e, path)
	if err != nil {
		return nil, err
	}
	f, err := editFile(e, file)
	if err != nil {
		return nil, editError(e, path, err)
	}
	return f, nil
}
