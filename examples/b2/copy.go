package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// runCopy copies a frame, with other parameters if options are set.
func runCopy(e *env, args []string) error {
	var p params
	fs := newFlags("copy")
	p.register(fs)
	contiguous := fs.Bool("contiguous", false, "")
	args, err := parseArgs(fs, args, 2, 2)
	if err != nil {
		return err
	}
	if p.sparse && *contiguous {
		return usagef("-sparse and -contiguous exclude each other")
	}
	if err := p.check(); err != nil {
		return err
	}
	s, err := openReadable(e.ctx, args[0])
	if err != nil {
		return err
	}
	defer s.close()
	if s.chunk != nil {
		return fmt.Errorf("%s: cannot copy a single chunk, want a frame", args[0])
	}
	if !p.sparse && !*contiguous {
		p.sparse = s.frame.Info().Sparse
	}
	if s.array != nil {
		return p.copyArray(e.ctx, s.array, args[1])
	}
	return p.copyFrame(e.ctx, s.frame, args[1])
}

// compresses reports whether an option for the compression is set.
func (p *params) compresses() bool {
	return p.codec != 0 || p.codecMeta != nil || p.level != 0 || p.filters != nil || p.split != nil || p.dict != nil
}

// copyArray copies an array.
func (p *params) copyArray(ctx context.Context, a *ndarray.Array, to string) error {
	if p.chunkSize > 0 {
		return usagef("-chunksize is for plain super-chunks, -chunks is for arrays")
	}
	if !p.compresses() && p.chunks.list == nil && p.blocks.list == nil {
		f, err := frame.Copy(ctx, to, a.Frame(), &frame.CreateOptions{Sparse: p.sparse, Overwrite: p.overwrite, Checksums: p.checksums})
		if err != nil {
			return err
		}
		return f.Close()
	}
	o := a.CreateOptions()
	o.Sparse, o.Overwrite, o.Checksums = p.sparse, p.overwrite, o.Checksums || p.checksums
	p.applyArray(o)
	if p.chunks.list != nil && !slices.Equal(o.Chunks, p.chunks.list) {
		o.Chunks, o.Blocks = p.chunks.list, nil
	}
	if p.blocks.list != nil {
		o.Blocks = p.blocks.list
	}
	c, err := ndarray.Copy(ctx, to, a, o)
	if err != nil {
		return err
	}
	return c.Close()
}

// copyFrame copies a super-chunk.
func (p *params) copyFrame(ctx context.Context, f *frame.Frame, to string) error {
	if p.chunks.list != nil || p.blocks.list != nil {
		return usagef("-chunks and -blocks are for arrays, -chunksize is for plain super-chunks")
	}
	o := &frame.CreateOptions{Sparse: p.sparse, Overwrite: p.overwrite, Checksums: p.checksums}
	if !p.compresses() && p.chunkSize == 0 {
		c, err := frame.Copy(ctx, to, f, o)
		if err != nil {
			return err
		}
		return c.Close()
	}
	info := f.Info()
	o.Checksums, o.BlockTable = o.Checksums || info.Checksums, info.BlockTable
	if info.VLBlocks && p.chunkSize > 0 {
		return fmt.Errorf("cannot change the size of chunks with blocks of variable size: %w", errors.ErrUnsupported)
	}
	o.Params, o.Meta, o.ChunkSize = info.Params, f.Meta(), max(info.ChunkSize, 0)
	p.apply(&o.Params)
	if p.chunkSize > 0 {
		o.ChunkSize, o.Params.BlockSize = p.chunkSize, 0
	}
	c, err := frame.CreateFunc(ctx, to, func(b *frame.Batch) error {
		v, err := f.Engine().View(ctx)
		if err != nil {
			return err
		}
		defer v.Release()
		if err := b.Engine().CopyVLMeta(v); err != nil {
			return err
		}
		if special, ok := v.Uniform(); ok && info.ChunkSize > 0 {
			return b.Engine().FillSpecial(info.NBytes, special) // its cost does not depend on the number of chunks
		}
		if p.chunkSize > 0 {
			return appendChunks(ctx, b, f.Content(ctx), p.chunkSize)
		}
		for i := range f.NumChunks() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := recompress(ctx, b, f, i); err != nil {
				return err
			}
		}
		return nil
	}, o)
	if err != nil {
		return err
	}
	return c.Close()
}

// recompress appends chunk i of a frame, compressed with the parameters of the batch. Blocks of variable size keep
// their sizes.
func recompress(ctx context.Context, b *frame.Batch, f *frame.Frame, i int) error {
	if !f.Info().VLBlocks {
		data, err := f.ReadChunk(ctx, nil, i)
		if err != nil {
			return err
		}
		return b.Append(ctx, data)
	}
	info, err := f.ChunkInfo(ctx, i)
	if err != nil {
		return err
	}
	blocks := make([][]byte, info.Blocks)
	for k := range blocks {
		if blocks[k], err = f.ReadBlock(ctx, nil, i, k); err != nil {
			return err
		}
	}
	return b.AppendBlocks(ctx, blocks)
}
