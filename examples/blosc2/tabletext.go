package main

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/goblosc/blosc2/frame/store/table"
)

// The numbers that pandas uses for abbreviated tables.
const (
	fullRows  = 60 // largest table that is printed completely
	edgeRows  = 5  // rows at each end of other tables
	cellWidth = 40 // columns of a value
)

// tableText prints a table in columns, as many as fit the terminal. It reads only the rows and columns that it prints.
func tableText(e *env, t *tablePart) error {
	rows := t.rows()
	edge := rows
	if rows > fullRows {
		edge = edgeRows
	}
	number := []string{""}
	for i := range edge {
		number = append(number, fmt.Sprint(t.start+i))
	}
	if edge < rows {
		number = append(number, "...")
		for i := t.stop - edge; i < t.stop; i++ {
			number = append(number, fmt.Sprint(i))
		}
	}
	columns, aligned := [][]string{number}, "n"
	left := e.width - textWidth(number)
	for _, info := range t.columns {
		cells, err := columnText(e, t, info, edge)
		if err != nil {
			return err
		}
		if left -= 2 + textWidth(cells); left < 0 && len(columns) > 1 {
			break
		}
		columns = append(columns, cells)
		aligned += map[bool]string{true: "n", false: "t"}[isNumberKind(info.Kind)]
	}
	lines := make([][]string, len(number))
	for _, c := range columns {
		for i, cell := range c {
			lines[i] = append(lines[i], cell)
		}
	}
	e.printTable(lines, aligned)
	shown, all := len(columns)-1, len(t.columns)
	text := fmt.Sprintf("%s, %s", plural(int(rows), "row"), plural(all, "column"))
	if shown < all {
		text += fmt.Sprintf(", of which %d fit here; -csv and -json print all", shown)
	}
	_, err := fmt.Fprintln(e.out, text)
	return err
}

// isNumberKind reports whether the values of a column are numbers.
func isNumberKind(kind string) bool {
	return strings.Contains(kind, "int") || strings.HasPrefix(kind, "float") || strings.HasPrefix(kind, "complex")
}

// columnText returns the name and the values of a column: edge rows at each end, and dots if there are others.
func columnText(e *env, t *tablePart, info table.ColumnInfo, edge int64) ([]string, error) {
	c, err := t.open(e, info.Name)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	cells := []string{shortened(info.Name)}
	add := func(start, stop int64) error {
		values, err := readValues(e.ctx, c, start, stop)
		if err != nil {
			return err
		}
		for _, v := range values {
			text := "null"
			if v != nil {
				if text, err = cellText(info, v); err != nil {
					return err
				}
			}
			cells = append(cells, shortened(text))
		}
		return nil
	}
	if err := add(t.start, t.start+edge); err != nil {
		return nil, err
	}
	if edge < t.rows() {
		cells = append(cells, "...")
		err = add(t.stop-edge, t.stop)
	}
	return cells, err
}

// shortened returns a text of at most cellWidth columns without control characters. It has at most 4 characters for
// each column, because those that combine with others take none.
func shortened(text string) string {
	text = visible(strings.ToValidUTF8(text, "\uFFFD"))
	n := 0
	for i := range text {
		if n++; n > 4*cellWidth {
			text = text[:i] + "…"
			break
		}
	}
	return ansi.Truncate(text, cellWidth, "…")
}

// textWidth returns the width of the longest text.
func textWidth(texts []string) (n int) {
	for _, s := range texts {
		n = max(n, ansi.StringWidth(s))
	}
	return n
}
