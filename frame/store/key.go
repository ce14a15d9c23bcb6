package store

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
)

// Names with a meaning of their own.
const (
	embedFile = "embed.b2e"  // the embed store of a directory or zip store
	groupMeta = "__vlmeta__" // leaf with the attributes of a group

	// Leaves of a table, below its key.
	tableMeta   = "_meta"
	tableRows   = "_valid_rows"
	tableVLMeta = "_vlmeta"
)

// checkKey returns an error for a key that python-blosc2 does not accept, or with an element "." or "..".
func checkKey(key string) error {
	if !strings.HasPrefix(key, "/") || !fs.ValidPath(key[1:]) || key == "/." || strings.ContainsAny(key, ":\x00\n\r\t") {
		return faults.Corruptf("invalid key %q", faults.Clip(key))
	}
	return nil
}

// checkStored returns an error for a key that Put must not store, because other libraries would not accept it, or would
// not find the leaf or others.
func (s *Store) checkStored(key string) error {
	switch {
	case checkKey(key) != nil:
		return fmt.Errorf("key %q cannot be stored: %w", faults.Clip(key), ErrParam)
	case strings.Contains(key, "\\"):
		return fmt.Errorf("key %q with a backslash: %w", faults.Clip(key), ErrParam)
	case s.layout != LayoutTree || s.index.get(key) != nil:
		return nil
	}
	for above := parent(key); above != "/"; above = parent(above) {
		if path.Base(above) == groupMeta {
			return fmt.Errorf("%s cannot be a group, because it holds the attributes of one: %w", above, ErrParam)
		}
		if s.index.get(above) != nil {
			return fmt.Errorf("the leaf %s cannot have another one below it in a tree store: %w", above, ErrParam)
		}
	}
	if e, _ := s.index.find(key); e.group {
		return fmt.Errorf("a group in a tree store cannot be a leaf, too: %w", ErrParam)
	}
	return nil
}

// compareKeys compares keys so that the keys below a group directly follow it.
func compareKeys(a, b string) int {
	n := min(len(a), len(b))
	if a[:n] == b[:n] {
		return len(a) - len(b)
	}
	i := 0 // of the first difference
	for i+64 <= n && a[i:i+64] == b[i:i+64] {
		i += 64
	}
	for a[i] == b[i] {
		i++
	}
	switch {
	case a[i] == '/':
		return -1
	case b[i] == '/':
		return 1
	}
	return int(a[i]) - int(b[i])
}

// parent returns the group of a key, which must be clean.
func parent(key string) string { return key[:max(strings.LastIndexByte(key, '/'), 1)] }

// keyOfFile returns the key of an external leaf: its path without the extension. As in Python, dots at the beginning of
// the name of the file do not begin an extension.
func keyOfFile(name string) string {
	dir, file := path.Split(name)
	if i := strings.LastIndexByte(file, '.'); strings.Trim(file[:max(i, 0)], ".") != "" {
		file = file[:i]
	}
	return "/" + dir + file
}

// ignoredFile reports whether a file is no leaf: a lock file, or a leaf that is being written.
func ignoredFile(name string) bool {
	return name == embedFile || strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".b2lock")
}

// knownExtension reports whether python-blosc2 takes a file for a leaf because of its name.
func knownExtension(name string) bool {
	switch path.Ext(name) {
	case ".b2nd", ".b2f", ".b2b":
		return true
	}
	return false
}

// cleanKey returns the key that a caller means: "a/b", "/a/b", "/a//b" and "/a/b/" are the same. Elements "." and ".."
// remain. No leaf has them, and checkStored refuses them.
func cleanKey(key string) string {
	if strings.HasPrefix(key, "/") && key[len(key)-1] != '/' && !strings.Contains(key, "//") {
		return key
	}
	return "/" + strings.Join(strings.FieldsFunc(key, func(c rune) bool { return c == '/' }), "/")
}

// keyOfName returns the key of a name of package fs.
func keyOfName(name string) string {
	if name == "." {
		return "/"
	}
	return cleanKey(name)
}

// isInside reports whether a key is below a group.
func isInside(key, group string) bool {
	return group == "/" || len(key) > len(group) && key[len(group)] == '/' && strings.HasPrefix(key, group)
}

// join returns the key of a name below a group.
func join(group, name string) string {
	if group == "/" {
		return "/" + name
	}
	return group + "/" + name
}
