// Package lazy evaluates the lazy expressions of python-blosc2: text such as "(o0 + o1) * 2", in which names are
// arrays.
//
// A file with an expression holds no data. Describe it, open its operands, and evaluate:
//
//	f, err := frame.Open(ctx, "expr.b2nd", nil)
//	e, err := store.Describe(ctx, f) // e.Ref has the expression, and the paths of its operands
//	x, err := lazy.Parse(e.Ref.Expression)
//	operands := map[string]ndarray.Reader{}
//	for name, ref := range e.Ref.Operands {
//		operands[name], err = ndarray.Open(ctx, ref.Path, nil)
//	}
//	a, err := x.Eval(ctx, "", operands, &ndarray.CreateOptions{DType: e.DType.String()})
//
// This package opens no files, because an expression from an unknown user may name any path. Check the paths before
// opening them.
//
// Expressions are evaluated block by block, in parallel, with the dtypes and rules of NumPy 2. They may contain
//
//	operators   + - * / // % **  & | ^ ~ << >>  < <= > >= == !=
//	numbers     abs sign square sqrt floor ceil trunc minimum maximum power hypot isnan isinf isfinite
//	functions   exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh and their inverses arcsin ... arctan2
//	others      where(c, x, y) x.astype(dtype)
//	reductions  sum prod mean std var min max any all argmin argmax, with axis, keepdims and ddof
//
// for booleans, integers and floats. Operators of numbers alone follow Python, whose integers do not wrap, up to 1024
// bits. Reductions are also methods. For everything else, errors wrap errors.ErrUnsupported. Powers and functions other
// than sqrt may differ from NumPy's in the last digits.
package lazy
