package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// creation is what create is asked for.
type creation struct {
	params
	shape        listFlag
	dtype        string
	typeSize     int
	metas, vlmet namesFlag
	out          string
}

func runCreate(e *env, args []string) error {
	c := &creation{shape: listFlag{bits: 64}}
	fs := newFlags("create")
	c.register(fs)
	fs.Var(&c.shape, "shape", "")
	fs.StringVar(&c.dtype, "dtype", "", "")
	fs.Func("typesize", "", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 31)
		if err != nil || n < 1 {
			return usagef("not a size in bytes")
		}
		c.typeSize = int(n)
		return nil
	})
	fs.Var(&c.metas, "meta", "")
	fs.Var(&c.vlmet, "vlmeta", "")
	args, err := parseArgs(fs, args, 1, 2)
	if err != nil {
		return err
	}
	if err := c.checkOptions(); err != nil {
		return err
	}
	c.out = args[0]
	if _, err := os.Lstat(c.out); err == nil && !c.overwrite {
		return fmt.Errorf("%s is there already; -overwrite would replace it", c.out)
	}
	in, err := openInput(e, append(args, "")[1])
	if err != nil {
		return err
	}
	defer in.close()
	if c.chunkSize > 0 {
		return c.superChunk(in)
	}
	return c.array(e, in)
}

// checkOptions tells whether the options go together.
func (c *creation) checkOptions() error {
	if c.chunkSize > 0 && c.shape.list != nil {
		return usagef("-shape makes an array, -chunksize a plain super-chunk")
	}
	if c.chunkSize == 0 && c.typeSize > 0 {
		return usagef("-typesize is for plain super-chunks; arrays have -dtype")
	}
	for _, n := range c.shape.list {
		if n < 0 {
			return usagef("negative -shape")
		}
	}
	return c.check()
}

// metaLayers returns the metalayers that were asked for.
func (c *creation) metaLayers() []meta.Layer {
	var out []meta.Layer
	for _, p := range c.metas.pairs {
		out = append(out, meta.Layer{Name: p.name, Content: p.value})
	}
	return out
}

// superChunk makes a plain super-chunk, in one commit.
func (c *creation) superChunk(in *input) error {
	o := &frame.Options{ChunkSize: c.chunkSize, Sparse: c.sparse, Overwrite: c.overwrite, Meta: c.metaLayers()}
	c.apply(&o.CParams)
	o.CParams.TypeSize = max(c.typeSize, 1)
	if in.npy != nil && in.npy.fortran {
		return fmt.Errorf("a super-chunk has no axes, and the .npy file is in Fortran order")
	}
	if c.typeSize == 0 && (c.dtype != "" || in.npy != nil) {
		d, err := c.itemType(in)
		if err != nil {
			return err
		}
		o.CParams.TypeSize = d.Size
	}
	f, err := frame.Create(c.out, o, func(b *frame.Batch) error {
		for _, p := range c.vlmet.pairs {
			if err := b.SetVLMeta(p.name, p.value); err != nil {
				return err
			}
		}
		return appendChunks(b, in.r, c.chunkSize)
	})
	if err != nil {
		return err
	}
	return f.Close()
}

// appendChunks appends all that r gives in chunks of size bytes, the last one smaller.
func appendChunks(b *frame.Batch, r io.Reader, size int) error {
	var buf []byte
	for {
		// Small at first: -chunksize may be far larger than the data.
		var err error
		if buf, err = readUpTo(buf[:0], r, size); err != nil || len(buf) == 0 {
			return err
		}
		if err := b.Append(buf); err != nil {
			return err
		}
		if len(buf) < size {
			return nil
		}
	}
}

// readUpTo appends up to n bytes of r to buf.
func readUpTo(buf []byte, r io.Reader, n int) ([]byte, error) {
	for len(buf) < n {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(n, max(1<<16, 2*cap(buf))))
			copy(grown, buf)
			buf = grown
		}
		k, err := r.Read(buf[len(buf):min(n, cap(buf))])
		buf = buf[:len(buf)+k]
		if err == io.EOF {
			break
		}
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// itemType returns the dtype of the items: that of the options, of the .npy file, or bytes.
func (c *creation) itemType(in *input) (meta.DType, error) {
	d := meta.Of('u', 1)
	var err error
	if c.dtype != "" {
		if d, err = meta.ParseDType(c.dtype); err != nil {
			return d, err
		}
		if in.npy != nil && d.Size != in.npy.dtype.Size {
			return d, fmt.Errorf("-dtype has items of %d bytes, the .npy file of %d", d.Size, in.npy.dtype.Size)
		}
	} else if in.npy != nil {
		d = in.npy.dtype
	}
	switch {
	case d.Kind == 'O' && in.npy != nil:
		return d, fmt.Errorf("the .npy file holds Python objects")
	case d.Size == 0:
		return d, fmt.Errorf("dtype %s has items of no bytes", d)
	}
	return d, nil
}

