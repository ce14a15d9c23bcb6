package attack

import "unsafe"

// copyTo copies b to memory that was mapped for it.
func copyTo(area unsafe.Pointer, b []byte) { copy(unsafe.Slice((*byte)(area), len(b)), b) }

// pageAt returns the address of a page of that memory.
func pageAt(area unsafe.Pointer, at int) unsafe.Pointer { return unsafe.Add(area, at) }
