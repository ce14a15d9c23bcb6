package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// A kind is one of the kinds of data: its name, its dtype, and a formula with a fixed seed for its items.
type kind struct {
	name  string
	dtype string
	make  func(items int, r *rand.Rand) (shape []int64, data []byte)
}

// kinds are the ten kinds of data.
var kinds = []kind{
	{"climate fields", "<f4", climate},
	{"CT volume", "<i2", volume},
	{"images", "|u1", images},
	{"sensor integers", "<i4", sensors},
	{"prices", "<f8", prices},
	{"particle records", "[('id', '<u4'), ('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('t', '<f8'), ('charge', '<i2'), ('layer', '|u1'), ('flags', '|u1')]", particles},
	{"masks", "|b1", masks},
	{"sorted ids", "<i8", ids},
	{"noise of few bits", "<u4", noise},
	{"text", "|S64", text},
}

// generate returns the items of a kind, about size bytes.
func (k *kind) generate(size, itemSize int) ([]int64, []byte) {
	return k.make(max(size/itemSize, 4096), rand.New(rand.NewPCG(2024, uint64(len(k.name)))))
}

// wave is a sum of waves of random directions, whose strength falls with their frequency.
type wave struct{ x, y, z, phase, amplitude float64 }

// waves returns n waves. The first has the wavelength length, in items.
func waves(r *rand.Rand, n int, length, fall float64) []wave {
	list := make([]wave, n)
	f := 2 * math.Pi / length
	for i := range list {
		scale := math.Pow(1.5, float64(i))
		a, b := r.Float64()*2*math.Pi, r.Float64()-0.5
		list[i] = wave{f * scale * math.Cos(a), f * scale * math.Sin(a), f * scale * b, r.Float64() * 2 * math.Pi, math.Pow(fall, float64(i))}
	}
	return list
}

// at returns the sum of the waves at a position.
func at(list []wave, x, y, z float64) float64 {
	sum := 0.0
	for _, w := range list {
		sum += w.amplitude * math.Sin(w.x*x+w.y*y+w.z*z+w.phase)
	}
	return sum
}

// climate returns hourly temperatures in K on a grid of 181 x 360 points, with weather and small noise.
func climate(items int, r *rand.Rand) ([]int64, []byte) {
	const rows, cols = 181, 360
	hours := max(items/(rows*cols), 1)
	list := waves(r, 7, 240, 0.6)
	b := make([]byte, 0, 4*hours*rows*cols)
	for h := range hours {
		for y := range rows {
			zone := 303 - 55*math.Pow(math.Abs(float64(y)-90)/90, 1.6)
			for x := range cols {
				t := zone + 6*at(list, float64(x), float64(y), 3*float64(h)) + 0.02*r.NormFloat64()
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(t)))
			}
		}
	}
	return []int64{int64(hours), rows, cols}, b
}

// volume returns a CT volume in Hounsfield units: air around a body with organs and bones, and noise that the
// reconstruction has smoothed along rows.
func volume(items int, r *rand.Rand) ([]int64, []byte) {
	const rows, cols = 256, 256
	slices := max(items/(rows*cols), 1)
	list := waves(r, 5, 90, 0.7)
	b := make([]byte, 0, 2*slices*rows*cols)
	for z := range slices {
		for y := range rows {
			past := 0.0
			for x := range cols {
				dx, dy := (float64(x)-128)/110, (float64(y)-128)/80
				past = 0.6*past + r.NormFloat64()
				v := -1000.0
				if d := dx*dx + dy*dy; d < 1 {
					organ := at(list, float64(x), float64(y), 4*float64(z))
					v = -100 + 7*past
					switch {
					case d > 0.93:
					case organ > 1.2:
						v += 700
					case organ > 0.2:
						v += 150
					case organ < -1.1:
						v -= 750
					default:
						v += 140
					}
				}
				b = binary.LittleEndian.AppendUint16(b, uint16(int16(v)))
			}
		}
	}
	return []int64{int64(slices), rows, cols}, b
}

// images returns pictures of 256 x 256 pixels with three colors: smooth areas, edges and grain.
func images(items int, r *rand.Rand) ([]int64, []byte) {
	const rows, cols = 256, 256
	n := max(items/(rows*cols*3), 1)
	b := make([]byte, 0, n*rows*cols*3)
	for range n {
		list, shape := waves(r, 6, 200, 0.6), waves(r, 4, 150, 0.7)
		for y := range rows {
			for x := range cols {
				light := 120 + 45*at(list, float64(x), float64(y), 0)
				if at(shape, float64(x), float64(y), 0) > 0.4 {
					light = 215 - 0.3*light
				}
				for c := range 3 {
					v := light*(1-0.12*float64(c)) + 12*float64(c) + 1.5*r.NormFloat64()
					b = append(b, uint8(min(max(v, 0), 255)))
				}
			}
		}
	}
	return []int64{int64(n), rows, cols, 3}, b
}

