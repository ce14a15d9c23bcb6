package main

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// set is a data set: little-endian items of size bytes.
type set struct {
	name string
	size int
	fill func(b []byte)
}

// sets are the data sets for chunks.
var sets = []set{
	{"int32-ramp", 4, func(b []byte) {
		for i := 0; i+4 <= len(b); i += 4 {
			binary.LittleEndian.PutUint32(b[i:], uint32(i/4))
		}
	}},
	{"float64-sine", 8, func(b []byte) {
		for i := 0; i+8 <= len(b); i += 8 {
			binary.LittleEndian.PutUint64(b[i:], math.Float64bits(math.Sin(float64(i/8)/1000)))
		}
	}},
	{"float32-temperatures", 4, func(b []byte) {
		r, v := rand.New(rand.NewPCG(1, 1)), 15.0
		for i := 0; i+4 <= len(b); i += 4 {
			v += (r.Float64() - 0.5 - (v-15)/1000) / 4
			binary.LittleEndian.PutUint32(b[i:], math.Float32bits(float32(math.Round(v*100)/100)))
		}
	}},
	{"uint16-image", 2, func(b []byte) {
		r := rand.New(rand.NewPCG(2, 2))
		for i := 0; i+2 <= len(b); i += 2 {
			x, y := float64(i/2%1024), float64(i/2048)
			v := 500 + 400*math.Sin(x/90)*math.Cos(y/70) + float64(r.IntN(8))
			binary.LittleEndian.PutUint16(b[i:], uint16(v))
		}
	}},
	{"24-byte-records", 24, func(b []byte) { // a time, a counter, two measurements and flags
		r, t := rand.New(rand.NewPCG(3, 3)), uint64(1_700_000_000_000_000_000)
		for i := 0; i+24 <= len(b); i += 24 {
			t += 1_000_000 + r.Uint64N(1000)
			binary.LittleEndian.PutUint64(b[i:], t)
			binary.LittleEndian.PutUint32(b[i+8:], uint32(i/24))
			binary.LittleEndian.PutUint32(b[i+12:], math.Float32bits(float32(math.Sin(float64(i)/5000))))
			binary.LittleEndian.PutUint32(b[i+16:], math.Float32bits(float32(r.IntN(100))/4))
			binary.LittleEndian.PutUint32(b[i+20:], uint32(r.IntN(4)))
		}
	}},
	{"random", 8, random},
	{"zeros", 4, func([]byte) {}},
}

// random fills b with random bytes.
func random(b []byte) {
	r := rand.New(rand.NewPCG(4, 4))
	i := 0
	for ; i+8 <= len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], r.Uint64())
	}
	for ; i < len(b); i++ {
		b[i] = byte(r.Uint32())
	}
}

// field returns the bytes of a smooth float32 field with some noise in the low digits.
func field(shape []int64) []byte {
	n := int64(4)
	for _, extent := range shape {
		n *= extent
	}
	b, row, r := make([]byte, n), shape[len(shape)-1], rand.New(rand.NewPCG(5, 5))
	for i := int64(0); i < n/4; i++ {
		x, y := float64(i/row), float64(i%row)
		v := math.Sin(x/2000)*math.Cos(y/31) + float64(r.IntN(4))/1000
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(math.Round(v*1000)/1000)))
	}
	return b
}
