package ndarray

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
	"github.com/goblosc/blosc2/ndarray/internal/selection"
)

// A Reader can be read as an N-dimensional array: an *Array or a *View. Functions that only read accept a Reader. No
// other package can implement it. Any number of goroutines may use it.
type Reader interface {
	// Shape returns the shape in items, the first axis first. The caller owns the slice.
	Shape() []int64
	// NDim returns the number of dimensions.
	NDim() int
	// Size returns the number of items.
	Size() int64
	// DType returns the NumPy dtype of the items.
	DType() meta.DType
	// ItemSize returns the size of an item in bytes.
	ItemSize() int
	// SelectionShape returns the shape of a selection. The error wraps ErrBounds or ErrTooLarge.
	SelectionShape(sel ...Index) ([]int64, error)
	// ReadBytes reads a selection into dst, in C order, as the items are stored. See Array.ReadBytes.
	ReadBytes(ctx context.Context, dst []byte, sel ...Index) error
	// Options returns the options for creating an array like this one: its partition and compression parameters.
	Options() *Options

	// source returns the array, and the mapping of a view or nil.
	source() (*Array, *selection.Mapping)
}

// A Writer accepts items: an *Array or a *View that repeats no item, where each call is one commit, or a *Batch. No
// other package can implement it.
type Writer interface {
	// DType returns the NumPy dtype of the items.
	DType() meta.DType
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
	layer    string // name of the metalayer with the shapes
	itemSize int
	dtype    meta.DType
	dtypeRaw string
	state    atomic.Pointer[state]
	reads    sync.Pool // of *reading
}

// state holds the shapes of one commit.
type state struct {
	content []byte // of the metalayer with the shapes
	rec     *meta.Array
	geo     *grid.Geometry
}

// Open opens the array in a file, or in the directory of a sparse frame, for reading. It reads the header, the index
// and the trailer of the frame. The error wraps ErrFormat, ErrNotArray, ErrCorrupt, errors.ErrUnsupported or
// ErrTooLarge, or is an error of the operating system.
func Open(name string, o *Options) (*Array, error) {
	f, err := frame.Open(name, o.frameOptions())
	return fromFrame(f, err, o)
}

// Edit opens the array in a file or directory for reading and writing. See Open.
func Edit(name string, o *Options) (*Array, error) {
	f, err := frame.Edit(name, o.frameOptions())
	return fromFrame(f, err, o)
}

// OpenReaderAt opens the array that starts at o.Offset in the first size bytes of r, for reading. r may be an
// uncompressed member of a zip file, an object in cloud storage or a bytes.Reader. Close does not close r.
func OpenReaderAt(r io.ReaderAt, size int64, o *Options) (*Array, error) {
	f, err := frame.OpenReaderAt(r, size, o.frameOptions())
	return fromFrame(f, err, o)
}

// OpenBytes opens the array in b for reading. The Array retains b, which must not change while the array is open.
func OpenBytes(b []byte, o *Options) (*Array, error) {
	f, err := frame.OpenBytes(b, o.frameOptions())
	return fromFrame(f, err, o)
}

// OpenFrame returns the array in an open frame. The Array then owns the frame. The error wraps ErrNotArray or
// ErrCorrupt. After an error the frame is still open.
func OpenFrame(f *frame.Frame) (*Array, error) {
	v, err := f.View()
	if err != nil {
		return nil, err
	}
	defer v.Release()
	a := &Array{f: f, itemSize: v.Info().TypeSize}
	for _, name := range []string{"b2nd", "caterva"} {
		if _, ok := v.MetaLayer(name); ok {
			a.layer = name
			break
		}
	}
	if a.layer == "" {
		return nil, &frame.Error{Path: f.Path(), Part: "metalayers", Chunk: -1, Off: -1,
			Err: fmt.Errorf("no metalayer b2nd or caterva: %w", ErrNotArray)}
	}
	a.itemSize = lostItemSize(v, a.layer)
	st, err := a.load(v)
	if err != nil {
		return nil, err
	}
	a.dtypeRaw = st.rec.DType
	a.dtype, err = meta.ParseDType(st.rec.DType)
	if err != nil || a.dtype.Size != a.itemSize || st.rec.DTypeFormat != 0 {
		a.dtype = meta.Of('V', a.itemSize) // still readable as raw bytes
	}
	return a, nil
}

