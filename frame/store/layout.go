package store

import "fmt"

// Layout is the kind of a store.
type Layout uint8

// Layouts of stores, after the classes of python-blosc2.
const (
	LayoutEmbed Layout = iota // all leaves in one frame
	LayoutDict                // a directory or zip file
	LayoutTree                // a directory or zip file whose groups have attributes
)

// String returns "embed store", "dict store" or "tree store".
func (l Layout) String() string {
	switch l {
	case LayoutEmbed:
		return "embed store"
	case LayoutDict:
		return "dict store"
	case LayoutTree:
		return "tree store"
	}
	return fmt.Sprintf("Layout(%d)", uint8(l))
}
