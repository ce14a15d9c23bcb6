package main

import (
	"flag"
	"io"
	"strconv"
	"strings"
)

// newFlags returns the empty flag set of a verb.
func newFlags(verb string) *flag.FlagSet {
	fs := flag.NewFlagSet(verb, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// parseArgs parses options, which may come before, between and after other arguments, and returns the other arguments.
// There must be least to most of them. An argument that starts with "-" and a digit or colon is a selection, not an
// option. "--" ends the options.
func parseArgs(fs *flag.FlagSet, args []string, least, most int) ([]string, error) {
	var options, others []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			others = append(others, args[i+1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' || a[1] >= '0' && a[1] <= '9' || a[1] == ':' {
			others = append(others, a)
			continue
		}
		options = append(options, a)
		name, _, hasValue := strings.Cut(strings.TrimLeft(a, "-"), "=")
		f := fs.Lookup(name)
		if f == nil || hasValue || isSwitch(f) || i+1 == len(args) {
			continue
		}
		i++
		options = append(options, args[i])
	}
	if err := fs.Parse(options); err != nil {
		if err == flag.ErrHelp {
			return nil, err
		}
		return nil, usagef("%v", err)
	}
	switch {
	case len(others) < least:
		return nil, usagef("an argument is missing")
	case len(others) > most:
		return nil, usagef("too many arguments: %q", others[most])
	}
	return others, nil
}

// isSwitch reports whether an option takes no value.
func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// listFlag is a list of integers such as 3,4. The list of an empty argument is empty but not nil.
type listFlag struct {
	list []int64
	bits int
}

func (f *listFlag) String() string { return "" }

func (f *listFlag) Set(s string) error {
	list, err := parseInts(s, f.bits)
	if err == nil {
		f.list = list
	}
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
		if err != nil {
			return nil, usagef("%q is not an integer", part)
		}
		out = append(out, n)
	}
	return out, nil
}

// namesFlag collects the name=json pairs of an option that may be repeated.
type namesFlag struct{ pairs []pair }

// pair is a name with a value.
type pair struct {
	name  string
	value []byte // MessagePack
}

func (f *namesFlag) String() string { return "" }

func (f *namesFlag) Set(s string) error {
	name, text, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return usagef("%q does not have the form name=json", s)
	}
	value, err := packJSON(text)
	if err == nil {
		f.pairs = append(f.pairs, pair{name, value})
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
