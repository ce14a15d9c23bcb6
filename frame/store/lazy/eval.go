package lazy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// Eval creates an array with the value of the expression, in a new file, or in memory if name is "". operands has an
// array for each name in the expression; their shapes are broadcast as in NumPy. If o.DType is set, the items are
// converted to it as by astype. Other options that o does not set have the defaults of ndarray.Create. Eval reads and
// computes block by block, in parallel. It first computes the array inside a reduction, in memory. Eval reads each
// operand in the state that is the newest when it begins, regardless of later edits. If several operands have Locking,
// each read takes the newest state of its operand instead.
//
// From a frame.Source that reads many ranges at once, Eval reads operands ahead, a chunk of the result at a time. It
// then holds the items of a few chunks in memory, with 8 bytes for each, and stored bytes: up to 64 MiB, or 16 MiB for
// each operand if there are more than four, and two chunks of up to 16 MiB for each. It decodes a block of an operand
// several times if it overlaps several chunks of the result. Several operands with Locking are not read ahead.
//
// The error wraps errors.ErrUnsupported, with the position in the expression, for operations that this package does not
// compute; ndarray.ErrParam for a missing operand or wrong arguments; ndarray.ErrBounds for an axis that an operand
// does not have, or that occurs twice; ndarray.ErrShape for shapes that do not match; ndarray.ErrValue for a number
// that its dtype cannot hold; or ndarray.ErrTooLarge for an array in memory that no operand justifies by its stored
// bytes or MaxBytes. With Overwrite, the result can replace an operand; but if both are in one file and have Locking,
// Eval returns ndarray.ErrParam, because it would wait for its own reading. Other errors are those of reading and of
// ndarray.Create.
func (e *Expression) Eval(ctx context.Context, name string, operands map[string]ndarray.Reader, o *ndarray.CreateOptions) (*ndarray.Array, error) {
	b := &binder{ctx: ctx, operands: maps.Clone(operands)}
	release, err := b.hold(e.Names(), name, o)
	if err != nil {
		return nil, err
	}
	defer release()
	defer b.close()
	t, err := b.bind(e.root)
	if err != nil {
		return nil, err
	}
	if t.constant {
		return nil, fmt.Errorf("lazy: the expression %.40q has no operand: %w", e.text, errors.ErrUnsupported)
	}
	return b.create(t, name, o)
}

// binder finds the operands of an expression.
type binder struct {
	ctx      context.Context
	operands map[string]ndarray.Reader
	made     []*ndarray.Array // the results of reductions
	held     int64            // bytes of made
}

// hold replaces the named operands by one state of each, until release is called.
func (b *binder) hold(names []string, target string, o *ndarray.CreateOptions) (release func(), err error) {
	names = slices.DeleteFunc(names, func(s string) bool { return frameOf(b.operands[s]) == nil })
	var rs []ndarray.Reader
	for _, s := range names {
		rs = append(rs, b.operands[s])
	}
	held, release, err := ndarray.Hold(b.ctx, rs, engine.Internal{})
	if err != nil {
		return nil, err
	}
	for i, r := range held {
		b.operands[names[i]] = r
		if o != nil && o.Locking && o.Overwrite && !o.Sparse {
			if err := frameOf(r).Engine().CheckTarget(target); err != nil {
				release()
				return nil, err
			}
		}
	}
	return release, nil
}

// close closes the results of reductions.
func (b *binder) close() {
	for _, a := range b.made {
		a.Close()
	}
}

// fault returns an error about a node.
func fault(n *node, err error, format string, args ...any) error {
	return fmt.Errorf("lazy: %s, at byte %d of the expression: %w", fmt.Sprintf(format, args...), n.at, err)
}

// bind returns the term of a node.
func (b *binder) bind(n *node) (*term, error) {
	switch n.kind {
	case number:
		if n.float {
			return float(n.f), nil
		}
		if n.whole != nil {
			return integer(n.whole), nil
		}
		return integer(big.NewInt(n.i)), nil
	case truth:
		return boolean(n.i), nil
	case name:
		r := b.operands[n.name]
		if isNil(r) {
			return nil, fault(n, ndarray.ErrParam, "missing operand %s", n.name)
		}
		return operand(n, r)
	case call:
		if op, ok := reductions[n.name]; ok {
			return b.reduce(n, op)
		}
		return b.call(n)
	}
	return nil, fault(n, errors.ErrUnsupported, "a string, a tuple or None")
}

// isNil reports whether r is nil, or a nil array or view.
func isNil(r ndarray.Reader) bool {
	switch r := r.(type) {
	case *ndarray.Array:
		return r == nil
	case *ndarray.View:
		return r == nil
	}
	return r == nil
}

