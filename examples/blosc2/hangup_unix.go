//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// hangups returns the signal that a process gets when its terminal closes, unless it ignores it, as with nohup.
func hangups() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return nil
	}
	return []os.Signal{syscall.SIGHUP}
}
