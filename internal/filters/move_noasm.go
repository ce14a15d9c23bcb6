//go:build !(amd64 && !purego)

package filters

// copyKernel does Copy, if it is faster than the built-in copy: here it never is.
func copyKernel(_, _ []byte) bool { return false }

// fillKernel does Fill with the bytes of word, if it is faster than other ways: here it never is.
func fillKernel([]byte, uint64, bool) bool { return false }

func joinFaster(width int) bool { return false }

// joinVector joins no elements.
func joinVector(dst []byte, planes [][]byte, n int, uncached bool) int { return 0 }
