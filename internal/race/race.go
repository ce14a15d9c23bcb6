// Package race reports to the race detector the memory that assembly kernels read and write. The detector does not
// instrument assembly. Without the detector the functions do nothing.
package race
