package trial

import (
	"bytes"
	"testing"
)

// Prefixes decodes beginnings of a stream of n bytes into memory with guard bytes on both sides. want is the content of
// the stream, or nil if the stream is invalid. decode gets the number of bytes needed and reports whether it decoded
// them, which it must if the stream is valid. Prefixes returns the reports of decode for each beginning.
func Prefixes(t testing.TB, n int, want []byte, decode func(dst []byte, wanted int) bool) (sound [5]bool) {
	t.Helper()
	const guard = 80
	var all []byte
	for i, wanted := range [len(sound)]int{1, n/16 + 1, n / 3, n/2 + 1, n - 1} {
		if wanted <= 0 || wanted >= n {
			continue
		}
		if all == nil {
			all = make([]byte, n+2*guard)
		}
		for i := range guard {
			all[i], all[guard+n+i] = 0xa5, 0xa5
		}
		dst := all[guard : guard+n : guard+n]
		sound[i] = decode(dst, wanted)
		for i := range guard {
			if all[i] != 0xa5 || all[guard+n+i] != 0xa5 {
				t.Fatalf("the first %d bytes of %d: wrote outside", wanted, n)
			}
		}
		if want != nil && (!sound[i] || !bytes.Equal(dst[:wanted], want[:wanted])) {
			t.Fatalf("the first %d bytes of %d: %v, or others", wanted, n, sound[i])
		}
	}
	return sound
}
