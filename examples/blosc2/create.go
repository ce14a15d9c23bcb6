package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// createCmd creates an array or a super-chunk.
type createCmd struct {
	Shape    lengths `placeholder:"3,4" help:"shape of the array; '' for an array without dimensions. One length may be -1, which the size of the input determines. The default is the shape of the .npy file, or one axis for raw bytes"`
	DType    string  `name:"dtype" placeholder:"'<f4'" help:"NumPy dtype of raw items. The dtype that a .npy file states can be changed only from or to bytes, such as V4"`
	Raw      bool    `help:"the input is raw bytes; without -dtype, its items are bytes. Other input than .npy is refused without -raw, -dtype or -chunksize"`
	TypeSize size    `name:"typesize" placeholder:"N" help:"item size of a plain super-chunk. The default is the item size of the dtype"`
	Meta     pairs   `placeholder:"name=json" help:"add a metalayer, stored as MessagePack; may be repeated"`
	VLMeta   pairs   `name:"vlmeta" placeholder:"name=json" help:"add a variable-length metalayer, which can be changed later; may be repeated"`
	progressOption
	params
	to  *output `kong:"-"`
	Out string  `arg:"" name:"OUT"`
	In  string  `arg:"" optional:"" name:"IN"`
}

// Help describes the verb.
func (createCmd) Help() string {
	return `
Creates an array in the file OUT from IN or standard input. The input is a .npy file, recognized by its name or its
first bytes, or with -dtype or -raw raw bytes. The memory use of create does not grow with
the data. OUT appears only when it is
complete. A new leaf of a store and "-", for standard output, are made in memory.

Examples:
  blosc2 create -chunks 64,64 -codec lz4 -filters bitshuffle out.b2nd in.npy
  head -c 4000 /dev/urandom | blosc2 create -shape 1000 -dtype '<i4' out.b2nd
`
}

// Run runs the verb.
func (c *createCmd) Run(e *env) error {
	if err := c.checkOptions(); err != nil {
		return err
	}
	var err error
	if c.to, err = newOutput(e, c.Out, c.Sparse, c.Overwrite); err != nil {
		return err
	}
	in, err := openShown(e, c.In, c.Raw, c.progressOption)
	if err != nil {
		return err
	}
	defer in.close()
	if in.npy == nil && c.ChunkSize == 0 && !c.Raw && c.DType == "" {
		return errNotNPY("a dtype for the items with -dtype, or -raw for bytes")
	}
	if c.ChunkSize > 0 {
		return c.superChunk(e, in)
	}
	return c.array(e, in)
}

// checkOptions returns an error if options are invalid or contradict each other.
func (c *createCmd) checkOptions() error {
	if c.ChunkSize > 0 && c.Shape != nil {
		return usagef("-shape is for arrays, -chunksize is for plain super-chunks")
	}
	if c.ChunkSize == 0 && c.TypeSize > 0 {
		return usagef("-typesize is for plain super-chunks, -dtype is for arrays")
	}
	inferred := 0
	for _, n := range c.Shape {
		if n < -1 {
			return usagef("-shape has the negative length %d", n)
		} else if n == -1 {
			inferred++
		}
	}
	if inferred > 1 {
		return usagef("-shape has more than one length of -1")
	}
	return c.check()
}

// layers returns the pairs as metalayers.
func (p pairs) layers() []meta.Layer {
	var out []meta.Layer
	for _, one := range p {
		out = append(out, meta.Layer{Name: one.name, Content: one.value})
	}
	return out
}

// attrs returns the pairs as attributes of an array.
func (p pairs) attrs() (map[string]any, error) {
	attrs := map[string]any{}
	for _, one := range p {
		var v any
		if err := meta.Unmarshal(one.value, &v); err != nil {
			return nil, err
		}
		attrs[one.name] = v
	}
	return attrs, nil
}

// superChunk creates a plain super-chunk, in one commit.
func (c *createCmd) superChunk(e *env, in *input) error {
	o := &frame.CreateOptions{ChunkSize: int(c.ChunkSize), Sparse: c.Sparse, Overwrite: c.overwrites(), Checksums: c.Checksums, BlockTable: c.BlockTable, Meta: c.Meta.layers(), VLMeta: c.VLMeta.layers()}
	c.applyFrame(o)
	o.Params.TypeSize = max(int(c.TypeSize), 1)
	if in.npy != nil && in.npy.Fortran {
		return fmt.Errorf("cannot create a super-chunk from a .npy file in Fortran order")
	}
	if c.DType != "" || in.npy != nil {
		d, err := c.itemType(in)
		if err != nil {
			return err
		}
		if err := c.checkItems(o.Params, d); err != nil {
			return err
		}
		if c.TypeSize == 0 {
			o.Params.TypeSize = d.Size
		}
	}
	src := in.counted(in.r)
	if in.npy != nil {
		n, err := in.npySize()
		if err == nil {
			src, err = in.reader(n)
		}
		if err != nil {
			return err
		}
	}
	f, err := frame.CreateFunc(e.ctx, c.to.name, func(b *frame.Batch) error {
		return appendChunks(e.ctx, b, src, int(c.ChunkSize))
	}, o)
	if err != nil {
		return err
	}
	return c.to.finish(e, f)
}

