package coder

import (
	"slices"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/codecs"
)

// IndexParams returns the parameters that C-Blosc2 uses for the index of a frame.
func IndexParams() Params {
	return Params{TypeSize: 8, BlockSize: 16 << 10, Codec: codec.BloscLZ, Level: 5, Split: SplitNever}
}

// SplitMode determines when blocks are split into one stream for each byte of an item.
type SplitMode uint8

// The split modes. SplitAuto splits for the codecs that gain from it: BloscLZ, LZ4 and Zstd up to level 5, after
// Shuffle, with items of at most 16 bytes. SplitForward does the same today.
const (
	SplitAuto    SplitMode = 0
	SplitAlways  SplitMode = 1
	SplitNever   SplitMode = 2
	SplitForward SplitMode = 4
)

// Params are the compression parameters of a chunk. The zero value selects the defaults of python-blosc2: Zstd, level
// 5, Shuffle, automatic split and block size, and items of one byte.
type Params struct {
	TypeSize  int       // item size in bytes; 0 = 1
	BlockSize int       // decoded size of a block in bytes, rounded down to whole items; 0 = automatic
	Codec     codec.ID  // 0 = Zstd
	CodecMeta uint8     // parameter of codecs that have one
	Level     int       // 1 to 9; 0 = 5, codec.NoCompression = stored
	Filters   []Filter  // fill the slots from the first; nil = Shuffle in the last slot, or none for ZFP
	Split     SplitMode // 0 = automatic
	Dict      bool      // train a dictionary for each chunk (Zstd, LZ4, LZ4HC)
}

// normalParams are parameters with defaults filled in: the level is 0 to 9, and the item size at least 1. Filters are
// as given; pipeline has their defaults.
type normalParams struct {
	Params
	plugins  Plugins
	traits   codecs.Traits // of the codec
	pipeline Pipeline
}

// normal returns p with defaults filled in, or an error if a field is invalid. Codecs and filters of plugins take the
// place of built-in ones.
func (p Params) normal(plugins Plugins) (normalParams, error) {
	if p.TypeSize == 0 {
		p.TypeSize = 1
	}
	if p.Codec == codec.Default {
		p.Codec = codec.Zstd
	}
	switch p.Level {
	case 0:
		p.Level = codec.DefaultLevel
	case codec.NoCompression:
		p.Level = 0
	}
	switch {
	case p.Codec != codec.FromCode(p.Codec.Code()):
		return normalParams{}, paramError("codec %d, want a constant of package codec or codec.FromCode(%d)", uint16(p.Codec), p.Codec.Code())
	case p.TypeSize < 0 || p.TypeSize > MaxBlockSize:
		return normalParams{}, paramError("item size %d", p.TypeSize)
	case p.BlockSize < 0 || p.BlockSize > MaxBlockSize:
		return normalParams{}, paramError("block size %d", p.BlockSize)
	case p.Level < 0 || p.Level > 9:
		return normalParams{}, paramError("level %d, want 1 to 9 or codec.NoCompression", p.Level)
	case len(p.Filters) > NumFilters:
		return normalParams{}, paramError("%d filters, want at most %d", len(p.Filters), NumFilters)
	case p.Split > SplitForward || p.Split == 3:
		return normalParams{}, paramError("split mode %d", p.Split)
	}
	n := normalParams{Params: p, plugins: plugins, traits: plugins.traits(p.Codec)}
	if err := n.checkFilters(); err != nil {
		return normalParams{}, err
	}
	n.setPipeline()
	return n, nil
}

// traits returns the properties of a codec that the layout of a chunk depends on. User codecs have none.
func (p Plugins) traits(id codec.ID) codecs.Traits {
	c, err := p.codecs.ByID(id)
	if err != nil {
		return codecs.Traits{} // not available
	}
	return codecs.Of(c)
}

