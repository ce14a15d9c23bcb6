package selection

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/goblosc/blosc2/frame"
)

// Parse is the function ParseSelection of package ndarray.
func Parse(s string) ([]Index, error) {
	p := parser{text: s, end: len(s)}
	if !p.isList() {
		p.unwrap('[', ']')
	}
	p.unwrap('(', ')')
	return p.entries()
}

// parser parses text[pos:end].
type parser struct {
	text     string
	pos, end int
}

// syntaxError is the error for invalid text. It wraps ErrBounds, with its own message.
type syntaxError struct {
	column int // from 1, in bytes
	what   string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("ndarray: invalid selection: column %d: %s", e.column, e.what)
}

func (e *syntaxError) Unwrap() error { return frame.ErrBounds }

// errorf returns a syntaxError for the current position.
func (p *parser) errorf(format string, args ...any) error {
	return &syntaxError{p.pos + 1, fmt.Sprintf(format, args...)}
}

// peek skips blanks and returns the next byte without reading it, or 0 at the end.
func (p *parser) peek() byte {
	for p.pos < p.end && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
	if p.pos == p.end {
		return 0
	}
	return p.text[p.pos]
}

// wraps returns the position of the bracket that closes the next byte, an opening bracket, if only blanks follow it.
// Otherwise it returns -1.
func (p *parser) wraps(open, end byte) int {
	if p.peek() != open {
		return -1
	}
	depth := 0
	for i := p.pos; i < p.end; i++ {
		switch p.text[i] {
		case open:
			depth++
		case end:
			if depth--; depth > 0 {
				continue
			}
			if strings.TrimRight(p.text[i+1:p.end], " \t\r\n") != "" {
				return -1
			}
			return i
		}
	}
	return -1
}

// unwrap removes a pair of brackets around the whole text.
func (p *parser) unwrap(open, end byte) {
	if at := p.wraps(open, end); at >= 0 {
		p.end = at
		p.pos++
	}
}

// entries parses the indexes.
func (p *parser) entries() ([]Index, error) {
	var sel []Index
	for p.peek() != 0 || p.pos < p.end {
		x, err := p.entry()
		if err != nil {
			return nil, err
		}
		sel = append(sel, x)
		if p.peek(); p.pos == p.end {
			break
		}
		if p.text[p.pos] != ',' {
			return nil, p.errorf("unexpected %q, want a comma", p.char())
		}
		p.pos++
	}
	return sel, nil
}

// char returns the character at the current position.
func (p *parser) char() rune {
	r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
	return r
}

// entry parses an index.
func (p *parser) entry() (Index, error) {
	c := p.peek()
	switch {
	case c == '[':
		return p.list()
	case c == '.' && strings.HasPrefix(p.text[p.pos:p.end], "..."):
		p.pos += 3
		return Ellipsis, nil
	case isLetter(c):
		column := p.pos
		slice := p.none() && p.peek() == ':'
		p.pos = column
		if slice {
			return p.slice()
		}
		return p.word()
	case c == ':' || c == '+' || c == '-' || isDigit(c):
		return p.slice()
	case p.pos == p.end:
		return nil, p.errorf("an index is missing")
	}
	return nil, p.errorf("unexpected %q, want an index", p.char())
}

// word parses a name.
func (p *parser) word() (Index, error) {
	n := p.pos
	for n < p.end && (isLetter(p.text[n]) || p.text[n] == '.') {
		n++
	}
	var x Index
	switch w := p.text[p.pos:n]; w {
	case "None", "newaxis", "np.newaxis", "numpy.newaxis":
		x = NewAxis
	case "Ellipsis":
		x = Ellipsis
	case "True", "False":
		x = Bool(w == "True")
	default:
		return nil, p.errorf("unknown word %q", w)
	}
	p.pos = n
	return x, nil
}

// none skips the word None, and reports whether it was there.
func (p *parser) none() bool {
	const word = "None"
	n := p.pos + len(word)
	if !strings.HasPrefix(p.text[p.pos:p.end], word) || n < p.end && (isLetter(p.text[n]) || isDigit(p.text[n])) {
		return false
	}
	p.pos = n
	return true
}

