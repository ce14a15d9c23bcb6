package b2arrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/goblosc/blosc2/ndarray"
)

// A nest is a field of a batch: a column, or a structure of the columns whose names begin with the same parts.
type nest struct {
	field    arrow.Field
	column   int // position of the column, without children
	children []*nest
	byName   map[string]*nest // the children
}

// nestColumns joins the fields of columns to structures, and returns what has them as children. setTypes completes it.
// The names of the columns are split at their dots.
func nestColumns(fields []arrow.Field) (*nest, error) {
	root := &nest{}
	for i, f := range fields {
		if err := root.add(nameParts(f.Name), i, f, 0); err != nil {
			return nil, fmt.Errorf("b2arrow: column %q: %w", f.Name, err)
		}
	}
	return root, nil
}

// add adds a column with the parts of its name below n.
func (n *nest) add(parts []string, column int, f arrow.Field, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested more than %d levels deep: %w", maxDepth, ndarray.ErrTooLarge)
	}
	c := n.byName[parts[0]]
	if c != nil && (len(parts) == 1 || c.children == nil) {
		return unsupported("a structure and a column are both called %q", parts[0])
	}
	if c == nil {
		c = &nest{field: arrow.Field{Name: parts[0], Nullable: true}, column: column}
		if n.byName == nil {
			n.byName = map[string]*nest{}
		}
		n.byName[parts[0]], n.children = c, append(n.children, c)
	}
	if len(parts) > 1 {
		return c.add(parts[1:], column, f, depth+1)
	}
	c.field.Type, c.field.Metadata = f.Type, f.Metadata
	return nil
}

// setTypes sets the types of the structures below n, and returns the fields of the children.
func (n *nest) setTypes() []arrow.Field {
	fields := make([]arrow.Field, len(n.children))
	for i, c := range n.children {
		if c.children != nil {
			c.field.Type = arrow.StructOf(c.setTypes()...)
		}
		fields[i] = c.field
	}
	return fields
}

// arrays returns the arrays of the children of n, made of the columns, which have a number of rows. The caller must
// release them.
func (n *nest) arrays(columns []arrow.Array, rows int) []arrow.Array {
	list := make([]arrow.Array, len(n.children))
	for i, c := range n.children {
		if c.children == nil {
			list[i] = columns[c.column]
			list[i].Retain()
			continue
		}
		parts := c.arrays(columns, rows)
		data := make([]arrow.ArrayData, len(parts))
		for k, part := range parts {
			data[k] = part.Data()
		}
		list[i] = makeArray(array.NewData(c.field.Type, rows, []*memory.Buffer{nil}, data, 0, 0))
		releaseAll(parts)
	}
	return list
}

// nameParts splits the name of a column at its dots. A backslash makes the next character a part of a name.
func nameParts(name string) []string {
	parts, part := []string{}, []byte{}
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] == '.':
			parts, part = append(parts, string(part)), part[:0]
			continue
		case name[i] == '\\' && i+1 < len(name):
			i++
		}
		part = append(part, name[i])
	}
	return append(parts, string(part))
}
