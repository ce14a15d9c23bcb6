package lazy

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goblosc/blosc2/ndarray"
)

const (
	maxText  = 64 << 10 // bytes of an expression
	maxDepth = 200      // of nested parts
	maxParts = 10_000   // operators, names and numbers
	maxBits  = 1024     // of an integer of Python
)

// Expression is an expression that was parsed. It never changes, and any number of goroutines may use it.
type Expression struct {
	text string
	root *node
}

// kind is the kind of a node.
type kind uint8

const (
	number kind = iota // a literal: an integer or a float
	truth              // True or False
	text               // a string, as an argument
	none               // None, as an argument
	name               // an operand
	tuple              // a tuple or list, as an argument
	call               // an operator or a function with its arguments
)

// node is a part of an expression.
type node struct {
	kind  kind
	at    int    // byte in the text
	name  string // of an operand, a function or an operator; the content of a string
	float bool   // a number is a float
	i     int64
	whole *big.Int // an integer that i does not hold
	f     float64
	args  []*node
	named map[string]*node // arguments with a name
}

// Parse parses an expression in Python's notation. The error wraps errors.ErrUnsupported for syntax that this package
// does not support, and ndarray.ErrParam for text that is not an expression.
func Parse(expression string) (*Expression, error) {
	p := &parser{text: expression}
	if len(expression) > maxText {
		return nil, p.fault(ndarray.ErrTooLarge, "an expression of %d bytes, at most %d", len(expression), maxText)
	}
	root, err := p.binary(0, 0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.text) {
		if p.text[p.at] == ',' {
			return nil, p.fault(errors.ErrUnsupported, "a tuple")
		}
		return nil, p.unexpected()
	}
	return &Expression{expression, root}, nil
}

// String returns the text of the expression.
func (e *Expression) String() string { return e.text }

// Names returns the names of the operands, sorted.
func (e *Expression) Names() []string {
	names := map[string]bool{}
	var walk func(n *node)
	walk = func(n *node) {
		if n.kind == name {
			names[n.name] = true
		}
		args := n.args
		if n.kind == call && n.name == "astype" && len(args) > 1 {
			args = args[:1] // the others are no operands: the name of a dtype
		}
		for _, a := range args {
			walk(a)
		}
	}
	walk(e.root)
	return slices.Sorted(maps.Keys(names))
}

// parser parses the rest of the text.
type parser struct {
	text  string
	at    int
	parts int
}

// levels are the binary operators by how tightly they bind, the loosest first. Comparisons do not chain.
var levels = [...][]string{
	{"<=", ">=", "==", "!=", "<", ">"}, {"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"//", "*", "/", "%"},
}

// keywords are operators of Python that this package does not have.
var keywords = []string{"and", "or", "not", "if", "is", "in", "lambda", "for", "await", "yield"}

// fault returns an error at the current place.
func (p *parser) fault(err error, format string, args ...any) error {
	return fmt.Errorf("lazy: %s, at byte %d of the expression: %w", fmt.Sprintf(format, args...), p.at, err)
}

// unexpected returns the error for text that does not continue the expression.
func (p *parser) unexpected() error {
	if p.at >= len(p.text) {
		return p.fault(ndarray.ErrParam, "the expression ends early")
	}
	rest := p.text[p.at:]
	if word := p.word(); slices.Contains(keywords, word) {
		return p.fault(errors.ErrUnsupported, "the operator %s", word)
	}
	for _, c := range [...]struct{ token, what string }{
		{"[", "a selection"}, {"(", "a call of a result"}, {"@", "the operator @"}, {":=", "the operator :="}, {"#", "a comment"},
	} {
		if strings.HasPrefix(rest, c.token) {
			return p.fault(errors.ErrUnsupported, "%s", c.what)
		}
	}
	if r, _ := utf8.DecodeRuneInString(rest); r > unicode.MaxASCII && unicode.IsLetter(r) {
		return p.fault(errors.ErrUnsupported, "the letter %c", r)
	}
	return p.fault(ndarray.ErrParam, "unexpected %.10q", rest)
}

// space skips white space.
func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take skips a token and reports whether it was there.
func (p *parser) take(token string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

// quote reports whether a string begins at the current place.
func (p *parser) quote() bool {
	return p.at < len(p.text) && (p.text[p.at] == '\'' || p.text[p.at] == '"')
}

// word returns the identifier at the current place, or "".
func (p *parser) word() string {
	end := p.at
	for end < len(p.text) {
		c, letter := p.text[end], p.text[end]|0x20
		if c != '_' && (letter < 'a' || letter > 'z') && (end == p.at || c < '0' || c > '9') {
			break
		}
		end++
	}
	return p.text[p.at:end]
}

// operator takes one of the operators of a level.
func (p *parser) operator(level int) (string, bool) {
	p.space()
	for _, op := range levels[level] {
		rest := p.text[p.at:]
		if !strings.HasPrefix(rest, op) {
			continue
		}
		if len(op) == 1 && op != "+" && op != "-" && strings.HasPrefix(rest[1:], op) {
			continue // "**", "<<" and ">>"
		}
		p.at += len(op)
		return op, true
	}
	return "", false
}

// node returns a new node at position at, or an error if the expression has too many.
func (p *parser) node(at int, n node) (*node, error) {
	if p.parts++; p.parts > maxParts {
		return nil, p.fault(ndarray.ErrTooLarge, "more than %d parts", maxParts)
	}
	n.at = at
	return &n, nil
}

// binary parses operators of a level and of those that bind more tightly.
func (p *parser) binary(level, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.fault(ndarray.ErrTooLarge, "more than %d nested parts", maxDepth)
	}
	if level == len(levels) {
		return p.unary(depth)
	}
	x, err := p.binary(level+1, depth)
	for first := true; err == nil; first = false {
		at := p.at
		op, ok := p.operator(level)
		if !ok {
			return x, nil
		}
		if level == 0 && !first {
			return nil, p.fault(errors.ErrUnsupported, "a chain of comparisons")
		}
		var y *node
		if y, err = p.binary(level+1, depth+1); err == nil {
			x, err = p.node(at, node{kind: call, name: op, args: []*node{x, y}})
		}
	}
	return nil, err
}

// unary parses signs and powers.
func (p *parser) unary(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.fault(ndarray.ErrTooLarge, "more than %d nested parts", maxDepth)
	}
	p.space()
	at := p.at
	for _, op := range []string{"-", "+", "~"} {
		if p.take(op) {
			x, err := p.unary(depth + 1)
			if err != nil {
				return nil, err
			}
			return p.node(at, node{kind: call, name: "unary " + op, args: []*node{x}})
		}
	}
	x, err := p.postfix(depth)
	if err != nil || !p.take("**") {
		return x, err
	}
	y, err := p.unary(depth + 1)
	if err != nil {
		return nil, err
	}
	return p.node(at, node{kind: call, name: "**", args: []*node{x, y}})
}

