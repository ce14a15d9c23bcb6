package main

import (
	"fmt"
	"image"
	"image/color"
	"iter"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/goblosc/blosc2/ndarray"
)

// ink is the color of lines and bars.
var ink = color.NRGBA{59, 82, 139, 255}

// heat draws a heat map and its color bar.
func (v *plotCmd) heat(e *env, p *plot.Plot, area draw.Canvas, r ndarray.Reader) error {
	colors, _ := colorMaps(v.Palette)
	shape := r.Shape()
	step := [2]int64{(shape[0]-1)/int64(v.Size[1]) + 1, (shape[1]-1)/int64(v.Size[0]) + 1}
	values, err := realValues(e, r, ndarray.Step(0, shape[0], step[0]), ndarray.Step(0, shape[1], step[1]))
	if err != nil {
		return err
	}
	low, high := v.limits(values)
	if err := checkRange(low, high); err != nil {
		return err
	}
	if err := v.checkLog(low); err != nil {
		return err
	}
	rows, cols := int((shape[0]-1)/step[0]+1), int((shape[1]-1)/step[1]+1)
	scale := max(1, 1500/max(rows, cols)) // so that the picture shows items with sharp edges
	img := image.NewNRGBA(image.Rect(0, 0, cols*scale, rows*scale))
	for y := range rows * scale {
		for x := range cols * scale {
			img.SetNRGBA(x, y, v.colorOf(colors, values[y/scale*cols+x/scale], low, high))
		}
	}
	height := float64(shape[0])
	p.Add(plotter.NewImage(img, 0, 0, float64(shape[1]), height))
	p.X.Label.Text, p.Y.Label.Text = "axis 1", "axis 0"
	p.X.Tick.Marker = plot.TickerFunc(axisTicks)
	p.Y.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick { // row 0 is at the top
		ticks := axisTicks(height-high, height-low)
		for i := range ticks {
			ticks[i].Value = height - ticks[i].Value
		}
		return ticks
	})
	bar := v.colorBar(colors, low, high, slices.ContainsFunc(values, func(x float64) bool { return x > high }))
	const gap, least, most = 16, 64, 20 // most is the width of the colors if the labels are wide
	width := max(bar.DataCanvas(area).Min.X-area.Min.X+most, least)
	if width > max(area.Size().X/2, least) { // a small picture
		bar.Y.Tick.Marker, width = plot.ConstantTicks(nil), most
	}
	left := draw.Crop(area, 0, -width-gap, 0, 0)
	p.Draw(left)
	data := p.DataCanvas(left)
	bar.Draw(draw.Crop(area, area.Max.X-area.Min.X-width, 0, data.Min.Y-area.Min.Y, data.Max.Y-area.Max.Y))
	return nil
}

// colorOf returns the color of a value.
func (v *plotCmd) colorOf(colors colorMap, x, low, high float64) color.NRGBA {
	switch {
	case math.IsNaN(x) || v.Log && x <= 0:
		return color.NRGBA(v.NaN)
	case v.Log:
		x, low, high = math.Log(x), math.Log(low), math.Log(high)
	}
	if high == low {
		return colors(map[bool]float64{true: 1, false: 0}[x > low])
	}
	return colors((max(low, min(high, x)) - low) / (high - low))
}

// colorBar returns a plot with the colors of the values. If low is high, it has the color of that value, and above it
// the color of larger values if there are any.
func (v *plotCmd) colorBar(colors colorMap, low, high float64, larger bool) *plot.Plot {
	bar := plot.New()
	img := image.NewNRGBA(image.Rect(0, 0, 1, 512))
	for y := range 512 {
		x := 1 - float64(y)/511
		if low == high {
			x = map[bool]float64{true: 1, false: 0}[larger && y < 256]
		}
		img.SetNRGBA(0, y, colors(x))
	}
	bottom, top := low, high
	bar.Y.Tick.Marker = plot.TickerFunc(axisTicks)
	if v.Log {
		bottom, top = math.Log10(low), math.Log10(high)
		bar.Y.Tick.Marker = plot.TickerFunc(func(_, _ float64) []plot.Tick { return exponentTicks(low, high) })
	}
	if top == bottom {
		middle := bottom
		half := max(math.Abs(middle)*1e-6, 1e-6)
		bottom, top = max(middle-half, -math.MaxFloat64), min(middle+half, math.MaxFloat64)
		bar.Y.Tick.Marker = plot.ConstantTicks{{Value: middle, Label: strconv.FormatFloat(low, 'g', 10, 64)}}
	}
	bar.Add(plotter.NewImage(img, 0, bottom, 1, top))
	bar.HideX()
	bar.X.Padding, bar.Y.Padding = 0, 2
	return bar
}

