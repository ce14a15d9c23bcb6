package main

import (
	"fmt"
	"io"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// runDump writes all decoded bytes.
func runDump(e *env, args []string) error {
	fs := newFlags("dump")
	npy := fs.Bool("npy", false, "")
	args, err := parseArgs(fs, args, 1, 1)
	if err != nil {
		return err
	}
	s, err := openReadable(e.ctx, args[0])
	if err != nil {
		return err
	}
	defer s.close()
	switch {
	case s.array != nil:
		return dumpArray(e, s.array, nil, *npy)
	case s.frame != nil:
		if *npy {
			if err := writeFlatHeader(e, s.frame.Info().NBytes, s.frame.Info().TypeSize); err != nil {
				return err
			}
		}
		n := s.frame.Info().NBytes
		_, err := io.CopyBuffer(onlyWriter{e.out}, s.frame.Content(e.ctx), make([]byte, min(4<<20, max(1, n))))
		return err
	}
	h := s.chunk.Header()
	if *npy {
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

// runSlice writes the decoded bytes of a selection.
func runSlice(e *env, args []string) error {
	fs := newFlags("slice")
	asNPY := fs.Bool("npy", false, "")
	args, err := parseArgs(fs, args, 2, 2)
	if err != nil {
		return err
	}
	sel, err := ndarray.ParseSelection(args[1])
	if err != nil {
		return err
	}
	if isURL(args[0]) {
		return sliceURL(e, args[0], sel, *asNPY)
	}
	a, err := openArray(e.ctx, args[0], false)
	if err != nil {
		return err
	}
	defer a.Close()
	return dumpArray(e, a, sel, *asNPY)
}

// sliceURL writes a selection of an array on a server.
func sliceURL(e *env, url string, sel []ndarray.Index, npy bool) error {
	s, err := openURL(e.ctx, url)
	if err != nil {
		return err
	}
	defer s.close()
	switch {
	case s.damaged != nil:
		return s.damaged
	case s.array == nil:
		return fmt.Errorf("%s: %w", s.path, ndarray.ErrNotArray)
	}
	return dumpArray(e, s.array, sel, npy)
}

// dumpArray writes a selection in C order, in small pieces. A nil selection writes everything.
func dumpArray(e *env, a *ndarray.Array, sel []ndarray.Index, asNPY bool) error {
	if asNPY {
		return npy.Write(e.ctx, e.out, a, sel...)
	}
	return ndarray.ToWriter(e.ctx, e.out, a, sel...)
}
