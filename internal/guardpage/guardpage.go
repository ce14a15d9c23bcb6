// Package guardpage allocates memory for tests of assembly kernels: an access outside of it faults. It works on Linux
// and macOS; tests that use it have the same build constraint.
package guardpage