// plan returns shape and size of the array that the data are to fill.
func (c *creation) plan(e *env, in *input, itemSize int) ([]int64, int64, error) {
	shape := c.shape.list
	if in.npy != nil {
		have, ok := byteCount(in.npy.shape, itemSize)
		if !ok {
			return nil, 0, fmt.Errorf("the .npy file has the shape %s", pyTuple(in.npy.shape))
		}
		if shape == nil {
			return in.npy.shape, have, nil
		}
		if want, ok := byteCount(shape, itemSize); !ok || want != have {
			return nil, 0, fmt.Errorf("the .npy file has the shape %s, which cannot become %s", pyTuple(in.npy.shape), pyTuple(shape))
		}
		if in.npy.fortran && pyTuple(shape) != pyTuple(in.npy.shape) {
			return nil, 0, fmt.Errorf("the .npy file is in Fortran order: its shape must stay %s", pyTuple(in.npy.shape))
		}
		return shape, have, nil
	}
	if shape == nil {
		if err := in.spool(filepath.Dir(c.out), -1, e.slab); err != nil {
			return nil, 0, err
		}
		if in.size%int64(itemSize) != 0 {
			return nil, 0, fmt.Errorf("the input has %d bytes, which are no whole items of %d", in.size, itemSize)
		}
		shape = []int64{in.size / int64(itemSize)}
	}
	total, ok := byteCount(shape, itemSize)
	if !ok {
		return nil, 0, fmt.Errorf("shape %s: %w", pyTuple(shape), ndarray.ErrTooLarge)
	}
	return shape, total, nil
}

// array makes an array: in memory, or in a temporary file when it is large, and then with all that belongs to it under
// its name in one step.
func (c *creation) array(e *env, in *input) error {
	d, err := c.itemType(in)
	if err != nil {
		return err
	}
	shape, total, err := c.plan(e, in, d.Size)
	if err != nil {
		return err
	}
	if in.size >= 0 && in.size != total {
		return wrongSize(in.size, total)
	}
	o := &ndarray.Options{Chunks: c.chunks.int32s(), Blocks: c.blocks.int32s()}
	o.Meta = c.metaLayers()
	c.apply(&o.CParams)
	var a *ndarray.Array
	if total <= e.slab {
		a, err = c.small(e, in, shape, total, d, o)
	} else {
		temp, tempErr := os.MkdirTemp(filepath.Dir(c.out), ".b2-")
		if tempErr != nil {
			return tempErr
		}
		defer os.RemoveAll(temp)
		o.NoSync = true
		a, err = c.large(e, in, filepath.Join(temp, "array"), shape, total, d, o)
	}
	if err != nil {
		return err
	}
	defer a.Close()
	for _, p := range c.vlmet.pairs {
		if err := a.Frame().SetVLMeta(p.name, p.value); err != nil {
			return err
		}
	}
	f, err := a.Frame().Copy(e.ctx, c.out, &frame.Options{Sparse: c.sparse, Overwrite: c.overwrite})
	if err != nil {
		return err
	}
	return f.Close()
}

// small makes an array in memory.
func (c *creation) small(e *env, in *input, shape []int64, total int64, d meta.DType, o *ndarray.Options) (*ndarray.Array, error) {
	data, err := in.readAll(total)
	if err != nil {
		return nil, err
	}
	if in.npy != nil && in.npy.fortran {
		c := make([]byte, len(data))
		transpose(c, data, shape, d.Size)
		data = c
	}
	return ndarray.CreateBytes(e.ctx, "", shape, d.String(), data, o)
}

// large makes an array in a temporary file, in pieces of whole chunks.
func (c *creation) large(e *env, in *input, name string, shape []int64, total int64, d meta.DType, o *ndarray.Options) (*ndarray.Array, error) {
	a, err := ndarray.Zeros(name, shape, d.String(), o)
	if err != nil {
		return nil, err
	}
	if err := c.fill(e, a, in, total); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// fill reads the data into an array of zeros.
func (c *creation) fill(e *env, a *ndarray.Array, in *input, total int64) error {
	shape, itemSize := a.Shape(), int64(a.ItemSize())
	fortran := in.npy != nil && in.npy.fortran
	tile := tileShape(shape, a.Chunks(), itemSize, e.slab, fortran)
	stream := in.at == nil && !fortran
	if stream && !slices.Equal(tile[1:], shape[1:]) {
		// Data of a stream arrive in rows: one row of chunks must fit into memory.
		rows := append([]int64{min(int64(a.Chunks()[0]), shape[0])}, shape[1:]...)
		if n, ok := byteCount(rows, a.ItemSize()); ok && n <= e.stream {
			tile = rows
		} else {
			stream = false
		}
	}
	if !stream {
		if err := in.spool(filepath.Dir(c.out), total+1, e.slab); err != nil {
			return err
		}
		if in.size != total {
			return wrongSize(in.size, total)
		}
	}
	g := &grid{at: in.at, off: in.off, shape: shape, itemSize: itemSize, fortran: fortran}
	var buf []byte
	err := tiles(shape, tile, func(start, stop []int64) error {
		n := boxBytes(start, stop, a.ItemSize())
		if int64(cap(buf)) < n {
			buf = make([]byte, n)
		}
		if err := g.next(buf[:n], start, stop, in.r, stream); err != nil {
			return err
		}
		return a.WriteBytes(e.ctx, buf[:n], spans(start, stop)...)
	})
	if err == nil && stream {
		return atEnd(in.r, total)
	}
	return err
}

// next reads a piece: the next bytes of a stream, or the box of the grid.
func (g *grid) next(dst []byte, start, stop []int64, r io.Reader, stream bool) error {
	if !stream {
		return g.read(dst, start, stop)
	}
	if _, err := io.ReadFull(r, dst); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
			return fmt.Errorf("the input ends before the array is full")
		}
		return err
	}
	return nil
}

// atEnd tells that a stream has no more to give.
func atEnd(r io.Reader, total int64) error {
	var one [1]byte
	if _, err := io.ReadFull(r, one[:]); err != io.EOF {
		return fmt.Errorf("the input has more than the %d bytes that are wanted", total)
	}
	return nil
}
