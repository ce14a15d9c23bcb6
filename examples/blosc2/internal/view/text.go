package view

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// clean returns text that cannot control the terminal: with escapes in place of control characters, of characters
// that change the direction of text, and of what is not UTF-8.
func clean(s string) string {
	bad := func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsPrint(r)
	}
	if !strings.ContainsFunc(s, bad) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !bad(r) || r == unicode.ReplacementChar:
			b.WriteRune(r)
		case r < 256:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// fit returns a text in exactly some cells of the terminal: shortened at the end, or with spaces after it.
func fit(s string, width int) string {
	s = shorten(s, width)
	return s + spaces(width-ansi.StringWidth(s))
}

// fitRight is like fit, with spaces before the text.
func fitRight(s string, width int) string {
	s = shorten(s, width)
	return spaces(width-ansi.StringWidth(s)) + s
}

// shorten returns a text without colors in at most some cells. It has at most 4 characters for each cell, because those
// that combine with others take none.
func shorten(s string, width int) string {
	n := 0
	for i := range s {
		if n++; n > 4*width {
			s = s[:i] + "…"
			break
		}
	}
	return ansi.Truncate(s, max(width, 0), "…")
}

// spaces returns n spaces, or none.
func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// between returns a line of some cells with a text at each end. If they are too long, the first is shortened.
func between(left, right string, width int) string {
	right = shorten(right, width)
	return fit(left, width-ansi.StringWidth(right)) + right
}

// tuple returns numbers as a Python tuple.
func tuple(list []int64) string {
	text := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(list), "[]")), ", ")
	if len(list) == 1 {
		text += ","
	}
	return "(" + text + ")"
}
