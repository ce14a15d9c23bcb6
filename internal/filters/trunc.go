package filters

import (
	"encoding/binary"
	"fmt"
)

// TruncPrec is documented in package shuffle.
func TruncPrec(dst, src []byte, typeSize int, bits int8) error {
	z, err := truncPrecBits(typeSize, bits)
	if err != nil {
		return err
	}
	clearLow(checked(dst, src, typeSize), src, typeSize, z)
	return nil
}

// CheckTruncPrec returns the error that [TruncPrec] would return for the parameters.
func CheckTruncPrec(typeSize int, bits int8) error {
	_, err := truncPrecBits(typeSize, bits)
	return err
}

// truncPrecBits returns the number of bits to clear.
func truncPrecBits(typeSize int, bits int8) (int, error) {
	mantissa := 0
	switch typeSize {
	case 4:
		mantissa = 23
	case 8:
		mantissa = 52
	default:
		return 0, fmt.Errorf("%w: trunc_prec of type size %d, want 4 or 8", errUnsupported, typeSize)
	}
	z := -int(bits)
	if bits >= 0 {
		z = mantissa - int(bits)
	}
	if z < 0 || z >= mantissa {
		return 0, fmt.Errorf("%w: trunc_prec with %d bits, want 1 to %d bits to keep, or -1 to -%d to clear", errParam, bits, mantissa, mantissa-1)
	}
	return z, nil
}

// IntTrunc is documented in package shuffle.
func IntTrunc(dst, src []byte, typeSize int, bits int8) error {
	z, err := intTruncBits(typeSize, bits)
	if err != nil {
		return err
	}
	clearLow(checked(dst, src, typeSize), src, typeSize, z)
	return nil
}

// CheckIntTrunc returns the error that [IntTrunc] would return for the parameters.
func CheckIntTrunc(typeSize int, bits int8) error {
	_, err := intTruncBits(typeSize, bits)
	return err
}

// intTruncBits returns the number of bits to clear.
func intTruncBits(typeSize int, bits int8) (int, error) {
	switch typeSize {
	case 1, 2, 4, 8:
	default:
		return 0, fmt.Errorf("%w: int_trunc of type size %d, want 1, 2, 4 or 8", errUnsupported, typeSize)
	}
	width := 8 * typeSize
	z := -int(bits)
	if bits > 0 {
		z = width - int(bits)
	}
	if bits == 0 || z < 0 || z >= width {
		return 0, fmt.Errorf("%w: int_trunc with %d bits, out of range for %d bits", errParam, bits, width)
	}
	return z, nil
}

// clearLow clears the z lowest bits of each little-endian word of typeSize bytes, which is 1, 2, 4 or 8.
func clearLow(dst, src []byte, typeSize, z int) {
	word := ^uint64(0) >> (64 - 8*uint(typeSize)) // all ones
	mask := word &^ (1<<uint(z) - 1) * (^uint64(0) / word)
	le := binary.LittleEndian
	m := len(src) / typeSize * typeSize
	i := 0
	for ; i <= m-8; i += 8 {
		le.PutUint64(dst[i:i+8], le.Uint64(src[i:i+8])&mask)
	}
	for ; i < m; i++ {
		dst[i] = src[i] & byte(mask>>(8*(i%8)))
	}
	copy(dst[m:], src[m:])
}
