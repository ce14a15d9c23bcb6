package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/goblosc/blosc2/internal/paths"
	"github.com/goblosc/blosc2/ndarray"
)

// plotCmd draws a picture of an array.
type plotCmd struct {
	Kind       string  `placeholder:"heat" enum:"auto,heat,line,histogram" default:"auto" help:"heat, line or histogram. The default is line for one axis and heat for two"`
	Palette    string  `placeholder:"viridis" enum:"viridis,gray,grey" default:"viridis" help:"colors of a heat map: viridis or gray"`
	Log        bool    `help:"logarithmic colors of a heat map, values of a line, or counts of a histogram. In the first two, values up to 0 are like NaNs"`
	Range      *pairOf `placeholder:"0,1" help:"values from the first to the last color or bin. The default is from the minimum to the maximum"`
	Percentile *pairOf `placeholder:"2,98" help:"the range between two percentiles"`
	NaN        rgb     `name:"nan" placeholder:"ff0000" default:"c8c8c8" help:"color of NaNs in a heat map, or none"`
	Bins       int     `placeholder:"50" default:"50" help:"bins of a histogram"`
	Size       pixels  `placeholder:"800x600" default:"800x600" help:"size in pixels"`
	Title      *string `placeholder:"TEXT" help:"title (default: PATH and SEL)"`
	SVG        bool    `name:"svg" help:"write SVG; the default for a name that ends in .svg"`
	Overwrite  bool    `help:"replace an existing file or link"`
	progressOption
	Path string `arg:"" name:"PATH"`
	Out  string `arg:"" name:"OUT"`
	Sel  string `arg:"" optional:"" name:"SEL"`
}

// otherPictures are extensions of pictures that plot does not write.
var otherPictures = []string{".bmp", ".eps", ".gif", ".jpeg", ".jpg", ".pdf", ".ps", ".tif", ".tiff", ".webp"}

// Help describes the verb.
func (plotCmd) Help() string {
	return `
Draws a PNG or SVG picture of an array or its selection SEL, in OUT or for "-" on standard output: a heat map with a
color bar, a line, or a histogram. Row 0 of a heat map is at the top. If a plane has more rows or columns than the
picture has pixels, it draws every second, third and so on. NaNs are gaps in a line. Booleans have no histogram.

Examples:
  blosc2 plot a.b2nd plane.png '0, ...'
  blosc2 plot -percentile 2,98 -palette gray -size 1200x900 a.b2nd plane.svg
  blosc2 plot -kind histogram -log a.b2nd counts.png
`
}

// Run runs the verb.
func (v *plotCmd) Run(e *env) error {
	if v.Range != nil && v.Percentile != nil {
		return usagef("-range and -percentile exclude each other")
	}
	if p := v.Percentile; p != nil && (p[0] < 0 || p[1] > 100) {
		return usagef("-percentile: want numbers from 0 to 100")
	}
	if v.Bins < 1 || v.Bins > 10000 {
		return usagef("-bins: want a number from 1 to 10000, got %d", v.Bins)
	}
	if ext := strings.ToLower(filepath.Ext(v.Out)); !v.SVG && slices.Contains(otherPictures, ext) {
		return usagef("OUT ends in %s, but plot writes .png and .svg", ext)
	}
	if v.Out == "-" {
		if err := e.refuseTerminal(""); err != nil {
			return err
		}
	} else if err := v.checkOut(); err != nil {
		return err
	}
	defer e.count(v.progressOption)()
	a, done, err := openArray(e, v.Path)
	if err != nil {
		return err
	}
	defer done()
	var sel []ndarray.Index
	if v.Sel != "" {
		if sel, err = parseSelection(v.Sel); err != nil {
			return err
		}
		if _, err := selectionShape(a, v.Sel, sel); err != nil {
			return err
		}
	}
	r, err := reader(e, a, sel)
	if err != nil {
		return err
	}
	if !isReal(r.DType()) {
		return fmt.Errorf("%s: items of dtype %s cannot be drawn, want numbers: %w", v.Path, r.DType(), ndarray.ErrType)
	}
	if r.Size() == 0 {
		return fmt.Errorf("%s: no items to draw: %w", v.Path, ndarray.ErrShape)
	}
	var picture bytes.Buffer
	err = untilDone(e.ctx, func() error {
		p, err := v.draw(e, r)
		if err == nil {
			_, err = p.WriteTo(&picture)
		}
		return err
	})
	if err != nil {
		return err
	}
	return v.write(e, picture.Bytes())
}

// checkOut returns an error if OUT must not be replaced.
func (v *plotCmd) checkOut() error {
	if err := refuseDevice(v.Out, true); err != nil {
		return err
	}
	if !isPlainDir(v.Path) { // which may have the leaves below a leaf
		if err := refuseInside(v.Out, v.Path); err != nil {
			return err
		}
	}
	fi, err := os.Lstat(v.Out)
	switch {
	case err != nil:
		return nil // a new file
	case !v.Overwrite:
		return fmt.Errorf("%s already exists; use -overwrite to replace it", v.Out)
	case fi.IsDir():
		return fmt.Errorf("%s is a directory", v.Out)
	}
	sources := []string{v.Path}
	if name, _, ok := splitStore(v.Path); ok && !isURL(name) {
		sources = append(sources, name)
		for _, ext := range leafExtensions {
			sources = append(sources, v.Path+ext)
		}
	}
	for _, name := range sources {
		if source, err := os.Stat(name); err == nil && os.SameFile(source, fi) {
			return fmt.Errorf("%s has the array; write the picture to another file", v.Out)
		}
	}
	return nil
}

