package codec_test

import "encoding/binary"

// random is the xorshift64* generator: the same numbers on every machine and in every release of Go.
type random uint64

func newRandom(seed int) *random {
	r := random(uint64(seed)*0x9e3779b97f4a7c15 + 0x1234567)
	return &r
}

func (r *random) next() uint64 {
	x := uint64(*r)
	x ^= x >> 12
	x ^= x << 25
	x ^= x >> 27
	*r = random(x)
	return x * 0x2545f4914f6cdd1d
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int { return int(r.next() >> 33 % uint64(n)) }

// inputKinds lists the contents that input makes.
var inputKinds = []string{
	"zeros", "noise", "alphabet", "words", "ramp", "shuffled", "bitplanes", "runs", "far", "mixed",
}

// input returns n bytes of a kind. The golden files refer to inputs by kind, length and seed, so it must never change.
// It uses only integers, because some machines fuse floating-point operations.
func input(kind string, n, seed int) []byte {
	r := newRandom(seed*1000 + len(kind))
	b := make([]byte, n)
	switch kind {
	case "zeros":
	case "noise":
		for i := range b {
			b[i] = byte(r.next() >> 32)
		}
	case "alphabet":
		for i := range b {
			b[i] = "ACGT"[r.below(4)]
		}
	case "words":
		fillWords(b, r)
	case "ramp":
		copy(b, ramp(n, r))
	case "shuffled":
		transpose(b, ramp(n, r), 4)
	case "bitplanes":
		for i := range b {
			b[i] = byte(0xff << (uint(i) * 9 / uint(n))) // fewer and fewer bits of noise
		}
		for i := range b {
			b[i] &= byte(r.next() >> 40)
		}
	case "runs":
		for i := 0; i < n; {
			c, run := byte(r.next()>>32), 1+r.below(1<<r.below(12))
			for ; run > 0 && i < n; i, run = i+1, run-1 {
				b[i] = c
			}
		}
	case "far":
		fillFar(b, r)
	case "mixed":
		for i := 0; i < n; {
			k := inputKinds[r.below(len(inputKinds)-1)]
			part := min(n-i, 1+r.below(5000))
			i += copy(b[i:], input(k, part, seed+i+1))
		}
	default:
		panic("no input of kind " + kind)
	}
	return b
}

// fillWords fills b with text of a small vocabulary.
func fillWords(b []byte, r *random) {
	var words [60][]byte
	for i := range words {
		w := make([]byte, 1+r.below(9))
		for j := range w {
			w[j] = byte('a' + r.below(26))
		}
		words[i] = append(w, ' ')
	}
	for i := 0; i < len(b); {
		i += copy(b[i:], words[min(r.below(60), r.below(60))])
	}
}

// ramp returns n bytes of little-endian float32 values that grow slowly, with some noise in their low bits.
func ramp(n int, r *random) []byte {
	b := make([]byte, n+4)
	v := uint32(0x41200000)
	for i := 0; i < n; i += 4 {
		v += uint32(r.below(700))
		binary.LittleEndian.PutUint32(b[i:], v&^31)
	}
	return b[:n]
}

// transpose puts the first bytes of all items before the second bytes and so on. The rest follows.
func transpose(dst, src []byte, size int) {
	items := len(src) / size
	for i := range items {
		for j := range size {
			dst[j*items+i] = src[i*size+j]
		}
	}
	copy(dst[items*size:], src[items*size:])
}

// fillFar copies pieces from near the two limits of a BloscLZ match and from the limit of LZ4.
func fillFar(b []byte, r *random) {
	distances := []int{8190, 8191, 8192, 8193, 65534, 65535, 65536, 73723, 73724, 73725, 73726, 73727, 73728}
	for i := 0; i < len(b); {
		d := distances[r.below(len(distances))]
		if d > i || r.below(3) == 0 {
			for run := 1 + r.below(90); run > 0 && i < len(b); i, run = i+1, run-1 {
				b[i] = byte(r.next() >> 32)
			}
			continue
		}
		run := 3 + r.below(20)
		if r.below(10) == 0 {
			run = r.below(2000)
		}
		for ; run > 0 && i < len(b); i, run = i+1, run-1 {
			b[i] = b[i-d]
		}
	}
}
