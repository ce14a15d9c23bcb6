package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/goblosc/blosc2/meta"
)

// packJSON returns JSON as MessagePack, like Python's msgpack.packb(json.loads(text)): maps keep their order, and
// numbers without a point or exponent are integers.
func packJSON(text string) ([]byte, error) {
	if !utf8.ValidString(text) {
		return nil, usagef("%q is not UTF-8", text)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := readJSON(d)
	if err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return nil, usagef("%q: %v", text, err)
		}
		if strings.IndexAny(text, "[]{}\"") < 0 {
			return nil, usagef("%q is not JSON; a string has quotes of its own, as in '\"%s\"'", text, text)
		}
		return nil, usagef("%q is not JSON: %v", text, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, usagef("%q is not JSON: more than one value", text)
	}
	if hasLoneSurrogate(text) {
		return nil, usagef("%q has half of a surrogate pair, which is no character", text)
	}
	b, err := meta.Marshal(v)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return b, nil
}

// hasLoneSurrogate reports whether JSON has an escape for half of a surrogate pair without the other half. Package json
// reads it as U+FFFD.
func hasLoneSurrogate(text string) bool {
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			return false
		}
		text = text[i:]
		one, n := escapedUnit(text), 2
		if one != 0 {
			n = 6
		}
		if utf16.IsSurrogate(one) {
			if utf16.DecodeRune(one, escapedUnit(text[n:])) == utf8.RuneError {
				return true
			}
			n = 12
		}
		text = text[n:]
	}
}

// escapedUnit returns the code unit of the escape \uXXXX at the beginning of text, or 0 if there is none.
func escapedUnit(text string) rune {
	if len(text) < 6 || text[:2] != `\u` {
		return 0
	}
	n, _ := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n)
}

// readJSON reads the next value.
func readJSON(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		return number(t)
	case json.Delim:
		if t == '[' {
			return readList(d)
		}
		return readMap(d)
	}
	return t, nil
}

// number returns an int64, a uint64 if the number is larger, or a float64.
func number(n json.Number) (any, error) {
	if strings.ContainsAny(n.String(), ".eE") {
		f, err := n.Float64()
		if err != nil {
			err = fmt.Errorf("the number %s does not fit in a float64: %w", n, strconv.ErrRange)
		}
		return f, err
	}
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	u, err := strconv.ParseUint(n.String(), 10, 64)
	if err != nil { // another one if the integer is negative
		err = fmt.Errorf("the integer %s does not fit in 64 bits: %w", n, strconv.ErrRange)
	}
	return u, err
}

// readList reads a list after its opening bracket. One that begins with "__tuple__" is a tuple.
func readList(d *json.Decoder) (any, error) {
	list := []any{}
	for d.More() {
		v, err := readJSON(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	if len(list) > 0 && list[0] == "__tuple__" {
		return meta.Tuple(list[1:]), err
	}
	return list, err
}

// readMap reads a map after its opening brace. As in Python, if a key occurs several times, the last value is used, at
// the position of the first.
func readMap(d *json.Decoder) (any, error) {
	m := meta.Map{}
	at := map[string]int{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := readJSON(d)
		if err != nil {
			return nil, err
		}
		key := k.(string) // the decoder accepts only strings as keys
		if i, ok := at[key]; ok {
			m[i].Value = v
			continue
		}
		at[key] = len(m)
		m = append(m, meta.Entry{Key: key, Value: v})
	}
	_, err := d.Token()
	return m, err
}

// unpackJSON returns MessagePack as JSON for display. Numbers that JSON cannot express are written like Python's json
// does (NaN). Other such values become a descriptive string. check returns an error if the value takes too much memory:
// see meta.UnmarshalWithin.
func unpackJSON(b []byte, check func(n int64) error) (string, error) {
	var out bytes.Buffer
	if err := writeUnpacked(&out, b, check); err != nil {
		return "", err
	}
	return out.String(), nil
}

// writeUnpacked writes what unpackJSON returns. If it returns an error of decoding, it has written nothing.
func writeUnpacked(out textWriter, b []byte, check func(n int64) error) error {
	// meta.Map keeps the order of the maps inside it, so decode the value as the only value of a map.
	var m meta.Map
	if err := meta.UnmarshalWithin(append([]byte{0x81, 0xa0}, b...), &m, check); err != nil {
		return err
	}
	return writeJSON(out, m[0].Value)
}

// textWriter is a writer that returns no errors or keeps the first one: a *bytes.Buffer or a *bufio.Writer.
type textWriter interface {
	io.Writer
	io.ByteWriter
	io.StringWriter
	WriteRune(r rune) (int, error)
}

// writeJSON writes a value as JSON.
func writeJSON(out textWriter, v any) error {
	switch v := v.(type) {
	case meta.Map:
		out.WriteByte('{')
		for i, e := range v {
			if i > 0 {
				out.WriteString(", ")
			}
			if err := writeKey(out, e.Key); err != nil {
				return err
			}
			out.WriteString(": ")
			if err := writeJSON(out, e.Value); err != nil {
				return err
			}
		}
		out.WriteByte('}')
		return nil
	case meta.Tuple:
		return writeList(out, v)
	case []any:
		return writeList(out, v)
	case []byte:
		return writeJSON(out, "bytes "+hex.EncodeToString(v))
	case meta.Ext:
		return writeJSON(out, fmt.Sprintf("extension %d %x", v.Type, v.Data))
	case float64:
		return writeFloat(out, v, 8)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	text.Truncate(text.Len() - 1) // the line break
	for _, r := range text.String() {
		if !isHidden(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) { // of a character that JSON allows in strings
			fmt.Fprintf(out, `\u%04x`, unit)
		}
	}
	return nil
}

// writeKey writes the key of a map. Any other key than a string becomes a string that contains its JSON.
func writeKey(out textWriter, key any) error {
	if s, ok := key.(string); ok {
		return writeJSON(out, s)
	}
	var b bytes.Buffer
	if err := writeJSON(&b, withoutMaps(key)); err != nil {
		return err
	}
	return writeJSON(out, b.String())
}

// withoutMaps returns a key with a description in place of each map. Keys of maps inside keys would be escaped at each
// level of nesting again, which doubles their length.
func withoutMaps(v any) any {
	var list []any
	switch v := v.(type) {
	case meta.Map:
		return fmt.Sprintf("map of %d", len(v))
	case meta.Tuple:
		list = v
	case []any:
		list = v
	default:
		return v
	}
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = withoutMaps(x)
	}
	return out
}

// writeList writes a list as JSON.
func writeList(out textWriter, list []any) error {
	out.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			out.WriteString(", ")
		}
		if err := writeJSON(out, v); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

// writeFloat writes a number of a size in bytes with the fewest digits that identify it, so that it is read as a float:
// 2.0, not 2.
func writeFloat(out textWriter, f float64, size int) error {
	switch {
	case math.IsNaN(f):
		out.WriteString("NaN")
	case math.IsInf(f, 1):
		out.WriteString("Infinity")
	case math.IsInf(f, -1):
		out.WriteString("-Infinity")
	default:
		s := shortest(f, 'g', size)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		out.WriteString(s)
	}
	return nil
}

// printJSON prints a value as JSON in a line.
func (e *env) printJSON(v any) error {
	var line bytes.Buffer
	if err := writeJSON(&line, v); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err := line.WriteTo(e.out)
	return err
}
