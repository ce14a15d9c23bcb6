// Package result holds the results of command compare, summarizes them, and draws the chart and the table of the
// documentation. It needs no C library.
package result

import (
	"fmt"
	"io"
	"math"
)

// Report holds the results and describes the machine.
type Report struct {
	Command string  `json:"command"` // the arguments that select the cells
	CPU     string  `json:"cpu"`
	CPUs    int     `json:"cpus"`
	Go      string  `json:"go"`
	Kernel  string  `json:"kernel"` // SIMD kernels of this library
	C       string  `json:"c_blosc2"`
	Codecs  string  `json:"c_codecs,omitempty"` // of C-Blosc2: libraries and versions
	Groups  []Group `json:"groups"`
	Rows    []Row   `json:"rows"`
}

// Row is one cell of the table.
type Row struct {
	Group  string  `json:"group"`
	Name   string  `json:"name"`
	Bytes  int64   `json:"bytes"`             // decoded bytes that a call processes
	Go     float64 `json:"go_ns"`             // median time of a call over all rounds
	C      float64 `json:"c_ns"`              // median time of a call over all rounds
	Ratio  float64 `json:"go_over_c"`         // C's time divided by Go's, median over all rounds
	Spread float64 `json:"spread"`            // third quartile of the ratios divided by the first
	GoSize int     `json:"go_size,omitempty"` // size of the chunk in bytes
	CSize  int     `json:"c_size,omitempty"`
}

// Group is the summary of a group.
type Group struct {
	Name  string  `json:"name"`
	Cells int     `json:"cells"`
	Mean  float64 `json:"go_over_c_geometric_mean"`
	Min   float64 `json:"go_over_c_minimum"`
	Worst string  `json:"worst"`                  // name of the cell with the minimum
	Size  float64 `json:"size_maximum,omitempty"` // maximum ratio of the chunk sizes of Go and C
}

// Summarize fills in the groups, in the order of their first cells.
func (r *Report) Summarize() {
	r.Groups = groupsOf(r.Rows, func(x Row) string { return x.Group })
}

// groupsOf summarizes rows in groups, in the order of their first rows.
func groupsOf(rows []Row, name func(Row) string) []Group {
	var groups []Group
	at := map[string]int{}
	for _, x := range rows {
		i, ok := at[name(x)]
		if !ok {
			i = len(groups)
			at[name(x)] = i
			groups = append(groups, Group{Name: name(x), Min: math.Inf(1)})
		}
		g := &groups[i]
		g.Cells++
		g.Mean += math.Log(x.Ratio) // the sum of the logarithms, until the end
		if x.Ratio < g.Min {
			g.Min, g.Worst = x.Ratio, x.Name
		}
		if x.CSize > 0 {
			g.Size = max(g.Size, float64(x.GoSize)/float64(x.CSize))
		}
	}
	for i := range groups {
		g := &groups[i]
		g.Mean = math.Exp(g.Mean / float64(g.Cells))
	}
	return groups
}

// Print writes the summary.
func (r *Report) Print(w io.Writer) {
	fmt.Fprintf(w, "\n%-12s %6s %10s %8s %10s  %s\n", "group", "cells", "mean Go/C", "minimum", "largest", "cell of the minimum")
	for _, g := range r.Groups {
		size := "-"
		if g.Size > 0 {
			size = fmt.Sprintf("%.3f", g.Size)
		}
		fmt.Fprintf(w, "%-12s %6d %10.2f %8.2f %10s  %s\n", g.Name, g.Cells, g.Mean, g.Min, size, g.Worst)
	}
}
