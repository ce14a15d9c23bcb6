package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints a script for a shell.
type completionCmd struct {
	Shell string `arg:"" name:"SHELL" help:"bash, zsh or fish"`
}

// Help describes the verb.
func (completionCmd) Help() string {
	return `
Prints a script that completes verbs, options and files in bash, zsh or fish.

Examples:
  blosc2 completion bash > ~/.local/share/bash-completion/completions/blosc2
  blosc2 completion zsh > "${fpath[1]}/_blosc2"
  blosc2 completion fish > ~/.config/fish/completions/blosc2.fish
`
}

// Run runs the verb.
func (v completionCmd) Run(e *env) error {
	write := map[string]func(*strings.Builder, *kong.Node){"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[v.Shell]
	if write == nil {
		return usagef("SHELL is %q, want bash, zsh or fish", v.Shell)
	}
	var b strings.Builder
	write(&b, newCLI().node())
	_, err := e.out.WriteString(b.String())
	return err
}

// choices returns the values that an option or argument can have, or nil.
func choices(name string) []string {
	switch name {
	case "codec":
		return strings.Fields("blosclz lz4 lz4hc zlib zstd ndlz zfp_acc zfp_prec zfp_rate")
	case "filters":
		return strings.Fields("none shuffle bitshuffle delta trunc_prec bytedelta int_trunc ndcell ndmean")
	case "split":
		return strings.Fields("auto always never forward")
	case "goal":
		return strings.Fields("balanced smallest fastest")
	case "SHELL":
		return strings.Fields("bash zsh fish")
	case "ACTION":
		return strings.Fields("list get set delete")
	}
	return nil
}

// values returns the values that an option can have, or nil.
func values(f *kong.Flag) []string {
	if list := choices(f.Name); list != nil || f.Enum == "" {
		return list
	}
	return strings.Split(f.Enum, ",")
}

// takesFiles reports whether a verb has arguments that may be files.
func takesFiles(v *kong.Node) bool {
	return slices.ContainsFunc(v.Positional, func(p *kong.Positional) bool { return choices(p.Name) == nil })
}

// verbNames returns the names of all verbs, and help.
func verbNames(root *kong.Node) []string {
	names := []string{"help"}
	for _, v := range root.Children {
		names = append(names, v.Name)
	}
	return names
}

// bashCompletion writes a script for bash.
func bashCompletion(b *strings.Builder, root *kong.Node) {
	verbs := strings.Join(verbNames(root), " ")
	fmt.Fprintf(b, `_blosc2() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= values=
	if [ "$COMP_CWORD" = 1 ] || { [ "$COMP_CWORD" = 2 ] && [ "${COMP_WORDS[1]}" = help ]; }; then
		COMPREPLY=($(compgen -W "%s" -- "$word"))
		return
	fi
	case ${COMP_WORDS[1]} in
`, verbs)
	for _, v := range root.Children {
		var options []string
		for _, f := range v.Flags {
			options = append(options, "-"+f.Name)
		}
		fmt.Fprintf(b, "\t%s) options=%q ;;\n", v.Name, strings.Join(options, " "))
	}
	b.WriteString("\tesac\n\tcase $before in\n")
	seen := map[string]bool{}
	for _, v := range root.Children {
		for _, f := range v.Flags {
			if list := values(f); list != nil && !seen[f.Name] {
				seen[f.Name] = true
				fmt.Fprintf(b, "\t-%s | --%s) values=%q ;;\n", f.Name, f.Name, strings.Join(list, " "))
			}
		}
	}
	b.WriteString("\tesac\n\tcase ${COMP_WORDS[1]}$COMP_CWORD in\n")
	for _, v := range root.Children {
		for i, p := range v.Positional {
			if list := choices(p.Name); list != nil {
				fmt.Fprintf(b, "\t%s%d) values=%q ;;\n", v.Name, i+2, strings.Join(list, " "))
			}
		}
	}
	b.WriteString(`	esac
	if [ -n "$values" ]; then
		COMPREPLY=($(compgen -W "$values" -- "$word"))
	elif [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$word"))
	else
		COMPREPLY=()
	fi
}
complete -o default -F _blosc2 blosc2
`)
}

// zshCompletion writes a script for zsh.
func zshCompletion(b *strings.Builder, root *kong.Node) {
	quote := strings.NewReplacer("'", "'\\''", "[", "(", "]", ")", ":", "\\:").Replace
	b.WriteString("#compdef blosc2\n\n_blosc2() {\n\tlocal -a verbs\n\tverbs=(\n")
	b.WriteString("\t\t'help:describe a verb'\n")
	for _, v := range root.Children {
		fmt.Fprintf(b, "\t\t'%s:%s'\n", v.Name, quote(v.Help))
	}
	b.WriteString("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe verb verbs\n\t\treturn\n\tfi\n")
	b.WriteString("\tlocal verb=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $verb in\n\thelp) (( CURRENT == 2 )) && _describe verb verbs ;;\n")
	for _, v := range root.Children {
		fmt.Fprintf(b, "\t%s)\n\t\t_arguments", v.Name)
		for _, f := range v.Flags {
			text, repeated := quote(firstSentence(f.Help)), ""
			if f.IsCumulative() || strings.HasSuffix(f.Help, "may be repeated") {
				repeated = "*"
			}
			fmt.Fprintf(b, " \\\n\t\t\t'%s-%s[%s]", repeated, f.Name, text)
			if list := values(f); list != nil {
				fmt.Fprintf(b, ":%s:(%s)", f.Name, strings.Join(list, " "))
			} else if !f.IsBool() {
				fmt.Fprintf(b, ":%s: ", f.Name)
			}
			b.WriteString("'")
		}
		for i, p := range v.Positional {
			if list := choices(p.Name); list != nil {
				fmt.Fprintf(b, " \\\n\t\t\t'%d:%s:(%s)'", i+1, strings.ToLower(p.Name), strings.Join(list, " "))
			}
		}
		if takesFiles(v) {
			b.WriteString(" \\\n\t\t\t'*:file:_files'")
		}
		b.WriteString("\n\t\t;;\n")
	}
	b.WriteString("\tesac\n}\n\n_blosc2 \"$@\"\n")
}

// fishCompletion writes a script for fish.
func fishCompletion(b *strings.Builder, root *kong.Node) {
	quote := strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace
	b.WriteString(`# __blosc2_at VERB N: the command line has this verb, and the cursor is at word N if N is given.
function __blosc2_at
	set -l words (commandline -opc)
	test "$words[2]" = "$argv[1]"; and test -z "$argv[2]" -o (count $words) = "$argv[2]"
end
`)
	b.WriteString("complete -c blosc2 -n '__blosc2_at \"\"' -f -a help -d 'describe a verb'\n")
	for _, v := range root.Children {
		fmt.Fprintf(b, "complete -c blosc2 -n '__blosc2_at \"\"' -f -a %s -d '%s'\n", v.Name, quote(v.Help))
	}
	for _, v := range root.Children {
		for _, f := range v.Flags {
			value := " -r"
			if list := values(f); list != nil {
				value = fmt.Sprintf(" -x -a '%s'", strings.Join(list, " "))
			} else if f.IsBool() {
				value = ""
			}
			fmt.Fprintf(b, "complete -c blosc2 -n '__blosc2_at %s' -o %s%s -d '%s'\n", v.Name, f.Name, value, quote(firstSentence(f.Help)))
		}
		for i, p := range v.Positional {
			if list := choices(p.Name); list != nil {
				fmt.Fprintf(b, "complete -c blosc2 -n '__blosc2_at %s %d' -f -a '%s'\n", v.Name, i+2, strings.Join(list, " "))
			}
		}
		if !takesFiles(v) {
			fmt.Fprintf(b, "complete -c blosc2 -n '__blosc2_at %s' -f\n", v.Name)
		}
	}
	fmt.Fprintf(b, "complete -c blosc2 -n '__blosc2_at help 2' -f -a '%s'\n", strings.Join(verbNames(root)[1:], " "))
	b.WriteString("complete -c blosc2 -n '__blosc2_at help' -f\n")
}

// firstSentence returns the beginning of the help of an option.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, ". ")
	text, _, _ = strings.Cut(text, "; ")
	return text
}
