package main

import (
	"fmt"
	"strconv"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
)

// chunkRows is the number of chunks that are printed at a time.
const chunkRows = 4096

// printChunks prints a table of the chunks of a frame, in pages. Columns do not get narrower after the first page.
func printChunks(e *env, s *source) error {
	rows := [][]string{{"chunk", "grid", "position", "size", "ratio", "codec", "special"}}
	widths := make([]int, len(rows[0]))
	headings := 1
	flush := func() error {
		if headings > 0 {
			fmt.Fprintln(e.out)
		}
		e.printPage(rows, "ntnnntt", headings, widths)
		rows, headings = rows[:0], 0
		return e.out.Flush()
	}
	add := func(i int, grid string, c frame.ChunkInfo) error {
		row := []string{strconv.Itoa(i), grid, "-", grouped(int64(c.CBytes)), "-", "-", ""}
		if c.CBytes > 0 {
			row[4] = fmt.Sprintf("%.2f", float64(c.NBytes)/float64(c.CBytes))
		}
		if c.Off >= 0 {
			row[2] = strconv.FormatInt(c.Off, 10)
		}
		switch {
		case c.Special != chunk.Regular:
			row[6] = c.Special.String()
		case c.Stored:
			row[5] = "stored"
		default:
			row[5] = c.Codec.String()
		}
		rows = append(rows, row)
		if len(rows) >= chunkRows+headings {
			return flush()
		}
		return nil
	}
	if err := eachChunk(e, s, add); err != nil {
		if len(rows) > headings { // the rows before the fault
			flush()
		}
		return err
	}
	return flush()
}

// eachChunk calls see with the chunks of a frame, and their places in the grid of an array. An error of see ends it.
func eachChunk(e *env, s *source, see func(i int, grid string, c frame.ChunkInfo) error) error {
	if s.array != nil && s.array.Frame() == s.frame {
		for c, err := range s.array.ChunkInfos(e.ctx) {
			if err != nil {
				return err
			}
			err := see(int(c.Number), pyTuple(c.Coord), frame.ChunkInfo{
				Special: c.Special, Off: c.Off, NBytes: c.NBytes, CBytes: c.CBytes, Blocks: c.Blocks, Stored: c.Stored, Codec: c.Codec, Filters: c.Filters,
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	for i := range s.frame.NumChunks() {
		c, err := s.frame.ChunkInfo(e.ctx, i)
		if err != nil {
			return err
		}
		if err := see(i, "", c); err != nil {
			return err
		}
	}
	return nil
}
