package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/goblosc/blosc2/examples/compare/cblosc"
	"github.com/goblosc/blosc2/internal/cpu"
)

// report holds the results and describes the machine.
type report struct {
	CPU    string  `json:"cpu"`
	CPUs   int     `json:"cpus"`
	Go     string  `json:"go"`
	Kernel string  `json:"kernel"` // SIMD kernels of this library
	C      string  `json:"c_blosc2"`
	Groups []group `json:"groups"`
	Rows   []row   `json:"rows"`
}

// group is the summary of a group.
type group struct {
	Name  string  `json:"name"`
	Cells int     `json:"cells"`
	Mean  float64 `json:"go_over_c_geometric_mean"`
	Min   float64 `json:"go_over_c_minimum"`
	Worst string  `json:"worst"`                  // name of the cell with the minimum
	Size  float64 `json:"size_maximum,omitempty"` // maximum ratio of the chunk sizes of Go and C
}

// newReport returns a report without results.
func newReport() *report {
	return &report{CPU: cpuName(), CPUs: runtime.NumCPU(), Go: runtime.Version(), Kernel: cpu.Current().String(), C: cblosc.Version()}
}

// cpuName returns the model name of the CPU on Linux, and the architecture on other systems.
func cpuName() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // exists only on Linux
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// summarize fills in the groups, in the order of their first cells.
func (r *report) summarize() {
	at := map[string]int{}
	for _, x := range r.Rows {
		i, ok := at[x.Group]
		if !ok {
			i = len(r.Groups)
			at[x.Group] = i
			r.Groups = append(r.Groups, group{Name: x.Group, Min: math.Inf(1)})
		}
		g := &r.Groups[i]
		g.Cells++
		g.Mean += math.Log(x.Ratio) // the sum of the logarithms, until the end
		if x.Ratio < g.Min {
			g.Min, g.Worst = x.Ratio, x.Name
		}
		if x.CSize > 0 {
			g.Size = max(g.Size, float64(x.GoSize)/float64(x.CSize))
		}
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		g.Mean = math.Exp(g.Mean / float64(g.Cells))
	}
}

// print writes the summary.
func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "\n%-12s %6s %10s %8s %10s  %s\n", "group", "cells", "mean Go/C", "minimum", "largest", "cell of the minimum")
	for _, g := range r.Groups {
		size := "-"
		if g.Size > 0 {
			size = fmt.Sprintf("%.3f", g.Size)
		}
		fmt.Fprintf(w, "%-12s %6d %10.2f %8.2f %10s  %s\n", g.Name, g.Cells, g.Mean, g.Min, size, g.Worst)
	}
}