// appendChunks appends all bytes of r in chunks of size bytes. The last chunk may be smaller.
func appendChunks(ctx context.Context, b *frame.Batch, r io.Reader, size int) error {
	var buf []byte
	for {
		// readUpTo grows the buffer as needed, because -chunksize may be far larger than the data.
		var err error
		if buf, err = readUpTo(buf[:0], r, size); err != nil || len(buf) == 0 {
			return err
		}
		if err := b.Append(ctx, buf); err != nil {
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

// itemType returns the dtype of the items: of -dtype, of the .npy file, or bytes.
func (c *createCmd) itemType(in *input) (meta.DType, error) {
	d := meta.Of('u', 1)
	var err error
	if c.DType != "" {
		if d, err = meta.ParseDType(c.DType); err != nil {
			return d, fmt.Errorf("-dtype: %w", err)
		}
		if in.npy != nil && d.String() != in.npy.DType.String() && (d.Size != in.npy.DType.Size || !isRaw(d) && !isRaw(in.npy.DType)) {
			return d, fmt.Errorf("-dtype is %s, but the .npy file states the dtype of its items, %s", d, in.npy.DType)
		}
	} else if in.npy != nil {
		d = in.npy.DType
	}
	switch {
	case d.Kind == 'O' && in.npy != nil:
		return d, fmt.Errorf("cannot store the Python objects of the .npy file")
	case d.Size == 0:
		return d, fmt.Errorf("items of dtype %s have no bytes", d)
	}
	return d, nil
}

// isRaw reports whether items of a dtype are bytes without a meaning.
func isRaw(d meta.DType) bool { return d.Kind == 'V' && d.Fields == nil && d.Elem == nil }

// plan returns the shape of the array and its size in bytes.
func (c *createCmd) plan(e *env, in *input, itemSize int) ([]int64, int64, error) {
	shape := c.Shape
	if in.npy != nil {
		have, err := in.npySize()
		if err != nil {
			return nil, 0, err
		}
		if shape == nil {
			return in.npy.Shape, have, nil
		}
		var ok bool
		if shape, ok = infer(shape, have, itemSize); !ok {
			return nil, 0, fmt.Errorf("the .npy file has shape %s, which cannot be changed to %s", pyTuple(in.npy.Shape), pyTuple(c.Shape))
		}
		if want, ok := byteCount(shape, itemSize); !ok || want != have {
			return nil, 0, fmt.Errorf("the .npy file has shape %s, which cannot be changed to %s", pyTuple(in.npy.Shape), pyTuple(shape))
		}
		if in.npy.Fortran && pyTuple(shape) != pyTuple(in.npy.Shape) {
			return nil, 0, fmt.Errorf("the .npy file is in Fortran order, so the shape must be %s", pyTuple(in.npy.Shape))
		}
		return shape, have, nil
	}
	if shape == nil {
		if err := in.spool(c.to.temporary(c.Out), -1, e.slab); err != nil {
			return nil, 0, err
		}
		if in.size%int64(itemSize) != 0 {
			return nil, 0, fmt.Errorf("the input has %d bytes, want a multiple of the item size %d", in.size, itemSize)
		}
		shape = []int64{in.size / int64(itemSize)}
	}
	if slices.Contains(shape, -1) {
		if err := in.spool(c.to.temporary(c.Out), -1, e.slab); err != nil {
			return nil, 0, err
		}
		var ok bool
		if shape, ok = infer(shape, in.size, itemSize); !ok {
			return nil, 0, fmt.Errorf("the input has %d bytes, which are no array of shape %s with items of %d bytes", in.size, pyTuple(c.Shape), itemSize)
		}
	}
	total, ok := byteCount(shape, itemSize)
	if !ok {
		return nil, 0, fmt.Errorf("shape %s: %w", pyTuple(shape), ndarray.ErrTooLarge)
	}
	return shape, total, nil
}

// overwrites reports whether the library replaces a file or directory.
func (c *createCmd) overwrites() bool { return c.Overwrite && c.to.name != "" }

// infer replaces a length of -1, so that an array of the shape has a size in bytes. It reports whether there is such a
// length.
func infer(shape []int64, size int64, itemSize int) ([]int64, bool) {
	i := slices.Index(shape, -1)
	if i < 0 {
		return shape, true
	}
	shape = slices.Clone(shape)
	shape[i] = 1
	n, ok := byteCount(shape, itemSize)
	if !ok || n == 0 || size%n != 0 {
		return nil, false
	}
	shape[i] = size / n
	return shape, true
}

// array creates an array with its metalayers, in one commit.
func (c *createCmd) array(e *env, in *input) error {
	d, err := c.itemType(in)
	if err != nil {
		return err
	}
	shape, total, err := c.plan(e, in, d.Size)
	if err != nil {
		return err
	}
	if in.p != nil {
		in.p.total.Store(total)
	}
	o := &ndarray.CreateOptions{Chunks: c.Chunks, Blocks: c.Blocks}
	o.Meta, o.Sparse, o.Overwrite, o.Checksums, o.BlockTable = c.Meta.layers(), c.Sparse, c.overwrites(), c.Checksums, c.BlockTable
	if o.Attrs, err = c.VLMeta.attrs(); err != nil {
		return err
	}
	if err := c.applyArray(o, d); err != nil {
		return err
	}
	src, err := in.reader(total)
	if err != nil {
		return err
	}
	var a *ndarray.Array
	if in.npy != nil && in.npy.Fortran {
		a, err = npy.ReadItems(e.ctx, c.to.name, npy.Header{DType: d, Fortran: true, Shape: shape}, src, o)
	} else {
		a, err = ndarray.FromReader(e.ctx, c.to.name, shape, d.String(), src, o)
	}
	if err != nil {
		return err
	}
	blocks := a.Blocks()
	if err := c.to.finish(e, a.Frame()); err != nil {
		return err
	}
	c.noteBlocks(e, blocks)
	return nil
}
