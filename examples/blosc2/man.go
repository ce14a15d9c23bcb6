package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd prints the man page.
type manCmd struct{}

// Help describes the verb.
func (manCmd) Help() string {
	return `
Prints the man page, which has the same text as "blosc2 help".

Examples:
  blosc2 man > /usr/local/share/man/man1/blosc2.1
`
}

// Run runs the verb.
func (manCmd) Run(e *env) error {
	_, err := e.out.WriteString(manPage(newCLI().node()))
	return err
}

// manPage returns the page in the language of roff.
func manPage(root *kong.Node) string {
	var b strings.Builder
	b.WriteString(".TH BLOSC2 1\n.SH NAME\nblosc2 \\- works with Blosc2 frames and N-dimensional arrays\n")
	b.WriteString(".SH SYNOPSIS\n.B blosc2\nVERB ARGUMENTS\n.SH DESCRIPTION\n" + roff(strings.TrimSpace(pathsText)) + "\n.SH VERBS\n")
	for _, v := range root.Children {
		fmt.Fprintf(&b, ".SS %s\n.B %s\n.PP\n", roff(v.Name), roff(synopsis(v)))
		text, examples, _ := strings.Cut(strings.Trim(v.Detail, "\n"), "\n\nExamples:\n")
		for paragraph := range strings.SplitSeq(text, "\n\n") {
			if strings.HasPrefix(paragraph, " ") {
				fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(paragraph))
			} else {
				fmt.Fprintf(&b, "%s\n.PP\n", roff(paragraph))
			}
		}
		for _, f := range v.Flags {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(flagText(f)), roff(f.Help))
		}
		if examples != "" {
			fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", roff(examples))
		}
	}
	b.WriteString(".SH EXIT STATUS\n" + roff(strings.TrimSpace(exitText)) + "\n.SH ENVIRONMENT\n" + roff(strings.TrimSpace(environmentText)) + "\n")
	return b.String()
}

// roff escapes text.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
