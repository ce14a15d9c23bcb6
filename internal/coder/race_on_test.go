//go:build race

package coder

// raceEnabled tells that sync.Pool drops items at random, so that allocations cannot be counted.
const raceEnabled = true
