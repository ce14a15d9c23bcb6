package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

const (
	numFilters   = 6                  // slots for filters in a header
	splitForward = chunk.SplitMode(4) // SplitAuto of older versions of C-Blosc
	byteDeltaOld = chunk.Filter(34)   // ByteDelta of C-Blosc2 2.6 and 2.7, which can only be decoded
)

// params holds the options for the compression and storage of new data. A field is zero if its option is not set.
type params struct {
	Chunks      partition   `placeholder:"100,100" help:"chunk shape in items, with 0 for an automatic length and -1 for the whole axis. The default is the shape that python-blosc2 chooses, and for copy the shape of FROM. With another shape than that, the blocks of a copy are automatic unless -blocks is set"`
	Blocks      partition   `placeholder:"10,100" help:"block shape in items, with 0 for an automatic length and -1 for the whole chunk. Without lengths in -chunks (not set, or zeros), a shape without 0 and -1 only sets the number of items of a block, as in python-blosc2. copy keeps the chunks of FROM unless -chunks is set"`
	ChunkSize   size        `name:"chunksize" placeholder:"N" help:"chunk size of a plain super-chunk in bytes; create then makes one in place of an array"`
	Goal        goalName    `placeholder:"balanced" help:"choose codec, level and filters by the data: balanced smallest fastest"`
	Codec       codecName   `placeholder:"zstd" help:"blosclz lz4 lz4hc zlib zstd ndlz zfp_acc zfp_prec zfp_rate; those of zfp are lossy and for <f4 and <f8"`
	CodecMeta   *signedByte `name:"codec-meta" placeholder:"N" help:"parameter of the codec: 4 or 8 for ndlz, the decimal exponent of the largest error for zfp_acc, the bits of an item (1 to 64) for zfp_prec, the size in percent (1 to 100) for zfp_rate"`
	Level       level       `placeholder:"5" help:"0 (no compression) to 9 (smallest)"`
	Filters     filters     `placeholder:"shuffle" help:"none shuffle bitshuffle delta trunc_prec bytedelta int_trunc ndcell ndmean: up to six, separated by commas, in the order in which they are applied, with a parameter as in trunc_prec:12; '' for none. trunc_prec and ndmean are lossy and for <f4 and <f8, int_trunc is lossy and for little-endian integers"`
	FiltersMeta filterMetas `name:"filters-meta" placeholder:"0" help:"the parameters of the filters, separated by commas"`
	Split       *splitName  `placeholder:"auto" help:"compress each byte plane of a block as its own stream: auto always never forward; forward chooses like auto"`
	Dict        *bool       `help:"train a dictionary for each chunk"`
	Sparse      bool        `help:"create a directory with a file for each chunk"`
	Checksums   bool        `help:"store CRC-32C checksums of chunks, index and metalayers, which blosc2 verify compares"`
	BlockTable  bool        `name:"block-table" help:"store where the blocks are: an item of a file on a server then takes one round trip instead of two"`
	Overwrite   bool        `help:"replace an existing file, directory or link"`
}

// size is a size in bytes from 1 up.
type size int

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *size) UnmarshalText(text []byte) error {
	v, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || v < 1 || v > 1<<31-1 {
		return usagef("want a size in bytes from 1 up, got %q", text)
	}
	*n = size(v)
	return nil
}

// goalName is a goal.
type goalName chunk.Goal

// UnmarshalText implements encoding.TextUnmarshaler.
func (g *goalName) UnmarshalText(text []byte) error {
	for _, goal := range []chunk.Goal{chunk.Balanced, chunk.Smallest, chunk.Fastest} {
		if goal.String() == string(text) {
			*g = goalName(goal)
			return nil
		}
	}
	return usagef("want balanced, smallest or fastest, got %q", text)
}

// codecName is a codec that can compress.
type codecName codec.ID

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *codecName) UnmarshalText(text []byte) error {
	for code := range 256 {
		if id := codec.FromCode(uint8(code)); id.String() == string(text) && id != codec.Snappy {
			*c = codecName(id)
			return nil
		}
	}
	return usagef("unknown codec %q, want blosclz, lz4, lz4hc, zlib, zstd, ndlz, zfp_acc, zfp_prec or zfp_rate", text)
}

// signedByte is a parameter of a codec or filter, some of which read it with a sign.
type signedByte uint8

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *signedByte) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 16)
	if err != nil || n < -128 || n > 255 {
		return usagef("want a number from -128 to 255, got %q", text)
	}
	*b = signedByte(n)
	return nil
}

