//go:build !race

package race

// Enabled reports whether the race detector is on.
const Enabled = false

// Read does nothing.
func Read([]byte) {}

// Write does nothing.
func Write([]byte) {}
