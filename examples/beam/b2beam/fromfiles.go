package b2beam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

func init() {
	beam.RegisterType(reflect.TypeFor[*importFn]())
}

// FilesOptions are the options of FromFiles.
type FilesOptions struct {
	// ReadOptions choose the tiles. If Tile and MaxTile are zero, MaxTile is 16 MiB: the files are read in long runs.
	ReadOptions
	// Chunks is the shape of the chunks that make up a tile, -1 for a whole axis. It should be that of the options of
	// Write. nil selects the shape that Write selects with this Codec, CodecMeta and Level, and default options
	// otherwise.
	Chunks    []int64
	Codec     codec.ID
	CodecMeta uint8
	Level     int
	// Raw describes files without a header. Without it, files are .npy files.
	Raw *Raw
}

// Raw describes the items of a file that has no header. The file must end with the last item.
type Raw struct {
	Offset int64 // bytes before the first item
	Shape  []int64
	DType  string // a NumPy dtype
}

// FromFiles returns the tiles of the arrays in .npy files, or in files of raw items. The items may be in C order or, in
// .npy files, in Fortran order. Like Read, it is a splittable DoFn.
func FromFiles(s beam.Scope, files []File, o *FilesOptions) beam.PCollection {
	s = s.Scope("b2beam.FromFiles")
	fn := &importFn{Options: options(o)}
	if fn.Options.Tile == nil && fn.Options.MaxTile == 0 {
		fn.Options.MaxTile = 16 << 20
	}
	return beam.ParDo(s, fn, beam.ParDo(s, &pinFn{}, beam.CreateList(s, files)))
}

// importFn reads the tiles of a file. Its restriction is a range of tiles.
type importFn struct {
	tileRanges
	Options FilesOptions

	file items
}

// open returns a file and its tiles.
func (fn *importFn) open(ctx context.Context, f File) (grid, error) {
	var g grid
	err := fn.file.open(ctx, f, fn.Options.Raw)
	if err == nil {
		g, err = fn.grid(ctx)
	}
	if err == nil {
		err = f.inside(g.shape)
	}
	if err != nil {
		return g, fmt.Errorf("b2beam: array %q: %s: %w", f.Name, shown(f.Path), err)
	}
	return g, nil
}

// grid returns the tiles of the open file.
func (fn *importFn) grid(ctx context.Context) (grid, error) {
	h := fn.file.header
	g, err := newGrid(h.Shape, fn.Options.Chunks)
	if fn.Options.Chunks == nil {
		g.tile, err = automaticChunks(ctx, h, &ndarray.CreateOptions{
			Codec: fn.Options.Codec, CodecMeta: fn.Options.CodecMeta, Level: fn.Options.Level,
		})
	}
	if err != nil {
		return g, err
	}
	return fn.Options.grid(g.shape, g.tile, h.DType.Size, h.Fortran)
}

// automaticChunks returns the shape of the chunks of an array with the given options.
func automaticChunks(ctx context.Context, h npy.Header, o *ndarray.CreateOptions) ([]int64, error) {
	a, err := ndarray.Zeros(ctx, "", h.Shape, h.DType.String(), o)
	if err != nil {
		return nil, err
	}
	return a.Chunks(), nil
}

// CreateInitialRestriction returns all tiles of a file.
func (fn *importFn) CreateInitialRestriction(ctx context.Context, f File) (offsetrange.Restriction, error) {
	g, err := fn.open(ctx, f)
	if err != nil {
		return offsetrange.Restriction{}, err
	}
	return offsetrange.Restriction{End: g.len()}, nil
}

// ProcessElement emits the tiles that the tracker grants.
func (fn *importFn) ProcessElement(ctx context.Context, rt *sdf.LockRTracker, f File, emit func(Key, Tile)) error {
	g, err := fn.open(ctx, f)
	if err != nil {
		return err
	}
	for i := rt.GetRestriction().(offsetrange.Restriction).Start; rt.TryClaim(i); i++ {
		b := g.box(i)
		t := Tile{Shape: b.Shape, DType: fn.file.header.DType.String()}
		if t.Data, err = fn.file.read(ctx, b); err != nil {
			return f.errorf(b, err)
		}
		tilesRead.Inc(ctx, 1)
		bytesRead.Inc(ctx, int64(len(t.Data)))
		var k Key
		k, t.Of = f.place(b, g.shape)
		emit(k, t)
	}
	return nil
}

// Teardown closes the file.
func (fn *importFn) Teardown() error { return fn.file.close() }

// items is an open file with items that are not compressed.
type items struct {
	path   string
	at     io.ReaderAt // the file, unless it is at a URL
	src    source      // the object at a URL
	closer io.Closer
	header npy.Header
	off    int64 // of the first item
}

// open opens a file, unless it is open already. It returns ErrChanged for another version.
func (f *items) open(ctx context.Context, file File, raw *Raw) error {
	if f.closer != nil && f.path == file.Path && file.check(f.src) == nil {
		return nil
	}
	err := f.close()
	if err == nil {
		err = f.load(ctx, file, raw)
	}
	if err != nil {
		return errors.Join(err, f.close())
	}
	f.path = file.Path
	return nil
}

