package frame

import "context"

// gate is a mutex that can be waited for as long as a context allows.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

// lock returns the error of ctx when that is done first.
func (g gate) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g gate) unlock() { <-g }
