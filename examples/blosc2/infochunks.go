package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
)

// printChunks prints a table of the chunks of a frame.
func printChunks(e *env, s *source) error {
	rows := [][]string{{"chunk", "grid", "position", "size", "ratio", "codec", "special"}}
	h := &headerReader{s: s}
	defer h.close()
	add := func(i int, grid string, c frame.ChunkInfo) error {
		row := []string{strconv.Itoa(i), grid, "-", grouped(int64(c.CBytes)), "-", "-", ""}
		if c.CBytes > 0 {
			row[4] = fmt.Sprintf("%.2f", float64(c.NBytes)/float64(c.CBytes))
		}
		if c.Off >= 0 {
			row[2] = strconv.FormatInt(c.Off, 10)
		}
		if c.Special != chunk.Regular {
			row[6] = c.Special.String()
		} else if head, err := h.read(e, i, c); err != nil {
			return err
		} else if row[5] = head.Params.Codec.String(); head.Stored {
			row[5] = "stored"
		}
		rows = append(rows, row)
		return nil
	}
	if err := eachChunk(e, s, add); err != nil {
		return err
	}
	fmt.Fprintln(e.out)
	e.printTable(rows, "ntnnntt")
	return nil
}

// eachChunk calls see with the chunks of a frame, and their places in the grid of an array.
func eachChunk(e *env, s *source, see func(i int, grid string, c frame.ChunkInfo) error) error {
	if s.array != nil && s.array.Frame() == s.frame {
		for c, err := range s.array.ChunkInfos(e.ctx) {
			if err != nil {
				return err
			}
			info := frame.ChunkInfo{Special: c.Special, Off: c.Off, NBytes: c.NBytes, CBytes: c.CBytes, Blocks: c.Blocks}
			if err := see(int(c.Number), pyTuple(c.Coord), info); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range s.frame.NumChunks() {
		c, err := s.frame.ChunkInfo(e.ctx, i)
		if err == nil {
			err = see(i, "", c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// headerReader reads the headers of chunks: from the file if there is one, so that it need not read whole chunks.
type headerReader struct {
	s    *source
	file *os.File
}

// read returns the header of chunk i.
func (h *headerReader) read(e *env, i int, c frame.ChunkInfo) (chunk.Header, error) {
	b := make([]byte, 32)
	switch {
	case h.s.remote != nil && c.Off >= 0:
		if _, err := h.s.remote.ReadAtContext(e.ctx, b, c.Off); err != nil && err != io.EOF {
			return chunk.Header{}, err
		}
	case h.s.dir != nil && c.Off >= 0:
		if _, err := h.s.dir.ReadAtContext(e.ctx, b, h.s.dir.ChunkOffset(c.Off)); err != nil && err != io.EOF {
			return chunk.Header{}, err
		}
	case h.s.store == nil && h.s.path != "-" && c.Off >= 0:
		if err := h.readFile(b, c.Off); err != nil {
			return chunk.Header{}, err
		}
	default:
		var err error
		if b, err = h.s.frame.ReadRaw(e.ctx, nil, i); err != nil {
			return chunk.Header{}, err
		}
	}
	return chunk.ParseHeader(b, int64(c.CBytes))
}

// readFile reads the beginning of a chunk of a file or a sparse directory.
func (h *headerReader) readFile(b []byte, off int64) (err error) {
	if h.s.frame.Info().Sparse {
		h.close()
		h.file, err = os.Open(filepath.Join(h.s.path, fmt.Sprintf("%08X.chunk", off)))
		off = 0
	} else if h.file == nil {
		h.file, err = os.Open(h.s.path)
	}
	if err != nil {
		h.file = nil
		return err
	}
	if _, err = h.file.ReadAt(b, off); err == io.EOF {
		err = nil
	}
	return err
}

// close closes the file.
func (h *headerReader) close() {
	if h.file != nil {
		h.file.Close()
	}
}
