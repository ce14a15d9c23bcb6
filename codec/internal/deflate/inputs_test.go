package deflate

import (
	"encoding/binary"
	"math/rand"
)

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

// repetitive returns n bytes of one of several kinds with many matches.
func repetitive(n int, r *rand.Rand) []byte {
	b := make([]byte, 0, n+1000)
	kind, values := r.Intn(6), 1+r.Intn(1<<(1+r.Intn(8)))
	same := r.Uint32() & 0xffff0000
	for len(b) < n {
		switch kind {
		case 0: // few values
			b = append(b, byte(r.Intn(values)))
		case 1: // words with one hash of 4 bytes
			const inverse = 244002641 // of 2654435761
			b = binary.LittleEndian.AppendUint32(b, (same|uint32(r.Intn(values)))*inverse)
		case 2: // runs
			c := byte(r.Intn(values))
			for range 1 + r.Intn(600) {
				b = append(b, c)
			}
		case 3: // floats
			b = binary.LittleEndian.AppendUint32(b, uint32(0x41700000+r.Intn(10*values)*1311))
		case 4: // noise and copies
			if b = append(b, byte(r.Int())); r.Intn(20) == 0 {
				from := len(b) - 1 - r.Intn(min(len(b), 33000))
				for range 3 + r.Intn(40) {
					b = append(b, b[from])
					from++
				}
			}
		case 5: // words with one hash of 3 bytes, or a few
			v := r.Intn(values)
			b = append(b, byte(v>>5), byte(v), byte(v<<5), byte(v&1))
		}
	}
	return b[:n]
}