// draw draws the picture.
func (v *plotCmd) draw(e *env, r ndarray.Reader) (io.WriterTo, error) {
	kind, axes := v.Kind, len(r.Shape())
	if kind == "auto" {
		kind = map[int]string{1: "line", 2: "heat"}[axes]
	}
	want := map[string]int{"heat": 2, "line": 1, "histogram": axes}[kind]
	if kind == "" || axes != want {
		hint := "one axis for a line, two for a heat map, or -kind histogram"
		return nil, fmt.Errorf("the selection has shape %s; want %s: %w", pyTuple(r.Shape()), hint, ndarray.ErrShape)
	}
	p := plot.New()
	p.Title.Text = strings.TrimSpace(filepath.Base(v.Path) + " " + bracketed(v.Sel))
	if v.Title != nil {
		p.Title.Text = *v.Title
	}
	lines := strings.Split(p.Title.Text, "\n")
	for i, line := range lines {
		lines[i] = visible(line) // XML has no control characters
	}
	p.Title.Text = strings.Join(lines, "\n")
	canvas, area := v.canvas()
	var err error
	switch kind {
	case "heat":
		err = v.heat(e, p, area, r)
	case "line":
		if err = v.line(e, p, r); err == nil {
			p.Draw(area)
		}
	default:
		if err = v.histogram(e, p, r); err == nil {
			p.Draw(area)
		}
	}
	return canvas, err
}

// bracketed returns a selection in brackets.
func bracketed(sel string) string {
	if sel == "" {
		return ""
	}
	return "[" + sel + "]"
}

// canvas returns a canvas, and its area without a margin.
func (v *plotCmd) canvas() (io.WriterTo, draw.Canvas) {
	const perInch = 96
	w, h := vg.Length(v.Size[0])*vg.Inch/perInch, vg.Length(v.Size[1])*vg.Inch/perInch
	var c vg.CanvasSizer
	var out io.WriterTo
	if v.SVG || strings.EqualFold(filepath.Ext(v.Out), ".svg") {
		s := vgsvg.New(w, h)
		c, out = s, s
	} else {
		s := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(perInch))
		c, out = s, vgimg.PngCanvas{Canvas: s}
	}
	const margin = 8
	return out, draw.Crop(draw.New(c), margin, -margin, margin, -margin)
}

// write writes the bytes of the picture, to a temporary file first.
func (v *plotCmd) write(e *env, picture []byte) error {
	if v.Out == "-" {
		_, err := e.out.Write(picture)
		return err
	}
	f, err := createTemporary(v.Out)
	if err != nil {
		return outError(v.Out, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(picture)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = e.ctx.Err()
	}
	if err == nil {
		err = os.Rename(f.Name(), v.Out)
	}
	return outError(v.Out, err)
}

// createTemporary creates a temporary file beside path, with the permissions of other new files.
func createTemporary(path string) (*os.File, error) {
	name := fmt.Sprintf("%s.input-%d.tmp", path, rand.Uint64())
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// outError returns an error of a temporary file as an error of the file that it replaces.
func outError(path string, err error) error {
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &file):
		err = &fs.PathError{Op: file.Op, Path: path, Err: file.Err}
	case errors.As(err, &link):
		err = &fs.PathError{Op: link.Op, Path: path, Err: link.Err}
	}
	if dir := paths.Dir(path); errors.Is(err, fs.ErrNotExist) {
		if _, statErr := os.Stat(dir); errors.Is(statErr, fs.ErrNotExist) {
			return fmt.Errorf("%s: directory %s does not exist", path, dir)
		}
	}
	return err
}

// checkRange returns an error for a range without a finite width. The labels of its axis would take forever.
func checkRange(low, high float64) error {
	if !isFinite(high - low) {
		return fmt.Errorf("the values range from %g to %g; choose a -range of finite width", low, high)
	}
	return nil
}

// checkLog returns an error if a range from low cannot be logarithmic, but has to.
func (v *plotCmd) checkLog(low float64) error {
	switch {
	case !v.Log || low > 0:
		return nil
	case v.Range == nil:
		return errors.New("no finite value is above 0, so the range cannot be logarithmic")
	}
	return fmt.Errorf("a logarithmic range cannot begin at %g", low)
}

// limits returns the range of values of the picture, in which values are not NaN.
func (v *plotCmd) limits(values []float64) (low, high float64) {
	if v.Range != nil {
		return v.Range[0], v.Range[1]
	}
	sorted := slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return !isFinite(x) || v.Log && x <= 0 })
	if len(sorted) == 0 {
		return 0, 1
	}
	if v.Percentile == nil {
		return slices.Min(sorted), slices.Max(sorted)
	}
	slices.Sort(sorted)
	at := func(percent float64) float64 {
		x := percent / 100 * float64(len(sorted)-1)
		i := int(x)
		if i+1 >= len(sorted) {
			return sorted[len(sorted)-1]
		}
		return sorted[i] + (sorted[i+1]-sorted[i])*(x-math.Floor(x))
	}
	return at(v.Percentile[0]), at(v.Percentile[1])
}

// realValues returns the items of a selection as float64.
func realValues(e *env, r ndarray.Reader, sel ...ndarray.Index) ([]float64, error) {
	shape, err := r.SelectionShape(sel...)
	if err != nil {
		return nil, err
	}
	d := r.DType()
	n, ok := byteCount(shape, d.Size)
	if !ok || n > math.MaxInt32*4 {
		return nil, ndarray.ErrTooLarge
	}
	data := make([]byte, n)
	if err := r.ReadBytes(e.ctx, data, sel...); err != nil {
		return nil, err
	}
	values := make([]float64, 0, len(data)/d.Size)
	for item := range slices.Chunk(data, d.Size) {
		values = append(values, realNumber(d, item))
	}
	return values, nil
}
