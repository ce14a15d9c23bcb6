package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// pathsText describes paths. It is a part of the overview and of the man page.
const pathsText = `
PATH is a contiguous file, or a sparse directory with a file for each chunk. info, dump, diff, verify and view also
accept a file with a single chunk. Verbs that only read PATH also accept a URL that starts with http:// or https://, and
"-" for standard input. A URL is that of a contiguous file, of a store in one file or, with a slash at its end, of a
sparse directory. STORE/KEY is a leaf of a store, such as tree.b2z/img/level0. Leaves in files of their own (tree.b2d)
can be edited, all others only read.
Options may come before or after other arguments, with one or two dashes. Data is written to standard output. If IN is
missing, blosc2 reads standard input unless that is a terminal; "-" always reads it.
`

// exitText describes the exit status.
const exitText = `
The exit status is 0 for success, 1 for an invalid file or request, with one line on standard error, or 2 for invalid
usage. For diff it is 1 if there are differences, and 2 for all errors.
`

// environmentText describes environment variables.
const environmentText = `
Output on a terminal has colors unless NO_COLOR is set or TERM is "dumb". If BLOSC_LOCKING is set, but not to 0, verbs
use a lock file for every frame, and create it if it is missing.
`

// helpHelp describes help, which is not a verb of the grammar.
const helpHelp = `
usage: blosc2 help [VERB]

Prints the verbs, or describes VERB.
`

// helpWidth is the number of columns of help that does not go to a terminal.
const helpWidth = 80

// textWidth returns the number of columns for help.
func (e *env) textWidth() int {
	if !e.tty {
		return helpWidth
	}
	return min(max(e.width-1, 60), 100)
}

// overview returns the text of blosc2 help in lines of width columns.
func overview(root *kong.Node, width int) string {
	var b strings.Builder
	b.WriteString("blosc2 works with Blosc2 frames and N-dimensional arrays.\n\nusage: blosc2 VERB ARGUMENTS\n\n")
	for _, v := range root.Children {
		b.WriteString(hang(fmt.Sprintf("  %-11s", v.Name), v.Help, width))
	}
	for _, text := range []string{pathsText, exitText, environmentText, "\"blosc2 help VERB\" describes a verb."} {
		b.WriteString("\n" + reflow(text, width))
	}
	return b.String()
}

// verbHelp returns the text of blosc2 help VERB in lines of width columns.
func verbHelp(v *kong.Node, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n", synopsis(v))
	text, examples, _ := strings.Cut(strings.Trim(v.Detail, "\n"), "\n\nExamples:\n")
	b.WriteString("\n" + reflow(text, width))
	if len(v.Flags) > 0 {
		b.WriteByte('\n')
	}
	for _, f := range v.Flags {
		b.WriteString(hang(fmt.Sprintf("  %-22s ", flagText(f)), f.Help, width))
	}
	if examples != "" {
		fmt.Fprintf(&b, "\n%s\n", examples)
	}
	return b.String()
}

// reflow breaks the paragraphs of a text into lines of width columns. Lines that begin with a space stay lines of their
// own, and their second column is broken.
func reflow(text string, width int) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if !strings.HasPrefix(paragraph, " ") {
			b.WriteString(hang("", paragraph, width))
			continue
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			if gap := strings.LastIndex(line, "  ") + 2; strings.TrimSpace(line[:gap]) != "" {
				b.WriteString(hang(line[:gap], line[gap:], width))
			} else {
				b.WriteString(line + "\n")
			}
		}
	}
	return b.String()
}

// hang returns lines of width columns: the first one begins with head, and the others are indented as far.
func hang(head, text string, width int) string {
	var b strings.Builder
	for _, line := range wrap(text, width-len(head)) {
		b.WriteString(strings.TrimRight(head+line, " ") + "\n")
		head = strings.Repeat(" ", len(head))
	}
	return b.String()
}

// synopsis returns the command line of a verb.
func synopsis(v *kong.Node) string {
	text := "blosc2 " + v.Name
	if len(v.Flags) > 0 {
		text += " [OPTIONS]"
	}
	for _, p := range v.Positional {
		name := p.Name
		if p.IsSlice() {
			name += "..."
		}
		if !p.Required {
			name = "[" + name + "]"
		}
		text += " " + name
	}
	return text
}

// flagText returns an option with its value.
func flagText(f *kong.Flag) string {
	if f.IsBool() {
		return "-" + f.Name
	}
	return "-" + f.Name + " " + f.PlaceHolder
}

// wrap breaks a text into lines of at most width bytes, as far as words allow it, and into at least one.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) > width:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines
}
