package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/goblosc/blosc2/examples/blosc2/internal/selection"
	"github.com/goblosc/blosc2/ndarray"
)

// errHelp is returned for a command line that asks for help.
var errHelp = errors.New("help")

// arrange returns the arguments of a verb as kong wants them: first the options as --name=value, then "--" and the
// other arguments. Options may come before, between and after other arguments, with one or two dashes. An argument that
// starts with "-" and a digit or colon is a selection, not an option. "--" ends the options.
func arrange(verb *kong.Node, args []string) ([]string, error) {
	var options, others []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			others = append(others, args[i+1:]...)
			break
		}
		if !isOption(a) {
			others = append(others, a)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(a[1:], "-"), "=")
		if name == "h" || name == "help" {
			return nil, errHelp
		}
		f := flagNamed(verb, name)
		switch {
		case f == nil:
			return nil, usagef("unknown option -%s", name)
		case !hasValue && f.IsBool():
			options = append(options, "--"+name)
			continue
		case !hasValue && i+1 == len(args):
			return nil, usagef("option -%s needs a value", name)
		case !hasValue:
			i++
			value = args[i]
		}
		options = append(options, "--"+name+"="+value)
	}
	if err := checkCount(verb, others); err != nil {
		return nil, err
	}
	if err := checkEmpty(verb, others); err != nil {
		return nil, err
	}
	return append(append(options, "--"), others...), nil
}

// isOption reports whether an argument is an option.
func isOption(a string) bool {
	return len(a) > 1 && a[0] == '-' && (a[1] < '0' || a[1] > '9') && a[1] != ':'
}

// flagNamed returns the option of a verb with a name, or nil.
func flagNamed(verb *kong.Node, name string) *kong.Flag {
	for _, f := range verb.Flags {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// checkCount returns an error if arguments are missing or too many.
func checkCount(verb *kong.Node, args []string) error {
	for i, p := range verb.Positional {
		if p.IsSlice() && (len(args) > i || !p.Required) {
			return nil
		}
		if p.Required && len(args) <= i {
			return usagef("argument %s is missing", p.Name)
		}
	}
	if n := len(verb.Positional); len(args) > n {
		return usagef("too many arguments: %q", args[n])
	}
	return nil
}

// checkEmpty returns an error if an argument is empty, as a shell makes it from a variable that is not set. The number
// of arguments is right.
func checkEmpty(verb *kong.Node, args []string) error {
	for i, a := range args {
		p := verb.Positional[min(i, len(verb.Positional)-1)] // the last one may take several arguments
		if a == "" && !mayBeEmpty(p.Name) {
			return usagef("argument %s is empty", p.Name)
		}
	}
	return nil
}

// mayBeEmpty reports whether an argument has a meaning if it is empty: the shape or a selection of an array without
// dimensions, a string, or the name of a metalayer.
func mayBeEmpty(name string) bool {
	return slices.Contains([]string{"SHAPE", "SEL", "NAME", "VALUE"}, name)
}

// selectionError is an error of the selection in a command line. It wraps the error of the library.
type selectionError struct {
	text string
	err  error
}

func (e *selectionError) Error() string {
	return fmt.Sprintf("selection %q: %s (see blosc2 help slice)", e.text, selection.Reason(e.err))
}

func (e *selectionError) Unwrap() error { return e.err }

// parseSelection parses the argument SEL.
func parseSelection(text string) ([]ndarray.Index, error) {
	sel, err := ndarray.ParseSelection(text)
	if err != nil {
		if _, e := os.Stat(text); e == nil {
			return nil, usagef("SEL is the name of a file, %s; write PATH before SEL", text)
		}
		return nil, &selectionError{text, err}
	}
	return sel, nil
}

// selectionShape returns the shape of a selection of an array. text is the argument SEL.
func selectionShape(a *ndarray.Array, text string, sel []ndarray.Index) ([]int64, error) {
	shape, err := a.SelectionShape(sel...)
	if errors.Is(err, ndarray.ErrBounds) || errors.Is(err, ndarray.ErrShape) {
		err = &selectionError{text, err}
	}
	return shape, err
}

// lengths is a list of integers such as 3,4. The list of an empty argument is empty but not nil.
type lengths []int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *lengths) UnmarshalText(text []byte) error {
	list, err := parseInts(string(text), 64)
	*l = list
	return err
}

// partition is a list of integers of 32 bits such as 3,4. The list of an empty argument is empty but not nil.
type partition []int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *partition) UnmarshalText(text []byte) error {
	list, err := parseInts(string(text), 32)
	*p = list
	return err
}

// parseInts parses integers separated by commas, optionally in parentheses and with a comma at the end.
func parseInts(s string, bits int) ([]int64, error) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		s = strings.TrimSpace(s[1 : len(s)-1])
	}
	out := []int64{}
	if s == "" {
		return out, nil
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(s, ","), ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, bits)
		if errors.Is(err, strconv.ErrRange) {
			return nil, usagef("%s does not fit in %d bits", part, bits)
		}
		if err != nil {
			return nil, usagef("want integers separated by commas, got %q", s)
		}
		out = append(out, n)
	}
	return out, nil
}

// pairs are the name=json pairs of an option that may be repeated.
type pairs []pair

// pair is a name with a value.
type pair struct {
	name  string
	value []byte // MessagePack
}

// UnmarshalText implements encoding.TextUnmarshaler. It adds a pair.
func (p *pairs) UnmarshalText(b []byte) error {
	name, text, ok := strings.Cut(string(b), "=")
	if !ok || name == "" {
		return usagef("%q does not have the form name=json", b)
	}
	value, err := packJSON(text)
	if err == nil {
		*p = append(*p, pair{name, value})
	}
	return err
}

// pyTuple returns integers as a Python tuple.
func pyTuple(list []int64) string {
	text := make([]string, len(list))
	for i, n := range list {
		text[i] = strconv.FormatInt(n, 10)
	}
	if len(list) == 1 {
		return "(" + text[0] + ",)"
	}
	return "(" + strings.Join(text, ", ") + ")"
}
