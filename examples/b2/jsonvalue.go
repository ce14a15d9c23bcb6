package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/meta"
)

// packJSON returns the MessagePack that Python's msgpack.packb(json.loads(text)) gives: maps keep their order, numbers
// without point or exponent are integers.
func packJSON(text string) ([]byte, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := readJSON(d)
	if err != nil {
		return nil, usagef("not JSON: %q: %v", text, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, usagef("not JSON: %q: more than one value", text)
	}
	b, err := meta.Marshal(v)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return b, nil
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

// number returns an int64, or uint64 above its range, or a float64.
func number(n json.Number) (any, error) {
	if strings.ContainsAny(n.String(), ".eE") {
		return n.Float64()
	}
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	return strconv.ParseUint(n.String(), 10, 64)
}

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
	return list, err
}

// readMap reads a map. As in Python, the last of several values with the same key counts, at the place of the first.
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
		key := k.(string) // the decoder sees to that
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

// unpackJSON returns MessagePack as JSON, for people: what JSON has not is written as Python's json does (NaN), or as
// a string that says what it is.
func unpackJSON(b []byte) (string, error) {
	// A map keeps the order of the maps inside it, so the value is read as the only one of a map.
	var m meta.Map
	if err := meta.Unmarshal(append([]byte{0x81, 0xa0}, b...), &m); err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := writeJSON(&out, m[0].Value); err != nil {
		return "", err
	}
	return out.String(), nil
}

func writeJSON(out *bytes.Buffer, v any) error {
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
		return writeFloat(out, v)
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the line break
	return nil
}

// writeKey writes the key of a map; one that is no string becomes the string of its JSON.
func writeKey(out *bytes.Buffer, key any) error {
	if s, ok := key.(string); ok {
		return writeJSON(out, s)
	}
	var b bytes.Buffer
	if err := writeJSON(&b, key); err != nil {
		return err
	}
	return writeJSON(out, b.String())
}

func writeList(out *bytes.Buffer, list []any) error {
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

// writeFloat writes a number that reads back as a float: 2.0, not 2.
func writeFloat(out *bytes.Buffer, f float64) error {
	switch {
	case math.IsNaN(f):
		out.WriteString("NaN")
	case math.IsInf(f, 1):
		out.WriteString("Infinity")
	case math.IsInf(f, -1):
		out.WriteString("-Infinity")
	default:
		s := strconv.FormatFloat(f, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		out.WriteString(s)
	}
	return nil
}
