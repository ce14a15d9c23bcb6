package storage

import (
	"context"
	"iter"
)

// Files are the files of an opened directory, with the methods of frame.Objects that do not write.
type Files struct{ Root Root }

// Get returns the first n bytes of a file, or all if it has fewer, and its size.
func (d Files) Get(_ context.Context, name string, n int64) ([]byte, int64, error) {
	f, err := OpenFile(d.Root, name, false)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, 0, err
	}
	b, err := ReadAll(f, 0, min(n, size))
	return b, size, err
}

// List ranges over the names of the files.
func (d Files) List(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		files, err := d.Root.ReadDir(".")
		if err != nil {
			yield("", err)
			return
		}
		for _, x := range files {
			if !yield(x.Name(), nil) {
				return
			}
		}
	}
}

// Remove removes a file.
func (d Files) Remove(_ context.Context, name string) error { return d.Root.Remove(name) }
