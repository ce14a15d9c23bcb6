//go:build !((amd64 || arm64) && !purego)

package filters

func byteDiffKernel(dst, src []byte) { byteDiffGeneric(dst, src, 1) }

func byteSumKernel(dst, src []byte) { byteSumGeneric(dst, src, 0) }
