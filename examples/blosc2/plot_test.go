package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
)

// TestViridis compares colors with those of matplotlib.
func TestViridis(t *testing.T) {
	for x, want := range map[float64][3]int{0: {68, 1, 84}, 0.25: {59, 82, 139}, 0.5: {33, 145, 140}, 0.75: {94, 201, 98}, 1: {253, 231, 37}} {
		c := viridis(x)
		for k, got := range []uint8{c.R, c.G, c.B} {
			if d := int(got) - want[k]; d < -4 || d > 4 {
				t.Errorf("viridis(%v) = %v, want %v", x, c, want)
			}
		}
	}
}

// quadrants creates an array of 2 x 2 float64 and returns its name.
func quadrants(t *testing.T, values ...string) string {
	t.Helper()
	a := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, strings.Repeat("\x00", 32), "create", "-dtype", "<f8", "-shape", "2,2", a)
	for i, at := range []string{"0,0", "0,1", "1,0", "1,1"} {
		must(t, "", "set", a, at, "-value", values[i])
	}
	return a
}

// picture draws a PNG on standard output and decodes it.
func picture(t *testing.T, args ...string) image.Image {
	t.Helper()
	img, err := png.Decode(strings.NewReader(must(t, "", append([]string{"plot"}, args...)...)))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// checkQuadrants compares the colors in the middle of the four quadrants of a heat map of 800 x 600 pixels.
func checkQuadrants(t *testing.T, img image.Image, want ...color.NRGBA) {
	t.Helper()
	if img.Bounds().Dx() != 800 || img.Bounds().Dy() != 600 {
		t.Errorf("%v pixels", img.Bounds())
	}
	for i, at := range [][2]int{{200, 150}, {500, 150}, {200, 450}, {500, 450}} {
		if got := color.NRGBAModel.Convert(img.At(at[0], at[1])); got != want[i] {
			t.Errorf("quadrant %d is %v, want %v", i, got, want[i])
		}
	}
}

// TestPlotHeat checks the colors of heat maps: row 0 is at the top, and values outside the range have the last color.
func TestPlotHeat(t *testing.T) {
	a := quadrants(t, "0", "1", "0.25", "nan")
	missing := color.NRGBA{200, 200, 200, 255}
	checkQuadrants(t, picture(t, a, "-"), viridis(0), viridis(1), viridis(0.25), missing)
	checkQuadrants(t, picture(t, "-palette", "grey", "-nan", "ff0000", a, "-"), gray(0), gray(1), gray(0.25), color.NRGBA{255, 0, 0, 255})
	checkQuadrants(t, picture(t, "-range", "0.25,0.5", a, "-"), viridis(0), viridis(1), viridis(0), missing)
	b := quadrants(t, "1", "10", "100", "1000")
	checkQuadrants(t, picture(t, "-log", b, "-"), viridis(0), viridis(1.0/3), viridis(2.0/3), viridis(1))
	zero := quadrants(t, "0", "1", "10", "-1")
	checkQuadrants(t, picture(t, "-log", zero, "-"), missing, viridis(0), viridis(1), missing)
	checkQuadrants(t, picture(t, "-log", b, "-", "::-1"), viridis(2.0/3), viridis(1), viridis(0), viridis(1.0/3))
}

func TestPlotKinds(t *testing.T) {
	dir := t.TempDir()
	level := storesDir + "tree.b2z/img/level0"
	for name, args := range map[string][]string{
		"line.png": {level, "3"}, "line.svg": {level, "3"}, "hist.svg": {"-kind", "histogram", "-log", level}, "title.svg": {"-title", "a\x1b\nb\xff\ufffe", level}, "heat.svg": {level},
		"small.png": {"-size", "200x100", "-title", "A & B", level}, "percentile.png": {"-percentile", "2,98", level}, "logline.png": {"-log", level, ":, 2"},
	} {
		out := filepath.Join(dir, name)
		line := append([]string{"plot"}, args...)
		if n := len(line); strings.Contains(line[n-1], "level0") {
			line = append(line, out)
		} else {
			line = append(line[:n-1], out, line[n-1])
		}
		must(t, "", line...)
		text := readFile(t, out)
		if strings.HasSuffix(name, ".png") {
			if _, err := png.Decode(strings.NewReader(text)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		for d := xml.NewDecoder(bytes.NewReader([]byte(text))); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		fails(t, 1, "already exists", "", line...)
	}
	if left, err := filepath.Glob(dir + "/*.tmp"); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	fails(t, 1, "has shape (4, 64)", "", "plot", "-kind", "line", level, dir+"/x.png", ":4")
	fails(t, 1, "cannot be drawn", "", "plot", fixturesDir+"/python-blosc2/dtype_S5.b2nd", dir+"/x.png")
	fails(t, 1, "no items", "", "plot", level, dir+"/x.png", ":0")
	fails(t, 2, "-kind must be one of", "", "plot", "-kind", "pie", level, dir+"/x.png")
	fails(t, 2, "such as 800x600", "", "plot", "-size", "9", level, dir+"/x.png")
	fails(t, 2, "such as 800x600", "", "plot", "-size", "200x200x3", level, dir+"/x.png")
	fails(t, 2, "exclude each other", "", "plot", "-range", "0,1", "-percentile", "1,2", level, dir+"/x.png")
}

// TestPlotLineStrokes draws a line of many points in short strokes, since the time of a stroke grows with the square of
// its length. The strokes have all segments.
func TestPlotLineStrokes(t *testing.T) {
	for _, n := range []int{1, 2, strokePoints + 2, strokePoints + 3, 2*strokePoints + 2, 3200} {
		line, at := make(plotter.XYs, n), 0
		for i := range line {
			line[i].X = float64(i)
		}
		for part := range strokes(line) {
			if int(part[0].X) > max(at-1, 0) || len(part) > strokePoints+2 {
				t.Errorf("%d points: %d from %v, after %d", n, len(part), part[0].X, at)
			}
			at = int(part[len(part)-1].X)
		}
		if at != n-1 {
			t.Errorf("%d points: the last one is %d", n, at)
		}
	}
	a := t.TempDir() + "/a.b2nd"
	must(t, numbers(800), "create", "-raw", a)
	for path := range strings.SplitSeq(must(t, "", "plot", "-svg", a, "-"), "<path ") {
		if n := strings.Count(path, "L"); n > 150 {
			t.Errorf("a path has %d segments", n)
		}
	}
}

// TestPlotBooleans draws booleans, which have no histogram.
func TestPlotBooleans(t *testing.T) {
	a := t.TempDir() + "/a.b2nd"
	must(t, "\x00\x01\x01", "create", "-dtype", "?", a)
	must(t, "", "plot", a, "-")
	fails(t, 1, a+": items of dtype |b1 have no histogram", "", "plot", "-kind", "histogram", a, "-")
	if got := must(t, "", "stats", a); strings.Contains(got, "histogram") {
		t.Errorf("%s", got)
	}
}

// TestPlotLimits compares percentiles with numpy.percentile.
func TestPlotLimits(t *testing.T) {
	values := []float64{4, math.NaN(), 1, 3, 2, 5, math.Inf(1)}
	for _, c := range []struct {
		percentile pairOf
		low, high  float64
	}{{pairOf{0, 100}, 1, 5}, {pairOf{10, 90}, 1.4, 4.6}, {pairOf{50, 50}, 3, 3}} {
		v := &plotCmd{Percentile: &c.percentile}
		if low, high := v.limits(values); math.Abs(low-c.low) > 1e-12 || math.Abs(high-c.high) > 1e-12 {
			t.Errorf("%v: %v, %v", c, low, high)
		}
	}
}

// TestPlotConstant checks that the color bar of a plane with one value has one color, and that larger values than the
// range are on its upper half.
func TestPlotConstant(t *testing.T) {
	bar := func(img image.Image, y int) color.Color { return color.NRGBAModel.Convert(img.At(770, y)) }
	img := picture(t, quadrants(t, "3", "3", "3", "3"), "-")
	checkQuadrants(t, img, viridis(0), viridis(0), viridis(0), viridis(0))
	if low, high := bar(img, 450), bar(img, 100); low != viridis(0) || high != viridis(0) {
		t.Errorf("the color bar has %v and %v", low, high)
	}
	img = picture(t, "-range", "3,3", quadrants(t, "3", "4", "3", "2"), "-")
	checkQuadrants(t, img, viridis(0), viridis(1), viridis(0), viridis(0))
	if low, high := bar(img, 450), bar(img, 100); low != viridis(0) || high != viridis(1) {
		t.Errorf("the color bar has %v and %v", low, high)
	}
}

// TestPlotLineInPieces draws a line with gaps with little memory. The picture is the same.
func TestPlotLineInPieces(t *testing.T) {
	var items []byte
	for i := range 1001 {
		x := float64(i % 97)
		if i == 0 || i == 2 || i > 600 && i < 700 {
			x = math.NaN()
		}
		items = binary.LittleEndian.AppendUint64(items, math.Float64bits(x))
	}
	a := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, string(items), "create", "-dtype", "<f8", a)
	for _, args := range [][]string{{"-size", "100x100"}, {"-size", "100x100", "-log"}} {
		args = append(append([]string{"plot"}, args...), a, "-")
		want := must(t, "", args...)
		for _, slab := range []int64{100, 3000} {
			if got, err := inPieces(t, slab, "", args...); err != nil || got != want {
				t.Errorf("%q with %d bytes at a time: %d bytes, want %d, %v", args, slab, len(got), len(want), err)
			}
		}
	}
}

// TestUntilDone ends the wait for a function that does not return with its context.
func TestUntilDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stuck := make(chan struct{})
	defer close(stuck)
	err := untilDone(ctx, func() error { cancel(); <-stuck; return nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestPlotOut checks the permissions of the picture, which files it does not replace, and that errors name OUT.
func TestPlotOut(t *testing.T) {
	tree, packed := copyTree(t, storesDir+"tree.b2d"), copyTree(t, storesDir+"tree.b2z")
	t.Chdir(t.TempDir())
	must(t, strings.Repeat("\x00", 32), "create", "-dtype", "<f8", "-shape", "2,2", "a.b2nd")
	must(t, "", "plot", "a.b2nd", "p.png")
	want, err := os.Stat("a.b2nd")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat("p.png"); err != nil || got.Mode() != want.Mode() {
		t.Errorf("%v, %v, want %v", got.Mode(), err, want.Mode())
	}
	fails(t, 1, "blosc2 plot: "+filepath.Join("nodir", "x.png")+": directory nodir does not exist\n", "", "plot", "a.b2nd", filepath.Join("nodir", "x.png"))
	if err := os.Mkdir("dir", 0o777); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "blosc2 plot: dir is a directory\n", "", "plot", "-overwrite", "a.b2nd", "dir")
	for path, out := range map[string]string{
		"a.b2nd":               "./a.b2nd",
		tree + "/img/level0":   tree + "/img/level0.b2nd",
		packed + "/img/level0": packed,
	} {
		before := readFile(t, out)
		fails(t, 1, out+" has the array", "", "plot", "-overwrite", path, out)
		if readFile(t, out) != before {
			t.Errorf("%s changed", out)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 3 {
		t.Errorf("left %v, %v", left, err)
	}
}
