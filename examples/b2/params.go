package main

import (
	"flag"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/ndarray"
)

// params holds the options for the compression and storage of new data. A field is zero if its option is not set.
type params struct {
	chunks, blocks listFlag
	chunkSize      int
	codec          codec.ID
	codecMeta      *uint8
	level          int // like chunk.Params.Level
	filters        []chunk.Filter
	filtersMeta    []int64
	split          *chunk.SplitMode
	dict           *bool
	sparse         bool
	checksums      bool
	overwrite      bool
}

// register adds the options to a flag set.
func (p *params) register(fs *flag.FlagSet) {
	p.chunks.bits, p.blocks.bits = 32, 32
	fs.Var(&p.chunks, "chunks", "")
	fs.Var(&p.blocks, "blocks", "")
	fs.Func("chunksize", "", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < 1 {
			return usagef("want a size in bytes from 1 up")
		}
		p.chunkSize = int(n)
		return nil
	})
	fs.Func("codec", "", func(s string) error {
		for code := range 256 {
			if id := codec.FromCode(uint8(code)); id.String() == s && id != codec.Snappy {
				p.codec = id
				return nil
			}
		}
		return usagef("unknown codec")
	})
	fs.Func("codec-meta", "", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 16)
		if err != nil || n < -128 || n > 255 {
			return usagef("want a number from -128 to 255")
		}
		meta := uint8(n)
		p.codecMeta = &meta
		return nil
	})
	fs.Func("level", "", func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > 9 {
			return usagef("want a level from 0 to 9")
		}
		if p.level = n; n == 0 {
			p.level = codec.NoCompression
		}
		return nil
	})
	fs.Func("filters", "", p.setFilters)
	fs.Func("filters-meta", "", func(s string) error {
		list, err := parseInts(s, 16)
		for _, n := range list {
			if n < -128 || n > 255 {
				return usagef("want numbers from -128 to 255")
			}
		}
		p.filtersMeta = list
		return err
	})
	fs.Func("split", "", func(s string) error {
		modes := map[string]chunk.SplitMode{
			"auto": chunk.SplitAuto, "always": chunk.SplitAlways, "never": chunk.SplitNever, "forward": coder.SplitForward,
		}
		m, ok := modes[s]
		if !ok {
			return usagef("want auto, always, never or forward")
		}
		p.split = &m
		return nil
	})
	fs.BoolFunc("dict", "", func(s string) error {
		b, err := strconv.ParseBool(s)
		p.dict = &b
		return err
	})
	fs.BoolVar(&p.sparse, "sparse", false, "")
	fs.BoolVar(&p.checksums, "checksums", false, "")
	fs.BoolVar(&p.overwrite, "overwrite", false, "")
}

// setFilters parses names such as shuffle,delta. An empty string selects no filter.
func (p *params) setFilters(s string) error {
	p.filters = []chunk.Filter{}
	if strings.TrimSpace(s) == "" {
		return nil
	}
next:
	for name := range strings.SplitSeq(s, ",") {
		name = strings.TrimSpace(name)
		for id := range 256 {
			if f := chunk.Filter(id); f.String() == name && f != coder.ByteDeltaOld {
				p.filters = append(p.filters, f)
				continue next
			}
		}
		return usagef("unknown filter %q", name)
	}
	if len(p.filters) > coder.NumFilters {
		return usagef("more than %d filters", coder.NumFilters)
	}
	return nil
}

// check returns an error if options contradict each other.
func (p *params) check() error {
	if p.filters == nil && len(p.filtersMeta) > 0 || len(p.filtersMeta) > len(p.filters) {
		return usagef("more -filters-meta than -filters")
	}
	if p.chunkSize > 0 && (p.chunks.list != nil || p.blocks.list != nil) {
		return usagef("-chunksize is for plain super-chunks, -chunks and -blocks are for arrays")
	}
	return nil
}

// applyArray sets the compression parameters of an array for which options were set.
func (p *params) applyArray(o *ndarray.CreateOptions) {
	c := chunk.Params{Codec: o.Codec, CodecMeta: o.CodecMeta, Level: o.Level, Filters: o.Filters, Split: o.Split, Dict: o.Dict}
	p.apply(&c)
	o.Codec, o.CodecMeta, o.Level, o.Filters, o.Split, o.Dict = c.Codec, c.CodecMeta, c.Level, c.Filters, c.Split, c.Dict
}

// apply sets the compression parameters for which options were set.
func (p *params) apply(c *chunk.Params) {
	if p.codec != 0 {
		c.Codec, c.CodecMeta = p.codec, 0
	}
	if p.codecMeta != nil {
		c.CodecMeta = *p.codecMeta
	}
	if p.level != 0 {
		c.Level = p.level
	}
	if p.filters != nil {
		c.Filters = []chunk.Filter{}
		for i, id := range p.filters {
			f := id
			if i < len(p.filtersMeta) {
				f = f.With(int(uint8(p.filtersMeta[i])))
			}
			c.Filters = append(c.Filters, f)
		}
	}
	if p.split != nil {
		c.Split = *p.split
	}
	if p.dict != nil {
		c.Dict = *p.dict
	}
}
