package view

import (
	"context"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Run shows a document on the terminal out until the user quits or ctx ends. It reads keys from standard input, or from
// the terminal of the process if standard input is not a terminal. It closes the document.
func Run(ctx context.Context, out *os.File, tools *Tools, doc *Document) error {
	parent := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithOutput(out), tea.WithoutSignalHandler()}
	if !tools.Color {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	last, err := tea.NewProgram(newModel(ctx, tools, doc, 0, 0), options...).Run()
	cancel()
	if m, ok := last.(model); ok {
		m = m.stop()
		if m.tree != nil && m.doc != m.tree {
			m.tree.Close()
		}
		m.doc.Close()
	}
	if parent.Err() != nil && err != nil {
		return parent.Err()
	}
	return err
}

// Screen returns the first screen of a document as plain text. It closes the document.
func Screen(ctx context.Context, tools *Tools, doc *Document, width, height int) (string, error) {
	defer doc.Close()
	m, load := newModel(ctx, tools, doc, width, height).load()
	for range 10 { // the first load may move the first column
		if load == nil {
			break
		}
		msg, ok := load().(loaded)
		if ok && msg.err != nil {
			return "", msg.err
		}
		m, load = m.take(msg).load()
	}
	lines := strings.Split(ansi.Strip(m.screen()), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n") + "\n", nil
}
