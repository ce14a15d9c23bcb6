package lazy

import (
	"errors"

	"github.com/goblosc/blosc2/meta"
)

// dtypeNames are the names of dtypes that are not also their text.
var dtypeNames = map[string]string{
	"bool": "|b1", "bool_": "|b1", "int8": "|i1", "int16": "<i2", "int32": "<i4", "int64": "<i8", "int": "<i8", "uint8": "|u1",
	"uint16": "<u2", "uint32": "<u4", "uint64": "<u8", "float16": "<f2", "float32": "<f4", "float64": "<f8", "float": "<f8",
}

// astype returns the term of a conversion.
func (b *binder) astype(n *node) (*term, error) {
	args := n.args
	if to := n.named["dtype"]; to != nil && len(n.named) == 1 {
		args = append(args[:len(args):len(args)], to)
	}
	if len(args) != 2 || args[1].kind != name && args[1].kind != text {
		return nil, fault(n, errors.ErrUnsupported, "astype without a single dtype")
	}
	given := args[1].name
	if long, ok := dtypeNames[given]; ok {
		given = long
	}
	d, err := meta.ParseDType(given)
	if err != nil || d.Fields != nil || d.Elem != nil || d.Kind != 'b' && d.Kind != 'i' && d.Kind != 'u' && d.Kind != 'f' {
		return nil, fault(n, errors.ErrUnsupported, "astype to %q", given)
	}
	x, err := b.bind(args[0])
	if err != nil {
		return nil, err
	}
	if x.huge() != 0 {
		return nil, fault(n, errors.ErrUnsupported, "astype of an integer of %d bits", x.whole.BitLen())
	}
	d = meta.Of(d.Kind, d.Size)
	t := &term{d: d, shape: x.shape, constant: x.constant, args: []*term{x}}
	t.f = func(s *scratch, args []vec, n int) (vec, error) { return args[0].to(s, d), nil }
	if t.constant {
		return t.fold(b.ctx, n)
	}
	return t, nil
}
