package shuffle

import (
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/filters"
)

// ErrParam is returned by [TruncPrec] and [IntTrunc] for a number of bits that the filter does not allow. For a type
// size that a filter is not defined for, they return an error that matches errors.ErrUnsupported.
var ErrParam = errs.ErrParam

// Shuffle writes the bytes of src to dst[:len(src)] with the bytes of equal position in their element next to each
// other: byte 0 of all elements, then byte 1 of all elements, and so on. Elements have width bytes. The last
// len(src)%width bytes are copied. The width is the number of byte streams: the parameter of the filter, or the type
// size if that is zero.
//
// dst must not overlap src. Shuffle panics if dst is shorter than src or width is less than 1.
func Shuffle(dst, src []byte, width int) { filters.Shuffle(dst, src, width) }

// Unshuffle undoes [Shuffle].
//
// dst must not overlap src. Unshuffle panics if dst is shorter than src or width is less than 1.
func Unshuffle(dst, src []byte, width int) { filters.Unshuffle(dst, src, width) }

// BitShuffle writes the bits of src to dst[:len(src)] with the bits of equal position in their element next to each
// other, as in the package comment. Elements have typeSize bytes. The elements after the last multiple of eight, and
// the last len(src)%typeSize bytes, are copied. Chunk versions 3 and later use this layout.
//
// dst must not overlap src. BitShuffle panics if dst is shorter than src or typeSize is less than 1.
func BitShuffle(dst, src []byte, typeSize int) { filters.BitShuffle(dst, src, typeSize) }

// BitUnshuffle undoes [BitShuffle].
//
// dst must not overlap src. BitUnshuffle panics if dst is shorter than src or typeSize is less than 1.
func BitUnshuffle(dst, src []byte, typeSize int) { filters.BitUnshuffle(dst, src, typeSize) }

// DeltaEncode writes to dst[:len(src)] the words of src XOR the words of a reference. It copies the bytes at the end
// that do not fill a word. A word has typeSize bytes if typeSize is 1, 2, 4 or 8. Otherwise it has 8 bytes if typeSize
// is a multiple of 8, and one byte if not.
//
// If ref is nil, src is the Delta reference block, which is the first block of its chunk, and each word refers to the
// word before it. For every other block ref is the content of the first block before any filter. If ref is shorter than
// src, the words that it does not cover completely are copied. If it is longer, the rest is ignored. An empty ref that
// is not nil covers nothing.
//
// dst may be src; otherwise they must not overlap. dst must not overlap ref. DeltaEncode panics if dst is shorter than
// src or typeSize is less than 1.
func DeltaEncode(dst, src, ref []byte, typeSize int) { filters.DeltaEncode(dst, src, ref, typeSize) }

// DeltaDecode undoes [DeltaEncode], with the same arguments and rules.
func DeltaDecode(dst, src, ref []byte, typeSize int) { filters.DeltaDecode(dst, src, ref, typeSize) }

// ByteDeltaEncode writes to dst[:len(src)] the differences between consecutive bytes of src, modulo 256. src consists
// of streams of len(src)/streams bytes, one after the other, as written by [Shuffle]. Each stream begins with its first
// byte. The last len(src)%streams bytes are copied.
//
// dst must not overlap src. ByteDeltaEncode panics if dst is shorter than src or streams is less than 1.
func ByteDeltaEncode(dst, src []byte, streams int) { filters.ByteDeltaEncode(dst, src, streams) }

// ByteDeltaDecode undoes [ByteDeltaEncode]: it writes the running sums of each stream.
//
// dst may be src; otherwise they must not overlap. ByteDeltaDecode panics if dst is shorter than src or streams is less
// than 1.
func ByteDeltaDecode(dst, src []byte, streams int) { filters.ByteDeltaDecode(dst, src, streams) }

// TruncPrec writes the little-endian floats of src to dst[:len(src)] with the low bits of their mantissa cleared. It
// copies the bytes at the end that do not fill a float. The cleared bits are lost: the filter has no inverse. typeSize
// is 4 (a mantissa of 23 bits) or 8 (52 bits). If bits is at least 0, it is the number of high mantissa bits to keep;
// if it is negative, -bits low bits are cleared.
//
// TruncPrec returns errors.ErrUnsupported for another typeSize, and ErrParam if bits is more than the mantissa has or
// leaves no bit. dst may be src; otherwise they must not overlap. TruncPrec panics if dst is shorter than src.
func TruncPrec(dst, src []byte, typeSize int, bits int8) error {
	return filters.TruncPrec(dst, src, typeSize, bits)
}

// IntTrunc writes the little-endian integers of src to dst[:len(src)] with low bits cleared, which rounds towards minus
// infinity. It copies the bytes at the end that do not fill an integer. The cleared bits are lost: the filter has no
// inverse. typeSize is 1, 2, 4 or 8. If bits is positive, it is the number of high bits to keep; if it is negative,
// -bits low bits are cleared.
//
// IntTrunc returns errors.ErrUnsupported for another typeSize, and ErrParam if bits is 0, is more than the integer has,
// or leaves no bit. dst may be src; otherwise they must not overlap. IntTrunc panics if dst is shorter than src.
func IntTrunc(dst, src []byte, typeSize int, bits int8) error {
	return filters.IntTrunc(dst, src, typeSize, bits)
}
