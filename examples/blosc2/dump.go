package main

import (
	"io"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// dumpCmd writes all decoded bytes.
type dumpCmd struct {
	NPY bool `name:"npy" help:"write a NumPy header first, so that numpy.load reads the result. A super-chunk or a single chunk becomes an array of one dimension: of raw items if its item size is more than one byte and divides the data, otherwise of bytes"`
	Raw bool `name:"raw" help:"write the bytes even to a terminal"`
	progressOption
	Path string `arg:"" name:"PATH"`
}

// Help describes the verb.
func (dumpCmd) Help() string {
	return `
Writes the decoded bytes: the items of an array in C order, the chunks of a super-chunk one after the other, or the
contents of a single chunk. Its memory use does not grow with the data.

Examples:
  blosc2 dump -npy a.b2nd > a.npy
`
}

// Run runs the verb.
func (v *dumpCmd) Run(e *env) error {
	if !v.Raw {
		if err := e.refuseTerminal(", or request the bytes with -raw"); err != nil {
			return err
		}
	}
	defer e.count(v.progressOption)()
	s, err := openReadable(e, v.Path)
	if err != nil {
		return err
	}
	defer s.close()
	switch {
	case s.array != nil:
		return dumpArray(e, s.array, nil, v.NPY, nil)
	case s.frame != nil:
		if v.NPY {
			if err := writeFlatHeader(e, s.frame.Info().NBytes, s.frame.Info().TypeSize); err != nil {
				return err
			}
		}
		n := s.frame.Info().NBytes
		_, err := io.CopyBuffer(onlyWriter{e.out}, s.frame.Content(e.ctx), make([]byte, min(4<<20, max(1, n))))
		return err
	}
	h := s.chunk.Header()
	if v.NPY {
		if err := writeFlatHeader(e, s.chunk.Size(), h.Params.TypeSize); err != nil {
			return err
		}
	}
	// A read decodes whole blocks, so read a multiple of the block size.
	piece := int64(max(h.Params.BlockSize, 1))
	piece *= max(1, 1<<20/piece)
	buf := make([]byte, min(piece, e.slab, max(s.chunk.Size(), 1)))
	for at := int64(0); at < s.chunk.Size(); at += int64(len(buf)) {
		n, err := s.chunk.ReadAt(buf, at)
		if err != nil && err != io.EOF {
			return s.chunkError(err)
		}
		if _, err := e.out.Write(buf[:n]); err != nil {
			return err
		}
	}
	return nil
}

// onlyWriter hides the ReadFrom of a writer, by which io.CopyBuffer would read in small steps.
type onlyWriter struct{ io.Writer }

// writeFlatHeader writes the NumPy header for n bytes that are not an array.
func writeFlatHeader(e *env, n int64, typeSize int) error {
	d := meta.Of('u', 1)
	if typeSize > 1 && n%int64(typeSize) == 0 {
		d = meta.Of('V', typeSize)
	}
	h, err := npy.Header{DType: d, Shape: []int64{n / int64(d.Size)}}.Append(nil)
	if err == nil {
		_, err = e.out.Write(h)
	}
	return err
}

// dumpArray writes a selection in C order, in small pieces, and counts the bytes. A nil selection writes everything.
func dumpArray(e *env, a *ndarray.Array, sel []ndarray.Index, asNPY bool, p *progress) error {
	if asNPY {
		return npy.Write(e.ctx, p.writer(e.out), a, sel...)
	}
	return ndarray.ToWriter(e.ctx, p.writer(e.out), a, sel...)
}
