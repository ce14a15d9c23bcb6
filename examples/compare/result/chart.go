package result

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// lines are the lines of the chart and the rows of the table, each with the cells that belong to it.
var lines = []struct {
	title string
	match func(group, kind string) bool // kind is the first part of a cell's name
}{
	{"filters", func(g, _ string) bool { return g == "kernels" }},
	{"decode BloscLZ", cells("decode", "blosclz")},
	{"decode LZ4, LZ4HC", cells("decode", "lz4", "lz4hc")},
	{"decode Zlib", cells("decode", "zlib")},
	{"decode Zstd", cells("decode", "zstd")},
	{"decode uncompressed, special", cells("decode", "stored", "special")},
	{"encode BloscLZ", cells("encode", "blosclz")},
	{"encode LZ4", cells("encode", "lz4")},
	{"encode LZ4HC", cells("encode", "lz4hc")},
	{"encode Zlib", cells("encode", "zlib")},
	{"encode Zstd", cells("encode", "zstd")},
	{"encode uncompressed", cells("encode", "stored")},
	{"read from arrays, 1 thread", func(g, _ string) bool { return g == "read-1" }},
	{"read from arrays, 2 threads", func(g, _ string) bool { return g == "read-2" }},
	{"create, write, open, append", func(g, _ string) bool { return g == "write" }},
}

// cells returns a function that matches the cells of chunks with one of some codecs.
func cells(what string, kinds ...string) func(group, kind string) bool {
	return func(group, kind string) bool {
		return strings.HasPrefix(group, what+"-") && slices.Contains(kinds, kind)
	}
}

// titleOf returns the title of the line that a cell belongs to, or "".
func titleOf(x Row) string {
	kind, _, _ := strings.Cut(x.Name, "/")
	for _, l := range lines {
		if l.match(x.Group, kind) {
			return l.title
		}
	}
	return ""
}

// byLine returns the summary of each line of the chart, in order.
func (r *Report) byLine() []Group {
	groups := groupsOf(r.Rows, titleOf)
	groups = slices.DeleteFunc(groups, func(g Group) bool { return g.Name == "" })
	order := func(g Group) int {
		for i, l := range lines {
			if l.title == g.Name {
				return i
			}
		}
		return -1
	}
	slices.SortFunc(groups, func(a, b Group) int { return order(a) - order(b) })
	return groups
}

// Machine returns a sentence about the machine and the run.
func (r *Report) Machine() string {
	return fmt.Sprintf("%s, %d CPUs, %s, C-Blosc2 %s", r.CPU, r.CPUs, r.Go, r.C)
}

// Measures of the chart in pixels.
const (
	width, left, right = 860, 220, 70
	top, pitch         = 86, 24
)

// SVG returns a chart with a line for each kind of cell: a dot for each cell, and a bar and a number for the geometric
// mean. The axis is logarithmic, so that twice and half the speed are at the same distance from equal speed, and it
// includes all cells.
func (r *Report) SVG() []byte {
	groups := r.byLine()
	low, high := 0.5, 2.0 // powers of 2
	for _, x := range r.Rows {
		for titleOf(x) != "" && x.Ratio < low {
			low /= 2
		}
		for titleOf(x) != "" && x.Ratio > high {
			high *= 2
		}
	}
	at := func(ratio float64) float64 {
		return left + (width-left-right)*math.Log(ratio/low)/math.Log(high/low)
	}
	bottom := top + pitch*len(groups)
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="13">`,
		width, bottom+64, width, bottom+64)
	p(`<rect width="100%%" height="100%%" fill="#ffffff"/>`)
	p(`<text x="16" y="26" font-size="16" font-weight="bold" fill="#222222">Speed beside C-Blosc2: C's time divided by Go's</text>`)
	p(`<text x="16" y="46" fill="#555555">%s; one run</text>`, html.EscapeString(r.Machine()))
	p(`<text x="16" y="64" fill="#555555">A dot is a cell, such as one data set, filter and number of threads. The bar is the geometric mean.</text>`)
	for v := low; v <= high; v *= 2 {
		color, label := "#dddddd", fmt.Sprintf("%g", v)
		if v < 1 {
			label = fmt.Sprintf("1/%g", 1/v)
		}
		if v == 1 {
			color = "#666666"
		}
		p(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s"/>`, at(v), top-8, at(v), bottom, color)
		p(`<text x="%.1f" y="%d" text-anchor="middle" fill="#555555">%s</text>`, at(v), bottom+18, label)
	}
	p(`<text x="%.1f" y="%d" text-anchor="middle" fill="#555555">equal</text>`, at(1), bottom+36)
	p(`<text x="%.1f" y="%d" text-anchor="end" fill="#555555">← C is faster</text>`, at(1)-30, bottom+36)
	p(`<text x="%.1f" y="%d" fill="#555555">Go is faster → (logarithmic scale)</text>`, at(1)+30, bottom+36)
	for i, g := range groups {
		y := top + pitch*i + pitch/2
		p(`<text x="%d" y="%d" text-anchor="end" fill="#222222">%s</text>`, left-12, y+4, html.EscapeString(g.Name))
		for _, x := range r.Rows {
			if titleOf(x) == g.Name {
				p(`<circle cx="%.1f" cy="%d" r="3" fill="#1f77b4" fill-opacity="0.35"/>`, at(x.Ratio), y)
			}
		}
		p(`<rect x="%.1f" y="%d" width="3" height="18" fill="#d62728"/>`, at(g.Mean)-1.5, y-9)
		p(`<text x="%d" y="%d" fill="#d62728">%s</text>`, width-right+16, y+4, figure(g.Mean))
	}
	p(`</svg>`)
	return b.Bytes()
}

// figure formats a ratio with two decimals. It truncates, so that 1.00 is not less than equal speed.
func figure(x float64) string { return fmt.Sprintf("%.2f", math.Floor(x*100+1e-9)/100) }

// Table returns the summary of each line as a table in Markdown.
func (r *Report) Table() []byte {
	var b bytes.Buffer
	b.WriteString("| what | cells | mean | least | largest size |\n| --- | --- | --- | --- | --- |\n")
	for _, g := range r.byLine() {
		size := ""
		if g.Size > 0 {
			size = fmt.Sprintf("%.2f", math.Ceil(g.Size*100)/100)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", g.Name, g.Cells, figure(g.Mean), figure(g.Min), size)
	}
	return b.Bytes()
}

// Short returns a table in Markdown with fewer lines than Table.
func (r *Report) Short() []byte {
	var b bytes.Buffer
	b.WriteString("| | cells | mean | least |\n| --- | --- | --- | --- |\n")
	rows := slices.DeleteFunc(slices.Clone(r.Rows), func(x Row) bool { return titleOf(x) == "" })
	for _, g := range groupsOf(rows, func(x Row) string {
		what, _, _ := strings.Cut(x.Group, "-")
		return map[string]string{"kernels": "filters", "encode": "encode chunks", "decode": "decode chunks",
			"read": "read boxes, planes and items of arrays", "write": "create, write, open and append to arrays"}[what]
	}) {
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", g.Name, g.Cells, figure(g.Mean), figure(g.Min))
	}
	return b.Bytes()
}
