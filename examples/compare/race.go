package main

import (
	"fmt"
	"regexp"
	"slices"
	"time"
)

// config says what is run, and how long.
type config struct {
	run    *regexp.Regexp // names of the cells that are run; nil = all
	size   int            // of a chunk, in bytes
	rounds int
	round  time.Duration // shortest time of one side in one round
	levels []int
	sets   []set
	dir    string // for files
	edge   int64  // of the cubes that are read; arrays are as large as that asks for
	frames int    // that are appended
	points int    // that are read at random
	log    func(format string, args ...any)
}

func (c *config) wants(name string) bool { return c.run == nil || c.run.MatchString(name) }

// row is one cell of the table.
type row struct {
	Group  string  `json:"group"`
	Name   string  `json:"name"`
	Bytes  int64   `json:"bytes"`             // of content that one call works on
	Go     float64 `json:"go_ns"`             // a call, median of all rounds
	C      float64 `json:"c_ns"`              // a call, median of all rounds
	Ratio  float64 `json:"go_over_c"`         // speed of Go over that of C: the median of the ratios of all rounds
	Spread float64 `json:"spread"`            // of the ratios: that of the third quartile over that of the first
	GoSize int     `json:"go_size,omitempty"` // of the chunk
	CSize  int     `json:"c_size,omitempty"`
}

// race times two functions that do the same, in turns. An error ends it.
func (c *config) race(group, name string, bytes int64, goSide, cSide func() error) (row, error) {
	r := row{Group: group, Name: name, Bytes: bytes}
	var times [2][]float64
	var ratios []float64
	calls := [2]int{1, 1}
	for i := -1; i < c.rounds; i++ { // the first round is to warm up, and to count the calls that fill a round
		var took [2]float64
		for k := range 2 {
			side := (i + k) & 1 // who begins changes, too
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
	r.Spread = ratios[len(ratios)-1-len(ratios)/4] / ratios[len(ratios)/4] // median sorted them
	c.log("%-12s %-52s %10.1f %10.1f us %8.2f", r.Group, r.Name, r.Go/1e3, r.C/1e3, r.Ratio)
	return r, nil
}

func median(x []float64) float64 {
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
