// Package double computes with sums of two floats, which have about 106 bits.
package double

import "math"

// Number is the sum of two floats. The second is at most half a unit of the last digit of the first.
type Number struct{ Hi, Lo float64 }

// Sum returns a+b, if the exponent of b is not larger than that of a. It is Dekker's fast sum of two floats.
func Sum(a, b float64) Number {
	hi := a + b
	return Number{hi, b - (hi - a)}
}

// Plus returns a+b, if the exponent of b is not larger than that of a.
func (a Number) Plus(b Number) Number {
	s := Sum(a.Hi, b.Hi)
	return Sum(s.Hi, s.Lo+(a.Lo+b.Lo))
}

// Times returns a*b.
func (a Number) Times(b Number) Number {
	p := float64(a.Hi * b.Hi) // the conversion keeps the compiler from fusing operations
	return Sum(p, math.FMA(a.Hi, b.Hi, -p)+(a.Hi*b.Lo+a.Lo*b.Hi))
}
