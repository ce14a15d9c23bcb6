package b2beam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/internal/paths"
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
// The folder may be one in a bucket, such as s3://bucket/dir?region=eu-west-1. Then a chunk is an object, and the array
// is at the URL s3://bucket/dir/2024/t2m.b2nd/?region=eu-west-1. The program must import a driver of gocloud.dev/blob
// for the scheme, such as gocloud.dev/blob/s3blob. Workers take their credentials from where the driver finds them. A
// name that begins with file:// is a path. Write panics for a name that is not UTF-8: Beam cannot send it to workers.
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
	if !utf8.ValidString(dir) {
		panic(fmt.Sprintf("b2beam: the name of the folder %q is not UTF-8", dir))
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
	return beam.ParDo(s, &finishFn{Dir: dir}, beam.GroupByKey(s, written))
}

// writeFn writes tiles.
type writeFn struct {
	Dir     string
	Options []byte // ndarray.CreateOptions in JSON, without the attributes
	Attrs   []byte // in MessagePack, as JSON would make integers floats; or nil

	create ndarray.CreateOptions
	arrays map[string]*ndarray.Regions // open ones by name
	bucket bucket
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
	name, err := arrayName(fn.Dir, k.Array)
	if err != nil {
		return fmt.Errorf("b2beam: %v: %w", k, err)
	}
	r, err := fn.open(ctx, name, t)
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

// open returns the array with a name. It lays the array out if there is none.
func (fn *writeFn) open(ctx context.Context, name string, t Tile) (*ndarray.Regions, error) {
	r := fn.arrays[name]
	if r == nil {
		if len(fn.arrays) >= maxOpen {
			if err := fn.closeArrays(); err != nil {
				return nil, err
			}
		}
		var err error
		if r, err = fn.openRegions(ctx, name, t); err != nil {
			return nil, err
		}
		if fn.arrays == nil {
			fn.arrays = map[string]*ndarray.Regions{}
		}
		fn.arrays[name] = r
	}
	if !slices.Equal(r.Shape(), t.Of) || r.DType().String() != t.DType {
		return nil, fmt.Errorf("%w: a tile of an array of shape %v and dtype %s, but %s has %v and %v", ndarray.ErrShape, t.Of, t.DType, shown(name), r.Shape(), r.DType())
	}
	return r, nil
}

// openRegions lays out the array of a tile, or opens it if another writer has laid it out or finished it.
func (fn *writeFn) openRegions(ctx context.Context, name string, t Tile) (*ndarray.Regions, error) {
	create := fn.create
	path, open, err := fn.bucket.place(ctx, name)
	if err == nil && open.Objects == nil {
		err = os.MkdirAll(paths.Dir(path), 0o777)
	}
	if err != nil {
		return nil, err
	}
	create.Objects, open.Concurrency, open.NoSync = open.Objects, create.Concurrency, create.NoSync
	r, exists := ndarray.CreateRegions(ctx, path, t.Of, t.DType, &create)
	if !errors.Is(exists, fs.ErrExist) {
		return r, exists
	}
	// A late duplicate of a tile finds the array finished. It is accepted if it changes nothing.
	var finished cache
	a, err := finished.open(ctx, File{Path: name})
	if err != nil {
		r, err := ndarray.OpenRegions(ctx, path, open)
		if err != nil {
			return nil, fmt.Errorf("%s is not an array that Write began, remove it or use another folder: %w", shown(name), fs.ErrExist)
		}
		return nil, errors.Join(exists, r.Close()) // unfinished, with another layout
	}
	defer finished.close()
	create.Objects, create.Sparse = nil, false // both are how it is stored
	if want, err := ndarray.Zeros(ctx, "", t.Of, t.DType, &create); err != nil {
		return nil, err
	} else if same, err := sameLayout(a, want); err != nil {
		return nil, err
	} else if !same {
		return nil, fmt.Errorf("%s is finished, with another shape, dtype or other options: %w", shown(name), fs.ErrExist)
	}
	return ndarray.OpenRegions(ctx, path, open)
}

// sameLayout reports whether two arrays have the same shape, dtype, partition, parameters, metalayers and attributes.
func sameLayout(a, b *ndarray.Array) (bool, error) {
	f, g := a.Frame(), b.Frame()
	x, y := f.Info(), g.Info()
	names := f.VLMetaNames()
	same := func(l, m meta.Layer) bool { return l.Name == m.Name && bytes.Equal(l.Content, m.Content) }
	if x.ChunkSize != y.ChunkSize || x.Checksums != y.Checksums || !reflect.DeepEqual(x.Params, y.Params) ||
		!slices.EqualFunc(f.Meta(), g.Meta(), same) || !slices.Equal(names, g.VLMetaNames()) { // b2nd is in Meta
		return false, nil
	}
	for _, name := range names {
		l, err := f.VLMeta(name)
		if err != nil {
			return false, err
		}
		if m, err := g.VLMeta(name); err != nil || !bytes.Equal(l, m) {
			return false, err
		}
	}
	return true, nil
}

// Teardown closes the arrays and the bucket.
func (fn *writeFn) Teardown() error { return errors.Join(fn.closeArrays(), fn.bucket.close()) }

// closeArrays closes the arrays.
func (fn *writeFn) closeArrays() error {
	var err error
	for _, r := range fn.arrays {
		err = errors.Join(err, r.Close())
	}
	clear(fn.arrays)
	return err
}

// finishFn finishes arrays, once all of their tiles are written. A runner counts the tiles of a bundle once, even if it
// processes the bundle again.
type finishFn struct {
	Dir string

	bucket bucket
}

// ProcessElement finishes an array, and emits it. It does nothing to an array that is finished. counts are the numbers
// of chunks of the tiles.
func (fn *finishFn) ProcessElement(ctx context.Context, array string, counts func(*int64) bool, emit func(File)) error {
	name, err := arrayName(fn.Dir, array)
	if err != nil {
		return fmt.Errorf("b2beam: array %q: %w", array, err)
	}
	var chunks, n int64
	for counts(&n) {
		chunks += n
	}
	if err := fn.finish(ctx, name, chunks); err != nil {
		return fmt.Errorf("b2beam: array %q: %s: %w", array, shown(name), err)
	}
	arraysFinished.Inc(ctx, 1)
	emit(File{Name: array, Path: name})
	return nil
}

// finish finishes the array with a name, whose tiles have a number of chunks.
func (fn *finishFn) finish(ctx context.Context, name string, chunks int64) error {
	path, o, err := fn.bucket.place(ctx, name)
	if err != nil {
		return err
	}
	r, err := ndarray.OpenRegions(ctx, path, o)
	if err != nil {
		return err
	}
	if want := (grid{r.Shape(), r.Chunks()}).len(); chunks != want {
		err = fmt.Errorf("the tiles have %d chunks, want %d: they do not cover the array once", chunks, want)
	} else {
		err = r.Finish(ctx)
	}
	return errors.Join(err, r.Close())
}

// Teardown closes the bucket.
func (fn *finishFn) Teardown() error { return fn.bucket.close() }
