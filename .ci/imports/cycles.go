package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// maxCycle is the largest number of files of a package that may form a dependency cycle.
const maxCycle = 6

// largerCycles maps the packages that still have a larger cycle to its size. Lower these numbers as cycles shrink.
var largerCycles = map[string]int{
	"codec/internal/zstd":    12, // a decoder and its steps
	"codec/internal/zstdenc": 16, // an encoder and its steps
}

// checkCycles returns a fault for each package with a cycle of more files than maxCycle or largerCycles allows.
func checkCycles(pkgs []*loaded) []string {
	return longCycles(pkgs, maxCycle)
}

// longCycles is checkCycles with a parameter for maxCycle.
func longCycles(pkgs []*loaded, size int) []string {
	var faults []string
	for _, p := range pkgs {
		most := max(size, largerCycles[p.path])
		for _, cycle := range fileCycles(p) {
			if len(cycle) > most {
				faults = append(faults, fmt.Sprintf("%s: %d files depend on each other, at most %d may: %s", p.path, len(cycle), most, strings.Join(cycle, ", ")))
			}
		}
	}
	return faults
}

// fileCycles returns the sets of files of a package that depend on each other, directly or indirectly. A file depends
// on another file if it uses a function, method, type, constant or variable that the other file declares.
func fileCycles(p *loaded) [][]string {
	uses := map[string]map[string]bool{}
	for _, f := range p.files {
		uses[filepath.Base(p.fset.Position(f.Package).Filename)] = map[string]bool{}
	}
	for id, o := range p.info.Uses {
		if o = origin(o); o.Pkg() == p.types && isDeclared(o) {
			from, to := filepath.Base(p.fset.Position(id.Pos()).Filename), filepath.Base(p.fset.Position(o.Pos()).Filename)
			if from != to {
				uses[from][to] = true
			}
		}
	}
	var cycles [][]string
	for _, c := range components(uses) {
		if len(c) > 1 {
			cycles = append(cycles, c)
		}
	}
	return cycles
}

// components returns the strongly connected components of a graph (Tarjan), each sorted, the largest first.
func components(graph map[string]map[string]bool) [][]string {
	var (
		all   [][]string
		stack []string
		index = map[string]int{} // from 1, in order of the visits
		low   = map[string]int{} // least index that a node reaches on the stack
		on    = map[string]bool{}
		visit func(n string)
	)
	visit = func(n string) {
		index[n] = len(index) + 1
		low[n] = index[n]
		stack, on[n] = append(stack, n), true
		for m := range graph[n] {
			if index[m] == 0 {
				visit(m)
				low[n] = min(low[n], low[m])
			} else if on[m] {
				low[n] = min(low[n], index[m])
			}
		}
		if low[n] < index[n] {
			return
		}
		i := slices.Index(stack, n)
		c := slices.Sorted(slices.Values(stack[i:]))
		for _, m := range c {
			on[m] = false
		}
		stack = stack[:i]
		all = append(all, c)
	}
	for n := range graph {
		if index[n] == 0 {
			visit(n)
		}
	}
	slices.SortFunc(all, func(a, b []string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a[0], b[0])
	})
	return all
}