// postfix parses an atom and calls of its methods.
func (p *parser) postfix(depth int) (*node, error) {
	x, err := p.atom(depth)
	for err == nil {
		if !p.take(".") {
			return x, nil
		}
		p.space()
		start, method := p.at, p.word()
		if method == "" {
			return nil, p.unexpected()
		}
		p.at += len(method)
		if !p.take("(") {
			p.at = start
			return nil, p.fault(errors.ErrUnsupported, "the attribute %q", method)
		}
		n := node{kind: call, name: method, args: []*node{x}}
		if err = p.arguments(&n, depth); err == nil {
			x, err = p.node(start, n)
		}
	}
	return nil, err
}

// atom parses a number, a name, a call, or an expression in parentheses.
func (p *parser) atom(depth int) (*node, error) {
	p.space()
	at := p.at
	switch {
	case p.at == len(p.text):
		return nil, p.unexpected()
	case p.take("("), p.take("["):
		return p.list(at, depth)
	case p.text[p.at] == '{':
		return nil, p.fault(errors.ErrUnsupported, "a set or dictionary")
	case strings.HasPrefix(p.text[p.at:], "..."):
		return nil, p.fault(errors.ErrUnsupported, "an ellipsis")
	case p.text[p.at] == '.' || p.text[p.at] >= '0' && p.text[p.at] <= '9':
		return p.number()
	case p.quote():
		end := strings.IndexByte(p.text[p.at+1:], p.text[p.at])
		if end < 0 {
			return nil, p.fault(ndarray.ErrParam, "a string without an end")
		}
		s := p.text[p.at+1 : p.at+1+end]
		if strings.Contains(s, "\\") {
			return nil, p.fault(errors.ErrUnsupported, "a string with a backslash")
		}
		p.at += end + 2
		if p.space(); p.quote() {
			return nil, p.fault(errors.ErrUnsupported, "a string of several parts")
		}
		return p.node(at, node{kind: text, name: s})
	}
	word := p.word()
	if word == "" || slices.Contains(keywords, word) {
		return nil, p.unexpected()
	}
	switch word {
	case "True", "False":
		p.at += len(word)
		n := node{kind: truth}
		if word == "True" {
			n.i = 1
		}
		return p.node(at, n)
	case "None":
		p.at += len(word)
		return p.node(at, node{kind: none})
	}
	p.at += len(word)
	if p.quote() && slices.Contains([]string{"r", "b", "u", "f", "br", "rb", "fr", "rf"}, strings.ToLower(word)) {
		p.at = at
		return nil, p.fault(errors.ErrUnsupported, "a string with the prefix %s", word)
	}
	start, module := at, word == "np" || word == "numpy" || word == "blosc2"
	if module = module && p.take("."); module {
		p.space()
		if start, word = p.at, p.word(); word == "" {
			return nil, p.unexpected()
		}
		p.at += len(word)
	}
	if !p.take("(") {
		if _, ok := dtypeNames[word]; module && !ok {
			p.at = start
			return nil, p.fault(errors.ErrUnsupported, "the attribute %q", word)
		}
		return p.node(at, node{kind: name, name: word})
	}
	n := node{kind: call, name: word}
	if err := p.arguments(&n, depth); err != nil {
		return nil, err
	}
	return p.node(at, n)
}

