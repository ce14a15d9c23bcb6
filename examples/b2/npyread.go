package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/goblosc/blosc2/meta"
)

// npyInfo is what the header of a .npy file says.
type npyInfo struct {
	dtype   meta.DType
	fortran bool
	shape   []int64
}

// maxNPYText is the longest text of a header that is read.
const maxNPYText = 1 << 20

// readNPYHeader reads the header of a .npy file up to the data.
func readNPYHeader(r io.Reader) (*npyInfo, error) {
	fixed := make([]byte, len(npyMagic)+2)
	if _, err := io.ReadFull(r, fixed); err != nil || string(fixed[:len(npyMagic)]) != npyMagic {
		return nil, fmt.Errorf("the input is no .npy file")
	}
	size := make([]byte, 4)
	if fixed[6] == 1 {
		size = size[:2]
	} else if fixed[6] != 2 && fixed[6] != 3 {
		return nil, fmt.Errorf("the input is a .npy file of version %d", fixed[6])
	}
	if _, err := io.ReadFull(r, size); err != nil {
		return nil, fmt.Errorf("the .npy header is cut off")
	}
	n := binary.LittleEndian.Uint32(append(size[:len(size):len(size)], 0, 0)[:4])
	if n > maxNPYText {
		return nil, fmt.Errorf("the .npy header has %d bytes", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, fmt.Errorf("the .npy header is cut off")
	}
	if fixed[6] < 3 {
		text = fromLatin1(text)
	}
	return parseNPYText(string(text))
}

func fromLatin1(b []byte) []byte {
	var out []byte
	for _, c := range b {
		out = append(out, string(rune(c))...)
	}
	return out
}

// parseNPYText reads the dictionary of a header.
func parseNPYText(text string) (*npyInfo, error) {
	bad := func(what string) (*npyInfo, error) { return nil, fmt.Errorf("the .npy header has no valid %s", what) }
	entries, ok := splitPython(strings.TrimSpace(text), '{', '}', ',')
	if !ok {
		return bad("dictionary")
	}
	value := map[string]string{}
	for _, e := range entries {
		kv, ok := splitPython("("+e+")", '(', ')', ':')
		if !ok || len(kv) != 2 {
			return bad("dictionary")
		}
		value[strings.Trim(kv[0], `'"`)] = kv[1]
	}
	h := &npyInfo{}
	switch value["fortran_order"] {
	case "True":
		h.fortran = true
	case "False":
	default:
		return bad("fortran_order")
	}
	shape := value["shape"]
	if !strings.HasPrefix(shape, "(") || !strings.HasSuffix(shape, ")") {
		return bad("shape")
	}
	var err error
	if h.shape, err = parseInts(strings.ReplaceAll(shape, "L", ""), 64); err != nil {
		return bad("shape")
	}
	if h.dtype, err = parseDescr(value["descr"]); err != nil {
		return nil, fmt.Errorf("the .npy header: %w", err)
	}
	return h, nil
}

// parseDescr reads the dtype of a header.
func parseDescr(text string) (meta.DType, error) {
	if len(text) > 1 && (text[0] == '\'' || text[0] == '"') {
		return meta.ParseDType(strings.Trim(text, `'"`))
	}
	// Fields without a name are gaps. Each gets a name that no other has, and goes away after parsing.
	const gap = "('', '|V"
	mark := "\x01gap"
	for i := 0; strings.Contains(text, gap); i++ {
		text = strings.Replace(text, gap, fmt.Sprintf("('%s%d', '|V", mark, i), 1)
	}
	d, err := meta.ParseDType(text)
	if err != nil {
		return d, err
	}
	return withoutGaps(d, mark), nil
}

// withoutGaps removes the fields whose names start with mark.
func withoutGaps(d meta.DType, mark string) meta.DType {
	if d.Elem != nil {
		e := withoutGaps(*d.Elem, mark)
		d.Elem = &e
	}
	if d.Fields != nil {
		fields := []meta.Field{}
		for _, f := range d.Fields {
			if !strings.HasPrefix(f.Name, mark) {
				f.Type = withoutGaps(f.Type, mark)
				fields = append(fields, f)
			}
		}
		d.Fields = fields
	}
	return d
}

// splitPython cuts what stands between two brackets at the separators outside of inner brackets and strings, and
// trims the pieces.
func splitPython(s string, open, shut, sep byte) ([]string, bool) {
	if len(s) < 2 || s[0] != open || s[len(s)-1] != shut {
		return nil, false
	}
	s = s[1 : len(s)-1]
	var out []string
	depth, from := 0, 0
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == sep && depth == 0:
			out = append(out, strings.TrimSpace(s[from:i]))
			from = i + 1
		}
	}
	if last := strings.TrimSpace(s[from:]); last != "" {
		out = append(out, last)
	}
	return out, quote == 0 && depth == 0
}
