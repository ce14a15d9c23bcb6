package table

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
)

// This file reads the JSON of schemas. Python writes NaN, Infinity and -Infinity, which package encoding/json rejects.
// Without that package a program that reads tables is smaller by 80 kB after compression.

// jsonNumber is the text of a number, or NaN, Infinity or -Infinity.
type jsonNumber string

// maxJSONDepth is the deepest nesting of lists and maps in a schema.
const maxJSONDepth = 1000

// jsonMemory returns the number of bytes that JSON takes at most, as values and in descriptions of columns: 128 for a
// value or a list, and 640 for a map with its first value.
func jsonMemory(text []byte) int64 {
	n := int64(len(text)) + 128
	for _, c := range text {
		switch c {
		case ',', '[':
			n += 128
		case '{':
			n += 640
		}
	}
	return n
}

// jsonParser walks over JSON; text[pos:] is what remains.
type jsonParser struct {
	text       string
	pos, depth int
}

// parseJSON returns the value that fills the text: nil, a bool, jsonNumber, string, []any or map[string]any.
func parseJSON(text []byte) (any, error) {
	p := &jsonParser{text: string(text)}
	v, err := p.value()
	if err == nil && p.peek() != 0 || p.pos < len(p.text) && err == nil {
		err = p.fail("the end")
	}
	return v, err
}

// fail returns the error for unexpected text.
func (p *jsonParser) fail(want string) error {
	return faults.Corruptf("JSON: no %s at byte %d of %d", want, p.pos, len(p.text))
}

// peek skips white space and returns the next byte, or 0 at the end.
func (p *jsonParser) peek() byte {
	for ; p.pos < len(p.text); p.pos++ {
		if c := p.text[p.pos]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// take skips a byte if it is next.
func (p *jsonParser) take(c byte) bool {
	if p.peek() != c || c == 0 {
		return false
	}
	p.pos++
	return true
}

func (p *jsonParser) value() (any, error) {
	switch c := p.peek(); c {
	case '{':
		m := map[string]any{}
		return m, p.elements('}', func() error {
			if p.peek() != '"' {
				return p.fail("key")
			}
			key, err := p.str()
			if err == nil && !p.take(':') {
				err = p.fail("colon")
			}
			if err == nil {
				m[key], err = p.value()
			}
			return err
		})
	case '[':
		list := []any{}
		err := p.elements(']', func() error {
			v, err := p.value()
			list = append(list, v)
			return err
		})
		return list, err
	case '"':
		return p.str()
	}
	rest := p.text[p.pos:]
	word := rest
	if i := strings.IndexAny(rest, ",]} \t\n\r"); i >= 0 {
		word = rest[:i]
	}
	start := p.pos
	p.pos += len(word)
	switch word {
	case "null":
		return nil, nil
	case "true", "false":
		return word == "true", nil
	case "NaN", "Infinity", "-Infinity":
		return jsonNumber(word), nil
	}
	if !isNumber(word) {
		p.pos = start
		return nil, p.fail("value")
	}
	return jsonNumber(word), nil
}

// elements reads the elements between brackets. The opening bracket is next. read reads an element.
func (p *jsonParser) elements(end byte, read func() error) error {
	if p.depth++; p.depth > maxJSONDepth {
		return p.fail("end of the nesting")
	}
	defer func() { p.depth-- }()
	p.pos++
	if p.take(end) {
		return nil
	}
	for {
		if err := read(); err != nil {
			return err
		}
		if p.take(end) {
			return nil
		}
		if !p.take(',') {
			return p.fail("comma")
		}
	}
}

// isNumber reports whether text is a number by the grammar of JSON.
func isNumber(text string) bool {
	digits := func() bool {
		n := len(text)
		text = strings.TrimLeft(text, "0123456789")
		return len(text) < n
	}
	text = strings.TrimPrefix(text, "-")
	if rest, ok := strings.CutPrefix(text, "0"); ok {
		text = rest
	} else if !digits() {
		return false
	}
	if rest, ok := strings.CutPrefix(text, "."); ok {
		if text = rest; !digits() {
			return false
		}
	}
	if text != "" && (text[0] == 'e' || text[0] == 'E') {
		if text = text[1:]; text != "" && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
		return digits() && text == ""
	}
	return text == ""
}

// str reads a string, whose quote is next.
func (p *jsonParser) str() (string, error) {
	var out strings.Builder
	for p.pos++; p.pos < len(p.text); {
		c := p.text[p.pos]
		switch {
		case c == '"':
			p.pos++
			if s := out.String(); utf8.ValidString(s) {
				return s, nil
			}
			return string([]rune(out.String())), nil // bytes that are not UTF-8 become U+FFFD
		case c < ' ':
			return "", p.fail("character")
		case c != '\\':
			out.WriteByte(c)
			p.pos++
			continue
		}
		r, err := p.escaped()
		if err != nil {
			return "", err
		}
		if utf16.IsSurrogate(r) {
			at := p.pos
			low := rune(utf8.RuneError)
			if strings.HasPrefix(p.text[p.pos:], `\u`) {
				if low, err = p.escaped(); err != nil {
					return "", err
				}
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				p.pos = at // the second one is a character of its own
			}
		}
		out.WriteRune(r)
	}
	return "", p.fail("end of the string")
}

// escaped reads an escape sequence, whose backslash is next.
func (p *jsonParser) escaped() (rune, error) {
	rest := p.text[p.pos:]
	if len(rest) < 2 {
		return 0, p.fail("escape")
	}
	if rest[1] == 'u' && len(rest) >= 6 {
		n, err := strconv.ParseUint(rest[2:6], 16, 16)
		if err == nil {
			p.pos += 6
			return rune(n), nil
		}
	}
	i := strings.IndexByte(`"\/bfnrt`, rest[1])
	if i < 0 {
		return 0, p.fail("escape")
	}
	p.pos += 2
	return rune("\"\\/\b\f\n\r\t"[i]), nil
}

// jsonObject is a map of JSON with the first error of reading its values.
type jsonObject struct {
	m   map[string]any
	err error
}

// objectOf returns a value as a map.
func objectOf(v any) *jsonObject {
	m, ok := v.(map[string]any)
	o := &jsonObject{m: m}
	if !ok {
		o.err = faults.Corruptf("schema: a value that is not a map")
	}
	return o
}

// get returns a value of type T, or the zero value if there is none.
func get[T any](o *jsonObject, key string) T {
	v, ok := o.m[key].(T)
	if !ok && o.m[key] != nil && o.err == nil {
		o.err = faults.Corruptf("schema: %s is a %s", key, faults.Clip(fmt.Sprintf("%T", o.m[key])))
	}
	return v
}

// integer returns a number without a fraction of up to some bits.
func (o *jsonObject) integer(key string, v any, bits int) int64 {
	n, ok := v.(jsonNumber)
	i, err := strconv.ParseInt(string(n), 10, bits)
	if (!ok || err != nil) && o.err == nil {
		o.err = faults.Corruptf("schema: %s is no integer", key)
	}
	return i
}
