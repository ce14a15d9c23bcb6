package attack

import "golang.org/x/sys/unix"

// makeDevice makes what /dev/zero is.
func makeDevice(path string) error {
	return unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5)))
}
