//go:build !race

package frame

// raceEnabled tells that the race detector slows everything down.
const raceEnabled = false
