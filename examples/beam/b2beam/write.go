package b2beam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

func init() {
	beam.RegisterType(reflect.TypeFor[*writeFn]())
	beam.RegisterType(reflect.TypeFor[*finishFn]())
}

// Write writes the arrays of tiles into a folder that all workers share, each as a sparse array: array "2024/t2m" is
// the directory dir/2024/t2m.b2nd. It returns the arrays, a PCollection<File>, when they are finished. Until then they
// cannot be opened.
//
// A tile must consist of whole chunks, of the shape o.Chunks or, if that is nil, of the automatic shape. Tiles of Read
// do if the new chunks are the old ones, or divide ReadOptions.Tile. See Rechunk for others. o.Overwrite, Storage,
// Objects, Codecs and UserFilters do not apply: Write panics. The attributes of o are those of every array. An array
// without items has no tiles, and is not written.
//
// A pipeline that has failed can be run again: it writes all chunks again and finishes the array. An array that is
// finished already must have the same layout and the same bytes; otherwise the pipeline fails with fs.ErrExist.
func Write(s beam.Scope, dir string, tiles beam.PCollection, o *ndarray.CreateOptions) beam.PCollection {
	s = s.Scope("b2beam.Write")
	opts := options(o)
	if opts.Overwrite || opts.Storage != nil || opts.Objects != nil || opts.Codecs != nil || opts.UserFilters != nil {
		panic("b2beam: the options Overwrite, Storage, Objects, Codecs and UserFilters do not apply to Write")
	}
	if opts.Concurrency == 0 {
		opts.Concurrency = 1 // a runner processes several tiles at a time
	}
	attrs := opts.Attrs
	opts.Attrs = nil
	fn := &writeFn{Dir: dir}
	var err, attrsErr error
	fn.Options, err = json.Marshal(opts)
	if attrs != nil {
		fn.Attrs, attrsErr = meta.Marshal(attrs)
	}
	if err := errors.Join(err, attrsErr); err != nil {
		panic(fmt.Sprintf("b2beam: options of Write: %v", err))
	}
	written := beam.ParDo(s, fn, tiles)
	return beam.ParDo(s, &finishFn{dir}, beam.GroupByKey(s, written))
}

// writeFn writes tiles.
type writeFn struct {
	Dir     string
	Options []byte // ndarray.CreateOptions in JSON, without the attributes
	Attrs   []byte // in MessagePack, as JSON would make integers floats; or nil

	create ndarray.CreateOptions
	arrays map[string]*ndarray.Regions // open ones by path
}

// maxOpen is the largest number of arrays that a writer keeps open.
const maxOpen = 64

// Setup decodes the options.
func (fn *writeFn) Setup() error {
	fn.create = ndarray.CreateOptions{}
	err := json.Unmarshal(fn.Options, &fn.create)
	if err == nil && fn.Attrs != nil {
		err = meta.Unmarshal(fn.Attrs, &fn.create.Attrs)
	}
	return err
}

// ProcessElement writes a tile, and emits the array and the number of chunks.
func (fn *writeFn) ProcessElement(ctx context.Context, k Key, t Tile, emit func(string, int64)) error {
	if _, err := t.check(k); err != nil {
		return fmt.Errorf("b2beam: %w", err)
	}
	path, err := arrayPath(fn.Dir, k.Array)
	if err != nil {
		return fmt.Errorf("b2beam: %v: %w", k, err)
	}
	r, err := fn.open(ctx, path, t)
	if err != nil {
		return fmt.Errorf("b2beam: %v: %w", k, err)
	}
	if err := r.WriteBytes(ctx, t.Data, t.box(k).Selection()...); err != nil {
		return fmt.Errorf("b2beam: %v of shape %v: %w", k, t.Shape, err)
	}
	chunks := int64(1)
	for axis, n := range r.Chunks() {
		chunks *= ceilDiv(t.Shape[axis], n)
	}
	chunksWritten.Inc(ctx, chunks)
	bytesWritten.Inc(ctx, int64(len(t.Data)))
	emit(k.Array, chunks)
	return nil
}

// arrayPath returns the path of an array in a folder.
func arrayPath(dir, array string) (string, error) {
	name, err := filepath.Localize(array)
	if err != nil || name == "." {
		return "", fmt.Errorf("%w: the name is not that of a file below a folder", ndarray.ErrParam)
	}
	return filepath.Join(dir, name+".b2nd"), nil
}

// open returns the array at a path. It lays the array out if there is none.
func (fn *writeFn) open(ctx context.Context, path string, t Tile) (*ndarray.Regions, error) {
	r := fn.arrays[path]
	if r == nil {
		if len(fn.arrays) >= maxOpen {
			if err := fn.Teardown(); err != nil {
				return nil, err
			}
		}
		var err error
		if r, err = openRegions(ctx, path, t, &fn.create); err != nil {
			return nil, err
		}
		if fn.arrays == nil {
			fn.arrays = map[string]*ndarray.Regions{}
		}
		fn.arrays[path] = r
	}
	if !slices.Equal(r.Shape(), t.Of) || r.DType().String() != t.DType {
		return nil, fmt.Errorf("%w: a tile of an array of shape %v and dtype %s, but %s has %v and %v", ndarray.ErrShape, t.Of, t.DType, path, r.Shape(), r.DType())
	}
	return r, nil
}

// openRegions lays out the array of a tile, or opens it if another writer has laid it out or finished it.
func openRegions(ctx context.Context, path string, t Tile, o *ndarray.CreateOptions) (*ndarray.Regions, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	r, exists := ndarray.CreateRegions(ctx, path, t.Of, t.DType, o)
	if !errors.Is(exists, fs.ErrExist) {
		return r, exists
	}
	// A late duplicate of a tile finds the array finished. It is accepted if it changes nothing.
	a, err := ndarray.Open(ctx, path, nil)
	if err != nil {
		return nil, exists // unfinished, with another layout, or no array
	}
	defer a.Close()
	return ndarray.OpenRegions(ctx, path, &ndarray.OpenOptions{Concurrency: o.Concurrency, NoSync: o.NoSync})
}

// Teardown closes the arrays.
func (fn *writeFn) Teardown() error {
	var err error
	for _, r := range fn.arrays {
		err = errors.Join(err, r.Close())
	}
	clear(fn.arrays)
	return err
}

// finishFn finishes arrays, once all of their tiles are written.
type finishFn struct{ Dir string }

// ProcessElement finishes an array, and emits it. It does nothing to an array that is finished.
func (fn *finishFn) ProcessElement(ctx context.Context, array string, _ func(*int64) bool, emit func(File)) error {
	path, err := arrayPath(fn.Dir, array)
	if err != nil {
		return fmt.Errorf("b2beam: array %q: %w", array, err)
	}
	r, err := ndarray.OpenRegions(ctx, path, nil)
	if err == nil {
		err = errors.Join(r.Finish(ctx), r.Close())
	}
	if err != nil {
		return fmt.Errorf("b2beam: array %q: %s: %w", array, path, err)
	}
	arraysFinished.Inc(ctx, 1)
	emit(File{Name: array, Path: path})
	return nil
}
