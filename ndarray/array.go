package ndarray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// DType is a NumPy dtype. See package meta.
type DType = meta.DType

// A Reader can be read as an N-dimensional array: an *Array or a *View. Functions that only read accept a Reader. No
// other package can implement it. Any number of goroutines may use it.
type Reader interface {
	// Shape returns the shape in items, the first axis first. The caller owns the slice.
	Shape() []int64
	// Size returns the number of items.
	Size() int64
	// DType returns the NumPy dtype of the items.
	DType() DType
	// SelectionShape returns the shape of a selection. See Array.SelectionShape.
	SelectionShape(sel ...Index) ([]int64, error)
	// ReadBytes reads a selection into dst, in C order, as the items are stored. See Array.ReadBytes.
	ReadBytes(ctx context.Context, dst []byte, sel ...Index) error
	// CreateOptions returns the options for creating an array like this one: its partition and compression parameters.
	// The caller owns the result.
	CreateOptions() *CreateOptions

	// source returns the array, and the mapping of a view or nil.
	source() (*Array, *selection.Mapping)
}

// A Writer accepts items: an *Array or a *View that neither repeats nor converts items, where each call is one commit,
// a *Batch, or a *Regions. No other package can implement it.
type Writer interface {
	// DType returns the NumPy dtype of the items.
	DType() DType
	// WriteBytes writes src to a selection. See Array.WriteBytes.
	WriteBytes(ctx context.Context, src []byte, sel ...Index) error
	// FillBytes writes the same item to all items of a selection. See Array.FillBytes.
	FillBytes(ctx context.Context, item []byte, sel ...Index) error

	source() (*Array, *selection.Mapping)
}

// An Array is an open N-dimensional array. Any number of goroutines may use it: each read sees one committed state,
// regardless of concurrent edits, and edits wait for each other.
type Array struct {
	f        *frame.Frame
	engine   engine.Frame // of f
	layer    string       // name of the metalayer with the shapes
	itemSize int
	dtype    DType
	opts     engine.Options // of the frame, for what is made from this array
	state    atomic.Pointer[state]
	held     engine.View // the only state of an array that hold made, or nil
	reads    sync.Pool   // of *reading
}

// state holds the shapes of one commit.
type state struct {
	content []byte // of the metalayer with the shapes
	rec     *meta.Array
	geo     *grid.Geometry
}

// Open opens the array in a file, or in the directory of a sparse frame, for reading. It reads the header, the index
// and the trailer of the frame. ctx bounds this, and waiting for a lock file; the Array does not retain it. The error
// wraps ErrFormat, ErrNotArray, ErrCorrupt, errors.ErrUnsupported, ErrTooLarge or ErrParam, or is an error of ctx or of
// the operating system.
//
// An open file keeps a file descriptor and the index. Buffers of a few blocks for each goroutine that reads are
// released by the garbage collector. Each Array has its own cache of OpenOptions.Cache bytes: with many open arrays,
// divide the memory among them.
func Open(ctx context.Context, name string, o *OpenOptions) (*Array, error) {
	f, err := frame.Open(ctx, name, o.frameOptions())
	if err != nil {
		return nil, hint(err, name, nil)
	}
	a, err := fromFrame(ctx, f, o)
	return a, hint(err, name, nil)
}

// Edit opens the array in a file or directory for reading and writing. See Open.
//
// Without Locking, only one Array may edit a file at a time: two damage it, and a process that has it open for reading
// may see edits in part. See [frame.Edit].
func Edit(ctx context.Context, name string, o *OpenOptions) (*Array, error) {
	f, err := frame.Edit(ctx, name, o.frameOptions())
	if err != nil {
		return nil, hint(err, name, nil)
	}
	a, err := fromFrame(ctx, f, o)
	return a, hint(err, name, nil)
}

// OpenReaderAt opens the array in the first size bytes of r, for reading. r may be an uncompressed member of a zip file
// or a bytes.Reader; for an array that starts later, use an io.SectionReader. r must be safe for concurrent use if
// several goroutines read. Close does not close r. See Open.
func OpenReaderAt(ctx context.Context, r io.ReaderAt, size int64, o *OpenOptions) (*Array, error) {
	f, err := frame.OpenReaderAt(ctx, r, size, o.frameOptions())
	if err != nil {
		return nil, err
	}
	return fromFrame(ctx, f, o)
}

