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
	} else if fixed[6] != 2 && fixed[6] != 3 {
		return "", invalid("version %d", fixed[6])
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
	// Fields without a name are gaps. Each gets a unique name, since the parser needs one, and is removed after
	// parsing.
	const gap = "('', '|V"
	mark := "\x01gap"
	var named strings.Builder
	for i := 0; ; i++ {
		before, after, found := strings.Cut(text, gap)
		named.WriteString(before)
		if text = after; !found {
			break
		}
		fmt.Fprintf(&named, "('%s%d', '|V", mark, i)
	}
	text = named.String()
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