// sensors returns the readings of 16 sensors of 24 bits, one row for each point in time.
func sensors(items int, r *rand.Rand) ([]int64, []byte) {
	const channels = 16
	n := max(items/channels, 1)
	var level, slope [channels]float64
	for c := range level {
		level[c] = 1e6 * (r.Float64() - 0.5)
	}
	b := make([]byte, 0, 4*n*channels)
	for range n {
		for c := range level {
			slope[c] = 0.98*slope[c] + 2*r.NormFloat64()
			level[c] += slope[c]
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(level[c]+6*r.NormFloat64())))
		}
	}
	return []int64{int64(n), channels}, b
}

// prices returns a random walk of prices in whole cents, as floats.
func prices(items int, r *rand.Rand) ([]int64, []byte) {
	cents := 10_000
	b := make([]byte, 0, 8*items)
	for range items {
		if r.IntN(3) == 0 {
			cents = max(cents+int(3*r.NormFloat64()), 100)
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(cents)/100))
	}
	return []int64{int64(items)}, b
}

// particles returns records of hits in a detector: numbers, positions, times and a few small integers.
func particles(items int, r *rand.Rand) ([]int64, []byte) {
	b := make([]byte, 0, 28*items)
	id, t := uint32(0), 0.0
	for i := range items {
		if i%12 == 0 {
			id++
		}
		t += r.ExpFloat64() * 1e-6
		layer := i % 12
		radius := float64(30 + 40*layer)
		a := r.Float64() * 2 * math.Pi
		b = binary.LittleEndian.AppendUint32(b, id)
		for _, v := range []float64{radius * math.Cos(a), radius * math.Sin(a), 100 * r.NormFloat64()} {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(math.Round(v*1000)/1000)))
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(t))
		b = binary.LittleEndian.AppendUint16(b, uint16(80+8*r.NormFloat64()))
		b = append(b, uint8(layer), uint8(r.IntN(20)/19))
	}
	return []int64{int64(items)}, b
}

// masks returns where a field of smooth shapes is above a level, with specks.
func masks(items int, r *rand.Rand) ([]int64, []byte) {
	const rows, cols = 256, 256
	slices := max(items/(rows*cols), 1)
	list := waves(r, 5, 120, 0.7)
	b := make([]byte, 0, slices*rows*cols)
	for z := range slices {
		for y := range rows {
			for x := range cols {
				v := uint8(0)
				if at(list, float64(x), float64(y), 3*float64(z)) > 0.7 != (r.IntN(2000) == 0) {
					v = 1
				}
				b = append(b, v)
			}
		}
	}
	return []int64{int64(slices), rows, cols}, b
}

// ids returns sorted numbers with gaps.
func ids(items int, r *rand.Rand) ([]int64, []byte) {
	b := make([]byte, 0, 8*items)
	id := int64(1e12)
	for range items {
		id += 1 + int64(r.ExpFloat64()*20)
		b = binary.LittleEndian.AppendUint64(b, uint64(id))
	}
	return []int64{int64(items)}, b
}

// noise returns integers with 11 random bits at a constant offset.
func noise(items int, r *rand.Rand) ([]int64, []byte) {
	b := make([]byte, 0, 4*items)
	for range items {
		b = binary.LittleEndian.AppendUint32(b, 0x00800000+r.Uint32N(1<<11)<<3)
	}
	return []int64{int64(items)}, b
}

// text returns lines of a log, padded with zeros.
func text(items int, r *rand.Rand) ([]int64, []byte) {
	levels := []string{"INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"}
	words := []string{"connected", "closed", "read", "wrote", "timeout", "retry", "started", "stopped", "cache miss", "cache hit"}
	hosts := make([]string, 200)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("node-%02d.rack%d", r.IntN(100), r.IntN(12))
	}
	b := make([]byte, 0, 64*items)
	ms := 0
	for range items {
		ms += r.IntN(40)
		line := fmt.Sprintf("%02d:%02d:%02d.%03d %s %s %s %d", ms/3600000%24, ms/60000%60, ms/1000%60, ms%1000,
			levels[r.IntN(len(levels))], hosts[r.IntN(len(hosts))], words[r.IntN(len(words))], r.IntN(4000))
		b = append(append(b, line...), make([]byte, 64-len(line))...)
	}
	return []int64{int64(items)}, b
}
