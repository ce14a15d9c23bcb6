package shuffle

// Shuffle writes src to dst with the bytes of equal significance together.
func Shuffle(dst, src []byte, width int) { panic("not yet") }

// Unshuffle undoes Shuffle.
func Unshuffle(dst, src []byte, width int) { panic("not yet") }

// BitShuffle transposes bits (rule of chunk versions 3 and later).
func BitShuffle(dst, src []byte, typeSize int) { panic("not yet") }

// BitUnshuffle undoes BitShuffle.
func BitUnshuffle(dst, src []byte, typeSize int) { panic("not yet") }

// BitUnshuffleV2 undoes the bit shuffle of chunk versions 1 and 2.
func BitUnshuffleV2(dst, src []byte, typeSize int) { panic("not yet") }

// DeltaEncode; ref nil means the reference block itself.
func DeltaEncode(dst, src, ref []byte, typeSize int) { panic("not yet") }

// DeltaDecode undoes DeltaEncode.
func DeltaDecode(dst, src, ref []byte, typeSize int) { panic("not yet") }

// TruncPrec clears mantissa bits.
func TruncPrec(dst, src []byte, typeSize int, bits int8) error { panic("not yet") }
