//go:build !linux || race

package attack

import "time"

// limitMemory does nothing: other systems do not count memory in this way.
func limitMemory(uint64) error { return nil }

func limitTime(time.Duration) error { return nil }

// limitStacks does nothing.
func limitStacks() (restore func(), err error) { return func() {}, nil }
