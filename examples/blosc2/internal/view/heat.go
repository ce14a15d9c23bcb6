package view

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/goblosc/blosc2/ndarray"
)

// heatOptions are what the keys of the heat map change.
type heatOptions struct {
	palette, scale int
	zoom           int // each step shows half of the rows and columns
}

// scales are the ranges of values that the colors cover.
var scales = []string{"minimum to maximum", "2nd to 98th percentile"}

// An image is the numbers of a region, one for each pixel or for each square of pixels.
type image struct {
	region
	values []float64
	limits [2][2]float64 // of each scale
}

// toggleHeat shows the heat map, or the grid if it is shown.
func (m model) toggleHeat() model {
	if m.doc.Array == nil {
		m.message = "there is no array to show"
		return m
	}
	if d := m.doc.Array.DType(); !m.tools.IsReal(d) {
		m.message = clean(fmt.Sprintf("items of dtype %s have no heat map, as they are not numbers", d))
		return m
	}
	return m.toggle(heatPage, !isEmpty(m.doc.Array.Shape()))
}

// heatKey changes the options of the heat map.
func (m model) heatKey(name string) model {
	if m.page != heatPage {
		return m
	}
	switch name {
	case "p":
		m.heat.palette = (m.heat.palette + 1) % len(m.tools.Palettes)
	case "s":
		m.heat.scale = (m.heat.scale + 1) % len(scales)
	case "z":
		if g := m.heatRegion(); g.bottom-g.top > 1 || g.right-g.left > 1 {
			m.heat.zoom++
		}
	case "Z":
		m.heat.zoom = max(0, m.heat.zoom-1)
	}
	return m
}

// pixels returns the size of the picture. Two pixels share a cell of the terminal, one above the other.
func (m model) pixels() (height, width int64) {
	height = m.rows()
	if m.tools.Color {
		height *= 2
	}
	return height, int64(m.width)
}

// heatRegion returns the items to read for the heat map.
func (m model) heatRegion() region {
	shape := m.doc.Array.Shape()
	height, width := m.pixels()
	g := m.pos.region(shape, 0, 0, 0, 0)
	g.top, g.bottom, g.rowStep = m.heatRange(m.pos.along(m.pos.row), length(shape, m.pos.row), height)
	g.left, g.right, g.colStep = m.heatRange(m.pos.along(m.pos.col), length(shape, m.pos.col), width)
	return g
}

// heatRange returns the indexes of an axis of a length to show in some pixels.
func (m model) heatRange(at, n, pixels int64) (start, stop, step int64) {
	span := max(1, n>>min(m.heat.zoom, 62))
	step = max(1, (span+pixels-1)/max(pixels, 1))
	start = max(0, min(at-span/2, n-span))
	start -= start % step
	return start, min(start+span, n), step
}

// readImage returns a function that reads the numbers of the heat map.
func (m model) readImage(g region) func(ctx context.Context) loaded {
	a, tools := m.doc.Array, m.tools
	return func(ctx context.Context) loaded {
		img, err := newImage(ctx, g, a, tools)
		return loaded{image: img, err: err}
	}
}

