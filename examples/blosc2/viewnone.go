//go:build js || wasip1

package main

import (
	"errors"
	"fmt"
)

// hasTerminal reports whether view works.
const hasTerminal = false

// Run returns an error: these platforms have no terminal.
func (v *viewCmd) Run(*env) error {
	return fmt.Errorf("%s: this platform has no terminal: %w", v.Path, errors.ErrUnsupported)
}
