//go:build android || !(darwin || linux)

package storage

import "errors"

// exchange returns an error: this system cannot exchange names.
func exchange(_, _ string) error { return errors.ErrUnsupported }
