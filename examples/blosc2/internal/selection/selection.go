// Package selection words the errors of selections for people who do not know the library.
package selection

import "strings"

// Reason returns the text of an error of a selection, without the name of a package and the kind of error before it.
func Reason(err error) string {
	text := strings.TrimPrefix(err.Error(), "ndarray: ")
	for _, kind := range []string{"invalid selection: ", "out of bounds: "} {
		text = strings.TrimPrefix(text, kind)
	}
	return text
}