// line draws a line. Of many items it draws the least and the largest of each group.
func (v *plotCmd) line(e *env, p *plot.Plot, r ndarray.Reader) error {
	parts, low, high, err := v.linePoints(e, r)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if len(part) == 1 {
			part = append(part, plotter.XY{X: part[0].X + 0.5, Y: part[0].Y})
		}
		for points := range strokes(part) {
			l, err := plotter.NewLine(points)
			if err != nil {
				return err
			}
			l.Color, l.Width = ink, vg.Points(1)
			p.Add(l)
		}
	}
	values := []float64{low, high}
	if v.Percentile != nil {
		if values, err = realValues(e, r); err != nil {
			return err
		}
	}
	low, high = widened(v.limits(values))
	if err := checkRange(low, high); err != nil {
		return err
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(axisTicks), plot.TickerFunc(axisTicks)
	if err := v.checkLog(low); err != nil {
		return err
	}
	if v.Log {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logAxisTicks)
	}
	p.Y.Min, p.Y.Max = low, high
	p.X.Min, p.X.Max = 0, max(1, float64(r.Shape()[0]-1))
	p.X.Label.Text = "axis 0"
	p.Add(plotter.NewGrid())
	return nil
}

// strokePoints is the number of segments that a stroke adds to a line. The time to draw a stroke as PNG grows with the
// square of its length.
const strokePoints = 100

// strokes returns the points of a line in parts to draw one after the other. Each part but the last one ends with the
// first segment of the next part, so that every corner is within a part and has no notch.
func strokes(line plotter.XYs) iter.Seq[plotter.XYs] {
	return func(yield func(plotter.XYs) bool) {
		for len(line) > strokePoints+2 {
			if !yield(line[:strokePoints+2]) {
				return
			}
			line = line[strokePoints:]
		}
		yield(line)
	}
}

// linePoints returns the points of the parts of a line between its gaps, and the range of its values. It holds some of
// the items in memory at a time.
func (v *plotCmd) linePoints(e *env, r ndarray.Reader) (parts []plotter.XYs, low, high float64, err error) {
	n := r.Shape()[0]
	group := max(1, n/int64(2*v.Size[0]))
	size := max(1, e.slab/32)
	least, most := math.Inf(1), math.Inf(-1) // of a group
	low, high = least, most
	var part plotter.XYs
	for start := int64(0); start < n; start += size {
		values, err := realValues(e, r, ndarray.Span(start, min(start+size, n)))
		if err != nil {
			return nil, 0, 0, err
		}
		for i, x := range values {
			if isFinite(x) && !(v.Log && x <= 0) {
				least, most = min(least, x), max(most, x)
			}
			at := start + int64(i)
			if (at+1)%group != 0 && at+1 < n {
				continue
			}
			if least <= most {
				part = append(part, plotter.XY{X: float64(at - at%group), Y: least})
			} else if part != nil {
				parts, part = append(parts, part), nil
			}
			if least < most {
				part = append(part, plotter.XY{X: float64(at), Y: most})
			}
			low, high = min(low, least), max(high, most)
			least, most = math.Inf(1), math.Inf(-1)
		}
	}
	if part != nil {
		parts = append(parts, part)
	}
	return parts, low, high, nil
}

// histogram draws the numbers of items in bins of equal width.
func (v *plotCmd) histogram(e *env, p *plot.Plot, r ndarray.Reader) error {
	if r.DType().Kind == 'b' {
		return fmt.Errorf("%s: items of dtype %s have no histogram: %w", v.Path, r.DType(), ndarray.ErrType)
	}
	low, high, err := v.wholeLimits(e, r)
	if err != nil {
		return err
	}
	edges := equalBins(low, high, v.Bins)
	counts, err := ndarray.Histogram(e.ctx, r, edges)
	if err != nil {
		return err
	}
	h := &plotter.Histogram{FillColor: ink, Width: (high - low) / float64(v.Bins), LogY: v.Log}
	h.LineStyle = plotter.DefaultLineStyle
	h.LineStyle.Width = 0
	most := int64(1)
	for i, n := range counts {
		h.Bins = append(h.Bins, plotter.HistogramBin{Min: edges[i], Max: edges[i+1], Weight: float64(n)})
		most = max(most, n)
	}
	p.Add(h)
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(axisTicks), plot.TickerFunc(axisTicks)
	p.Y.Label.Text = "items"
	p.Y.Min, p.Y.Max = 0, float64(most)*1.05
	if v.Log {
		p.Y.Min, p.Y.Scale, p.Y.Tick.Marker = 0.5, plot.LogScale{}, plot.TickerFunc(logAxisTicks)
	}
	return nil
}

// wholeLimits is limits for all items, without holding them in memory.
func (v *plotCmd) wholeLimits(e *env, r ndarray.Reader) (low, high float64, err error) {
	q := []float64{0, 1}
	switch {
	case v.Range != nil:
		low, high = v.Range[0], v.Range[1]
	case v.Percentile != nil:
		q[0], q[1] = v.Percentile[0]/100, v.Percentile[1]/100
		fallthrough
	default:
		found, err := ndarray.Quantiles(e.ctx, r, q, &ndarray.ReduceOptions{SkipNaN: r.DType().Kind == 'f'})
		if err != nil {
			return 0, 0, err
		}
		low, high = found[0], found[1]
	}
	low, high = widened(low, high)
	return low, high, checkRange(low, high)
}

// widened returns a range, or if it is only one number, a range that begins or ends there.
func widened(low, high float64) (float64, float64) {
	if low != high {
		return low, high
	}
	width := max(math.Abs(low)*1e-6, 1e-6)
	if !isFinite(high + width) {
		return low - width, high
	}
	return low, high + width
}
