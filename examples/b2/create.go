package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// creation holds the options and arguments of create.
type creation struct {
	params
	shape        listFlag
	dtype        string
	typeSize     int
	metas, vlmet namesFlag
	out          string
}

// runCreate creates an array or a super-chunk.
func runCreate(e *env, args []string) error {
	c := &creation{shape: listFlag{bits: 64}}
	fs := newFlags("create")
	c.register(fs)
	fs.Var(&c.shape, "shape", "")
	fs.StringVar(&c.dtype, "dtype", "", "")
	fs.Func("typesize", "", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 31)
		if err != nil || n < 1 {
			return usagef("want a size in bytes from 1 up")
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
		return fmt.Errorf("%s already exists; use -overwrite to replace it", c.out)
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

// checkOptions returns an error if options are invalid or contradict each other.
func (c *creation) checkOptions() error {
	if c.chunkSize > 0 && c.shape.list != nil {
		return usagef("-shape is for arrays, -chunksize is for plain super-chunks")
	}
	if c.chunkSize == 0 && c.typeSize > 0 {
		return usagef("-typesize is for plain super-chunks, -dtype is for arrays")
	}
	for _, n := range c.shape.list {
		if n < 0 {
			return usagef("-shape has a negative length")
		}
	}
	return c.check()
}

// layers returns the pairs as metalayers.
func (f *namesFlag) layers() []meta.Layer {
	var out []meta.Layer
	for _, p := range f.pairs {
		out = append(out, meta.Layer{Name: p.name, Content: p.value})
	}
	return out
}

// attrs returns the pairs as attributes of an array.
func (f *namesFlag) attrs() (map[string]any, error) {
	attrs := map[string]any{}
	for _, p := range f.pairs {
		var v any
		if err := meta.Unmarshal(p.value, &v); err != nil {
			return nil, err
		}
		attrs[p.name] = v
	}
	return attrs, nil
}

// superChunk creates a plain super-chunk, in one commit.
func (c *creation) superChunk(in *input) error {
	o := &frame.CreateOptions{ChunkSize: c.chunkSize, Sparse: c.sparse, Overwrite: c.overwrite, Checksums: c.checksums, Meta: c.metas.layers(), VLMeta: c.vlmet.layers()}
	c.apply(&o.Params)
	o.Params.TypeSize = max(c.typeSize, 1)
	if in.npy != nil && in.npy.Fortran {
		return fmt.Errorf("cannot create a super-chunk from a .npy file in Fortran order")
	}
	if c.typeSize == 0 && (c.dtype != "" || in.npy != nil) {
		d, err := c.itemType(in)
		if err != nil {
			return err
		}
		o.Params.TypeSize = d.Size
	}
	f, err := frame.CreateFunc(context.Background(), c.out, func(b *frame.Batch) error {
		return appendChunks(context.Background(), b, in.r, c.chunkSize)
	}, o)
	if err != nil {
		return err
	}
	return f.Close()
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
func (c *creation) itemType(in *input) (meta.DType, error) {
	d := meta.Of('u', 1)
	var err error
	if c.dtype != "" {
		if d, err = meta.ParseDType(c.dtype); err != nil {
			return d, err
		}
		if in.npy != nil && d.Size != in.npy.DType.Size {
			return d, fmt.Errorf("items of -dtype have %d bytes, but items of the .npy file have %d", d.Size, in.npy.DType.Size)
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

// plan returns the shape of the array and its size in bytes.
func (c *creation) plan(e *env, in *input, itemSize int) ([]int64, int64, error) {
	shape := c.shape.list
	if in.npy != nil {
		have, ok := byteCount(in.npy.Shape, itemSize)
		if !ok {
			return nil, 0, fmt.Errorf("shape %s of the .npy file is too large", pyTuple(in.npy.Shape))
		}
		if shape == nil {
			return in.npy.Shape, have, nil
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
		if err := in.spool(filepath.Dir(c.out), -1, e.slab); err != nil {
			return nil, 0, err
		}
		if in.size%int64(itemSize) != 0 {
			return nil, 0, fmt.Errorf("the input has %d bytes, want a multiple of the item size %d", in.size, itemSize)
		}
		shape = []int64{in.size / int64(itemSize)}
	}
	total, ok := byteCount(shape, itemSize)
	if !ok {
		return nil, 0, fmt.Errorf("shape %s: %w", pyTuple(shape), ndarray.ErrTooLarge)
	}
	return shape, total, nil
}

// array creates an array with its metalayers, in one commit.
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
	o := &ndarray.CreateOptions{Chunks: c.chunks.list, Blocks: c.blocks.list}
	o.Meta, o.Sparse, o.Overwrite, o.Checksums = c.metas.layers(), c.sparse, c.overwrite, c.checksums
	if o.Attrs, err = c.vlmet.attrs(); err != nil {
		return err
	}
	c.applyArray(o)
	src, err := in.reader(total)
	if err != nil {
		return err
	}
	var a *ndarray.Array
	if in.npy != nil && in.npy.Fortran {
		a, err = npy.ReadItems(e.ctx, c.out, npy.Header{DType: d, Fortran: true, Shape: shape}, src, o)
	} else {
		a, err = ndarray.FromReader(e.ctx, c.out, shape, d.String(), src, o)
	}
	if err != nil {
		return err
	}
	return a.Close()
}
