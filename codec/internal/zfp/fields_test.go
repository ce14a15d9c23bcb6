package zfp

import (
	"encoding/binary"
	"math"
)

// random is the xorshift64* generator.
type random uint64

func (r *random) next() uint64 {
	x := uint64(*r)
	x ^= x >> 12
	x ^= x << 25
	x ^= x >> 27
	*r = random(x)
	return x * 0x2545f4914f6cdd1d
}

func (r *random) below(n int) int { return int(r.next() >> 33 % uint64(n)) }

// fieldKinds names the contents that makeField makes.
var fieldKinds = []string{
	"zeros", "constant", "smooth", "noise", "negative", "tiny", "huge", "denormal", "sparse", "steps", "anyfloat",
}

// makeField makes n items; the golden digests name fields by kind and seed, so it must never change. It rounds each
// value by itself, with no chance to fuse operations.
func makeField(kind string, n, itemSize, seed int) []byte {
	r := random(uint64(seed)*0x9e3779b97f4a7c15 + 0x1234567)
	b := make([]byte, n*itemSize)
	integer := int64(r.below(1000)) << 20
	for i := range n {
		v := 0.0
		exponent := 0
		switch kind {
		case "zeros":
		case "constant":
			v, exponent = 3, seed%7-3
		case "smooth":
			integer += int64(r.below(2001)) - 990
			v, exponent = float64(integer), -20
		case "noise":
			v, exponent = float64(int64(r.next())>>11), -50+r.below(4)
		case "negative":
			v, exponent = -float64(r.next()>>11), -45
		case "tiny":
			v, exponent = float64(int64(r.next())>>11), -53-120
			if itemSize == 8 {
				exponent -= 890
			}
		case "huge":
			v, exponent = float64(int64(r.next())>>11), -53+127
			if itemSize == 8 {
				exponent += 895
			}
		case "denormal":
			v, exponent = float64(int64(r.next())>>11), -53-127-r.below(20)
			if itemSize == 8 {
				exponent -= 895
			}
		case "sparse":
			if r.below(20) == 0 {
				v, exponent = float64(int64(r.next())>>11), -53-r.below(60)
			}
		case "steps":
			v = float64(i / 37 % 11)
		case "anyfloat": // all magnitudes, but neither infinite nor no number
			if itemSize == 4 {
				u := uint32(r.next() >> 20)
				if u>>23&0xff == 0xff {
					u &^= 1 << 30
				}
				binary.LittleEndian.PutUint32(b[4*i:], u)
			} else {
				u := r.next()
				if u>>52&0x7ff == 0x7ff {
					u &^= 1 << 62
				}
				binary.LittleEndian.PutUint64(b[8*i:], u)
			}
			continue
		default:
			panic("no field of kind " + kind)
		}
		v = math.Ldexp(v, exponent)
		if itemSize == 4 {
			binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(v)))
		} else {
			binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(v))
		}
	}
	return b
}

// shapes are fields with whole and with partial cells in all dimensions.
var shapes = [][]int32{
	{4}, {5}, {6}, {7}, {64}, {1001},
	{4, 4}, {5, 6}, {7, 9}, {32, 33}, {4, 100},
	{4, 4, 4}, {5, 6, 7}, {9, 4, 10}, {16, 13, 8},
	{4, 4, 4, 4}, {5, 4, 6, 7}, {8, 9, 5, 6},
}

// mode is a way to make parameters of the byte that chunks store.
type mode struct {
	name   string
	params func(meta uint8, f Field) Params
}

var modes = []mode{
	{"accuracy", func(meta uint8, f Field) Params { return Accuracy(int(int8(meta))) }},
	{"precision", func(meta uint8, f Field) Params { return Precision(int(meta) + 2*len(f.Shape) + 3) }},
	{"rate", func(meta uint8, f Field) Params { return Rate(int(meta), len(f.Shape), f.ItemSize) }},
}