// load opens a file and reads its header.
func (f *items) load(ctx context.Context, file File, raw *Raw) (err error) {
	var size int64
	if isURL(file.Path) {
		obj, err := openSource(ctx, file.Path, nil)
		if err != nil {
			return err
		}
		f.closer, f.src, size = obj, obj, obj.Size()
		if err := file.check(obj); err != nil {
			return err
		}
	} else {
		local, err := os.Open(strings.TrimPrefix(file.Path, "file://"))
		if err != nil {
			return err
		}
		f.closer, f.at = local, local
		fi, err := local.Stat()
		if err != nil {
			return err
		}
		size = fi.Size()
	}
	if raw != nil {
		f.off, f.header.Shape = raw.Offset, raw.Shape
		f.header.DType, err = meta.ParseDType(raw.DType)
	} else {
		r := io.NewSectionReader(f.reader(ctx), 0, size)
		if f.header, err = npy.ReadHeader(r); err == nil {
			f.off, err = r.Seek(0, io.SeekCurrent)
		}
	}
	if err != nil {
		return err
	}
	return f.check(size, raw != nil)
}

// check returns an error if the items do not fit in a file of size bytes. A raw file must end with the last one.
func (f *items) check(size int64, raw bool) error {
	d, shape := f.header.DType, f.header.Shape
	switch want := byteCount(f.header); {
	case d.Kind == 'O':
		return fmt.Errorf("%w: Python objects", ndarray.ErrType)
	case d.Size == 0:
		return fmt.Errorf("%w: items of dtype %v have no bytes", ndarray.ErrType, d)
	case f.off < 0 || slices.ContainsFunc(shape, func(n int64) bool { return n < 0 }):
		return fmt.Errorf("%w: raw items of shape %v at offset %d", ndarray.ErrParam, shape, f.off)
	case size-f.off < want || raw && size-f.off > want:
		return fmt.Errorf("%w: %d bytes of items, want %d for shape %v", ndarray.ErrShape, max(size-f.off, 0), want, shape)
	}
	return nil
}

// byteCount returns the number of bytes of the items of a file, or math.MaxInt64 if it is larger.
func byteCount(h npy.Header) int64 {
	n := int64(h.DType.Size)
	for _, length := range h.Shape {
		if length > 0 && n > math.MaxInt64/length {
			n = math.MaxInt64
		} else {
			n *= length
		}
	}
	return n
}

// close closes the file.
func (f *items) close() error {
	var err error
	if f.closer != nil {
		err = f.closer.Close()
	}
	*f = items{}
	return err
}

// read returns the items of a box in C order.
func (f *items) read(ctx context.Context, b ndarray.Box) ([]byte, error) {
	size := f.header.DType.Size
	data := make([]byte, b.Size()*int64(size))
	all := ndarray.Box{Start: make([]int64, len(b.Start)), Shape: f.header.Shape}
	if !f.header.Fortran {
		return data, f.readRuns(ctx, data, all, b, size)
	}
	// The items are those of an array with the axes in reverse order.
	if err := f.readRuns(ctx, data, reversed(all), reversed(b), size); err != nil {
		return nil, err
	}
	a, err := ndarray.CreateBytes(ctx, "", reversed(b).Shape, f.header.DType.String(), data, uncompressed())
	if err != nil {
		return nil, err
	}
	v, err := ndarray.Transpose(a)
	if err != nil {
		return nil, err
	}
	return data, v.ReadBytes(ctx, data)
}

// readRuns reads the items of b, a box of all, to dst. It reads an object in a few calls for all runs.
func (f *items) readRuns(ctx context.Context, dst []byte, all, b ndarray.Box, size int) error {
	if f.src == nil {
		return runs(b, all, b, int64(size), func(d, s, n int64) error {
			_, err := f.at.ReadAt(dst[d:d+n], f.off+s)
			return err
		})
	}
	const most = 1 << 16 // bounds the memory for ranges
	var want []frame.Range
	var to []int64
	flush := func() error {
		err := f.src.ReadRanges(ctx, want, func(i int, at int64, b []byte) error {
			copy(dst[to[i]+at:], b)
			return nil
		})
		want, to = want[:0], to[:0]
		return err
	}
	err := runs(b, all, b, int64(size), func(d, s, n int64) error {
		want, to = append(want, frame.Range{Off: f.off + s, Len: n}), append(to, d)
		if len(want) == most {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// reader returns a reader of the file for a call.
func (f *items) reader(ctx context.Context) io.ReaderAt {
	if f.src != nil {
		return object{ctx, f.src}
	}
	return f.at
}

// reversed returns a box with the axes in reverse order.
func reversed(b ndarray.Box) ndarray.Box {
	c := ndarray.Box{Start: slices.Clone(b.Start), Shape: slices.Clone(b.Shape)}
	slices.Reverse(c.Start)
	slices.Reverse(c.Shape)
	return c
}

// object reads an object at a URL under the context of a call.
type object struct {
	ctx context.Context
	source
}

// ReadAt implements io.ReaderAt.
func (o object) ReadAt(p []byte, off int64) (int, error) { return o.ReadAtContext(o.ctx, p, off) }
