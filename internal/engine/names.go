package engine

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goblosc/blosc2/meta"
)

// NameFault returns what is wrong with the name of a new metalayer that other libraries misread, or "": C-Blosc2 ends a
// name at a NUL, and python-blosc2 fails to list the names of a frame if one of them is not UTF-8. Frames of other
// libraries may have such names, and empty ones. Edits and copies keep them. It does not check that the name is too
// long: package meta does.
func NameFault(name string) string {
	switch {
	case name == "":
		return fmt.Sprintf("name %q, want 1 to %d bytes", name, meta.MaxNameLen)
	case strings.Contains(name, "\x00"):
		return fmt.Sprintf("name %q with a NUL", name)
	case !utf8.ValidString(name):
		return fmt.Sprintf("name %q, which is not UTF-8", name)
	}
	return ""
}
