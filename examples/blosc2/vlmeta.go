package main

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// vlmetaCmd lists, reads and changes variable-length metalayers.
type vlmetaCmd struct {
	Hex    bool    `help:"values are bytes in hexadecimal instead of JSON"`
	Path   string  `arg:"" name:"PATH"`
	Action string  `arg:"" optional:"" name:"ACTION"`
	Name   *string `arg:"" optional:"" name:"NAME"`
	Value  *string `arg:"" optional:"" name:"VALUE"`
}

// Help describes the verb.
func (vlmetaCmd) Help() string {
	return `
Variable-length metalayers are values with a name, in MessagePack by convention. ACTION is one of these:

  list                 print every metalayer as "name: JSON", one per line (the default action)
  get NAME             print the value as JSON; a value that JSON cannot express becomes a descriptive string
  set NAME VALUE       add or replace a metalayer by a value in JSON
  delete NAME          delete a metalayer

If PATH has a lock file, set and delete wait until no other process reads or edits PATH.

Examples:
  blosc2 vlmeta a.b2nd set author '{"name": "Ada", "year": 1843}'
`
}

// Run runs the verb.
func (v *vlmetaCmd) Run(e *env) error {
	action := v.Action
	if action == "" {
		action = "list"
	}
	want, ok := map[string]int{"list": 0, "get": 1, "set": 2, "delete": 1}[action]
	var names []string
	if v.Name != nil {
		names = []string{*v.Name}
	}
	switch {
	case !ok:
		return usagef("unknown ACTION %q, want list, get, set or delete", action)
	case want > 0 && v.Name == nil:
		return usagef("%s needs the argument NAME", action)
	case want > 1 && v.Value == nil:
		return usagef("%s needs the argument VALUE", action)
	case want < 1 && v.Name != nil:
		return usagef("too many arguments: %s takes no NAME", action)
	case want < 2 && v.Value != nil:
		return usagef("too many arguments: %s takes no VALUE", action)
	case action == "delete" && v.Hex:
		return usagef("-hex is for values, and delete takes none")
	case action == "list" || action == "get":
		return readVLMeta(e, v.Path, names, v.Hex)
	}
	var value []byte
	if action == "set" {
		var err error
		if value, err = vlmetaBytes(*v.Value, v.Hex); err != nil {
			return err
		}
	}
	f, err := openEdit(e, v.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := f.Begin(e.ctx)
	if err != nil {
		return err
	}
	defer b.Rollback()
	if action == "delete" {
		err = b.DeleteVLMeta(*v.Name)
	} else {
		err = b.SetVLMeta(*v.Name, value)
	}
	if err != nil {
		return err
	}
	return b.Commit()
}

// readVLMeta prints the value of a metalayer, or the names and values of all metalayers.
func readVLMeta(e *env, path string, name []string, asHex bool) error {
	s, err := openFrame(e, path)
	if err != nil {
		return err
	}
	defer s.close()
	f := s.frame
	names := name
	if len(name) == 0 {
		names = f.VLMetaNames()
	}
	var failed []error
	for _, n := range names {
		b, err := f.VLMeta(n)
		if err != nil {
			return err
		}
		text := hex.EncodeToString(b)
		if !asHex {
			if text, err = unpackJSON(b, f.CheckAlloc); err != nil {
				failed = append(failed, fmt.Errorf("vlmeta %s: %w (use -hex to print the bytes)", n, err))
				continue
			}
		}
		if len(name) == 0 {
			text = visible(n) + ": " + text
		}
		fmt.Fprintln(e.out, text)
	}
	return errors.Join(failed...)
}

// vlmetaBytes returns the bytes of a value in JSON or hexadecimal.
func vlmetaBytes(text string, asHex bool) ([]byte, error) {
	if !asHex {
		return packJSON(text)
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil, usagef("%q is not hexadecimal", text)
	}
	return b, nil
}
