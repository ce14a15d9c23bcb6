package lazy

import "math"

// The functions of this file are those of package math, except where these are wrong or less accurate than NumPy's.

// smallestNormal is the smallest positive float that is not subnormal.
const smallestNormal = 0x1p-1022

// isSubnormal reports whether x is a positive subnormal number.
func isSubnormal(x float64) bool { return x > 0 && x < smallestNormal }

// atan2 has the sign of y. That of math.Atan2 is wrong if y/x underflows and x is negative.
func atan2(y, x float64) float64 { return math.Copysign(math.Atan2(math.Abs(y), x), y) }

// exp computes large results as squares. On amd64, math.Exp is +Inf for results near the largest float.
func exp(x float64) float64 {
	if x > 709 {
		e := math.Exp(x / 2)
		return e * e
	}
	return math.Exp(x)
}

// sinh computes large results without e to the power of x, which overflows before its half does.
func sinh(x float64) float64 {
	if math.Abs(x) > 709 {
		return math.Copysign(halfExp(math.Abs(x)), x)
	}
	return math.Sinh(x)
}

// cosh is like sinh.
func cosh(x float64) float64 {
	if math.Abs(x) > 709 {
		return halfExp(math.Abs(x))
	}
	return math.Cosh(x)
}

// halfExp returns half of e to the power of x.
func halfExp(x float64) float64 {
	e := math.Exp(x / 2)
	return 0.5 * e * e
}

// log scales subnormal numbers. On amd64, math.Log takes them for larger numbers.
func log(x float64) float64 {
	if isSubnormal(x) {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// log10 scales subnormal numbers, because math.Log10 calls math.Log.
func log10(x float64) float64 {
	if isSubnormal(x) {
		return math.Log10(x*0x1p54) - 54*(math.Ln2/math.Ln10)
	}
	return math.Log10(x)
}

// log2 is accurate near 1, where math.Log2 subtracts almost equal numbers.
func log2(x float64) float64 {
	if x > 0.5 && x < 2 {
		return math.Log1p(x-1) / math.Ln2
	}
	return math.Log2(x)
}

// pow scales subnormal numbers, because math.Pow calls math.Log.
func pow(x, y float64) float64 {
	if isSubnormal(x) {
		return math.Pow(x*0x1p54, y) * math.Exp2(-54*y) // both factors are 0, or both +Inf, if y is extreme
	}
	return math.Pow(x, y)
}

// acos is accurate near 1, where math.Acos subtracts almost equal numbers.
func acos(x float64) float64 { return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x)) }
