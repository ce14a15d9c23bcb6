package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// statsCmd prints statistics of an array.
type statsCmd struct {
	progressOption
	Axis      *int      `placeholder:"N" help:"print a table with a row for each position along this axis; -1 is the last one"`
	Bins      *int      `placeholder:"10" help:"bins of the histogram; 0 for none"`
	Quantiles fractions `placeholder:"0.25,0.5" help:"quantiles to print, from 0 to 1"`
	JSON      bool      `name:"json" help:"print one JSON object"`
	Path      string    `arg:"" name:"PATH"`
	Sel       string    `arg:"" optional:"" name:"SEL"`
}

// Help describes the verb.
func (statsCmd) Help() string {
	return `
Prints the minimum, maximum, mean and standard deviation of an array or of the selection SEL, how many items are NaN
(or NaT) and zero, and a histogram. NaNs are not counted otherwise. It reads the items several times, a few chunks at a
time. Dates and timedeltas have only a minimum and a maximum. Booleans have no histogram.

Examples:
  blosc2 stats a.b2nd
  blosc2 stats -axis 0 -json a.b2nd '..., :100'
`
}

// fractions are numbers from 0 to 1.
type fractions []float64

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *fractions) UnmarshalText(text []byte) error {
	*f = nil
	for part := range strings.SplitSeq(string(text), ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(x >= 0 && x <= 1) {
			return usagef("want numbers from 0 to 1, got %q", part)
		}
		*f = append(*f, x)
	}
	return nil
}

// statistic is a reduction with its name.
type statistic struct {
	name string
	op   ndarray.Op
}

// statistics returns the reductions that apply to a dtype.
func statistics(d meta.DType) ([]statistic, error) {
	list := []statistic{{"min", ndarray.OpMin}, {"max", ndarray.OpMax}}
	moments := []statistic{{"mean", ndarray.OpMean}, {"std", ndarray.OpStd}}
	switch {
	case d.Fields != nil || d.Elem != nil || !strings.ContainsRune("biufcMm", rune(d.Kind)),
		d.Kind == 'f' && d.Size > 8, d.Kind == 'c' && d.Size > 16: // long double
		return nil, fmt.Errorf("items of dtype %s have no statistics: %w", d, ndarray.ErrType)
	case d.Kind == 'c':
		list = moments
	case d.Kind != 'M' && d.Kind != 'm':
		list = append(list, moments...)
	}
	return append(list, statistic{"nans", ndarray.OpCountNaN}, statistic{"zeros", ndarray.OpCountNonzero}), nil
}

// Run runs the verb.
func (v *statsCmd) Run(e *env) error {
	if n := v.bins(); n < 0 || n > 10000 {
		return usagef("-bins: want a number from 0 to 10000, got %d", n)
	}
	if v.Axis != nil && (v.Bins != nil && *v.Bins > 0 || len(v.Quantiles) > 0) {
		return usagef("-axis excludes -bins and -quantiles")
	}
	defer e.count(v.progressOption)()
	a, done, err := openArray(e, v.Path)
	if err != nil {
		return err
	}
	defer done()
	var r ndarray.Reader = a
	if v.Sel != "" {
		sel, err := parseSelection(v.Sel)
		if err != nil {
			return err
		}
		if _, err := selectionShape(a, v.Sel, sel); err != nil {
			return err
		}
		if r, err = reader(e, a, sel); err != nil {
			return err
		}
	}
	list, err := statistics(r.DType())
	if err != nil {
		return fmt.Errorf("%s: %w", v.Path, err)
	}
	if e.track != nil {
		once := max(e.track.total.Load()-e.track.done.Load(), 0)
		e.track.remains(once * int64(v.passes(len(list), r.DType())))
	}
	if v.Axis != nil {
		return v.perAxis(e, r, list)
	}
	return v.whole(e, r, list)
}

// passes returns the number of times that the verb reads the items for n reductions.
func (v *statsCmd) passes(n int, d meta.DType) int {
	if v.Axis != nil {
		return n
	}
	if v.hasHistogram(d) {
		n++
	}
	if len(v.Quantiles) > 0 { // see [ndarray.Quantiles]: passes after the first are for eight of them
		more := map[int]int{4: 1, 8: 3}[d.Size]
		n += 1 + more*((len(v.Quantiles)+7)/8)
	}
	return n
}

// bins returns the number of bins of the histogram.
func (v *statsCmd) bins() int {
	if v.Bins == nil {
		return 10
	}
	return *v.Bins
}

// hasHistogram reports whether the verb prints the histogram of items of a dtype.
func (v *statsCmd) hasHistogram(d meta.DType) bool {
	return v.bins() > 0 && strings.ContainsRune("iuf", rune(d.Kind))
}

