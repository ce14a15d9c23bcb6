package deflate

import "math/rand"

// hardKinds are contents around the limits of C's window.
var hardKinds = []string{"limit", "period", "trigrams"}

// hardSizes are lengths of inputs, around the lengths at which the window moves.
var hardSizes = []int{65274, 65275, 65536, 98041, 98304, 131071}

// hard returns n bytes of one of hardKinds.
func hard(kind string, n int, r *rand.Rand) []byte {
	b := make([]byte, n)
	switch kind {
	case "limit": // long matches from one distance that may be too far, in noise
		d := 32400 + r.Intn(400)
		for i := range b {
			b[i] = byte(r.Intn(256))
			if i >= d && r.Intn(50) > 0 {
				b[i] = b[i-d]
			}
		}
	case "period": // the largest distance, or one more or less
		d := 32505 + r.Intn(3)
		for i := range b {
			b[i] = byte(r.Intn(256))
			if i >= d {
				b[i] = b[i-d]
			}
		}
	case "trigrams": // matches of 3 bytes from anywhere
		for i := 0; i+3 <= n; i += 3 {
			v := r.Intn(8000)
			b[i], b[i+1], b[i+2] = byte(v), byte(v>>8), byte(v*77)
		}
	}
	return b
}