// OpenSource opens the array in src, for reading: an object in a store, or anything that can be read under a context.
// Reads of the array pass their context on to src. The source limits the requests: see Options.Requests of package
// remote. Close does not close src. See Open.
func OpenSource(ctx context.Context, src frame.Source, o *OpenOptions) (*Array, error) {
	f, err := frame.OpenSource(ctx, src, o.frameOptions())
	if err != nil {
		return nil, err
	}
	return fromFrame(ctx, f, o)
}

// OpenBytes opens the array in b for reading. The Array retains b, which must not change while the array is open. See
// Open.
func OpenBytes(b []byte, o *OpenOptions) (*Array, error) {
	f, err := frame.OpenBytes(b, o.frameOptions())
	if err != nil {
		return nil, hint(err, "", b)
	}
	a, err := fromFrame(context.Background(), f, o)
	return a, hint(err, "", b)
}

// hint adds the function that opens a file to the error of opening it as an array, if the name or the bytes show it.
func hint(err error, name string, b []byte) error {
	if !errors.Is(err, ErrFormat) {
		return err
	}
	ext := filepath.Ext(name)
	switch {
	case ext == ".b2z" || ext == ".b2d" || ext == ".b2e" || bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return fmt.Errorf("%w; use package frame/store", err)
	case ext == ".npy" || bytes.HasPrefix(b, []byte("\x93NUMPY")):
		return fmt.Errorf("%w; use npy.Read", err)
	case errors.Is(err, ErrNotArray):
		return fmt.Errorf("%w; use package frame", err)
	}
	return err
}

// OpenFrame returns the array in an open frame. The Array then owns the frame. With Locking, OpenFrame waits without a
// context while another handle edits. The error wraps ErrNotArray or ErrCorrupt. After an error the frame is still
// open.
func OpenFrame(f *frame.Frame) (*Array, error) { return openFrame(context.Background(), f) }

// openFrame is OpenFrame under a context, also while it waits for the lock of the frame.
func openFrame(ctx context.Context, f *frame.Frame) (*Array, error) {
	e := f.Engine()
	v, err := e.View(ctx)
	if err != nil {
		return nil, err
	}
	defer v.Release()
	a := &Array{f: f, engine: e, opts: e.Options()}
	for _, name := range []string{"b2nd", "caterva"} {
		if _, ok := v.MetaLayer(name); ok {
			a.layer = name
			break
		}
	}
	if a.layer == "" {
		return nil, &frame.Error{Path: e.Name(), Part: "metalayers", Chunk: -1, Off: -1,
			Err: fmt.Errorf("no metalayer b2nd or caterva: %w", ErrNotArray)}
	}
	a.itemSize = itemSizeOf(v, a.layer)
	st, err := a.load(v)
	if err != nil {
		return nil, err
	}
	a.dtype = dtypeOf(st.rec, a.itemSize)
	return a, nil
}

// dtypeOf returns the dtype in the record of an array. If it is not supported, the items are raw bytes.
func dtypeOf(rec *meta.Array, itemSize int) meta.DType {
	d, err := meta.ParseDType(rec.DType)
	if err != nil || d.Size != itemSize || rec.DTypeFormat != 0 {
		return meta.Of('V', itemSize)
	}
	return d
}

// itemSizeOf returns the item size of an array. If items have more than 255 bytes, C-Blosc2 writes a type size of 1
// into the header of a frame that it creates from chunks in memory. The item size is then that of the dtype, if the
// chunk size agrees.
func itemSizeOf(v engine.View, layer string) int {
	info := v.Info()
	if info.TypeSize != 1 {
		return info.TypeSize
	}
	content, _ := v.MetaLayer(layer)
	rec, err := meta.ParseArray(content, info.TypeSize)
	if err != nil || rec.DTypeFormat != 0 {
		return info.TypeSize
	}
	d, err := meta.ParseDType(rec.DType)
	if err != nil || d.Size <= coder.MaxTypeSize {
		return info.TypeSize
	}
	geo, err := grid.NewGeometry(rec.Shape, rec.ChunkShape, rec.BlockShape, int64(d.Size))
	if err != nil || geo.ChunkBytes != int64(info.ChunkSize) {
		return info.TypeSize
	}
	return d.Size
}

