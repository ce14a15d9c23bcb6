package main

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
)

// axisTicks returns ticks at round values, with labels that differ and read back close to their values.
func axisTicks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	// In a range of a few numbers of float64, round values can be equal.
	ticks = slices.CompactFunc(ticks, func(a, b plot.Tick) bool { return a.Value == b.Value })
	if len(ticks) == 1 {
		ticks = []plot.Tick{{Value: low, Label: "0"}, {Value: high, Label: "0"}} // relabel replaces wrong labels
	}
	relabel(ticks, high-low, func(x float64) float64 { return x })
	return ticks
}

// logAxisTicks returns ticks at powers of ten, about ten of them with labels, or at round values if the range has fewer
// than two powers of ten.
func logAxisTicks(low, high float64) []plot.Tick {
	const least, most = -323, 308 // powers of ten that are numbers
	first := max(least, int(math.Floor(math.Log10(low))))
	last := min(most, int(math.Ceil(math.Log10(high))))
	every := 1
	for _, every = range []int{1, 2, 5, 10, 20, 50} {
		if last-first < 13*every {
			break
		}
	}
	var ticks []plot.Tick
	add := func(x float64, label string) bool {
		in := low <= x && x <= high
		if in {
			ticks = append(ticks, plot.Tick{Value: x, Label: label})
		}
		return in
	}
	powers := 0
	for e := first; e <= last; e++ {
		power, _ := strconv.ParseFloat("1e"+strconv.Itoa(e), 64) // math.Pow10 is not exact
		if e%every == 0 && add(power, strconv.FormatFloat(power, 'g', -1, 64)) {
			powers++
		}
		for k := 2.0; k < 10 && every == 1; k++ {
			add(k*power, "")
		}
	}
	if powers < 2 {
		return axisTicks(low, high)
	}
	return ticks
}

// exponentTicks returns ticks from the exponent of ten of low to that of high, with labels of the powers.
func exponentTicks(low, high float64) []plot.Tick {
	if high < 10*low {
		ticks := axisTicks(low, high)
		for i := range ticks {
			ticks[i].Value = math.Log10(ticks[i].Value)
		}
		return ticks
	}
	ticks := plot.DefaultTicks{}.Ticks(math.Log10(low), math.Log10(high))
	power := func(x float64) float64 { return math.Pow(10, x) }
	for i, t := range ticks {
		if t.Label != "" {
			ticks[i].Label = strconv.FormatFloat(power(t.Value), 'g', 3, 64)
		}
	}
	relabel(ticks, high-low, power)
	return ticks
}

// relabel gives the labels of ticks more digits, if they do not read back as their values within a hundredth of the
// distance to the next one. value returns the value of a label, and span is the range of values.
func relabel(ticks []plot.Tick, span float64, value func(float64) float64) {
	var labeled []int
	for i, t := range ticks {
		if t.Label != "" {
			labeled = append(labeled, i)
		}
	}
	near := func(k int) bool {
		i := labeled[k]
		distance, x := span, value(ticks[i].Value)
		if k > 0 {
			distance = min(distance, math.Abs(x-value(ticks[labeled[k-1]].Value)))
		}
		if k+1 < len(labeled) {
			distance = min(distance, math.Abs(x-value(ticks[labeled[k+1]].Value)))
		}
		got, err := strconv.ParseFloat(ticks[i].Label, 64)
		return err == nil && math.Abs(got-x) <= distance/100
	}
	for digits := 1; digits <= 17; digits++ {
		k := 0
		for k < len(labeled) && near(k) {
			k++
		}
		if k == len(labeled) {
			return
		}
		for _, i := range labeled {
			ticks[i].Label = strconv.FormatFloat(value(ticks[i].Value), 'g', digits, 64)
		}
	}
}
