//go:build unix && !solaris && !aix && !illumos

package attack

import "syscall"

// canLink reports whether any process can make links and pipes.
const canLink = true

func makePipe(path string) error { return syscall.Mkfifo(path, 0o666) }