// star returns an error if an element or argument begins with a star, which Python replaces by several.
func (p *parser) star() error {
	if p.space(); p.at < len(p.text) && p.text[p.at] == '*' {
		return p.fault(errors.ErrUnsupported, "a star before an argument")
	}
	return nil
}

// list parses the text after an opening parenthesis or bracket: an expression, or a tuple or list.
func (p *parser) list(at, depth int) (*node, error) {
	end, isTuple := ")", false
	if p.text[p.at-1] == '[' {
		end, isTuple = "]", true
	}
	n := node{kind: tuple}
	for !p.take(end) {
		if err := p.star(); err != nil {
			return nil, err
		}
		x, err := p.binary(0, depth+1)
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, x)
		if p.take(end) {
			break
		}
		if !p.take(",") {
			return nil, p.unexpected()
		}
		isTuple = true
	}
	if len(n.args) == 1 && !isTuple {
		return n.args[0], nil
	}
	return p.node(at, n)
}

// arguments parses the arguments of a call up to the closing parenthesis.
func (p *parser) arguments(n *node, depth int) error {
	for !p.take(")") {
		if err := p.star(); err != nil {
			return err
		}
		start, key := p.at, p.word()
		p.at += len(key)
		if key == "" || !p.take("=") || p.take("=") {
			p.at, key = start, ""
		}
		x, err := p.binary(0, depth+1)
		if err != nil {
			return err
		}
		switch {
		case key == "" && n.named != nil:
			return p.fault(ndarray.ErrParam, "an argument without a name after one with a name")
		case key == "":
			n.args = append(n.args, x)
		case n.named[key] != nil:
			return p.fault(ndarray.ErrParam, "the argument %s occurs twice", key)
		default:
			if n.named == nil {
				n.named = map[string]*node{}
			}
			n.named[key] = x
		}
		if p.take(")") {
			return nil
		}
		if !p.take(",") {
			return p.unexpected()
		}
	}
	return nil
}

// digits returns the end of the decimal digits from position at. A single underscore may separate two digits.
func (p *parser) digits(at int) int {
	start, end := at, at
	for ; at < len(p.text); at++ {
		switch c := p.text[at]; {
		case c >= '0' && c <= '9':
			end = at + 1
		case c != '_' || end != at || at == start:
			return end
		}
	}
	return end
}

// number parses a decimal literal.
func (p *parser) number() (*node, error) {
	end := p.digits(p.at)
	float := false
	if strings.HasPrefix(p.text[end:], ".") {
		float, end = true, p.digits(end+1)
	}
	if end < len(p.text) && p.text[end]|0x20 == 'e' {
		exponent := end + 1
		if exponent < len(p.text) && (p.text[exponent] == '+' || p.text[exponent] == '-') {
			exponent++
		}
		float, end = true, max(end+1, p.digits(exponent))
	}
	s := p.text[p.at:end]
	if rest := p.text[end:]; rest != "" {
		switch {
		case strings.IndexByte("jJxXoObB", rest[0]) >= 0:
			return nil, p.fault(errors.ErrUnsupported, "the number %q", p.text[p.at:end+1])
		case rest[0] == '_', len(rest) > 1 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9':
			return nil, p.fault(ndarray.ErrParam, "not a number: %.40q", p.text[p.at:])
		}
	}
	n := node{kind: number, float: float}
	text := strings.ReplaceAll(s, "_", "")
	var err error
	if float {
		n.f, err = strconv.ParseFloat(text, 64)
		if math.IsInf(n.f, 0) {
			err = nil // as in Python
		}
	} else {
		n.i, err = strconv.ParseInt(text, 10, 64)
		if errors.Is(err, strconv.ErrRange) {
			if len(text) <= maxBits/3 { // a check before the conversion, which takes time
				n.whole, _ = new(big.Int).SetString(text, 10)
			}
			if n.whole == nil || n.whole.BitLen() > maxBits {
				return nil, p.fault(errors.ErrUnsupported, "the number %.40s", s)
			}
			err = nil
		}
		if n.i != 0 && text[0] == '0' {
			err = strconv.ErrSyntax // as in Python 3, where 010 is not 8
		}
	}
	if err != nil {
		return nil, p.fault(ndarray.ErrParam, "not a number: %.40q", s)
	}
	at := p.at
	p.at = end
	return p.node(at, n)
}
