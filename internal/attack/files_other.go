//go:build !unix || solaris || aix || illumos

package attack

import "os"

const canLink = false

// makePipe makes an empty file, as there are no named pipes.
func makePipe(path string) error { return os.WriteFile(path, nil, 0o666) }
