package main

import "math"

const (
	days = 365
	lats = 37 // 90° to -90° in steps of 5°
	lons = 72 // 0° to 355°
)

// globe returns the air temperatures of a day in °C by a simple model: warm at the equator, cold at the poles, with
// opposite seasons in the north and the south. The temperatures are rounded to 0.1 °C.
func globe(day int) []float32 {
	data := make([]float32, lats*lons)
	season := math.Cos(float64(day-200) / 365 * 2 * math.Pi)
	for i := range data {
		north := math.Sin(float64(90-5*(i/lons)) * math.Pi / 180)
		t := 28 - 45*north*north + 15*season*north + 2*math.Sin(float64(i%lons)*10*math.Pi/180)
		data[i] = float32(math.Round(10*t) / 10)
	}
	return data
}