// level is a compression level like chunk.Params.Level: 0 if it is not set.
type level int

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *level) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 || n > 9 {
		return usagef("want a level from 0 to 9, got %q", text)
	}
	if *l = level(n); n == 0 {
		*l = codec.NoCompression
	}
	return nil
}

// filters is a list of filters. An empty text selects none, which is not nil.
type filters []chunk.Filter

// UnmarshalText implements encoding.TextUnmarshaler. It parses names with optional parameters: shuffle,trunc_prec:12.
func (f *filters) UnmarshalText(text []byte) error {
	*f = filters{}
	if strings.TrimSpace(string(text)) == "" {
		return nil
	}
	for one := range strings.SplitSeq(string(text), ",") {
		name, param, hasParam := strings.Cut(strings.TrimSpace(one), ":")
		known, ok := filterByName(name)
		if !ok {
			return usagef("unknown filter %q, want none, shuffle, bitshuffle, delta, trunc_prec, bytedelta, int_trunc, ndcell or ndmean", name)
		}
		if hasParam {
			var b signedByte
			if err := b.UnmarshalText([]byte(param)); err != nil {
				return err
			}
			known = known.With(int(uint8(b)))
		}
		*f = append(*f, known)
	}
	if len(*f) > numFilters {
		return usagef("more than %d filters", numFilters)
	}
	return nil
}

// filterByName returns the filter of a name.
func filterByName(name string) (chunk.Filter, bool) {
	for id := range 256 {
		if known := chunk.Filter(id); known.String() == name && known != byteDeltaOld {
			return known, true
		}
	}
	return 0, false
}

// filterOptions returns filters as -filters takes them: shuffle,trunc_prec:12.
func filterOptions(list []chunk.Filter) string {
	return strings.NewReplacer(", ", ",", "(", ":", ")", "").Replace(filterNames(list))
}

// filterMetas are the parameters of filters.
type filterMetas []int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *filterMetas) UnmarshalText(text []byte) error {
	list, err := parseInts(string(text), 16)
	for _, n := range list {
		if n < -128 || n > 255 {
			return usagef("want numbers from -128 to 255, got %d", n)
		}
	}
	*m = list
	return err
}

// splitName is a split mode.
type splitName chunk.SplitMode

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *splitName) UnmarshalText(text []byte) error {
	modes := map[string]chunk.SplitMode{
		"auto": chunk.SplitAuto, "always": chunk.SplitAlways, "never": chunk.SplitNever, "forward": splitForward,
	}
	m, ok := modes[string(text)]
	if !ok {
		return usagef("want auto, always, never or forward, got %q", text)
	}
	*s = splitName(m)
	return nil
}

// check returns an error if options contradict each other.
func (p *params) check() error {
	if p.Filters == nil && len(p.FiltersMeta) > 0 || len(p.FiltersMeta) > len(p.Filters) {
		return usagef("more -filters-meta than -filters")
	}
	for i := range p.FiltersMeta {
		if p.Filters[i].Param() != 0 {
			return usagef("-filters-meta and -filters both have a parameter for %s", p.Filters[i].With(0))
		}
	}
	if p.Goal != 0 && (p.hasParams() || len(p.FiltersMeta) > 0) {
		return usagef("-goal is in place of -codec, -codec-meta, -level, -filters, -filters-meta, -split and -dict")
	}
	if codec.ID(p.Codec) == codec.NDLZ && (p.CodecMeta == nil || *p.CodecMeta != 4 && *p.CodecMeta != 8) {
		return usagef("-codec ndlz needs -codec-meta, 4 or 8")
	}
	if codec.ID(p.Codec) == codec.ZFPAcc && p.CodecMeta == nil {
		return usagef("-codec zfp_acc needs -codec-meta, the decimal exponent of the largest error")
	}
	if most := mostCodecMeta(codec.ID(p.Codec)); most > 0 && (p.CodecMeta == nil || *p.CodecMeta < 1 || *p.CodecMeta > most) {
		return usagef("-codec %v needs -codec-meta, 1 to %d", codec.ID(p.Codec), most)
	}
	if p.ChunkSize > 0 && (p.Chunks != nil || p.Blocks != nil) {
		return usagef("-chunksize is for plain super-chunks, -chunks and -blocks are for arrays")
	}
	return nil
}

