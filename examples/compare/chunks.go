package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/examples/compare/cblosc"
	"github.com/goblosc/blosc2/internal/coder"
)

// pipelines are the filters of chunks.
var pipelines = []struct {
	name    string
	filters []chunk.Filter
}{
	{"none", []chunk.Filter{}},
	{"shuffle", []chunk.Filter{chunk.Shuffle}},
	{"bitshuffle", []chunk.Filter{chunk.BitShuffle}},
	{"shuffle+bytedelta", []chunk.Filter{chunk.Shuffle, chunk.ByteDelta}},
}

// params returns the parameters of a chunk for both sides.
func params(id codec.ID, level int, filters []chunk.Filter, size int) (chunk.Params, cblosc.Params) {
	p := chunk.Params{TypeSize: size, Codec: id, Level: level, Filters: []chunk.Filter{}}
	if level == 0 {
		p.Level = codec.NoCompression
	}
	p.Filters = append(p.Filters, filters...)
	q := cblosc.Params{Codec: id.Code(), Level: level, TypeSize: size}
	for i, f := range coder.Params(p).Pipeline() {
		q.Filters[i], q.Meta[i] = f.Code(), f.Param()
	}
	return p, q
}

// chunks runs the cells of chunks. The fast codecs are a separate group.
func (c *config) chunks() (rows []row, err error) {
	for _, s := range c.sets {
		src := make([]byte, c.size-c.size%s.size)
		s.fill(src)
		add := func(group, name string, src []byte, p chunk.Params, q cblosc.Params) error {
			for threads := 1; threads <= 2; threads++ {
				q.Threads = threads
				more, err := c.chunk(group, fmt.Sprintf("%s/%s/%dt", name, s.name, threads), src, p, q)
				if err != nil {
					return err
				}
				rows = append(rows, more...)
			}
			return nil
		}
		p, q := params(codec.BloscLZ, 0, nil, s.size)
		if err := add("fast", "stored", src, p, q); err != nil {
			return rows, err
		}
		for _, id := range []codec.ID{codec.BloscLZ, codec.LZ4, codec.LZ4HC, codec.Zlib, codec.Zstd} {
			for _, pl := range pipelines {
				for _, level := range c.levels {
					p, q := params(id, level, pl.filters, s.size)
					group, part := "fast", src
					if id > codec.LZ4 {
						part = src[:len(src)/4/s.size*s.size] // these codecs are slow
						group = "deep"
					}
					if err := add(group, fmt.Sprintf("%v/%s/%d", id, pl.name, level), part, p, q); err != nil {
						return rows, err
					}
				}
			}
		}
	}
	more, err := c.specials()
	return append(rows, more...), err
}

// chunk runs a cell of encoding and a cell of decoding. Each side must decode the chunk of the other side.
func (c *config) chunk(group, name string, src []byte, p chunk.Params, q cblosc.Params) (rows []row, err error) {
	encodeGroup, decodeGroup := "encode-"+group, "decode-"+group
	if p.Codec == codec.LZ4HC {
		decodeGroup = "decode-fast"
	}
	wantEncode, wantDecode := c.wants(encodeGroup+"/"+name), c.wants(decodeGroup+"/"+name)
	if !wantEncode && !wantDecode {
		return nil, nil
	}
	pool := &chunk.Coder{Concurrency: q.Threads}
	enc, err := cblosc.NewEncoder(q)
	if err != nil {
		return nil, err
	}
	defer enc.Close()
	dec, err := cblosc.NewDecoder(q.Threads)
	if err != nil {
		return nil, err
	}
	defer dec.Close()

	ours, err := pool.Encode(nil, src, p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	theirs := make([]byte, len(src)+chunk.MaxOverhead)
	n, err := enc.Encode(theirs, src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	stored := theirs[:n:n]
	back, cBack := make([]byte, len(src)), make([]byte, len(src))
	if got, err := pool.Decode(back[:0], stored); err != nil || !bytes.Equal(got, src) {
		return nil, fmt.Errorf("%s: Go decodes a chunk of C: %w, %v", name, errDiffer, err)
	}
	if err := dec.Decode(cBack, ours); err != nil || !bytes.Equal(cBack, src) {
		return nil, fmt.Errorf("%s: C decodes a chunk of Go: %w, %v", name, errDiffer, err)
	}
	sizes := [2]int{len(ours), n}
	// From here on both sides write to the same memory.
	if wantDecode {
		stored = slices.Clone(stored)
		r, err := c.race(decodeGroup, name, int64(len(src)),
			func() error { _, err := pool.Decode(back[:0], stored); return err },
			func() error { return dec.Decode(back, stored) })
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	if wantEncode {
		r, err := c.race(encodeGroup, name, int64(len(src)),
			func() error { _, err := pool.Encode(theirs[:0], src, p); return err },
			func() error { _, err := enc.Encode(theirs, src); return err })
		if err != nil {
			return rows, err
		}
		r.GoSize, r.CSize = sizes[0], sizes[1]
		rows = append(rows, r)
	}
	return rows, nil
}

// specials runs the cells that decode special chunks.
func (c *config) specials() (rows []row, err error) {
	for _, s := range []struct {
		kind  chunk.Special
		value []byte
	}{{chunk.Zeros, nil}, {chunk.NaNs, nil}, {chunk.Value, []byte{1, 2, 3, 4}}} {
		for threads := 1; threads <= 2; threads++ {
			name := fmt.Sprintf("special/%v/%dt", s.kind, threads)
			if !c.wants("decode-fast/" + name) {
				continue
			}
			n := c.size &^ 3
			z, err := chunk.EncodeSpecial(nil, s.kind, n, s.value, chunk.Params{TypeSize: 4})
			if err != nil {
				return rows, err
			}
			pool := &chunk.Coder{Concurrency: threads, MaxBytes: -1}
			dec, err := cblosc.NewDecoder(threads)
			if err != nil {
				return rows, err
			}
			defer dec.Close()
			ours, theirs := make([]byte, n), make([]byte, n)
			if _, err := pool.Decode(ours[:0], z); err != nil {
				return rows, err
			}
			if err := dec.Decode(theirs, z); err != nil {
				return rows, err
			}
			if !bytes.Equal(ours, theirs) {
				return rows, fmt.Errorf("%s: %w", name, errDiffer)
			}
			r, err := c.race("decode-fast", name, int64(n),
				func() error { _, err := pool.Decode(ours[:0], z); return err },
				func() error { return dec.Decode(ours, z) })
			if err != nil {
				return rows, err
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}