// operand returns the term of an array.
func operand(n *node, r ndarray.Reader) (*term, error) {
	d := r.DType()
	if d.Fields != nil || d.Elem != nil || d.Kind != 'b' && d.Kind != 'i' && d.Kind != 'u' && d.Kind != 'f' {
		return nil, fault(n, errors.ErrUnsupported, "items of dtype %v", d)
	}
	return &term{d: meta.Of(d.Kind, d.Size), shape: slices.Clip(r.Shape()), array: r}, nil
}

// call returns the term of an operator or a function.
func (b *binder) call(n *node) (*term, error) {
	if n.name == "astype" {
		return b.astype(n)
	}
	f, ok := functions[n.name]
	if !ok {
		return nil, fault(n, errors.ErrUnsupported, "the function %s", n.name)
	}
	if len(n.args) != f.args || len(n.named) > 0 {
		return nil, fault(n, ndarray.ErrParam, "%s with %d arguments and %d with names, want %d", n.name, len(n.args), len(n.named), f.args)
	}
	t, literals := &term{constant: true}, true
	for _, a := range n.args {
		x, err := b.bind(a)
		if err != nil {
			return nil, err
		}
		t.args = append(t.args, x)
		t.constant = t.constant && x.constant
		literals = literals && x.literal
	}
	var err error
	if literals && !isName(n.name) {
		if t, err = python(n.name, t.args); err != nil {
			return nil, atNode(n, err)
		}
		return t, nil
	}
	if err := narrow(n, t.args); err != nil {
		return nil, err
	}
	if t.d, t.f, err = f.bind(t.args); err != nil {
		return nil, atNode(n, err)
	}
	if t.constant {
		return t.fold(b.ctx, n)
	}
	for _, x := range t.args {
		if t.shape, err = broadcast(t.shape, x.shape); err != nil {
			return nil, fault(n, ndarray.ErrShape, "%v", err)
		}
	}
	return t, nil
}

// isName reports whether the name of a function is no operator.
func isName(s string) bool { return s[0] >= 'a' && s[0] <= 'z' && !strings.HasPrefix(s, "unary ") }

// narrow replaces integers that no dtype holds, by floats for functions of floats.
func narrow(n *node, args []*term) error {
	for i, x := range args {
		if x.huge() == 0 {
			continue
		}
		if len(args) < 2 {
			return fault(n, errors.ErrUnsupported, "%s of an integer of %d bits", n.name, x.whole.BitLen())
		}
		if i < len(args)-2 { // the condition of where
			args[i] = boolean(1)
			continue
		}
		pair, takesFloats := args[len(args)-2:], n.name == "arctan2" || n.name == "hypot"
		switch {
		case n.name == "/" || takesFloats || isFloat(pair[0].d) || isFloat(pair[1].d):
			f, err := x.float64()
			if err != nil {
				return fault(n, err, "%s", n.name)
			}
			args[i] = float(f)
			if other := args[len(args)-1-i]; takesFloats && !other.literal && (other.d.Kind == 'i' || other.d.Kind == 'u') {
				// It takes the dtype for the array, as smaller integers do.
				d := floatFor(other.d)
				args[i] = &term{d: d, constant: true, value: args[i].value.to(new(scratch), d)}
			}
		case comparisons[n.name] == nil:
			return fault(n, ndarray.ErrValue, "%s of items of 64 bits and an integer of %d bits", n.name, x.whole.BitLen())
		}
	}
	return nil
}

// atNode adds a function or an operator and its position to an error.
func atNode(n *node, err error) error {
	return fmt.Errorf("%w (%s at byte %d of the expression)", err, n.name, n.at)
}

// fold returns the constant for a function of constants. It is no literal, because NumPy's functions return scalars
// with a dtype. See python for operators of literals.
func (t *term) fold(ctx context.Context, n *node) (*term, error) {
	v, err := t.eval(ctx, nil, new(scratch), ndarray.Box{}, 1)
	if err != nil {
		return nil, fault(n, err, "%s", n.name)
	}
	return &term{d: t.d, constant: true, value: v}, nil
}

// broadcast returns the shape of the result for two shapes, by NumPy's rules.
func broadcast(a, b []int64) ([]int64, error) {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i, n := range b {
		switch at := &out[len(a)-len(b)+i]; {
		case *at == 1:
			*at = n
		case n != 1 && n != *at:
			return nil, fmt.Errorf("shapes %v and %v do not match", a, b)
		}
	}
	if out == nil {
		out = []int64{}
	}
	return out, nil
}