// fromFrame returns the array in a frame that was opened with the options o. It closes the frame after an error.
func fromFrame(ctx context.Context, f *frame.Frame, o *OpenOptions) (*Array, error) {
	a, err := openFrame(ctx, f)
	if err == nil && o != nil && o.DType != "" {
		err = a.setDType(o.DType)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return a, nil
}

// setDType replaces the stored dtype.
func (a *Array) setDType(dtype string) error {
	dt, err := meta.ParseDType(dtype)
	if err != nil {
		return fmt.Errorf("ndarray: dtype %q: %v: %w", dtype, err, ErrType)
	}
	if dt.Size != a.itemSize {
		return a.fault("dtype %s has %d bytes, but items have %d: %w", dtype, dt.Size, a.itemSize, ErrType)
	}
	a.dtype = dt
	return nil
}

// load returns the shapes of a committed state of the frame.
func (a *Array) load(v engine.View) (*state, error) {
	content, _ := v.MetaLayer(a.layer)
	if st := a.state.Load(); st != nil && st.readFrom(content) {
		return st, nil
	}
	st, err := a.parse(v)
	if err == nil {
		a.state.Store(st)
	}
	return st, err
}

// readFrom reports whether the state was read from this memory.
func (st *state) readFrom(content []byte) bool {
	return len(content) > 0 && len(st.content) > 0 && &content[0] == &st.content[0]
}

// parse reads and checks the shapes of a state of the frame.
func (a *Array) parse(v engine.View) (*state, error) {
	content, _ := v.MetaLayer(a.layer)
	rec, err := meta.ParseArray(content, a.itemSize)
	if err != nil {
		return nil, a.corrupt("%v", err)
	}
	if old := a.state.Load(); old != nil && !sameDType(old.rec, rec) {
		return nil, a.fault("another array of dtype %s has taken its place: %w", rec.DType, ErrChanged)
	}
	geo, err := grid.NewGeometry(rec.Shape, rec.ChunkShape, rec.BlockShape, int64(a.itemSize))
	if err != nil {
		return nil, a.corrupt("%v", err)
	}
	info := v.Info()
	switch {
	case geo.Chunks != int64(info.NumChunks):
		return nil, a.corrupt("frame has %d chunks, but shape %v in chunks of shape %v has %d", info.NumChunks, rec.Shape, rec.ChunkShape, geo.Chunks)
	case geo.Chunks > 0 && geo.ChunkBytes != int64(info.ChunkSize):
		return nil, a.corrupt("chunk size is %d bytes, but chunk shape %v in blocks of shape %v has %d", info.ChunkSize, rec.ChunkShape, rec.BlockShape, geo.ChunkBytes)
	case geo.Chunks > 0 && info.NBytes != geo.Chunks*geo.ChunkBytes:
		return nil, a.corrupt("frame has %d bytes, but %d chunks of %d bytes each", info.NBytes, geo.Chunks, geo.ChunkBytes)
	}
	return &state{content: content, rec: rec, geo: geo}, nil
}

// sameDType reports whether two records have the same dtype, perhaps spelled in another way.
func sameDType(a, b *meta.Array) bool {
	if a.DTypeFormat != b.DTypeFormat || a.DType == b.DType {
		return a.DTypeFormat == b.DTypeFormat
	}
	x, errX := meta.ParseDType(a.DType)
	y, errY := meta.ParseDType(b.DType)
	return errX == nil && errY == nil && x.String() == y.String()
}

// corrupt returns an error about the metalayer with the shapes.
func (a *Array) corrupt(format string, args ...any) error {
	return &frame.Error{Path: a.engine.Name(), Part: "metalayer " + a.layer, Chunk: -1, Off: -1,
		Err: fmt.Errorf(format+": %w", append(args, ErrCorrupt)...)}
}

// fault returns an error that the file causes, with its name if it has one.
func (a *Array) fault(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if path := a.engine.Name(); path != "" {
		return fmt.Errorf("ndarray: %s: %w", path, err)
	}
	return fmt.Errorf("ndarray: %w", err)
}

// view returns the newest state. The caller must release the view.
func (a *Array) view(ctx context.Context) (engine.View, *state, error) {
	if a.held != nil {
		return a.held, a.state.Load(), nil
	}
	v, err := a.engine.View(ctx)
	if err != nil {
		return v, nil, err
	}
	st, err := a.load(v)
	if err != nil {
		v.Release()
		return v, nil, err
	}
	return v, st, nil
}

// now returns the newest state, or the last one after Close.
func (a *Array) now() *state {
	if v, st, err := a.view(context.Background()); err == nil {
		v.Release()
		return st
	}
	return a.state.Load()
}

// Refresh switches the Array to the state that is stored now, and reports whether the state differs from the previous
// one because another process has edited the array: its items, shape or attributes. An array on a server cannot be
// followed if it is replaced: Refresh then returns ErrChanged. For an array in memory it returns false.
//
// With OpenOptions.Locking, every read, Shape and Size also switch to the newest state. A later Refresh then no longer
// reports it. To follow an array that grows, compare its shape with the number of items that were handled. Without
// Locking, Refresh may return false although items have changed in place, because it compares only where the chunks
// are; reads return the new items all the same. With checksums it sees these changes, too.
//
// The error wraps ErrCorrupt, ErrChanged if an array of another dtype has taken its place, or is an error of
// [frame.Frame.Refresh].
func (a *Array) Refresh(ctx context.Context) (bool, error) {
	changed, err := a.f.Refresh(ctx)
	if err != nil {
		return false, err
	}
	v, _, err := a.view(task.Context(ctx))
	if err != nil {
		return false, err
	}
	v.Release()
	return changed, nil
}

// Close closes the frame. It does not wait: reads in progress, also reads of views, succeed or return fs.ErrClosed.
// Later reads and edits return fs.ErrClosed. An open batch can only be rolled back. A second Close does nothing. An
// array in memory without a Storage need not be closed.
func (a *Array) Close() error { return a.f.Close() }

// Frame returns the frame that holds the array, for access to its metalayers and chunks. Edits of chunks change the
// array. Closing the frame closes the array.
func (a *Array) Frame() *frame.Frame { return a.f }

// Shape returns the shape in items, the first axis first. The caller owns the slice. With OpenOptions.Locking it is the
// newest shape that is stored, and Shape waits while another process edits. After Close it is the last known shape.
func (a *Array) Shape() []int64 { return slices.Clone(a.now().rec.Shape) }

// Size returns the number of items: the product of the lengths that Shape returns.
func (a *Array) Size() int64 { return a.now().geo.Items }

// Chunks returns the shape of a chunk in items. The caller owns the slice.
func (a *Array) Chunks() []int64 { return grid.Widen(a.state.Load().rec.ChunkShape) }

// Blocks returns the shape of a block in items. The caller owns the slice.
func (a *Array) Blocks() []int64 { return grid.Widen(a.state.Load().rec.BlockShape) }

// DType returns the NumPy dtype. If the stored dtype is missing, unknown or does not match the item size, it returns
// raw bytes ("V" and the size). The size of an item in bytes is DType().Size.
func (a *Array) DType() DType { return a.dtype }

// ChunkInfo describes a chunk of an array without decoding it.
type ChunkInfo struct {
	Number  int64         // position in C order of the grid
	Coord   []int64       // position in the grid
	Box     Box           // items of the chunk that lie in the array, without padding
	Special chunk.Special // the value that it repeats, if it is a special chunk
	Off     int64         // position in the frame, or number of the chunk file; -1 if only the index represents it
	NBytes  int           // decoded size in bytes, with padding
	CBytes  int           // stored size in bytes; 0 if only the index represents it
	Blocks  int           // number of blocks

	// A chunk that is not special has these, as its header states them. Otherwise they are zero.
	Stored  bool            // the chunk holds its data uncompressed and unfiltered
	Codec   codec.ID        // also set if Stored; a chunk of Blosc1 does not distinguish LZ4 and LZ4HC
	Filters [6]chunk.Filter // slot 0 is the first to be applied when writing, the last when reading
}

// ChunkInfos ranges over the chunks with selected items in order and reads only their headers. Without indexes these
// are all chunks. Headers of an array on a server are read ahead, many with one request. Coordinates and box are valid
// until the next chunk. All chunks belong to the commit that was the newest when the loop began. The first error ends
// the loop. It wraps ErrBounds, ErrCorrupt, errors.ErrUnsupported (also for index arrays) or fs.ErrClosed, or is an
// error of reading or of ctx.
func (a *Array) ChunkInfos(ctx context.Context, sel ...Index) iter.Seq2[ChunkInfo, error] {
	ctx = task.Context(ctx)
	return func(yield func(ChunkInfo, error) bool) {
		v, st, err := a.view(ctx)
		if err != nil {
			yield(ChunkInfo{}, err)
			return
		}
		defer v.Release()
		s, err := selection.Resolve(st.rec.Shape, sel)
		if err == nil && s.ListAxes.Lists > 0 {
			err = fmt.Errorf("ndarray: chunks of index arrays: %w", errors.ErrUnsupported)
		}
		if err != nil {
			yield(ChunkInfo{}, err)
			return
		}
		plan, n := selection.NewPlan(st.geo, &s), st.geo.Ndim
		var part, ahead selection.ChunkPart
		c := ChunkInfo{Coord: make([]int64, n), Box: Box{make([]int64, n), make([]int64, n)}}
		seen := int64(0)
		next, stop := v.ChunkInfos(ctx, func() (int, bool) {
			if seen == plan.Chunks {
				return 0, false
			}
			plan.Seek(&ahead, seen)
			seen++
			return int(ahead.Number), true
		})
		defer stop()
		for i := range plan.Chunks {
			plan.Seek(&part, i)
			c.Number = part.Number
			copy(c.Coord, part.Coord[:n])
			copy(c.Box.Start, part.Origin[:n])
			for i := range n {
				c.Box.Shape[i] = st.geo.ChunkLength(i, part.Origin[i])
			}
			info, err := next(int(part.Number))
			c.Special, c.Off, c.NBytes, c.CBytes, c.Blocks = info.Special, info.Off, info.NBytes, info.CBytes, info.Blocks
			c.Stored, c.Codec, c.Filters = info.Stored, info.Codec, info.Filters
			if err == nil {
				err = ctx.Err()
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func (a *Array) source() (*Array, *selection.Mapping) { return a, nil }

// NBytes returns the size of all items in bytes, without padding.
func (a *Array) NBytes() int64 { return a.Size() * int64(a.itemSize) }

// CBytes returns the size of the compressed chunks in bytes. In one file, it includes the dead bytes of earlier edits
// until Compact. It is 0 after Close.
func (a *Array) CBytes() int64 { return a.f.Info().CBytes }

// Verify decodes the whole array and compares it with its checksums, if it has some. It calls report for each fault. If
// report returns an error, Verify returns it. With a nil report, Verify returns the first fault. See
// [frame.Frame.Verify].
func (a *Array) Verify(ctx context.Context, report func(error) error) error {
	return a.f.Verify(ctx, report)
}

// Save writes the array to w as a contiguous frame without dead bytes, and returns the number of bytes written. Reading
// these bytes with OpenBytes or from a file returns the same array. Edits during the call do not change the result.
// With Locking, Save holds the lock until it ends, even for a slow w. The error is an error of reading, of w or of ctx.
func (a *Array) Save(ctx context.Context, w io.Writer) (int64, error) { return a.f.Save(ctx, w) }

// Compact rewrites the file without the dead bytes of earlier edits. See [frame.Frame.Compact] for what happens to
// other readers, and for the errors.
func (a *Array) Compact(ctx context.Context) error { return a.f.Compact(ctx) }

// String describes the array in one line, for fmt.Println: shape, dtype, partition, codec, filters and compression
// ratio.
func (a *Array) String() string {
	info := a.f.Info()
	if info.TypeSize == 0 { // the zero Info
		return fmt.Sprintf("%v %s, closed", a.Shape(), a.dtype)
	}
	p := info.Params
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s, chunks %v, blocks %v, ", a.Shape(), a.dtype, a.Chunks(), a.Blocks())
	if p.Level == codec.NoCompression {
		b.WriteString("uncompressed")
	} else {
		fmt.Fprintf(&b, "%s level %d", p.Codec, p.Level)
	}
	for _, f := range p.Filters {
		if f.Code() != chunk.NoFilter.Code() {
			fmt.Fprintf(&b, ", %v", f)
		}
	}
	n := a.NBytes()
	fmt.Fprintf(&b, ", %d bytes", n)
	if c := info.CBytes; c > 0 {
		fmt.Fprintf(&b, " in %d, ratio %.1f", c, float64(n)/float64(c))
	}
	return b.String()
}
