package main

import (
	"encoding/hex"
	"fmt"
)

// runVLMeta lists, reads and changes variable-length metalayers.
func runVLMeta(e *env, args []string) error {
	fs := newFlags("vlmeta")
	asHex := fs.Bool("hex", false, "")
	args, err := parseArgs(fs, args, 1, 4)
	if err != nil {
		return err
	}
	path, action, rest := args[0], "list", []string(nil)
	if len(args) > 1 {
		action, rest = args[1], args[2:]
	}
	want, ok := map[string]int{"list": 0, "get": 1, "set": 2, "delete": 1}[action]
	switch {
	case !ok:
		return usagef("unknown action %q, want list, get, set or delete", action)
	case len(rest) != want:
		return usagef("%s takes %d arguments after its name, got %d", action, want, len(rest))
	case action == "list" || action == "get":
		return readVLMeta(e, path, rest, *asHex)
	}
	var value []byte
	if action == "set" {
		if value, err = vlmetaBytes(rest[1], *asHex); err != nil {
			return err
		}
	}
	f, err := openEdit(e.ctx, path)
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
		err = b.DeleteVLMeta(rest[0])
	} else {
		err = b.SetVLMeta(rest[0], value)
	}
	if err != nil {
		return err
	}
	return b.Commit()
}

// readVLMeta prints the value of a metalayer, or the names and values of all metalayers.
func readVLMeta(e *env, path string, name []string, asHex bool) error {
	s, err := openFrame(e.ctx, path)
	if err != nil {
		return err
	}
	defer s.close()
	f := s.frame
	names := name
	if len(name) == 0 {
		names = f.VLMetaNames()
	}
	for _, n := range names {
		b, err := f.VLMeta(n)
		if err != nil {
			return err
		}
		text := hex.EncodeToString(b)
		if !asHex {
			if text, err = unpackJSON(b); err != nil {
				return fmt.Errorf("vlmeta %s: %w (use -hex to print the bytes)", n, err)
			}
		}
		if len(name) == 0 {
			text = n + ": " + text
		}
		fmt.Fprintln(e.out, text)
	}
	return nil
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
