package b2beam

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/paths"
	"github.com/goblosc/blosc2/ndarray"
)

// File is a stored array, or a part of an array whose parts are in several files.
type File struct {
	Name string // of the array in the pipeline: elements separated by slashes, such as "2024/t2m"

	// Path is the path of a file or a directory, or a URL. The URL of a sparse array has a slash at the end of its
	// path, such as s3://bucket/a.b2nd/?region=eu-west-1.
	Path string

	// Version is the version of the object at a URL, or of the index of a sparse array: its ETag or Last-Modified. If
	// it is empty, Read and FromFiles set it when the pipeline begins to read the file. A worker that finds another
	// version fails with ndarray.ErrChanged. In a bucket it is the time of the last change, which may have whole
	// seconds.
	Version string

	// Start is the offset of the file's items in an array of shape Of. Both are empty for a file with the whole array.
	Start, Of []int64
}

// Glob returns the files that match a pattern below a folder, in the order of their names. See path.Match for the
// pattern. Characters of root have no special meaning. The name of an array is the path from root without the
// extension. Glob returns an error that wraps fs.ErrNotExist if nothing matches. It runs where the pipeline is built.
func Glob(root, pattern string) ([]File, error) {
	names, err := fs.Glob(os.DirFS(root), path.Clean(pattern))
	if err != nil {
		return nil, fmt.Errorf("b2beam: pattern %q: %w", pattern, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("b2beam: no file in %s matches %q: %w", root, pattern, fs.ErrNotExist)
	}
	slices.Sort(names)
	var files []File
	for _, name := range names {
		files = append(files, File{Name: strings.TrimSuffix(name, path.Ext(name)), Path: paths.Join(root, filepath.FromSlash(name))})
	}
	return files, nil
}

// Concat returns the files as parts of one array, in their order along an axis. It opens each file for its shape, where
// the pipeline is built. The dtypes and the other axes must be equal. Files at URLs get the version that Concat opens.
// It returns ndarray.ErrParam for a file that is a part of an array already.
func Concat(ctx context.Context, name string, axis int, files []File) ([]File, error) {
	var of []int64
	var dtype string
	parts := make([]File, len(files))
	for i, f := range files {
		if len(f.Start) > 0 || len(f.Of) > 0 {
			return nil, fmt.Errorf("b2beam: array %q: %w: the file is a part of an array already", f.Name, ndarray.ErrParam)
		}
		var cached cache
		a, err := cached.open(ctx, f)
		if err == nil {
			err = f.check(cached.src)
		}
		if err != nil {
			cached.close()
			return nil, fmt.Errorf("b2beam: array %q: %w", f.Name, err)
		}
		shape, d := a.Shape(), a.DType().String()
		if cached.src != nil {
			f.Version = cached.src.Version()
		}
		cached.close()
		if i == 0 {
			if axis < 0 || axis >= len(shape) {
				return nil, fmt.Errorf("b2beam: array %q: %w: axis %d of an array of shape %v", f.Name, ndarray.ErrBounds, axis, shape)
			}
			of, dtype = slices.Clone(shape), d
			of[axis] = 0
		}
		same := len(shape) == len(of) && d == dtype
		for k := 0; same && k < len(of); k++ {
			same = k == axis || shape[k] == of[k]
		}
		if !same {
			return nil, fmt.Errorf("b2beam: array %q: %w: shape %v and dtype %s do not match %q", f.Name, ndarray.ErrShape, shape, d, files[0].Name)
		}
		start := make([]int64, len(of))
		start[axis] = of[axis]
		parts[i] = File{Name: name, Path: f.Path, Version: f.Version, Start: start}
		of[axis] += shape[axis]
	}
	for i := range parts {
		parts[i].Of = of
	}
	return parts, nil
}

// Chunks returns the chunk shape of the array in the file.
func (f File) Chunks(ctx context.Context) ([]int64, error) {
	var c cache
	defer c.close()
	a, err := c.open(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("b2beam: array %q: %s: %w", f.Name, shown(f.Path), err)
	}
	return a.Chunks(), nil
}

// place returns the key and the shape of the whole array for a box of the file, whose shape is given.
func (f File) place(b ndarray.Box, shape []int64) (Key, []int64) {
	if len(f.Of) == 0 {
		return Key{f.Name, b.Start}, shape
	}
	start := slices.Clone(b.Start)
	for axis := range start {
		start[axis] += f.Start[axis]
	}
	return Key{f.Name, start}, f.Of
}

// inside returns ErrShape if the file's items, whose shape is given, are not inside the array of shape Of.
func (f File) inside(shape []int64) error {
	fits := len(f.Start) == len(f.Of) && (len(f.Of) == 0 || len(f.Of) == len(shape))
	for i := 0; fits && i < len(f.Of); i++ {
		fits = f.Start[i] >= 0 && shape[i] <= f.Of[i]-f.Start[i]
	}
	if !fits {
		return fmt.Errorf("%w: items of shape %v at %v of an array of shape %v", ndarray.ErrShape, shape, f.Start, f.Of)
	}
	return nil
}

// check returns ErrChanged if src is another version of the file. src is nil for a file that is not at a URL.
func (f File) check(src source) error {
	if src == nil || f.Version == "" || src.Version() == f.Version {
		return nil
	}
	return fmt.Errorf("version %s, want %s: %w", src.Version(), f.Version, ndarray.ErrChanged)
}

// errorf returns an error of a tile of a file.
func (f File) errorf(b ndarray.Box, err error) error {
	return fmt.Errorf("b2beam: %v: %s: %w", Key{f.Name, b.Start}, shown(f.Path), err)
}

// cache keeps the array open that was opened last.
type cache struct {
	path  string
	array *ndarray.Array
	src   source // of the array, if it is at a URL
}

// open returns the array in a file, which may have another version than the file. It reads with one goroutine, because
// a runner processes several tiles at a time.
func (c *cache) open(ctx context.Context, f File) (_ *ndarray.Array, err error) {
	if c.array != nil && c.path == f.Path && f.check(c.src) == nil {
		return c.array, nil
	}
	c.close()
	o := &ndarray.OpenOptions{Concurrency: 1}
	if !isURL(f.Path) {
		c.array, err = ndarray.Open(ctx, f.Path, o)
	} else if c.src, err = openSource(ctx, f.Path, nil); err == nil {
		c.array, err = ndarray.OpenSource(ctx, c.src, o)
	}
	if err != nil {
		c.array = nil
		c.close()
		return nil, err
	}
	c.path = f.Path
	return c.array, nil
}

// pinFn sets the versions of files.
type pinFn struct{}

// ProcessElement emits a file with its version. Only those at URLs have one.
func (pinFn) ProcessElement(ctx context.Context, f File, emit func(File)) error {
	if f.Version == "" && isURL(f.Path) {
		src, err := openSource(ctx, f.Path, &remote.Options{Small: true})
		if err != nil {
			return fmt.Errorf("b2beam: array %q: %s: %w", f.Name, shown(f.Path), err)
		}
		f.Version = src.Version()
		if err := src.Close(); err != nil {
			return err
		}
	}
	emit(f)
	return nil
}

// close closes what is open.
func (c *cache) close() error {
	var err error
	if c.array != nil {
		err = c.array.Close()
	}
	if c.src != nil {
		err = errors.Join(err, c.src.Close())
	}
	*c = cache{}
	return err
}
