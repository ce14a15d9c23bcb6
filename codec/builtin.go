package codec

import (
	"fmt"

	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/errs"
)

// builtin is a codec of this package, a Codec. To add a codec, add an ID, an entry in builtins and the functions that
// the entry refers to.
type builtin struct {
	id     ID
	name   string // as the command blosc2 spells it
	format Format

	// newEncoder is called with a valid level, and without a dictionary unless traits.TrainDict is set. It is nil if
	// the codec only decodes. newDecoder is nil if this package only knows the name.
	newEncoder func(p Params) (Encoder, error)
	newDecoder func(p Params) (Decoder, error)

	traits codecs.Traits
}

// builtins holds the codecs that the format knows. If several codecs have one format, the first decodes it. It never
// changes.
var builtins = [...]builtin{
	{id: BloscLZ, name: "blosclz", format: FormatBloscLZ, newEncoder: newBloscLZEncoder, newDecoder: newBloscLZDecoder,
		traits: codecs.Traits{SplitLevel: 9}},
	{id: LZ4, name: "lz4", format: FormatLZ4, newEncoder: newLZ4Encoder, newDecoder: newLZ4Decoder,
		traits: codecs.Traits{SplitLevel: 9, TrainDict: firstSamples}},
	{id: LZ4HC, name: "lz4hc", format: FormatLZ4, newEncoder: newLZ4HCEncoder, newDecoder: newLZ4Decoder,
		traits: codecs.Traits{HighRatio: true, TrainDict: firstSamples}},
	{id: Snappy, name: "snappy", format: FormatSnappy, newDecoder: newSnappyDecoder},
	{id: Zlib, name: "zlib", format: FormatZlib, newEncoder: newZlibEncoder, newDecoder: newZlibDecoder,
		traits: codecs.Traits{HighRatio: true}},
	{id: Zstd, name: "zstd", format: FormatZstd, newEncoder: newZstdEncoder, newDecoder: newZstdDecoder,
		traits: codecs.Traits{SplitLevel: 5, HighRatio: true, TrainDict: trainZstd}},
	{id: NDLZ, name: "ndlz", format: FormatUser, newEncoder: newNDLZEncoder, newDecoder: newNDLZDecoder,
		traits: codecs.Traits{Shaped: true}},
	{id: ZFPAcc, name: "zfp_acc", format: FormatUser, newEncoder: zfpAccuracy.newEncoder, newDecoder: zfpAccuracy.newDecoder,
		traits: codecs.Traits{Shaped: true}},
	{id: ZFPPrec, name: "zfp_prec", format: FormatUser, newEncoder: zfpPrecision.newEncoder, newDecoder: zfpPrecision.newDecoder,
		traits: codecs.Traits{Shaped: true}},
	{id: ZFPRate, name: "zfp_rate", format: FormatUser, newEncoder: zfpRate.newEncoder, newDecoder: zfpRate.newDecoder,
		traits: codecs.Traits{Shaped: true}},
	{id: FromCode(36), name: "openhtj2k", format: FormatUser},
	{id: FromCode(37), name: "grok", format: FormatUser},
	{id: FromCode(38), name: "openzl", format: FormatUser},
}

// lookup returns the entry of an identifier, or nil.
func lookup(id ID) *builtin {
	for i := range builtins {
		if builtins[i].id == id {
			return &builtins[i]
		}
	}
	return nil
}

func (b *builtin) ID() ID { return b.id }

func (b *builtin) NewEncoder(p Params) (Encoder, error) {
	if b.newEncoder == nil {
		return nil, fmt.Errorf("codec: %s: encoding: %w", b.name, errs.ErrUnsupported)
	}
	if p.Level < 1 || p.Level > 9 {
		return nil, fmt.Errorf("codec: %s: level %d, want 1 to 9: %w", b.name, p.Level, errs.ErrUnsupported)
	}
	if p.Dict != nil && b.traits.TrainDict == nil {
		return nil, fmt.Errorf("codec: %s: encoding with a dictionary: %w", b.name, errs.ErrUnsupported)
	}
	return b.newEncoder(p)
}

func (b *builtin) NewDecoder(p Params) (Decoder, error) { return b.newDecoder(p) }

// Traits returns the properties of the codec that package chunk needs.
func (b *builtin) Traits() codecs.Traits { return b.traits }
