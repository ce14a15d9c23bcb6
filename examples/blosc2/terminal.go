package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Escape sequences of colors.
const (
	bold  = "\x1b[1m"
	blue  = "\x1b[34m"
	cyan  = "\x1b[36m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	plain = "\x1b[0m"
)

// paint returns a text in a color, if colors are allowed.
func (e *env) paint(color, text string) string {
	if !e.color {
		return text
	}
	return color + text + plain
}

// sizeText returns a number of bytes: from 1 KiB up in a larger unit, and then also in bytes.
func sizeText(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	return shortSize(n) + " (" + grouped(n) + " bytes)"
}

// plural returns a number with the name of what it counts.
func plural(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return fmt.Sprintf("%d %ss", n, name)
}

// shortSize returns a number of bytes in the largest unit that leaves a number from 1 up.
func shortSize(n int64) string {
	x, unit := float64(n), ""
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		if x < 1024 && x > -1024 {
			break
		}
		x, unit = x/1024, u
	}
	switch {
	case unit == "":
		return fmt.Sprintf("%d B", n)
	case x < 10:
		return fmt.Sprintf("%.2f %s", x, unit)
	}
	return fmt.Sprintf("%.1f %s", x, unit)
}

// grouped returns a number with commas between groups of three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// propertyPrinter prints names with values in two columns.
type propertyPrinter struct {
	e             *env
	title         string
	names, values []string
}

// add adds a line.
func (p *propertyPrinter) add(name, format string, args ...any) {
	p.names, p.values = append(p.names, visible(name)), append(p.values, visible(fmt.Sprintf(format, args...)))
}

// print prints the title and the lines.
func (p *propertyPrinter) print() {
	fmt.Fprintln(p.e.out, p.e.paint(bold, visible(p.title)))
	names := padRight(p.names)
	for i, name := range names {
		fmt.Fprintf(p.e.out, "%s  %s\n", p.e.paint(cyan, name), p.values[i])
	}
}

// printTable prints rows of cells in columns, the first row as a heading. Columns of numbers are aligned at the right.
func (e *env) printTable(rows [][]string, numbers string) { e.printColumns(rows, numbers, 1) }

// printColumns is printTable with any number of rows as headings. The last cell of a row with fewer cells than columns
// may be longer than its column.
func (e *env) printColumns(rows [][]string, numbers string, headings int) {
	e.printPage(rows, numbers, headings, make([]int, len(numbers)))
}

// printPage is printColumns with columns of at least some widths, which it sets to those of the page.
func (e *env) printPage(rows [][]string, numbers string, headings int, widths []int) {
	for _, row := range rows {
		for k, cell := range row {
			if k < len(row)-1 || len(row) == len(widths) {
				widths[k] = max(widths[k], ansi.StringWidth(cell))
			}
		}
	}
	for i, row := range rows {
		var line strings.Builder
		for k, cell := range row {
			pad := strings.Repeat(" ", max(0, widths[k]-ansi.StringWidth(cell)))
			if i < headings {
				cell = e.paint(bold, cell)
			}
			if k > 0 {
				line.WriteString("  ")
			}
			if numbers[k] == 'n' {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		fmt.Fprintln(e.out, strings.TrimRight(line.String(), " "))
	}
}

// visible returns a text with escapes in place of control characters, of characters that change the direction of text,
// and of bytes that are not UTF-8, so that a name in a file cannot control the terminal.
func visible(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, isHidden) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case !isHidden(r):
			b.WriteRune(r)
		default:
			b.WriteString(escapedRune(r))
		}
		s = s[n:]
	}
	return b.String()
}

// isHidden reports whether a terminal does not print a character.
func isHidden(r rune) bool { return !unicode.IsPrint(r) }

// cell returns a text of a file, which on a terminal has no characters that control it.
func (e *env) cell(s string) string {
	if e.tty {
		return visible(s)
	}
	return s
}
