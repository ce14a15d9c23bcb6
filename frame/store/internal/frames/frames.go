// Package frames holds steps with frames that the packages of stores share.
package frames

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/errs"
)

// MetaLayer returns the content of a fixed metalayer, and whether it exists.
func MetaLayer(f *frame.Frame, name string) ([]byte, bool) {
	for _, l := range f.Meta() {
		if l.Name == name {
			return l.Content, true
		}
	}
	return nil, false
}

// Closed returns an error that wraps fs.ErrClosed if f is closed.
func Closed(f *frame.Frame) error {
	if f.VLMetaNames() != nil {
		return nil
	}
	_, err := f.VLMeta("")
	return err
}

// State returns a value for the state of a frame that a read gets now, to be compared with another one.
func State(ctx context.Context, f *frame.Frame) (any, error) {
	v, err := f.Engine().View(ctx)
	if err != nil {
		return nil, err
	}
	v.Release()
	return v, nil
}

// VLMeta returns the content of a variable-length metalayer, and whether it exists.
func VLMeta(f *frame.Frame, name string) ([]byte, bool, error) {
	if !slices.Contains(f.VLMetaNames(), name) {
		return nil, false, nil
	}
	b, err := f.VLMeta(name)
	return b, err == nil, err
}

// IsPickle reports whether bytes begin as a pickle of protocol 2 to 5 does.
func IsPickle(b []byte) bool { return len(b) >= 2 && b[0] == 0x80 && b[1] >= 2 && b[1] <= 5 }

// UnmarshalMeta is Unmarshal for values of the format, which metalayers of f hold: any other value is corrupt.
func UnmarshalMeta(f *frame.Frame, b []byte, v any) error {
	err := Unmarshal(f, b, v)
	if err == nil || errors.Is(err, errs.ErrTooLarge) {
		return err
	}
	return fmt.Errorf("%w (%w)", errs.ErrCorrupt, err)
}
