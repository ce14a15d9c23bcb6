package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

const (
	maxText = 1 << 20 // bytes of the longest header that is read
	maxDims = 64      // NumPy's limit
)

// invalid returns an error for input that is not a .npy file, or that breaks its format.
func invalid(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return fmt.Errorf("npy: %w: %w", errs.Kind("not a valid .npy file", ndarray.ErrFormat), err)
}

// ReadHeader reads the header of a .npy file of any version, up to the items. The error wraps ErrFormat of package
// ndarray or is an error of r.
func ReadHeader(r io.Reader) (Header, error) {
	text, err := readText(r)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = invalid("the header is truncated")
	}
	if err != nil {
		return Header{}, err
	}
	return parseText(text)
}

// readText reads the text of a header.
func readText(r io.Reader) (string, error) {
	fixed := make([]byte, len(magic)+2)
	n, err := io.ReadFull(r, fixed)
	if err == io.EOF {
		return "", invalid("the input is empty")
	}
	if head := fixed[:min(n, len(magic))]; !strings.HasPrefix(magic, string(head)) {
		return "", invalid("it does not start with %q", magic)
	} else if err != nil {
		return "", err
	}
	size := make([]byte, 4)
	if fixed[6] == 1 {
		size = size[:2]
	}
	if fixed[6] < 1 || fixed[6] > 3 || fixed[7] != 0 {
		return "", invalid("version %d.%d", fixed[6], fixed[7])
	}
	if err := readFull(r, size); err != nil {
		return "", err
	}
	length := binary.LittleEndian.Uint32(append(size[:len(size):len(size)], 0, 0)[:4])
	if length > maxText {
		return "", invalid("a header of %d bytes", length)
	}
	text := make([]byte, length)
	if err := readFull(r, text); err != nil {
		return "", err
	}
	if fixed[6] < 3 {
		text = fromLatin1(text)
	}
	return string(text), nil
}

// readFull is io.ReadFull, but the end of the input is always unexpected.
func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// fromLatin1 returns a text in Latin-1 as UTF-8.
func fromLatin1(b []byte) []byte {
	var out []byte
	for _, c := range b {
		out = append(out, string(rune(c))...)
	}
	return out
}

// parseText reads the dictionary of a header.
func parseText(text string) (h Header, err error) {
	bad := func(what string) (Header, error) {
		return h, invalid("the header has no valid %s", what)
	}
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
	switch value["fortran_order"] {
	case "True":
		h.Fortran = true
	case "False":
	default:
		return bad("fortran_order")
	}
	lengths, ok := splitPython(strings.ReplaceAll(value["shape"], "L", ""), '(', ')', ',')
	if !ok || len(lengths) > maxDims {
		return bad("shape")
	}
	h.Shape = []int64{}
	for _, s := range lengths {
		n, err := strconv.ParseUint(s, 10, 63)
		if err != nil {
			return bad("shape")
		}
		h.Shape = append(h.Shape, int64(n))
	}
	if h.DType, err = parseDescr(value["descr"]); err != nil {
		return h, invalid("%w", err)
	}
	return h, nil
}

// parseDescr reads the dtype of a header.
func parseDescr(text string) (meta.DType, error) {
	if len(text) > 1 && (text[0] == '\'' || text[0] == '"') {
		return meta.ParseDType(strings.Trim(text, `'"`))
	}
	return meta.ParseDType(withoutGaps(text, 0))
}

// withoutGaps returns the text of a dtype without its gaps: fields without a name whose items are raw bytes or
// sub-arrays, as in NumPy. A structured dtype with gaps becomes a dictionary with offsets. Text that is no dtype is
// returned unchanged.
func withoutGaps(text string, depth int) string {
	if depth > meta.MaxDTypeDepth {
		return text
	}
	if parts, ok := splitPython(text, '(', ')', ','); ok && len(parts) == 2 { // a sub-array
		return "(" + withoutGaps(parts[0], depth+1) + ", " + parts[1] + ")"
	}
	list := func(s []string) string { return "[" + strings.Join(s, ", ") + "]" }
	items, ok := splitPython(text, '[', ']', ',')
	fields, gaps := make([][]string, len(items)), false
	for i, item := range items {
		parts, isTuple := splitPython(item, '(', ')', ',')
		if ok = ok && isTuple && (len(parts) == 2 || len(parts) == 3); !ok {
			break
		}
		parts[1] = withoutGaps(parts[1], depth+1)
		fields[i], gaps = parts, gaps || isEmpty(parts[0])
		items[i] = "(" + strings.Join(parts, ", ") + ")"
	}
	switch {
	case !ok:
		return text
	case !gaps:
		return list(items)
	}
	var names, formats, offsets, titles []string
	offset := int64(0)
	for i, parts := range fields {
		name, format, title := parts[0], "("+strings.Join(parts[1:], ", ")+")", "None"
		d, err := meta.ParseDType(format)
		if err != nil {
			return text
		}
		pair, ok := splitPython(name, '(', ')', ',')
		switch {
		case ok && len(pair) == 2:
			title, name = pair[0], pair[1]
		case isEmpty(name):
			name = fmt.Sprintf("'f%d'", i)
		}
		if !isEmpty(parts[0]) || d.Kind != 'V' || d.Fields != nil {
			names, formats, titles = append(names, name), append(formats, format), append(titles, title)
			offsets = append(offsets, strconv.FormatInt(offset, 10))
		}
		offset += int64(d.Size)
	}
	return fmt.Sprintf("{'names': %s, 'formats': %s, 'offsets': %s, 'titles': %s, 'itemsize': %d}",
		list(names), list(formats), list(offsets), list(titles), offset)
}

// isEmpty reports whether the text is an empty string of Python.
func isEmpty(text string) bool { return text == "''" || text == `""` }

// splitPython splits the text between two brackets at the separators outside inner brackets and strings, and trims the
// parts. It returns false if brackets or quotes do not match.
func splitPython(s string, open, end, sep byte) ([]string, bool) {
	if len(s) < 2 || s[0] != open || s[len(s)-1] != end {
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