// prepare broadcasts the operands to the shape of the result, and adds them to inputs, each once.
func (t *term) prepare(inputs []*input, shape []int64) (_ []*input, err error) {
	if t.array != nil {
		t.input = slices.IndexFunc(inputs, func(in *input) bool { return in.array == t.array })
		if t.input >= 0 {
			return inputs, nil
		}
		in := &input{array: t.array, view: t.array, d: t.d}
		if !slices.Equal(t.shape, shape) {
			in.view, err = ndarray.BroadcastTo(t.array, shape...)
		}
		t.input = len(inputs)
		return append(inputs, in), err
	}
	for _, a := range t.args {
		if inputs, err = a.prepare(inputs, shape); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// eval computes the n items of a box of the result, or one item of a constant. c has the operands, if there are any.
func (t *term) eval(ctx context.Context, c *chunkInputs, s *scratch, box ndarray.Box, n int) (vec, error) {
	if t.constant && t.args == nil {
		return t.value, nil
	}
	if t.array != nil {
		return c.read(ctx, s, t.input, box, n)
	}
	ints, floats := s.ints.used, s.floats.used
	args := make([]vec, len(t.args))
	for i, a := range t.args {
		var err error
		if args[i], err = a.eval(ctx, c, s, box, n); err != nil {
			return vec{}, err
		}
	}
	v, err := t.f(s, args, n)
	s.ints.release(ints, v.i)
	s.floats.release(floats, v.f)
	return v.wrap(), err
}

// create creates an array with the values of a term.
func (b *binder) create(t *term, name string, o *ndarray.CreateOptions) (*ndarray.Array, error) {
	ctx := b.ctx
	var opts ndarray.CreateOptions
	if o != nil {
		opts = *o
	}
	d := t.d
	if opts.DType != "" {
		var err error
		if d, err = meta.ParseDType(opts.DType); err != nil {
			return nil, fmt.Errorf("lazy: %w: %v", ndarray.ErrType, err)
		}
	}
	opts.DType = d.String()
	if name == "" && opts.Storage == nil && opts.Objects == nil {
		if err := b.checkMemory(t.shape, int64(d.Size)); err != nil {
			return nil, err
		}
	}
	inputs, err := t.prepare(nil, t.shape)
	if err != nil {
		return nil, err
	}
	switch fmt.Sprintf("%c%d", d.Kind, d.Size) {
	case "b1":
		return fill(ctx, name, t, inputs, &opts, func(out []bool, v vec) {
			for k, x := range v.i {
				out[k] = x != 0
			}
		})
	case "i1":
		return fill(ctx, name, t, inputs, &opts, integers[int8])
	case "i2":
		return fill(ctx, name, t, inputs, &opts, integers[int16])
	case "i4":
		return fill(ctx, name, t, inputs, &opts, integers[int32])
	case "i8":
		return fill(ctx, name, t, inputs, &opts, integers[int64])
	case "u1":
		return fill(ctx, name, t, inputs, &opts, integers[uint8])
	case "u2":
		return fill(ctx, name, t, inputs, &opts, integers[uint16])
	case "u4":
		return fill(ctx, name, t, inputs, &opts, integers[uint32])
	case "u8":
		return fill(ctx, name, t, inputs, &opts, integers[uint64])
	case "f2":
		return fill(ctx, name, t, inputs, &opts, func(out []ndarray.Float16, v vec) {
			for k, x := range v.f {
				out[k] = ndarray.Float16Of(x)
			}
		})
	case "f4":
		return fill(ctx, name, t, inputs, &opts, func(out []float32, v vec) {
			for k, x := range v.f {
				out[k] = float32(x)
			}
		})
	case "f8":
		return fill(ctx, name, t, inputs, &opts, func(out []float64, v vec) { copy(out, v.f) })
	}
	return nil, fmt.Errorf("lazy: a result of dtype %v: %w", d, errors.ErrUnsupported)
}

// integers sets the items of out to those of v.
func integers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](out []T, v vec) {
	for k, x := range v.i {
		out[k] = T(x)
	}
}

// fill creates an array of Go values of type T. set sets the items of a block.
func fill[T any](ctx context.Context, name string, t *term, inputs []*input, o *ndarray.CreateOptions, set func(out []T, v vec)) (*ndarray.Array, error) {
	d, err := meta.ParseDType(o.DType)
	if err != nil {
		return nil, err
	}
	rs := make([]ndarray.Reader, len(inputs))
	for i, in := range inputs {
		rs[i] = in.view
	}
	var free scratches
	begin := func(ctx context.Context, chunk ndarray.Box, ahead []ndarray.Reader) func(ndarray.Tile[T]) error {
		c := newChunkInputs(ctx, inputs, chunk, ahead)
		return func(tile ndarray.Tile[T]) error {
			s := free.take()
			defer free.put(s)
			v, err := t.eval(ctx, c, s, tile.Box, len(tile.Items))
			if err != nil {
				return err
			}
			v = v.to(s, meta.Of(d.Kind, d.Size))
			set(tile.Items, v)
			return nil
		}
	}
	return ndarray.FromReaders(ctx, name, t.shape, rs, itemSize, begin, engine.Internal{}, o)
}
