//go:build !linux

package attack

import "errors"

func makeDevice(string) error { return errors.ErrUnsupported }
