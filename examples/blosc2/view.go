package main

// viewCmd shows an array or a store on the terminal.
type viewCmd struct {
	Path string `arg:"" name:"PATH"`
}

// Help describes the verb.
func (viewCmd) Help() string {
	return `
Shows an array on the terminal: a grid of values, a heat map of a plane, metadata and a map of the chunks. A store is a
list, from which enter opens an array. It reads only what is on the screen, so that arrays of any size open at once.

Arrows, page up and page down, home and end move. Tab chooses the axes on the screen, [ and ] move along another one.
A colon goes to an index or a selection, v selects, y copies values and Y the selection. m is the heat map, i the
metadata, c the map of the chunks, ? lists all keys, and q quits. The mouse works, too.

If standard output is not a terminal, or TERM is "dumb", view prints the first screen as text, in 24 lines of 80 columns.

Examples:
  blosc2 view a.b2nd
  blosc2 view tree.b2z
  blosc2 view https://example.org/tree.b2z/img/level0
`
}
