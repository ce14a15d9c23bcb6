package codec

import "fmt"

// builtin returns the codec of this package with an identifier, or nil.
func builtin(id ID) Codec {
	switch id {
	case BloscLZ:
		return blosclzCodec{}
	case LZ4:
		return lz4Codec{}
	case LZ4HC:
		return lz4hcCodec{}
	case Snappy:
		return snappyCodec{}
	case Zlib:
		return zlibCodec{}
	case Zstd:
		return zstdCodec{}
	case NDLZ:
		return ndlzCodec{}
	case ZFPAcc, ZFPPrec, ZFPRate:
		return zfpCodec{id}
	}
	return nil
}

// checkLevel tells whether an encoder can serve the parameters that all codecs share.
func checkLevel(id ID, p Params) error {
	if p.Level < 1 || p.Level > 9 {
		return fmt.Errorf("codec: %v: level %d, want 1 to 9: %w", id, p.Level, ErrUnsupported)
	}
	if p.Dict != nil && id != LZ4 && id != LZ4HC && id != Zstd {
		return fmt.Errorf("codec: %v: encoding with a dictionary: %w", id, ErrUnsupported)
	}
	return nil
}

// corrupt returns the error of a decoder of this package.
func corrupt(id ID, what string) error {
	return fmt.Errorf("codec: %v: %s: %w", id, what, ErrCorrupt)
}

// encoded turns the length of a stream, 0 for none, into the result of Encode.
func encoded(n int, src []byte) (int, error) {
	if n == 0 || n >= len(src) {
		return 0, ErrIncompressible
	}
	return n, nil
}
