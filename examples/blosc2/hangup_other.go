//go:build !unix

package main

import "os"

// hangups returns no signals: a process that loses its terminal gets none.
func hangups() []os.Signal { return nil }