// mostCodecMeta returns the largest parameter of a codec that loses nearly everything if its parameter is 0, or 0 for
// other codecs.
func mostCodecMeta(id codec.ID) signedByte {
	switch id {
	case codec.ZFPPrec:
		return 64 // bits of an item
	case codec.ZFPRate:
		return 100 // percent
	}
	return 0
}

// applyArray sets the compression parameters of an array of a dtype for which options were set, or the goal in place
// of all. It returns an error for options that would destroy the items.
func (p *params) applyArray(o *ndarray.CreateOptions, d meta.DType) error {
	if p.Goal != 0 {
		o.Codec, o.CodecMeta, o.Level, o.Filters, o.Split, o.Dict = 0, 0, 0, nil, 0, false
		o.Goal = chunk.Goal(p.Goal)
		return nil
	}
	c := chunk.Params{Codec: o.Codec, CodecMeta: o.CodecMeta, Level: o.Level, Filters: o.Filters, Split: o.Split, Dict: o.Dict}
	p.apply(&c)
	o.Codec, o.CodecMeta, o.Level, o.Filters, o.Split, o.Dict = c.Codec, c.CodecMeta, c.Level, c.Filters, c.Split, c.Dict
	return p.checkItems(c, d)
}

// checkItems returns an error if an option selects a lossy codec or filter that would destroy items of a dtype, also
// at level 0: the array keeps the option, and a copy with another level applies it. c has the options applied.
func (p *params) checkItems(c chunk.Params, d meta.DType) error {
	number := d.Fields == nil && d.Elem == nil && d.Order != '>'
	isFloat := number && d.Kind == 'f' && (d.Size == 4 || d.Size == 8)
	isInteger := number && (d.Kind == 'i' || d.Kind == 'u')
	switch id := codec.ID(p.Codec); id {
	case codec.ZFPAcc, codec.ZFPPrec, codec.ZFPRate:
		if !isFloat {
			return fmt.Errorf("-codec %v is for items of dtype <f4 and <f8, not of %s: %w", id, d, ndarray.ErrType)
		}
	}
	if p.Filters == nil {
		return nil
	}
	for _, f := range c.Filters {
		bits := int(int8(f.Param()))
		all := map[int]int{4: 23, 8: 52}[d.Size] // the bits of a mantissa, which trunc_prec may keep
		switch f := f.With(0); {
		case f == chunk.TruncPrec && !isFloat && bits != all, f == chunk.NDMean && !isFloat:
			return fmt.Errorf("-filters %v is for items of dtype <f4 and <f8, not of %s: %w", f, d, ndarray.ErrType)
		case f == chunk.IntTrunc && !isInteger && bits != 8*d.Size:
			return fmt.Errorf("-filters %v is for little-endian integers, not for items of dtype %s: %w", f, d, ndarray.ErrType)
		}
	}
	return nil
}

// applyFrame sets the compression parameters of a super-chunk for which options were set, or the goal in place of all.
func (p *params) applyFrame(o *frame.CreateOptions) {
	if p.Goal != 0 {
		o.Params = chunk.Params{TypeSize: o.Params.TypeSize, BlockSize: o.Params.BlockSize}
		o.Goal = chunk.Goal(p.Goal)
		return
	}
	p.apply(&o.Params)
}

// noteBlocks prints a note if the blocks of a new array differ from those of -blocks.
func (p *params) noteBlocks(e *env, blocks []int64) {
	for i, n := range p.Blocks {
		if n > 0 && n != blocks[i] {
			e.note(fmt.Sprintf("the blocks are %s, not %s: without lengths in -chunks, -blocks only sets the number of items of a block", pyTuple(blocks), pyTuple(p.Blocks)))
			return
		}
	}
}

// apply sets the compression parameters for which options were set.
func (p *params) apply(c *chunk.Params) {
	if p.Codec != 0 {
		c.Codec, c.CodecMeta = codec.ID(p.Codec), 0
	}
	if p.CodecMeta != nil {
		c.CodecMeta = uint8(*p.CodecMeta)
	}
	if p.Level != 0 {
		c.Level = int(p.Level)
	}
	if p.Filters != nil {
		c.Filters = []chunk.Filter{}
		for i, f := range p.Filters {
			if i < len(p.FiltersMeta) {
				f = f.With(int(uint8(p.FiltersMeta[i])))
			}
			c.Filters = append(c.Filters, f)
		}
	}
	if p.Split != nil {
		c.Split = chunk.SplitMode(*p.Split)
	}
	if p.Dict != nil {
		c.Dict = *p.Dict
	}
}
