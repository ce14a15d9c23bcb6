package ndarray

import "strings"

// isList tells whether square brackets around everything are those of a list and not of a subscript: when they have
// nothing inside but numbers, truth values and lists.
func (p *parser) isList() bool {
	end := p.wraps('[', ']')
	// Slices, "...", tuples, None, newaxis and Ellipsis stand in a subscript only.
	return end >= 0 && !strings.ContainsAny(p.text[p.pos:end], ":.(NnE")
}

// listParser reads a list of numbers or truth values, or of lists of the same shape.
type listParser struct {
	*parser
	array indexArray // its shape has -1 for a length that is not known yet
	leaf  bool       // a value was read: lists are not nested deeper than the shape says
}

func (p *parser) list() (Index, error) {
	l := listParser{parser: p, array: indexArray{kind: coordsKind}}
	if err := l.level(0); err != nil {
		return nil, err
	}
	return &l.array, nil
}

// level reads a list that stands in depth others.
func (l *listParser) level(depth int) error {
	x := &l.array
	switch {
	case depth == maxResultDims:
		return l.errorf("more than %d lists in each other", maxResultDims)
	case depth < len(x.shape):
	case l.leaf:
		return l.errorf("a list where a value should stand")
	default:
		x.shape = append(x.shape, -1)
	}
	l.pos++
	n := int64(0)
	for l.peek() != ']' {
		var err error
		if c := l.peek(); c == '[' {
			err = l.level(depth + 1)
		} else {
			err = l.value(c, depth)
		}
		if err != nil {
			return err
		}
		n++
		c := l.peek()
		if c == ',' {
			l.pos++
		} else if c != ']' {
			return l.missing("a comma or the end of the list")
		}
	}
	if have := x.shape[depth]; have >= 0 && have != n {
		return l.errorf("a list of %d where the one before has %d", n, have)
	}
	x.shape[depth] = n
	l.pos++
	return nil
}

// value reads a number or truth value, which starts with c.
func (l *listParser) value(c byte, depth int) error {
	x := &l.array
	column, number := l.pos, c == '+' || c == '-' || isDigit(c)
	truth := strings.HasPrefix(l.text[l.pos:l.end], "True")
	switch {
	case !number && !truth && !strings.HasPrefix(l.text[l.pos:l.end], "False"):
		return l.missing("a number or truth value")
	case depth+1 < len(x.shape):
		return l.errorf("a value where a list should stand")
	case l.leaf && number == x.mask():
		return l.errorf("numbers and truth values in one list")
	}
	l.leaf = true
	if number {
		v, fits, err := l.integer()
		if err == nil && !fits {
			l.pos = column
			err = l.errorf("index does not fit 64 bits")
		}
		x.at = append(x.at, v)
		return err
	}
	x.kind = maskNDKind
	x.keep = append(x.keep, truth)
	for l.pos < l.end && isLetter(l.text[l.pos]) {
		l.pos++
	}
	if w := l.text[column:l.pos]; w != "True" && w != "False" {
		l.pos = column
		return l.errorf("unknown word %q", w)
	}
	return nil
}

// missing is the error for something else than what should stand here.
func (l *listParser) missing(what string) error {
	if l.pos == l.end {
		return l.errorf("%s is missing", what)
	}
	return l.errorf("%q where %s should stand", l.text[l.pos], what)
}