// newImage reads the numbers of a region.
func newImage(ctx context.Context, g region, a ndarray.Reader, tools *Tools) (*image, error) {
	data, err := g.read(ctx, a)
	if err != nil {
		return nil, err
	}
	img := &image{region: g}
	d := a.DType()
	for item := range slices.Chunk(data, d.Size) {
		img.values = append(img.values, tools.Number(d, item))
	}
	finite := slices.DeleteFunc(slices.Clone(img.values), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	if n := len(finite); n > 0 {
		slices.Sort(finite)
		img.limits = [2][2]float64{{finite[0], finite[n-1]}, {finite[(n-1)*2/100], finite[(n-1)*98/100]}}
	}
	return img, nil
}

// shade returns the place of a value between the limits, from 0 to 1. It reports false for NaN.
func (img *image) shade(x float64, scale int) (float64, bool) {
	low, high := img.limits[scale][0], img.limits[scale][1]
	switch {
	case math.IsNaN(x):
		return 0, false
	case x <= low:
		return 0, true
	case x >= high:
		return 1, true
	}
	return (x/2 - low/2) / (high/2 - low/2), true // high-low may overflow
}

// zoomOf returns the number of pixels along each side of an item.
func (img *image) zoomOf(height, width int64) int {
	return max(1, min(int(height)/max(img.rows(), 1), int(width)/max(img.cols(), 1)))
}

// heatLines returns the lines of the heat map, and below a line with the colors.
func (m model) heatLines() []string {
	img := m.image
	if img == nil || !img.samePlane(m.heatRegion()) {
		return nil
	}
	height, width := m.pixels()
	zoom := img.zoomOf(height, width)
	value := func(y, x int) (float64, bool) {
		if r, c := y/zoom, x/zoom; r < img.rows() && c < img.cols() {
			return img.values[r*img.cols()+c], true
		}
		return 0, false
	}
	markY, markX := -1, -1
	if r, c := m.pos.along(m.pos.row), m.pos.along(m.pos.col); r >= img.top && r < img.bottom && c >= img.left && c < img.right {
		markY, markX = int((r-img.top)/img.rowStep)*zoom, int((c-img.left)/img.colStep)*zoom
	}
	per := 1
	if m.tools.Color {
		per = 2
	}
	var lines []string
	for y := 0; y < min(int(height), img.rows()*zoom); y += per {
		var line strings.Builder
		for x := range min(int(width), img.cols()*zoom) {
			if markX == x && markY/per == y/per && markY >= 0 {
				line.WriteString("\x1b[0;7m+\x1b[0m")
				continue
			}
			m.pixel(&line, img, value, y, x)
		}
		lines = append(lines, line.String()+"\x1b[0m")
	}
	for len(lines) < int(m.rows()) {
		lines = append(lines, "")
	}
	return append(lines, m.legend(img))
}

// ramp holds characters for the heat map without colors, from the least to the largest number.
const ramp = " .:-=+*#%@"

// pixel writes a cell of the heat map.
func (m model) pixel(b *strings.Builder, img *image, value func(y, x int) (float64, bool), y, x int) {
	upper, _ := value(y, x)
	s, ok := img.shade(upper, m.heat.scale)
	if !m.tools.Color {
		if !ok {
			b.WriteByte('?')
			return
		}
		b.WriteByte(ramp[int(s*float64(len(ramp)-1)+0.5)])
		return
	}
	c := m.color(s, ok)
	fmt.Fprintf(b, "\x1b[38;2;%d;%d;%d", c.R, c.G, c.B)
	lower, there := value(y+1, x)
	if !there {
		b.WriteString(";49m▀")
		return
	}
	s, ok = img.shade(lower, m.heat.scale)
	c = m.color(s, ok)
	fmt.Fprintf(b, ";48;2;%d;%d;%dm▀", c.R, c.G, c.B)
}

// color returns the color of a number from 0 to 1, or that of NaN.
func (m model) color(x float64, isNumber bool) color.NRGBA {
	if !isNumber {
		return color.NRGBA{200, 0, 0, 255}
	}
	return m.tools.Palettes[m.heat.palette].Color(x)
}

// legend returns a line with the colors and their numbers.
func (m model) legend(img *image) string {
	var bar strings.Builder
	const cells = 20
	for i := range cells {
		x := float64(i) / (cells - 1)
		if !m.tools.Color {
			bar.WriteByte(ramp[int(x*float64(len(ramp)-1)+0.5)])
			continue
		}
		c := m.color(x, true)
		fmt.Fprintf(&bar, "\x1b[48;2;%d;%d;%dm ", c.R, c.G, c.B)
	}
	if m.tools.Color {
		bar.WriteString("\x1b[0m")
	}
	limits := img.limits[m.heat.scale]
	left := fmt.Sprintf("%.6g ", limits[0])
	right := fmt.Sprintf(" %.6g  %s", limits[1], scales[m.heat.scale])
	if img.rowStep > 1 || img.colStep > 1 {
		right += fmt.Sprintf(", every %d:%d", img.rowStep, img.colStep)
	}
	return ansi.Truncate(left+bar.String()+right, m.width, "…")
}