// lostItemSize returns the item size of an array. If items have more than 255 bytes, C-Blosc2 writes a type size of 1
// into the header of a frame that it creates from chunks in memory. The item size is then that of the dtype, if the
// chunk size agrees.
func lostItemSize(v frame.View, layer string) int {
	info := v.Info()
	content, _ := v.MetaLayer(layer)
	rec, err := meta.ParseArray(content, info.TypeSize)
	if info.TypeSize != 1 || err != nil || rec.DTypeFormat != 0 {
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
func fromFrame(f *frame.Frame, err error, o *Options) (*Array, error) {
	if err != nil {
		return nil, err
	}
	a, err := OpenFrame(f)
	if err == nil && o != nil && o.DType != "" {
		err = a.setDType(o.DType)
	}
	if err == nil && o != nil && o.MaxDims > 0 && a.NDim() > o.MaxDims {
		err = fmt.Errorf("ndarray: %d dimensions, but Options.MaxDims allows %d: %w", a.NDim(), o.MaxDims, ErrTooLarge)
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
		return fmt.Errorf("ndarray: dtype %s has %d bytes, but items have %d: %w", dtype, dt.Size, a.itemSize, ErrType)
	}
	a.dtype = dt
	return nil
}

// load returns the shapes of a committed state of the frame.
func (a *Array) load(v frame.View) (*state, error) {
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
func (a *Array) parse(v frame.View) (*state, error) {
	content, _ := v.MetaLayer(a.layer)
	rec, err := meta.ParseArray(content, a.itemSize)
	if err != nil {
		return nil, a.corrupt("%v", err)
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

// corrupt returns an error about the metalayer with the shapes.
func (a *Array) corrupt(format string, args ...any) error {
	return &frame.Error{Path: a.f.Path(), Part: "metalayer " + a.layer, Chunk: -1, Off: -1,
		Err: fmt.Errorf(format+": %w", append(args, ErrCorrupt)...)}
}

// view returns the newest state. The caller must release the view.
func (a *Array) view(ctx context.Context) (frame.View, *state, error) {
	v, err := a.f.ViewContext(ctx)
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

// Refresh switches the Array to the state that is stored now, and reports whether it differs from the previous one
// because another process has written items or resized the array. The error wraps ErrCorrupt or is an error of
// frame.Frame.Refresh.
func (a *Array) Refresh() (bool, error) {
	changed, err := a.f.Refresh()
	if err != nil {
		return false, err
	}
	v, _, err := a.view(context.Background())
	if err != nil {
		return false, err
	}
	v.Release()
	return changed, nil
}

// Close closes the frame. It does not wait: reads in progress, also reads of views, succeed or return fs.ErrClosed.
// Later reads and edits return fs.ErrClosed. An open batch can only be rolled back. A second Close does nothing.
func (a *Array) Close() error { return a.f.Close() }

// Frame returns the frame that holds the array, for access to its metalayers and chunks. Changes of chunks change the
// array. Closing the frame closes the array.
func (a *Array) Frame() *frame.Frame { return a.f }

// Shape returns the shape in items, the first axis first. The caller owns the slice.
func (a *Array) Shape() []int64 { return slices.Clone(a.now().rec.Shape) }

// NDim returns the number of dimensions.
func (a *Array) NDim() int { return a.state.Load().geo.Ndim }

// Size returns the number of items.
func (a *Array) Size() int64 { return a.now().geo.Items }

// Chunks returns the shape of a chunk in items. The caller owns the slice.
func (a *Array) Chunks() []int32 { return slices.Clone(a.state.Load().rec.ChunkShape) }

// Blocks returns the shape of a block in items. The caller owns the slice.
func (a *Array) Blocks() []int32 { return slices.Clone(a.state.Load().rec.BlockShape) }

// ItemSize returns the size of an item in bytes.
func (a *Array) ItemSize() int { return a.itemSize }

// DType returns the NumPy dtype. If the stored dtype is missing, unknown or does not match the item size, it returns
// raw bytes ("V" and the size). DTypeString returns the stored text.
func (a *Array) DType() meta.DType { return a.dtype }

// DTypeString returns the dtype as stored and its format number, which is 0 for NumPy's.
func (a *Array) DTypeString() (string, int) { return a.dtypeRaw, int(a.state.Load().rec.DTypeFormat) }

// ChunkInfo describes a chunk of an array without decoding it: its special value, if any, its location in the frame,
// and its sizes in bytes. The decoded size includes padding.
type ChunkInfo struct {
	frame.ChunkInfo
	Number int64   // position in C order of the grid
	Coord  []int64 // position in the grid
	Box    Box     // items of the chunk that lie in the array, without padding
}

// Ratio returns the compression ratio of the chunk, decoded size divided by stored size. It returns infinity if the
// chunk is represented by its index entry only.
func (c ChunkInfo) Ratio() float64 {
	if c.CBytes == 0 {
		return math.Inf(1)
	}
	return float64(c.NBytes) / float64(c.CBytes)
}

// ChunkInfos ranges over the chunks in order and reads only their headers. Coordinates and box are valid until the next
// chunk. All chunks belong to the commit that was the newest when the loop began. The first error ends the loop. It
// wraps ErrCorrupt, errors.ErrUnsupported or fs.ErrClosed, or is an error of reading.
func (a *Array) ChunkInfos() iter.Seq2[ChunkInfo, error] {
	return func(yield func(ChunkInfo, error) bool) {
		v, st, err := a.view(context.Background())
		if err != nil {
			yield(ChunkInfo{}, err)
			return
		}
		defer v.Release()
		s, err := selection.Resolve(st.rec.Shape, nil)
		if err != nil {
			yield(ChunkInfo{}, err)
			return
		}
		plan, n := selection.NewPlan(st.geo, &s), st.geo.Ndim
		var part selection.ChunkPart
		c := ChunkInfo{Coord: make([]int64, n), Box: Box{make([]int64, n), make([]int64, n)}}
		for i := range plan.Chunks {
			plan.Seek(&part, i)
			c.Number = part.Number
			copy(c.Coord, part.Coord[:n])
			copy(c.Box.Start, part.Origin[:n])
			for i := range n {
				c.Box.Shape[i] = part.Hi[i] - part.Lo[i]
			}
			c.ChunkInfo, err = v.ChunkInfo(int(part.Number))
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func (a *Array) source() (*Array, *selection.Mapping) { return a, nil }
