package main

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/goblosc/blosc2/examples/compare/result"
)

// config selects the cells and their sizes.
type config struct {
	run    *regexp.Regexp // matches the names of the cells to run; nil matches all
	size   int            // of a chunk, in bytes
	rounds int
	round  time.Duration // minimum time of a side in a round
	levels []int
	sets   []set
	dir    string // for files
	edge   int64  // length of the cubes that are read; determines the size of the arrays
	frames int    // number of images to append
	points int    // number of random points to read
	log    func(format string, args ...any)
}

// wants reports whether a cell is to be run.
func (c *config) wants(name string) bool { return c.run == nil || c.run.MatchString(name) }

// row is one cell of the table.
type row = result.Row

// race times two functions that do the same work, alternately. It stops at the first error.
func (c *config) race(group, name string, bytes int64, goSide, cSide func() error) (row, error) {
	r := row{Group: group, Name: name, Bytes: bytes}
	var times [2][]float64
	var ratios []float64
	calls := [2]int{1, 1}
	for i := -1; i < c.rounds; i++ { // round -1 warms up and determines the number of calls in a round
		var took [2]float64
		for k := range 2 {
			side := (i + k) & 1 // the sides take turns to begin
			f := [2]func() error{goSide, cSide}[side]
			for {
				start := time.Now()
				for range calls[side] {
					if err := f(); err != nil {
						return r, fmt.Errorf("%s/%s: %w", group, name, err)
					}
				}
				d := time.Since(start)
				took[side] = float64(d) / float64(calls[side])
				if i >= 0 || d >= c.round {
					break
				}
				calls[side] += 1 + min(int(float64(c.round-d)/took[side]), 100*calls[side])
			}
		}
		if i >= 0 {
			times[0], times[1] = append(times[0], took[0]), append(times[1], took[1])
			ratios = append(ratios, took[1]/took[0])
		}
	}
	r.Go, r.C, r.Ratio = median(times[0]), median(times[1]), median(ratios)
	r.Spread = ratios[len(ratios)-1-len(ratios)/4] / ratios[len(ratios)/4] // median has sorted the ratios
	c.log("%-12s %-52s %10.1f %10.1f us %8.2f", r.Group, r.Name, r.Go/1e3, r.C/1e3, r.Ratio)
	return r, nil
}

// median sorts x and returns the median.
func median(x []float64) float64 {
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
