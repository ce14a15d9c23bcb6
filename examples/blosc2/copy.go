package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// copyCmd copies a frame, with other parameters if options are set.
type copyCmd struct {
	progressOption
	params
	Contiguous bool   `help:"create a file"`
	From       string `arg:"" name:"FROM"`
	To         string `arg:"" name:"TO"`
}

// Help describes the verb.
func (copyCmd) Help() string {
	return `
Copies an array or a super-chunk without the dead bytes that edits leave, and with its metalayers. Parameters without
an option stay the same. Chunks are compressed again only if the options require it.
`
}

// Run runs the verb.
func (p *copyCmd) Run(e *env) error {
	defer e.count(p.progressOption)()
	if p.Sparse && p.Contiguous {
		return usagef("-sparse and -contiguous exclude each other")
	}
	if err := p.check(); err != nil {
		return err
	}
	if !isPlainDir(p.From) { // which may have the leaves below a leaf
		if err := refuseInside(p.To, p.From); err != nil {
			return err
		}
	}
	s, err := openReadable(e, p.From)
	if err != nil {
		return err
	}
	defer s.close()
	if s.chunk != nil {
		return fmt.Errorf("%s: cannot copy a single chunk, want a frame", p.From)
	}
	if !p.Sparse && !p.Contiguous {
		p.Sparse = s.frame.Info().Sparse
	}
	to, err := newOutput(e, p.To, p.Sparse, p.Overwrite)
	if err != nil {
		return err
	}
	p.Overwrite = p.Overwrite && to.name != ""
	if s.array != nil {
		return p.copyArray(e, s.array, to)
	}
	return p.copyFrame(e, s.frame, to)
}

// compresses reports whether an option for the compression is set.
func (p *params) compresses() bool { return p.Goal != 0 || p.hasParams() }

// hasParams reports whether an option for the compression is set that a goal is in place of.
func (p *params) hasParams() bool {
	return p.Codec != 0 || p.CodecMeta != nil || p.Level != 0 || p.Filters != nil || p.Split != nil || p.Dict != nil
}

// copyArray copies an array.
func (p *params) copyArray(e *env, a *ndarray.Array, to *output) error {
	if p.ChunkSize > 0 {
		return usagef("-chunksize is for plain super-chunks, -chunks is for arrays")
	}
	if !p.compresses() && p.Chunks == nil && p.Blocks == nil {
		f, err := frame.Copy(e.ctx, to.name, a.Frame(), &frame.CreateOptions{Sparse: p.Sparse, Overwrite: p.Overwrite, Checksums: p.Checksums, BlockTable: p.BlockTable})
		if err != nil {
			return err
		}
		return to.finish(e, f)
	}
	o := a.CreateOptions()
	o.Meta = nil // Copy takes all as they are, also those whose names a new array cannot have
	o.Sparse, o.Overwrite = p.Sparse, p.Overwrite
	o.Checksums, o.BlockTable = o.Checksums || p.Checksums, o.BlockTable || p.BlockTable
	if err := p.applyArray(o, a.DType()); err != nil {
		return err
	}
	if p.Chunks != nil && !slices.Equal(o.Chunks, p.Chunks) {
		o.Chunks, o.Blocks = p.Chunks, nil
	}
	if p.Blocks != nil {
		o.Blocks = p.Blocks
	}
	c, err := ndarray.Copy(e.ctx, to.name, a, o)
	if err != nil {
		return err
	}
	blocks := c.Blocks()
	if err := to.finish(e, c.Frame()); err != nil {
		return err
	}
	p.noteBlocks(e, blocks)
	return nil
}

// copyFrame copies a super-chunk.
func (p *params) copyFrame(e *env, f *frame.Frame, to *output) error {
	ctx := e.ctx
	if p.Chunks != nil || p.Blocks != nil {
		return usagef("-chunks and -blocks are for arrays, -chunksize is for plain super-chunks")
	}
	o := &frame.CreateOptions{Sparse: p.Sparse, Overwrite: p.Overwrite, Checksums: p.Checksums, BlockTable: p.BlockTable}
	if !p.compresses() && p.ChunkSize == 0 {
		c, err := frame.Copy(ctx, to.name, f, o)
		if err != nil {
			return err
		}
		return to.finish(e, c)
	}
	info := f.Info()
	o.Checksums, o.BlockTable = o.Checksums || info.Checksums, o.BlockTable || info.BlockTable
	if info.VLBlocks && p.ChunkSize > 0 {
		return fmt.Errorf("cannot change the size of chunks with blocks of variable size: %w", errors.ErrUnsupported)
	}
	o.Params, o.ChunkSize = info.Params, max(info.ChunkSize, 0)
	p.applyFrame(o)
	if p.ChunkSize > 0 {
		o.ChunkSize, o.Params.BlockSize = int(p.ChunkSize), 0
	}
	c, err := frame.CreateFunc(ctx, to.name, func(b *frame.Batch) error {
		v, err := f.Engine().View(ctx)
		if err != nil {
			return err
		}
		defer v.Release()
		if err := b.Engine().CopyMeta(v, f.Meta()); err != nil {
			return err
		}
		if err := b.Engine().CopyVLMeta(v); err != nil {
			return err
		}
		if special, ok := v.Uniform(); ok && info.ChunkSize > 0 {
			return b.Engine().FillSpecial(info.NBytes, special) // its cost does not depend on the number of chunks
		}
		if p.ChunkSize > 0 {
			return appendChunks(ctx, b, f.Content(ctx), int(p.ChunkSize))
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
	return to.finish(e, c)
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
	const header = 24 // bytes of a slice in memory
	if err := f.CheckAlloc(int64(info.NBytes) + header*int64(info.Blocks)); err != nil {
		return fmt.Errorf("chunk %d, with %d blocks: %w", i, info.Blocks, err)
	}
	blocks := make([][]byte, info.Blocks)
	for k := range blocks {
		if blocks[k], err = f.ReadBlock(ctx, nil, i, k); err != nil {
			return err
		}
	}
	return b.AppendBlocks(ctx, blocks)
}
