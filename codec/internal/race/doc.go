// Package race tells the race detector what kernels in assembly do. Without the detector it does nothing.
package race