// reader returns a view of a selection, or an array in memory if the selection has index arrays.
func reader(e *env, a *ndarray.Array, sel []ndarray.Index) (ndarray.Reader, error) {
	if view, err := ndarray.Slice(a, sel...); err == nil {
		return view, nil
	}
	return selected(e, a, sel)
}

// reduced returns the items of a reduction, as text for each position along the axes that are left.
func reduced(e *env, r ndarray.Reader, s statistic, axes []int, count int64) ([]string, error) {
	o := &ndarray.ReduceOptions{Axes: axes, SkipNaN: s.op != ndarray.OpCountNaN && s.op != ndarray.OpCountNonzero}
	result, err := ndarray.Reduce(e.ctx, r, s.op, o)
	if errors.Is(err, ndarray.ErrShape) && count == 0 {
		return []string{"-"}, nil // no items
	}
	if err != nil {
		return nil, err
	}
	defer result.Close()
	data := make([]byte, result.Size()*int64(result.DType().Size))
	if err := result.ReadBytes(e.ctx, data); err != nil {
		return nil, err
	}
	texts := make([]string, 0, result.Size())
	for ; len(data) > 0; data = data[result.DType().Size:] {
		text := itemText(result.DType(), data[:result.DType().Size])
		if s.op == ndarray.OpCountNonzero {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, err
			}
			text = strconv.FormatInt(count-n, 10)
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// whole prints the statistics of all items.
func (v *statsCmd) whole(e *env, r ndarray.Reader, list []statistic) error {
	p := &propertyPrinter{e: e, title: v.Path}
	p.add("shape", "%s", pyTuple(r.Shape()))
	p.add("dtype", "%s", r.DType())
	p.add("items", "%d", r.Size())
	limits := map[string]string{}
	for _, s := range list {
		texts, err := reduced(e, r, s, nil, r.Size())
		if err != nil {
			return err
		}
		limits[s.name] = texts[0]
		p.add(s.name, "%s", texts[0])
	}
	if len(v.Quantiles) > 0 {
		q, err := ndarray.Quantiles(e.ctx, r, v.Quantiles, &ndarray.ReduceOptions{SkipNaN: true})
		if err != nil {
			return err
		}
		for i, x := range q {
			p.add(fmt.Sprintf("quantile %v", v.Quantiles[i]), "%s", floatText(x, 8))
		}
	}
	edges, counts, noHistogram := v.histogram(e, r, limits["min"], limits["max"])
	if v.JSON {
		if err := statsJSON(e, p, r, edges, counts); err != nil {
			return err
		}
	} else {
		if noHistogram == errNoEdges {
			p.add("histogram", "%v", errNoEdges)
		}
		p.print()
		if counts != nil {
			printHistogram(e, edges, counts)
		}
	}
	if noHistogram != errNoEdges {
		return noHistogram
	}
	return nil
}

// errNoEdges is the reason why there is no histogram of some items.
var errNoEdges = errors.New("none, because the minimum, the maximum or their distance is infinite")

// histogram counts the items between the minimum and the maximum. It returns nil if there are no items to count, or
// errNoEdges.
func (v *statsCmd) histogram(e *env, r ndarray.Reader, low, high string) ([]float64, []int64, error) {
	if !v.hasHistogram(r.DType()) {
		return nil, nil, nil
	}
	first, err1 := exactFloat(r.DType(), low)
	last, err2 := exactFloat(r.DType(), high)
	if err1 != nil || err2 != nil || math.IsNaN(first) || math.IsNaN(last) {
		return nil, nil, nil
	}
	if !isFinite(first) || !isFinite(last) || !isFinite(last-first) {
		return nil, nil, errNoEdges
	}
	bins := v.bins()
	if first == last {
		bins = 1
	}
	edges := equalBins(first, last, bins)
	counts, err := ndarray.Histogram(e.ctx, r, edges)
	return edges, counts, err
}

// equalBins returns the edges of bins of equal width from first to last, whose distance must be finite.
func equalBins(first, last float64, bins int) []float64 {
	edges := make([]float64, bins+1)
	for i := range edges {
		at := (last - first) * float64(i)
		if isFinite(at) {
			at /= float64(bins) // last, so that edges that are integers are exact
		} else {
			at = (last - first) / float64(bins) * float64(i)
		}
		edges[i] = first + at
	}
	edges[bins] = last
	return edges
}

// exactFloat returns the number that itemText has printed.
func exactFloat(d meta.DType, text string) (float64, error) {
	if d.Kind == 'f' && d.Size == 4 {
		return strconv.ParseFloat(text, 32)
	}
	x, err := strconv.ParseFloat(text, 64)
	if d.Kind == 'f' && d.Size == 2 {
		x = ndarray.Float16Of(x).Float64()
	}
	return x, err
}

// edgeDigits returns the number of digits of the edges of bins: at least 6, and enough for a hundredth of a bin.
func edgeDigits(edges []float64) int {
	first, last := edges[0], edges[len(edges)-1]
	if first == last {
		return 6
	}
	bin := (last - first) / float64(len(edges)-1)
	largest := math.Max(math.Abs(first), math.Abs(last))
	return int(min(max(math.Ceil(math.Log10(largest/bin))+3, 6), 17))
}

// printHistogram prints bars.
func printHistogram(e *env, edges []float64, counts []int64) {
	most := int64(1)
	digits := edgeDigits(edges)
	var from, to, number []string
	for i, n := range counts {
		most = max(most, n)
		from = append(from, strconv.FormatFloat(edges[i], 'g', digits, 64))
		to = append(to, strconv.FormatFloat(edges[i+1], 'g', digits, 64))
		number = append(number, strconv.FormatInt(n, 10))
	}
	alignRight(from)
	alignRight(to)
	alignRight(number)
	room := max(10, min(e.width, 100)-len(from[0])-len(to[0])-len(number[0])-8)
	fmt.Fprintln(e.out)
	for i, n := range counts {
		length := int(math.Round(float64(n) / float64(most) * float64(room)))
		if n > 0 {
			length = max(length, 1)
		}
		bar := ""
		if length > 0 {
			bar = "  " + e.paint(green, strings.Repeat("█", length))
		}
		fmt.Fprintf(e.out, "%s .. %s  %s%s\n", from[i], to[i], number[i], bar)
	}
}

// statsJSON prints statistics as an object. Numbers that JSON cannot express are strings.
func statsJSON(e *env, p *propertyPrinter, r ndarray.Reader, edges []float64, counts []int64) error {
	m := meta.Map{{Key: "path", Value: p.title}}
	for i, name := range p.names {
		if name == "shape" {
			m = append(m, meta.Entry{Key: name, Value: anyList(r.Shape())})
			continue
		}
		m = append(m, meta.Entry{Key: name, Value: jsonStatistic(r.DType(), name, p.values[i])})
	}
	if counts != nil {
		bins := meta.Map{{Key: "edges", Value: anyList(edges)}, {Key: "counts", Value: anyList(counts)}}
		m = append(m, meta.Entry{Key: "histogram", Value: bins})
	}
	return e.printJSON(m)
}

// anyList returns a list for JSON.
func anyList[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// maxStatsRows is the number of rows of the table of -axis, which is held in memory.
const maxStatsRows = 1 << 18

// perAxis prints a table with the statistics at each position along an axis.
func (v *statsCmd) perAxis(e *env, r ndarray.Reader, list []statistic) error {
	shape, axis := r.Shape(), *v.Axis
	if axis < 0 {
		axis += len(shape)
	}
	if axis < 0 || axis >= len(shape) {
		return fmt.Errorf("-axis %d: an array of shape %s has no such axis: %w", *v.Axis, pyTuple(shape), ndarray.ErrBounds)
	}
	if shape[axis] > maxStatsRows {
		return fmt.Errorf("-axis %d: the table would have %d rows, more than %d; select some with SEL: %w", *v.Axis, shape[axis], maxStatsRows, ndarray.ErrTooLarge)
	}
	others := []int{}
	count := int64(1)
	for k, n := range shape {
		if k != axis {
			others, count = append(others, k), count*n
		}
	}
	rows := [][]string{{"index"}}
	for i := range shape[axis] {
		rows = append(rows, []string{strconv.FormatInt(i, 10)})
	}
	for _, s := range list {
		texts, err := reduced(e, r, s, others, count)
		if err != nil {
			return err
		}
		rows[0] = append(rows[0], s.name)
		for i := range rows[1:] {
			text := "-"
			if i < len(texts) {
				text = texts[i]
			}
			rows[i+1] = append(rows[i+1], text)
		}
	}
	if !v.JSON {
		e.printTable(rows, strings.Repeat("n", len(rows[0])))
		return nil
	}
	m := meta.Map{{Key: "path", Value: v.Path}, {Key: "axis", Value: int64(axis)}}
	for k, name := range rows[0] {
		var column []any
		for _, row := range rows[1:] {
			column = append(column, jsonStatistic(r.DType(), name, row[k]))
		}
		m = append(m, meta.Entry{Key: name, Value: column})
	}
	return e.printJSON(m)
}

// jsonStatistic returns the number in the text of a statistic, or the text if JSON cannot express it or it is a date.
func jsonStatistic(d meta.DType, name, text string) any {
	if d.Kind == 'M' && (name == "min" || name == "max") {
		return text // a year, too
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && n > math.MaxInt64 {
		return n
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && isFinite(f) {
		return f
	}
	return text
}
