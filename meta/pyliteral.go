package meta

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Structured dtypes and sub-arrays are stored as Python source: lists, tuples, dictionaries, strings, integers, True,
// False and None. This file reads such source, and writes strings like repr.

// literal is a Python value.
type literal struct {
	kind  literalKind
	str   string    // of a string
	num   int64     // of an integer
	items []literal // of a list or tuple; of a dictionary, keys and values alternate
}

type literalKind byte

const (
	litNone literalKind = iota
	litTrue
	litFalse
	litInt
	litStr
	litList
	litTuple
	litDict
)

// maxLiteralDepth is more than a dtype of MaxDTypeDepth needs.
const maxLiteralDepth = 4 * MaxDTypeDepth

var (
	errSyntax = errors.New("not a Python literal")
	errDeep   = fmt.Errorf("more than %d levels of brackets", maxLiteralDepth)
)

// literalParser walks over the source; s[pos:] is what remains.
type literalParser struct {
	s     string
	pos   int
	depth int
}

// parseLiteral reads one value that fills s.
func parseLiteral(s string) (literal, error) {
	p := &literalParser{s: s}
	v, err := p.value()
	if err == nil && (p.peek() != 0 || p.pos < len(s)) {
		err = errSyntax
	}
	if err != nil {
		return literal{}, fmt.Errorf("byte %d: %w", p.pos, err)
	}
	return v, nil
}

// peek skips white space and returns the next byte, or 0 at the end.
func (p *literalParser) peek() byte {
	for p.pos < len(p.s) {
		c := p.s[p.pos]
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
		p.pos++
	}
	return 0
}

func (p *literalParser) value() (literal, error) {
	switch c := p.peek(); {
	case c == '[':
		items, _, err := p.sequence(']')
		return literal{kind: litList, items: items}, err
	case c == '(':
		items, comma, err := p.sequence(')')
		if err == nil && len(items) == 1 && !comma {
			return items[0], nil // a value in parentheses
		}
		return literal{kind: litTuple, items: items}, err
	case c == '{':
		items, _, err := p.sequence('}')
		return literal{kind: litDict, items: items}, err
	case c == '\'' || c == '"':
		s, err := p.quoted(c)
		return literal{kind: litStr, str: s}, err
	case c == '-' || c == '+' || c >= '0' && c <= '9':
		return p.integer()
	}
	for i, word := range []string{"None", "True", "False"} {
		if strings.HasPrefix(p.s[p.pos:], word) {
			p.pos += len(word)
			return literal{kind: litNone + literalKind(i)}, nil
		}
	}
	return literal{}, errSyntax
}

// sequence reads the values in brackets, with the closing bracket, and reports whether a comma precedes that. In a
// dictionary keys and values alternate.
func (p *literalParser) sequence(closing byte) (items []literal, comma bool, err error) {
	if p.depth++; p.depth > maxLiteralDepth {
		return nil, false, errDeep
	}
	defer func() { p.depth-- }()
	p.pos++
	for {
		c := p.peek()
		if c == closing {
			p.pos++
			return items, comma, nil
		}
		if len(items) > 0 && !comma {
			return nil, false, errSyntax
		}
		v, err := p.value()
		if err != nil {
			return nil, false, err
		}
		items = append(items, v)
		if closing == '}' {
			if p.peek() != ':' {
				return nil, false, errSyntax
			}
			p.pos++
			if v, err = p.value(); err != nil {
				return nil, false, err
			}
			items = append(items, v)
		}
		if comma = p.peek() == ','; comma {
			p.pos++
		}
	}
}

// integer reads a decimal integer. A digit, letter or dot must not follow.
func (p *literalParser) integer() (literal, error) {
	end := p.pos + 1
	for end < len(p.s) && (p.s[end] >= '0' && p.s[end] <= '9') {
		end++
	}
	n, err := strconv.ParseInt(p.s[p.pos:end], 10, 64)
	if err != nil {
		return literal{}, errSyntax
	}
	if end < len(p.s) && !strings.ContainsRune(" \t\r\n,)]}:", rune(p.s[end])) {
		return literal{}, errSyntax
	}
	p.pos = end
	return literal{kind: litInt, num: n}, nil
}

// quoted reads a string in single or double quotes with its escapes.
func (p *literalParser) quoted(quote byte) (string, error) {
	var b []byte
	p.pos++
	for p.pos < len(p.s) {
		switch c := p.s[p.pos]; c {
		case quote:
			p.pos++
			return string(b), nil
		case '\n':
			return "", errSyntax
		case '\\':
			r, isRune, err := p.escape()
			if err != nil {
				return "", err
			}
			if isRune {
				b = utf8.AppendRune(b, r)
			}
		default:
			b = append(b, c)
			p.pos++
		}
	}
	return "", errSyntax
}

// escape reads a backslash and the characters that belong to it. A backslash before a line end yields no character.
func (p *literalParser) escape() (r rune, isRune bool, err error) {
	p.pos++
	if p.pos >= len(p.s) {
		return 0, false, errSyntax
	}
	c := p.s[p.pos]
	if i := strings.IndexByte(`\'"abfnrtv`, c); i >= 0 {
		p.pos++
		return rune("\\'\"\a\b\f\n\r\t\v"[i]), true, nil
	}
	digits, base := 0, 16
	switch {
	case c == '\n':
		p.pos++
		return 0, false, nil
	case c == 'x':
		digits = 2
	case c == 'u':
		digits = 4
	case c == 'U':
		digits = 8
	case c >= '0' && c <= '7':
		base = 8
		for digits < 3 && p.pos+digits < len(p.s) && p.s[p.pos+digits] >= '0' && p.s[p.pos+digits] <= '7' {
			digits++
		}
	default:
		return 0, false, errSyntax
	}
	if base == 16 {
		p.pos++
	}
	if digits > len(p.s)-p.pos {
		return 0, false, errSyntax
	}
	n, err := strconv.ParseUint(p.s[p.pos:p.pos+digits], base, 32)
	if err != nil || n > unicode.MaxRune || !utf8.ValidRune(rune(n)) {
		return 0, false, errSyntax // not a character, or half of a surrogate pair
	}
	p.pos += digits
	return rune(n), true, nil
}

// appendQuoted appends s as Python's repr writes it, with escapes for characters that cannot be printed. It uses double
// quotes if s contains single quotes but no double quotes, and otherwise single quotes.
func appendQuoted(dst []byte, s string) []byte {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	dst = append(dst, quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case unicode.IsPrint(r):
			dst = utf8.AppendRune(dst, r)
		case r < 0x100:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		case r < 0x10000:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = fmt.Appendf(dst, `\U%08x`, r)
		}
	}
	return append(dst, quote)
}
