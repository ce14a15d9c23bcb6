//go:build amd64 && !purego

package numbers

import "github.com/goblosc/blosc2/internal/cpu"

// kernels are the kernels that convert numbers of one type to signed or unsigned integers of 2, 4 and 8 bytes, and to
// float32 and float64. nil means that there is none.
type kernels struct{ i2, i4, i8, f4, f8 kernel }

// kernelFor returns the kernel that converts numbers, or nil, and the numbers of its shortest row. The result has the
// byte order of the machine.
func kernelFor(to, from Type) (k kernel, least int) {
	if !cpu.Has(cpu.AVX2) || to.foreign() || to.kind == 'b' || to.kind == 'c' {
		return nil, 0
	}
	list := kernelsFrom(from)
	switch float := to.kind == 'f'; {
	case !float && to.size == 2:
		return list.i2, 16
	case !float && to.size == 4:
		return list.i4, 8
	case !float && to.size == 8:
		return list.i8, 8
	case float && to.size == 4:
		return list.f4, 8
	case float && to.size == 8:
		return list.f8, 8
	}
	return nil, 0
}

// kernelsFrom returns the kernels that convert numbers of a type.
func kernelsFrom(t Type) kernels {
	if t.foreign() {
		return swappedKernelsFrom(t)
	}
	switch {
	case t.kind == 'b':
		return kernels{i2: b1i2AVX2, i4: b1i4AVX2, i8: b1i8AVX2, f4: b1f4AVX2, f8: b1f8AVX2}
	case t.kind == 'i' && t.size == 1:
		return kernels{i2: i1i2AVX2, i4: i1i4AVX2, i8: i1i8AVX2, f4: i1f4AVX2, f8: i1f8AVX2}
	case t.kind == 'u' && t.size == 1:
		return kernels{i2: u1i2AVX2, i4: u1i4AVX2, i8: u1i8AVX2, f4: u1f4AVX2, f8: u1f8AVX2}
	case t.kind == 'i' && t.size == 2:
		return kernels{i4: i2i4AVX2, i8: i2i8AVX2, f4: i2f4AVX2, f8: i2f8AVX2}
	case t.kind == 'u' && t.size == 2:
		return kernels{i4: u2i4AVX2, i8: u2i8AVX2, f4: u2f4AVX2, f8: u2f8AVX2}
	case t.kind == 'i' && t.size == 4:
		return kernels{i8: i4i8AVX2, f4: i4f4AVX2, f8: i4f8AVX2}
	case t.kind == 'u' && t.size == 4:
		return kernels{i8: u4i8AVX2, f8: u4f8AVX2}
	case t.kind == 'f' && t.size == 2:
		return kernels{f4: f2f4AVX2, f8: f2f8AVX2}
	case t.kind == 'f' && t.size == 4:
		return kernels{f8: f4f8AVX2}
	case t.kind == 'f':
		return kernels{f4: f8f4AVX2}
	}
	return kernels{}
}

// swappedKernelsFrom returns the kernels that convert numbers in the other byte order than the machine's.
func swappedKernelsFrom(t Type) kernels {
	switch {
	case t.kind == 'i' && t.size == 2:
		return kernels{i4: i2swappedi4AVX2, i8: i2swappedi8AVX2, f4: i2swappedf4AVX2, f8: i2swappedf8AVX2}
	case t.kind == 'u' && t.size == 2:
		return kernels{i4: u2swappedi4AVX2, i8: u2swappedi8AVX2, f4: u2swappedf4AVX2, f8: u2swappedf8AVX2}
	case t.kind == 'i' && t.size == 4:
		return kernels{i8: i4swappedi8AVX2, f4: i4swappedf4AVX2, f8: i4swappedf8AVX2}
	case t.kind == 'u' && t.size == 4:
		return kernels{i8: u4swappedi8AVX2, f8: u4swappedf8AVX2}
	case t.kind == 'f' && t.size == 2:
		return kernels{f4: f2swappedf4AVX2, f8: f2swappedf8AVX2}
	case t.kind == 'f' && t.size == 4:
		return kernels{f8: f4swappedf8AVX2}
	case t.kind == 'f':
		return kernels{f4: f8swappedf4AVX2}
	}
	return kernels{}
}

// swapKernel returns the kernel that reverses the bytes of numbers, or nil, and the numbers of its shortest row.
func swapKernel(width int) (k kernel, least int) {
	if !cpu.Has(cpu.AVX2) {
		return nil, 0
	}
	switch width {
	case 2:
		return swap2AVX2, 16
	case 4:
		return swap4AVX2, 8
	case 8:
		return swap8AVX2, 4
	}
	return nil, 0
}

// boolKernel returns the kernel that copies bools, or nil, and the bools of its shortest row.
func boolKernel() (k kernel, least int) {
	if !cpu.Has(cpu.AVX2) {
		return nil, 0
	}
	return b1b1AVX2, 32
}

// The kernels do what kernel describes. Their names are the kinds and the sizes of the numbers that they read and
// write. The kernels to integers write signed and unsigned ones. Those with "swapped" also reverse the bytes of the
// numbers that they read.

//go:noescape
func swap2AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func swap4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func swap8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func b1b1AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func b1i2AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i1i2AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u1i2AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func b1i4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func b1i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func b1f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func b1f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i1i4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i1i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i1f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i1f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u1i4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u1i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u1f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u1f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i2i4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i2i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i2f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i2f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u2i4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u2i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u2f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u2f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i2swappedi4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i2swappedi8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i2swappedf4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i2swappedf8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u2swappedi4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u2swappedi8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u2swappedf4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u2swappedf8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i4i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i4f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i4f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i4swappedi8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i4swappedf4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func i4swappedf8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u4i8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u4f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u4swappedi8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func u4swappedf8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func f2f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func f2swappedf4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func f2f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func f2swappedf8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func f4f8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func f4swappedf8AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func f8f4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)

//go:noescape
func f8swappedf4AVX2(dst, src *byte, n, rows, ds, ss, ahead int)
