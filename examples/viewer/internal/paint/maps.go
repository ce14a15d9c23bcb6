// Package paint maps numbers to colors: color maps, scales and histograms. Its colors are those of the verb plot of
// the command blosc2.
package paint

import (
	"image/color"
	"math"
)

// A Map gives each number from 0 to 1 a color.
type Map uint8

const (
	Viridis Map = iota // matplotlib's map of this name, within two steps of 255: a polynomial of degree 6 for each part
	Gray               // black for 0, and white for 1
)

// Color returns the color of a number from 0 to 1.
func (m Map) Color(x float64) color.NRGBA {
	if m == Gray {
		v := byteOf(x)
		return color.NRGBA{v, v, v, 255}
	}
	return color.NRGBA{byteOf(polynomial(&red, x)), byteOf(polynomial(&green, x)), byteOf(polynomial(&blue, x)), 255}
}

// MapOf returns the color map with a name: gray, or else viridis.
func MapOf(name string) Map {
	if name == "gray" {
		return Gray
	}
	return Viridis
}

var (
	red   = [7]float64{0.2777273272234177, 0.1050930431085774, -0.3308618287255563, -4.634230498983486, 6.228269936347081, 4.776384997670288, -5.435455855934631}
	green = [7]float64{0.005407344544966578, 1.404613529898575, 0.214847559468213, -5.799100973351585, 14.17993336680509, -13.74514537774601, 4.645852612178535}
	blue  = [7]float64{0.3340998053353061, 1.384590162594685, 0.09509516302823659, -19.33244095627987, 56.69055260068105, -65.35303263337234, 26.3124352495832}
)

func polynomial(c *[7]float64, x float64) float64 {
	v := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		v = v*x + c[i]
	}
	return v
}

// byteOf returns a number from 0 to 1 as one from 0 to 255.
func byteOf(x float64) uint8 { return uint8(math.Round(255 * min(1, max(0, x)))) }
