package codec

import (
	"fmt"

	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/errs"
)

// builtin is a codec of this package, a Codec. To add a codec, add an ID, an entry in builtins with its functions, and
// a case in newEncoder.
type builtin struct {
	id     ID
	name   string // as the command blosc2 spells it
	format Format

	// newDecoder is nil if this package only knows the name.
	newDecoder func(p Params) (Decoder, error)

	traits codecs.Traits
}

// builtins holds the codecs that the format knows. If several codecs have one format, the first decodes it. It never
// changes.
var builtins = [...]builtin{
	{id: BloscLZ, name: "blosclz", format: FormatBloscLZ, newDecoder: newBloscLZDecoder,
		traits: codecs.Traits{SplitLevel: 9}},
	{id: LZ4, name: "lz4", format: FormatLZ4, newDecoder: newLZ4Decoder,
		traits: codecs.Traits{SplitLevel: 9, Dict: true}},
	{id: LZ4HC, name: "lz4hc", format: FormatLZ4, newDecoder: newLZ4Decoder,
		traits: codecs.Traits{HighRatio: true, Dict: true}},
	{id: Snappy, name: "snappy", format: FormatSnappy, newDecoder: newSnappyDecoder},
	{id: Zlib, name: "zlib", format: FormatZlib, newDecoder: newZlibDecoder,
		traits: codecs.Traits{HighRatio: true}},
	{id: Zstd, name: "zstd", format: FormatZstd, newDecoder: newZstdDecoder,
		traits: codecs.Traits{SplitLevel: 5, HighRatio: true, Dict: true}},
	{id: NDLZ, name: "ndlz", format: FormatUser, newDecoder: newNDLZDecoder,
		traits: codecs.Traits{Shaped: true}},
	{id: ZFPAcc, name: "zfp_acc", format: FormatUser, newDecoder: zfpAccuracy.newDecoder,
		traits: codecs.Traits{Shaped: true, Numbers: true}},
	{id: ZFPPrec, name: "zfp_prec", format: FormatUser, newDecoder: zfpPrecision.newDecoder,
		traits: codecs.Traits{Shaped: true, Numbers: true}},
	{id: ZFPRate, name: "zfp_rate", format: FormatUser, newDecoder: zfpRate.newDecoder,
		traits: codecs.Traits{Shaped: true, Numbers: true}},
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
	if err := b.CheckEncoder(p.Meta); err != nil {
		return nil, err
	}
	if p.Level < 1 || p.Level > 9 {
		return nil, fmt.Errorf("codec: %s: level %d, want 1 to 9: %w", b.name, p.Level, errs.ErrUnsupported)
	}
	if p.Dict != nil && !b.traits.Dict {
		return nil, fmt.Errorf("codec: %s: encoding with a dictionary: %w", b.name, errs.ErrUnsupported)
	}
	return b.newEncoder()(p)
}

// CheckEncoder implements codecs.Checker.
func (b *builtin) CheckEncoder(meta uint8) error {
	switch {
	case b.newEncoder() == nil:
		return fmt.Errorf("codec: %s: encoding: %w", b.name, errs.ErrUnsupported)
	case b.id == NDLZ && !isCell(meta):
		return fmt.Errorf("codec: %s: CodecMeta (Meta in codec.Params) is %d; set it to 4 or 8: %w", b.name, meta, errs.ErrUnsupported)
	case b.id == ZFPPrec && (meta < 1 || meta > 64): // 0 would lose nearly everything
		return fmt.Errorf("codec: %s: CodecMeta (Meta in codec.Params) is %d; set it to the bits of an item, 1 to 64: %w", b.name, meta, errs.ErrUnsupported)
	case b.id == ZFPRate && meta == 0: // the default would lose everything
		return fmt.Errorf("codec: %s: CodecMeta (Meta in codec.Params) is 0; set it to the size in percent: %w", b.name, errs.ErrUnsupported)
	}
	return nil
}

// newEncoder returns a function to be called with a valid level, and without a dictionary unless traits.Dict is set. It
// is nil if the codec only decodes. The functions are not in builtins, so that the linker leaves them out of a program
// that only decodes.
func (b *builtin) newEncoder() func(p Params) (Encoder, error) {
	switch b.id {
	case BloscLZ:
		return newBloscLZEncoder
	case LZ4:
		return newLZ4Encoder
	case LZ4HC:
		return newLZ4HCEncoder
	case Zlib:
		return newZlibEncoder
	case Zstd:
		return newZstdEncoder
	case NDLZ:
		return newNDLZEncoder
	case ZFPAcc:
		return zfpAccuracy.newEncoder
	case ZFPPrec:
		return zfpPrecision.newEncoder
	case ZFPRate:
		return zfpRate.newEncoder
	}
	return nil
}

func (b *builtin) NewDecoder(p Params) (Decoder, error) { return b.newDecoder(p) }

// Traits returns the properties of the codec that package chunk needs.
func (b *builtin) Traits() codecs.Traits { return b.traits }

// TrainDict implements codecs.Trainer.
func (b *builtin) TrainDict(samples [][]byte, max int) []byte {
	if b.id == Zstd {
		return trainZstd(samples, max)
	}
	return firstSamples(samples, max)
}
