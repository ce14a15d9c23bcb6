//go:build !race

package race

// Read does nothing.
func Read([]byte) {}

// Write does nothing.
func Write([]byte) {}
