package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goblosc/blosc2/frame/store"
)

// storeError returns the error of a verb that cannot use the store, group or leaf at a path, which is key in st. It
// names the kind of the entry, and the verb that prints it.
func storeError(e *env, st *openStore, path, key string, otherwise error) error {
	if err := e.ctx.Err(); err != nil {
		return err
	}
	name, _, ok := splitStore(path)
	if !ok || path == "-" {
		name = path
	}
	if key != "/" && !st.Has(key) {
		return fmt.Errorf("%s has no key %s; list its keys with blosc2 ls %s", name, key, name)
	}
	entry, err := st.Stat(e.ctx, key)
	switch {
	case err != nil:
		return otherwise
	case entry.Kind == store.KindTable && key == "/":
		return fmt.Errorf("%s is a table in a store; print it with blosc2 table %s, or list its store with blosc2 ls %s", shownPath(path), path, path)
	case entry.Kind != store.KindGroup:
		return wrongKind(path, entry.Kind, "", otherwise)
	}
	member := ""
	for entry, err := range st.Walk(e.ctx, key) {
		if err == nil && entry.Kind != store.KindGroup {
			member = entry.Key
			break
		}
	}
	if member == "" && key == "/" {
		return otherwise // no store, or an empty one
	}
	kind := "a store"
	if key != "/" {
		kind = "a group of a store"
	}
	text := fmt.Sprintf("%s is %s; list it with blosc2 ls %s or blosc2 info -tree %s", shownPath(path), kind, path, path)
	if member != "" && path != "-" {
		if isURL(name) {
			member = escapedKey(member)
		}
		text += ", and name a member, such as " + name + member
	}
	return errors.New(text)
}

// npyError returns the error of a verb for a file that is a .npy file, or otherwise err.
func npyError(path string, err error) error {
	if f, _, e := openRegular(path); e == nil {
		defer f.Close()
		head := make([]byte, 6)
		if _, e := io.ReadFull(f, head); e == nil && string(head) == "\x93NUMPY" {
			return fmt.Errorf("%s is a .npy file; convert it with blosc2 create OUT %s", path, path)
		}
	}
	return err
}

// shownPath returns a path for messages.
func shownPath(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// pathKindError returns the error of a verb that needs another kind of frame than there is at a path.
func pathKindError(e *env, path, want string, otherwise error) error {
	s, err := openSource(e, path)
	if err != nil {
		return otherwise
	}
	defer s.close()
	s.path = path
	return kindError(e, s, want, otherwise)
}

// kindError is pathKindError for an open source.
func kindError(e *env, s *source, want string, otherwise error) error {
	if s.frame == nil {
		return otherwise
	}
	entry, err := store.Describe(e.ctx, s.frame)
	if err != nil {
		return otherwise
	}
	return wrongKind(s.path, entry.Kind, want, otherwise)
}

// wrongKind returns an error with the kind of the frame at a path, and the verb that prints it. want is the kind that
// a verb needs, or empty.
func wrongKind(path string, kind store.Kind, want string, otherwise error) error {
	verb, args := "", ""
	switch kind {
	case store.KindArray, store.KindTensor:
		verb, args = "slice", " :"
	case store.KindObjects, store.KindBatches, store.KindLists:
		verb = "objects"
	case store.KindTable:
		verb = "table"
	case store.KindFrame:
		verb = "dump"
	default:
		return otherwise
	}
	article := "a"
	if strings.ContainsRune("aeiou", rune(kind.String()[0])) {
		article = "an"
	}
	text := fmt.Sprintf("%s is %s %s", shownPath(path), article, kind)
	if want != "" {
		text += ", not " + want
	}
	return fmt.Errorf("%s; print it with blosc2 %s %s%s", text, verb, path, args)
}