// trainDict returns a dictionary, or nil. The traits of the codec must have Dict set.
func (p *Params) trainDict(samples [][]byte, max int) []byte {
	c, err := codec.Set{}.ByID(p.Codec)
	if err != nil {
		return nil
	}
	t, ok := c.(codecs.Trainer)
	if !ok {
		return nil
	}
	return t.TrainDict(samples, max)
}

// checkFilters rejects filters and parameters that C-Blosc2 rejects when writing. A user filter takes any parameter.
func (p *normalParams) checkFilters() error {
	for _, f := range p.Filters {
		def := p.plugins.filter(f)
		switch {
		case p.traits.Numbers && def != nil && def.bytewise:
			return paramError("codec %v reads the items as numbers, so it cannot follow %s; set no filters", p.Codec, f.label())
		case f >= badParam:
			return paramError("%s: the parameter is out of range, want -128 to 255", f.label())
		case def == nil && f.Code() < firstUserFilter:
			return unsupportedFilter(f)
		case def == nil: // a user filter: see Plugins.CheckEncoding
		case def.forward == nil && def.backward != nil:
			return paramError("%s can only be decoded", f.label())
		case def.check != nil:
			if err := def.check(f.Param(), p.TypeSize); err != nil {
				return paramError("%v", err)
			}
		}
	}
	return nil
}

// Pipeline returns the six slots that p.Filters describes. A ByteDelta without parameter gets the item size, so that
// the chunk can be read without its frame.
func (p Params) Pipeline() Pipeline {
	n := normalParams{Params: p, traits: Plugins{}.traits(p.Codec)}
	n.setPipeline()
	return n.pipeline
}

// setPipeline sets the pipeline to Params.Pipeline, but a user filter in place of ByteDelta keeps its parameter.
func (p *normalParams) setPipeline() {
	p.pipeline = Pipeline{}
	if p.Filters == nil && !p.traits.Numbers {
		p.pipeline[NumFilters-1] = Shuffle
	}
	copy(p.pipeline[:], p.Filters)
	for i := range p.pipeline {
		if f := &p.pipeline[i]; *f == ByteDelta && p.TypeSize <= MaxTypeSize && p.plugins.filters[f.Code()] == nil {
			*f = f.With(max(p.TypeSize, 1))
		}
	}
}

// Normalize returns p with all defaults filled in, as frame headers record them. It keeps Level, except that 0 becomes
// codec.DefaultLevel, and Dict only for codecs with dictionaries. Errors are ErrParam or errors.ErrUnsupported.
func (p Params) Normalize() (Params, error) {
	n, _, err := Plugins{}.Normalize(p)
	return n, err
}

// Normalize is Params.Normalize with the codecs and filters of p. It returns the pipeline, too.
func (p Plugins) Normalize(with Params) (Params, Pipeline, error) {
	n, err := with.normal(p)
	if err != nil {
		return with, Pipeline{}, err
	}
	if n.Level == 0 {
		n.Level = codec.NoCompression
	}
	if n.Filters == nil {
		n.Filters = slices.Clone(n.pipeline[:])
	}
	n.Dict = n.Dict && n.traits.Dict // C-Blosc2 does not append to a frame that asks other codecs for dictionaries
	return n.Params, n.pipeline, nil
}

// Shaped reports whether the codec or a filter uses the shape of blocks, which only arrays have.
func (p Params) Shaped() bool {
	if (Plugins{}).traits(p.Codec).Shaped {
		return true
	}
	for _, f := range p.Filters {
		if def := builtinFilter(f); def != nil && def.shaped {
			return true
		}
	}
	return false
}

const dictFraction = 20 // a dictionary is at most this part of the chunk

// trains reports whether a chunk of nbytes gets a dictionary if its data yields one. Codecs without dictionaries ignore
// Dict; C-Blosc2 returns an error.
func (p *normalParams) trains(nbytes int) bool {
	return p.Dict && p.Level > 0 && p.traits.Dict && nbytes/dictFraction >= codecs.MinDict
}
