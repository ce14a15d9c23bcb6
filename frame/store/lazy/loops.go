package lazy

// The functions of this file combine the items of a and b, which are as many as those of out. They are loops, because a
// call for each item takes longer than most operators.

// loop sets the items of out. out may not overlap a or b.
type loop[T int64 | float64] func(out, a, b []T)

// calls returns the loop that calls a function for each item, or nil for nil.
func calls[T int64 | float64](f func(a, b T) T) loop[T] {
	if f == nil {
		return nil
	}
	return func(out, a, b []T) {
		for k, x := range a {
			out[k] = f(x, b[k])
		}
	}
}

func add[T int64 | float64](out, a, b []T) {
	out, b = out[:len(a)], b[:len(a)]
	for k, x := range a {
		out[k] = x + b[k]
	}
}

func subtract[T int64 | float64](out, a, b []T) {
	out, b = out[:len(a)], b[:len(a)]
	for k, x := range a {
		out[k] = x - b[k]
	}
}

func multiply[T int64 | float64](out, a, b []T) {
	out, b = out[:len(a)], b[:len(a)]
	for k, x := range a {
		out[k] = x * b[k]
	}
}

func divide(out, a, b []float64) {
	out, b = out[:len(a)], b[:len(a)]
	for k, x := range a {
		out[k] = x / b[k]
	}
}

func and(out, a, b []int64) {
	out, b = out[:len(a)], b[:len(a)]
	for k, x := range a {
		out[k] = x & b[k]
	}
}

func or(out, a, b []int64) {
	out, b = out[:len(a)], b[:len(a)]
	for k, x := range a {
		out[k] = x | b[k]
	}
}

func xor(out, a, b []int64) {
	out, b = out[:len(a)], b[:len(a)]
	for k, x := range a {
		out[k] = x ^ b[k]
	}
}

// compareAs sets the items of out to the results of a comparison of items, which it converts to type As.
func compareAs[As, T int64 | uint64 | float64](op string, out []int64, a, b []T) {
	out, b = out[:len(a)], b[:len(a)]
	switch op {
	case "==":
		for k, x := range a {
			out[k] = truthOf(As(x) == As(b[k]))
		}
	case "!=":
		for k, x := range a {
			out[k] = truthOf(As(x) != As(b[k]))
		}
	case "<":
		for k, x := range a {
			out[k] = truthOf(As(x) < As(b[k]))
		}
	case "<=":
		for k, x := range a {
			out[k] = truthOf(As(x) <= As(b[k]))
		}
	case ">":
		compareAs[As]("<", out, b, a)
	case ">=":
		compareAs[As]("<=", out, b, a)
	}
}