// slice parses an integer, or up to three integers with colons between them. None is a missing integer.
func (p *parser) slice() (Index, error) {
	part := [3]int64{None, None, 1}
	column := p.pos
	for i := range part {
		if c := p.peek(); c == '+' || c == '-' || isDigit(c) {
			v, fits, err := p.integer()
			if err != nil {
				return nil, err
			}
			part[i] = v
			if i == 0 && p.peek() != ':' {
				if !fits {
					p.pos = column
					return nil, p.errorf("index does not fit 64 bits")
				}
				return Point(v), nil
			}
		} else if c == 'N' {
			p.none()
		}
		if p.peek() != ':' || i == 2 {
			break
		}
		p.pos++
	}
	if part[2] == 0 {
		p.pos = column
		return nil, p.errorf("the step of a slice is zero")
	}
	if part == [3]int64{None, None, 1} {
		return All, nil
	}
	return Span{part[0], part[1], part[2]}, nil
}

// integer parses a signed number. A number that does not fit becomes the nearest one that fits and is not None, which
// is outside any axis on the same side.
func (p *parser) integer() (v int64, fits bool, err error) {
	negative := false
	if c := p.text[p.pos]; c == '+' || c == '-' {
		negative = c == '-'
		p.pos++
	}
	if p.pos == p.end || !isDigit(p.text[p.pos]) {
		return 0, false, p.errorf("a digit is missing")
	}
	fits = true
	for ; p.pos < p.end && isDigit(p.text[p.pos]); p.pos++ {
		d := int64(p.text[p.pos] - '0')
		if !fits || v > (math.MaxInt64-d)/10 {
			v, fits = math.MaxInt64, false
			continue
		}
		v = v*10 + d
	}
	if negative {
		v = -v
	}
	return v, fits, nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

// isList reports whether the text is one list in square brackets, not a subscript in square brackets. A list contains
// only numbers, booleans and lists.
func (p *parser) isList() bool {
	end := p.wraps('[', ']')
	// Slices, "...", tuples, None, newaxis and Ellipsis occur only in a subscript.
	return end >= 0 && !strings.ContainsAny(p.text[p.pos:end], ":.(NnE")
}

// listParser parses a list of numbers or booleans, or of lists of the same shape.
type listParser struct {
	*parser
	array IndexArray // a length of -1 in its shape is still unknown
	leaf  bool       // a value was read, so the number of dimensions is known
}

// list parses a list.
func (p *parser) list() (Index, error) {
	l := listParser{parser: p, array: IndexArray{Kind: CoordsKind}}
	if err := l.level(0); err != nil {
		return nil, err
	}
	return &l.array, nil
}

// level parses a list inside depth other lists.
func (l *listParser) level(depth int) error {
	x := &l.array
	switch {
	case depth == MaxResultDims:
		return l.errorf("more than %d nested lists", MaxResultDims)
	case depth < len(x.Shape):
	case l.leaf:
		return l.errorf("unexpected list, want a value")
	default:
		x.Shape = append(x.Shape, -1)
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
	if have := x.Shape[depth]; have >= 0 && have != n {
		return l.errorf("list has length %d, but the list before it has %d", n, have)
	}
	x.Shape[depth] = n
	l.pos++
	return nil
}

// value parses a number or boolean that starts with c.
func (l *listParser) value(c byte, depth int) error {
	x := &l.array
	column, number := l.pos, c == '+' || c == '-' || isDigit(c)
	truth := strings.HasPrefix(l.text[l.pos:l.end], "True")
	switch {
	case !number && !truth && !strings.HasPrefix(l.text[l.pos:l.end], "False"):
		return l.missing("a number or boolean")
	case depth+1 < len(x.Shape):
		return l.errorf("unexpected value, want a list")
	case l.leaf && number == x.Mask():
		return l.errorf("numbers and booleans in one list")
	}
	l.leaf = true
	if number {
		v, fits, err := l.integer()
		if err == nil && !fits {
			l.pos = column
			err = l.errorf("index does not fit 64 bits")
		}
		x.At = append(x.At, v)
		return err
	}
	x.Kind = MaskKind
	x.Keep = append(x.Keep, truth)
	for l.pos < l.end && isLetter(l.text[l.pos]) {
		l.pos++
	}
	if w := l.text[column:l.pos]; w != "True" && w != "False" {
		l.pos = column
		return l.errorf("unknown word %q", w)
	}
	return nil
}

// missing returns the error for a missing part of the text at the current position. what describes the part.
func (l *listParser) missing(what string) error {
	if l.pos == l.end {
		return l.errorf("%s is missing", what)
	}
	return l.errorf("unexpected %q, want %s", l.char(), what)
}
