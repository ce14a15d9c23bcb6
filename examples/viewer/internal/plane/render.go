package plane

import (
	"math"

	"github.com/goblosc/blosc2/examples/viewer/internal/paint"
)

// Render returns the pixels of a window, four bytes for each: red, green, blue and alpha. Pixels outside the plane are
// transparent. The colors cover the values from low to high.
func (s *Samples) Render(w Window, style *paint.Style, low, high float64) []byte {
	pixels := make([]byte, 4*w.Height*w.Width)
	colors := style.Colors(s.Values, low, high)
	rows := pixelItems(w.Top, w.Bottom, w.Height, s.Top, s.RowStep, s.Rows)
	cols := pixelItems(w.Left, w.Right, w.Width, s.Left, s.ColStep, s.Cols)
	last, at := -1, 0
	for y, r := range rows {
		line := pixels[4*y*w.Width:][:4*w.Width]
		switch {
		case r < 0:
			continue
		case r == last:
			copy(line, pixels[at:])
			continue
		}
		last, at = r, 4*y*w.Width
		row := colors[r*s.Cols:][:s.Cols]
		for x, c := range cols {
			if c >= 0 {
				k := row[c]
				p := line[4*x : 4*x+4]
				p[0], p[1], p[2], p[3] = k.R, k.G, k.B, k.A
			}
		}
	}
	return pixels
}

// pixelItems returns the sample for each pixel of an axis, or -1.
func pixelItems(from, to float64, pixels int, first, step int64, n int) []int {
	list := make([]int, pixels)
	for i := range list {
		at := math.Floor(from + (float64(i)+0.5)*(to-from)/float64(pixels))
		if list[i] = -1; at >= 0 && at < math.MaxInt64/2 {
			list[i] = index(int64(at), first, step, n)
		}
	}
	return list
}
