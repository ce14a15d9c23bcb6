package main

import (
	"image/color"
	"math"
	"strconv"
	"strings"
)

// colorMap returns the color of a number from 0 to 1.
type colorMap func(x float64) color.NRGBA

// colorMaps are the color maps by name.
func colorMaps(name string) (colorMap, bool) {
	m, ok := map[string]colorMap{"viridis": viridis, "gray": gray, "grey": gray}[name]
	return m, ok
}

// gray is black for 0 and white for 1.
func gray(x float64) color.NRGBA {
	v := byteOf(x)
	return color.NRGBA{v, v, v, 255}
}

// viridis is matplotlib's map of this name, within two steps of 255: a polynomial of degree 6 for each part.
func viridis(x float64) color.NRGBA {
	coefficients := [3][7]float64{
		{0.2777273272234177, 0.1050930431085774, -0.3308618287255563, -4.634230498983486, 6.228269936347081, 4.776384997670288, -5.435455855934631},
		{0.005407344544966578, 1.404613529898575, 0.214847559468213, -5.799100973351585, 14.17993336680509, -13.74514537774601, 4.645852612178535},
		{0.3340998053353061, 1.384590162594685, 0.09509516302823659, -19.33244095627987, 56.69055260068105, -65.35303263337234, 26.3124352495832},
	}
	var parts [3]uint8
	for k, c := range coefficients {
		v := 0.0
		for i := len(c) - 1; i >= 0; i-- {
			v = v*x + c[i]
		}
		parts[k] = byteOf(v)
	}
	return color.NRGBA{parts[0], parts[1], parts[2], 255}
}

// byteOf returns a number from 0 to 1 as one from 0 to 255.
func byteOf(x float64) uint8 { return uint8(math.Round(255 * min(1, max(0, x)))) }

// rgb is a color such as ff0000, with or without #, or "none".
type rgb color.NRGBA

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *rgb) UnmarshalText(text []byte) error {
	s := strings.TrimPrefix(string(text), "#")
	if s == "none" {
		*c = rgb{}
		return nil
	}
	n, err := strconv.ParseUint(s, 16, 32)
	if err != nil || len(s) != 6 {
		return usagef("want a color such as ff0000, or none, got %q", text)
	}
	*c = rgb{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}
	return nil
}

// pairOf are two numbers, the second not less than the first.
type pairOf [2]float64

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *pairOf) UnmarshalText(text []byte) error {
	first, second, ok := strings.Cut(string(text), ",")
	low, err1 := strconv.ParseFloat(strings.TrimSpace(first), 64)
	high, err2 := strconv.ParseFloat(strings.TrimSpace(second), 64)
	if !ok || err1 != nil || err2 != nil || !isFinite(low) || !isFinite(high) || low > high {
		return usagef("want two numbers such as 0,1, the second not less than the first, got %q", text)
	}
	*p = pairOf{low, high}
	return nil
}

// pixels are a width and a height.
type pixels [2]int

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *pixels) UnmarshalText(text []byte) error {
	first, second, _ := strings.Cut(string(text), "x")
	w, err1 := strconv.Atoi(first)
	h, err2 := strconv.Atoi(second)
	if err1 != nil || err2 != nil || w < 100 || h < 100 || w > 20000 || h > 20000 {
		return usagef("want a size such as 800x600, from 100x100 to 20000x20000, got %q", text)
	}
	*p = pixels{w, h}
	return nil
}
