//go:build !(amd64 && !purego)

package numbers

// kernelFor returns the kernel that converts numbers: here there is none.
func kernelFor(_, _ Type) (k kernel, least int) { return nil, 0 }

// swapKernel returns the kernel that reverses the bytes of numbers: here there is none.
func swapKernel(int) (k kernel, least int) { return nil, 0 }

// boolKernel returns the kernel that copies bools: here there is none.
func boolKernel() (k kernel, least int) { return nil, 0 }
